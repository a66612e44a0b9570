//! What a source says of a job comes out of every export alike, whatever mode charged it: `strict`, `fast`,
//! `notional` or `track`, from a file or one by one.

use std::fs;

use serde_json::{Value, json};

use super::{bank, export, path, uses};
use crate::harness::{Bank, Request, T0};

/// The machines, each named by its mode.
const MODES: [&str; 4] = ["strict", "fast", "notional", "track"];

/// What a job of the file states, with the fields that say nothing of it: names, and what it cost.
const OF_THE_CHARGE: [&str; 9] = [
    "record_id",
    "created_at",
    "source",
    "machine",
    "outcome",
    "charge",
    "shadow_charge",
    "charge_unit",
    "formula",
];

const HEADER: &str = "JobID|Cluster|User|Account|UID|GID|Group|State|ExitCode|Submit|Start|End|\
                      NNodes|NCPUS|ReqCPUS|ReqMem|TotalCPU|UserCPU|SystemCPU|Timelimit|NodeList|JobName\n";

/// A job of 10 hours on two nodes with 8,000 MiB in all, and one that says little.
fn line(machine: &str) -> String {
    format!(
        "77|{machine}|amy|chemistry|1001|200|chem|COMPLETED|0:0|2025-12-01T00:00:00|\
         2025-12-01T01:00:00|2025-12-01T02:00:00|2|16|12|4000Mn|10:00:00|09:00:00|01:00:00|\
         04:00:00|n[08-09]|relax & see = 1\n\
         78|{machine}|amy|chemistry|||||1:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
         2025-12-01T02:00:00|1|2||||||||\n"
    )
    .replace("|||||1:0|", "||||FAILED|1:0|")
}

/// The same jobs on a machine of each mode.
fn jobs_in_every_mode() -> Bank {
    let bank = bank();
    bank.set_clock(T0 + 86_400);
    for mode in MODES {
        let machine = format!("m-{mode}");
        bank.bank_ok(&["machine", "add", &machine]);
        bank.bank_ok(&["machine", "set", &machine, "--mode", mode]);
        let (file, name) = path(&bank, &format!("{mode}.sacct"));
        fs::write(&file, HEADER.to_owned() + &line(&machine)).unwrap();
        let source = format!("slurm:{mode}");
        bank.bank_ok(&["import", "sacct", &name, "--source", &source]);
    }
    bank
}

fn source_data(mut of: Value) -> Value {
    let fields = of.as_object_mut().unwrap();
    fields.retain(|field, _| !OF_THE_CHARGE.contains(&field.as_str()));
    of
}

#[test]
fn the_source_data_of_a_job_does_not_depend_on_the_payer() {
    let mut bank = jobs_in_every_mode();
    let all = uses(&export(&bank, &["jsonl"]));
    assert_eq!(all.len(), 8, "{all:#?}");
    let of = |mode: &str, id: &str| {
        let is = |one: &&Value| one["machine"] == format!("m-{mode}") && one["local_job_id"] == id;
        all.iter().find(is).unwrap().clone()
    };
    for mode in MODES {
        let one = of(mode, "77");
        let stated = json!({
            "kind": "Job", "user": "amy", "uid": 1001, "group": "chem", "gid": 200,
            "project": "chemistry", "hosts": ["n08", "n09"], "local_job_id": "77",
            "job_name": "relax & see = 1", "submit_time": "2025-12-01T00:00:00Z",
            "start_time": "2025-12-01T01:00:00Z", "end_time": "2025-12-01T02:00:00Z",
            "wall_s": "3600", "charge_s": "3600", "processor_s": "57600", "cpu_total_s": "36000", "cpu_user_s": "32400",
            "cpu_system_s": "3600", "requested_s": "14400", "processors": "16", "proc_rate": "1",
            "nodes": 2, "gpus": 0, "requested_processors": "12",
            "memory_total_bytes": 8_388_608_000_i64,
            "requested_memory_per_node_bytes": 4_194_304_000_i64,
            "state": "Completed", "exit_code": 0,
        });
        assert_eq!(source_data(one.clone()), stated, "{mode}");
        assert_eq!(one["source"], format!("slurm:{mode}"));
        assert_eq!(
            source_data(of(mode, "78")),
            source_data(of("track", "78")),
            "{mode}"
        );
        assert_eq!(of(mode, "78")["state"], "Failed", "{mode}");
    }
    bank.verify();
}

/// Money that did not move is in no sum of `charge`.
#[test]
fn shadow_charges_are_shown_beside_charges() {
    let bank = jobs_in_every_mode();
    one_by_one(&bank, "notional");
    one_by_one(&bank, "track");
    let all = uses(&export(&bank, &["jsonl"]));
    for one in &all {
        let machine = one["machine"].as_str().unwrap();
        let moved = machine == "m-strict" || machine == "m-fast";
        assert_eq!(one["charge"] != "0", moved, "{one}");
        assert_eq!(one["outcome"] == "Shadow", !moved, "{one}");
        assert_eq!(one.get("shadow_charge").is_some(), !moved, "{one}");
    }
    let shadow = |machine: &str, id: &str| {
        let is = |one: &&Value| one["machine"] == machine && one["local_job_id"] == id;
        all.iter().find(is).unwrap()["shadow_charge"].clone()
    };
    for mode in ["notional", "track"] {
        let machine = format!("m-{mode}");
        assert_eq!(shadow(&machine, "77"), "57600", "{mode}");
        assert_eq!(shadow(&machine, "one"), "57600", "{mode}");
    }
}

