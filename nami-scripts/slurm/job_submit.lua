-- job_submit.lua of the bank: asks for a price when a job is submitted or changed, and refuses a job that its project
-- cannot pay, or sends it to the fallback account. Put it beside slurm.conf, with JobSubmitPlugins=lua.
--
-- slurmctld runs this script while it holds its lock. The program ends by itself after slurm_submit_ms of nami.conf
-- (100 ms); `timeout` ends it if it does not.

-- Settings ----------------------------------------------------------------------------------------------------------

-- The program, and what runs it. TIMEOUT is in seconds, longer than slurm_submit_ms.
local PROGRAM = "/usr/libexec/bank/nami/bank-slurm-submit"
local TIMEOUT = "0.5"
-- If the bank does not answer: true accepts the job, and the prolog decides later; false refuses it.
local FAIL_OPEN = true
-- Users whose jobs are not asked about, by name.
local EXEMPT = { root = false }
-- Weights of TRESBillingWeights by partition, if a rate of the bank names `billing`: the price at submission then
-- includes it. Example: { batch = { cpu = 1.0, mem = 0.25, gpu = 8.0 } }, mem for each GB.
local BILLING = {}

-- End of the settings -----------------------------------------------------------------------------------------------

-- ESLURM_ACCOUNTING_POLICY: "Job violates accounting/QOS policy".
local REFUSED = 2050

-- JOB_PENDING: Slurm changes the account of such a job only.
local PENDING = 0

-- Values of Slurm for "not set" and "infinite": of 16, 32 and 64 bits.
local function is_set(value)
   return value ~= nil and value ~= "" and value ~= 65534 and value ~= 65535 and value ~= 4294967294
      and value ~= 4294967295 and not (type(value) == "number" and value >= 9e15)
end

-- A word for the shell. Texts of users are in single quotes, and control characters are spaces.
local function word(key, value)
   local text = tostring(value)
   if type(value) == "number" then
      text = string.format("%.0f", value)
   end
   text = string.sub(string.gsub(text, "%c", " "), 1, 1000)
   return " '" .. key .. "=" .. string.gsub(text, "'", "'\\''") .. "'"
end

-- The value of a change, else that of the job.
local function either(changed, record, name)
   if is_set(changed[name]) then
      return changed[name]
   end
   if record ~= nil and is_set(record[name]) then
      return record[name]
   end
   return nil
end

-- The partition of a job that names none.
local function default_partition(part_list)
   for name, part in pairs(part_list or {}) do
      if part.flag_default == 1 then
         return name
      end
   end
   return nil
end

-- The GPUs of `gres:gpu:a100:2,gres:gpu`. A type without a count is one GPU.
local function gpus_of(text)
   local sum
   for part in string.gmatch(tostring(text or ""), "[^,]+") do
      if string.match(part, "^gres[:/]gpu") or string.match(part, "^gpu") then
         sum = (sum or 0) + (tonumber(string.match(part, "[:=](%d+)$")) or 1)
      end
   end
   return sum
end

-- The id that the prolog uses, as `squeue` prints it.
local function id_of(record)
   if is_set(record.array_task_id) and is_set(record.array_job_id) and record.array_job_id ~= 0 then
      return string.format("%.0f_%.0f", record.array_job_id, record.array_task_id)
   elseif is_set(record.het_job_id) and record.het_job_id ~= 0 then
      return string.format("%.0f+%.0f", record.het_job_id, record.het_job_offset or 0)
   end
   return record.job_id
end

-- The part of the billing weights that is known at submission.
local function billing(partition, cpus, memory, gpus)
   local weights = partition and BILLING[partition]
   if weights == nil then
      return nil
   end
   local sum = (weights.cpu or 0) * (cpus or 1) + (weights.mem or 0) * (memory or 0) / 1024
      + (weights.gpu or 0) * (gpus or 0)
   return math.floor(sum)
end