/// A record like job 77, as a command of its own.
fn one_by_one(bank: &Bank, mode: &str) {
    let record = json!({
        "source": format!("slurm:{mode}"), "id": "one", "machine": format!("m-{mode}"),
        "user": "amy", "project": "chemistry", "start": "2025-12-01T01:00:00Z",
        "end": "2025-12-01T02:00:00Z", "state": "completed", "processors": 16, "nodes": 2,
        "memory_mb": 8000, "cpu_s": 36_000, "host": "n[08-09]",
        "attributes": {"job_name": "relax & see = 1", "uid": "1001"},
    });
    let request = Request {
        method: "POST",
        body: record.to_string().into_bytes(),
        ..Request::get("/api/v1/usage")
    };
    let request = request.header("Content-Type", "application/json");
    let answer = bank.over_socket(&request.header("Idempotency-Key", mode));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn records_sent_one_by_one_keep_what_they_say() {
    let bank = jobs_in_every_mode();
    for mode in MODES {
        one_by_one(&bank, mode);
    }
    let all = uses(&export(&bank, &["jsonl"]));
    let ones: Vec<&Value> = all.iter().filter(|o| o["local_job_id"] == "one").collect();
    assert_eq!(ones.len(), 4);
    for one in ones {
        assert_eq!(one["cpu_total_s"], "36000", "{one}");
        assert_eq!(one["memory_total_bytes"], 8_388_608_000_i64, "{one}");
        assert!(one.get("memory_max_per_node_bytes").is_none(), "{one}");
        assert_eq!(one["job_name"], "relax & see = 1", "{one}");
        assert_eq!(one["hosts"], json!(["n08", "n09"]), "{one}");
        assert_eq!(one["uid"], 1001, "{one}");
    }
}

/// Every format of jobs has the billed ones, with the memory of the whole job.
#[test]
fn formats_of_jobs_have_what_was_billed() {
    let bank = jobs_in_every_mode();
    for mode in MODES {
        let machine = format!("m-{mode}");
        let of = |words: &[&str]| export(&bank, &[words, &["-m", &machine]].concat());
        let xdmod = of(&["xdmod"]);
        let columns: Vec<&str> = xdmod.lines().next().unwrap().split('|').collect();
        assert_eq!(columns[6..10], ["chem", "200", "amy", "1001"], "{mode}");
        assert_eq!(columns[19], "12", "{mode}");
        assert_eq!(columns[20], "4000Mn", "{mode}");
        assert_eq!(columns[22], "billing=16,cpu=16,mem=8000M,node=2", "{mode}");
        assert_eq!(columns[24..], ["n[08-09]", "relax & see = 1"], "{mode}");
        let ur2 = of(&["ur2"]);
        for element in [
            "<CpuDuration>PT36000S</CpuDuration>",
            "<MemoryResourceCapacityUsed>8388608000</MemoryResourceCapacityUsed>",
            "<JobName>relax &amp; see = 1</JobName>",
        ] {
            assert!(ur2.contains(element), "{mode}: {element}\n{ur2}");
        }
        let ur1 = of(&["ur1", "--document"]);
        for element in [
            "<CpuDuration urf:usageType=\"user\">PT32400S</CpuDuration>",
            "<TimeDuration urf:type=\"requested\">PT14400S</TimeDuration>",
            "<Memory urf:storageUnit=\"KB\" urf:metric=\"total\" urf:type=\"physical\">8192000</Memory>",
            "<Resource urf:description=\"bank.group\">chem</Resource>",
            "<Resource urf:description=\"bank.uid\">1001</Resource>",
        ] {
            assert!(ur1.contains(element), "{mode}: {element}\n{ur1}");
        }
        let auditor = of(&["jsonl", "--profile", "auditor"]);
        let head: Value = serde_json::from_str(auditor.lines().next().unwrap()).unwrap();
        let amount = |name: &str| {
            let components = head["components"].as_array().unwrap();
            let found = components.iter().find(|one| one["name"] == name).unwrap();
            found["amount"].clone()
        };
        assert_eq!(amount("Memory"), 8_388_608_000_i64, "{mode}");
        assert_eq!(amount("TotalCPU"), 36_000, "{mode}");
        let swf = of(&["swf"]);
        let job = swf.lines().find(|line| !line.starts_with(';')).unwrap();
        let fields: Vec<&str> = job.split_whitespace().collect();
        // 36,000 s and 8,192,000 KB shared among 16 processors.
        assert_eq!((fields[5], fields[6]), ("2250", "512000"), "{mode}: {job}");
    }
}

/// `XDMoD`'s lines come back with the names and the nodes of the jobs.
#[test]
fn xdmod_lines_keep_names_and_nodes() {
    let bank = jobs_in_every_mode();
    let (file, name) = path(&bank, "again.log");
    let text = export(&bank, &["xdmod", "-m", "m-strict"]);
    fs::write(&file, text.replace("m-strict", "m-again")).unwrap();
    bank.bank_ok(&["machine", "add", "m-again"]);
    bank.bank_ok(&["import", "sacct", &name, "--source", "slurm:again"]);
    let again = export(&bank, &["xdmod", "-m", "m-again"]);
    assert_eq!(again.replace("m-again", "m-strict"), text);
}