-- The bank's answer: verdict and the rest of its line. No answer is "down".
local function ask(changed, record, part_list)
   local command = "timeout -k 0.1 " .. TIMEOUT .. " " .. PROGRAM
   local function add(key, value)
      if is_set(value) then
         command = command .. word(key, value)
      end
   end
   local cpus = either(changed, record, "min_cpus")
   local nodes = either(changed, record, "min_nodes")
   add("account", either(changed, record, "account") or either(changed, record, "default_account"))
   add("user", changed.user_name or (record and record.user_name))
   local partition = either(changed, record, "partition") or default_partition(part_list)
   add("partition", partition)
   add("qos", either(changed, record, "qos"))
   add("name", either(changed, record, "name"))
   add("reservation", either(changed, record, "reservation"))
   add("minutes", either(changed, record, "time_limit"))
   add("cpus", cpus)
   add("nodes", nodes)
   -- A change of one form of the memory replaces the other.
   local own = changed
   if record ~= nil and not is_set(changed.min_mem_per_cpu) and not is_set(changed.min_mem_per_node) then
      own = record
   end
   local memory
   if is_set(own.min_mem_per_cpu) then
      add("mem_per_cpu", own.min_mem_per_cpu)
      memory = own.min_mem_per_cpu * (is_set(cpus) and cpus or 1)
   elseif is_set(own.min_mem_per_node) then
      add("mem_per_node", own.min_mem_per_node)
      memory = own.min_mem_per_node * (is_set(nodes) and nodes or 1)
   end
   local per_node = either(changed, record, "tres_per_node")
   local per_job = either(changed, record, "tres_per_job")
   local per_task = either(changed, record, "tres_per_task")
   local tasks = either(changed, record, "num_tasks")
   add("tasks", tasks)
   add("tres_per_node", per_node)
   add("tres_per_job", per_job)
   add("tres_per_task", per_task)
   local function times(count, each)
      return count and count * (is_set(each) and each or 1)
   end
   local gpus = gpus_of(per_job) or times(gpus_of(per_node), nodes) or times(gpus_of(per_task), tasks)
   add("billing", billing(partition, cpus, memory, gpus))
   if record ~= nil then
      add("job", id_of(record))
   end
   local pipe = io.popen(command .. " 2>/dev/null", "r")
   local line = pipe and pipe:read("*l")
   if pipe then
      pipe:close()
   end
   local verdict, rest = string.match(line or "", "^(%a+) ?(.*)$")
   return verdict or "down", rest or "no answer of " .. PROGRAM
end

-- A text for the user. In a change Slurm has none: the text is in the log of slurmctld.
local function explain(record, ...)
   if record == nil then
      slurm.log_user(...)
   else
      slurm.log_info(...)
   end
end

local function decide(changed, record, part_list)
   if EXEMPT[changed.user_name or (record and record.user_name) or ""] then
      return slurm.SUCCESS
   end
   local verdict, rest = ask(changed, record, part_list)
   if verdict == "ok" then
      return slurm.SUCCESS
   elseif verdict == "fallback" then
      local account, why = string.match(rest, "^(%S+) ?(.*)$")
      if record ~= nil and record.job_state ~= PENDING then
         explain(record, "bank: %s", why)
         return REFUSED
      end
      explain(record, "bank: %s; the job uses the account %s", why, account)
      changed.account = account
      return slurm.SUCCESS
   elseif verdict == "refuse" then
      explain(record, "bank: %s", rest)
      return REFUSED
   end
   slurm.log_info("bank: %s", rest)
   if FAIL_OPEN then
      return slurm.SUCCESS
   end
   explain(record, "bank: the allocation bank does not answer; submit the job again later")
   return REFUSED
end

function slurm_job_submit(job_desc, part_list, submit_uid)
   return decide(job_desc, nil, part_list)
end

-- Only changes that can raise the price are asked about.
function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
   for _, name in ipairs({ "time_limit", "account", "partition", "qos", "min_cpus", "min_nodes", "num_tasks",
                           "tres_per_node", "tres_per_job", "tres_per_task", "min_mem_per_cpu", "min_mem_per_node" }) do
      if is_set(job_desc[name]) and job_desc[name] ~= job_rec[name] then
         return decide(job_desc, job_rec, part_list)
      end
   end
   return slurm.SUCCESS
end

return slurm.SUCCESS
