//! A cluster of one machine: the real munged, slurmctld and two slurmd in the folder of one test, beside a bank whose
//! clock is that of the machine, as Slurm's is.

pub(super) mod accounting;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use self::accounting::Accounting;
use crate::harness::{Bank, Ran, free_port, programs, skip, until, workspace};

/// The programs of Slurm that the tests need.
const PROGRAMS: [&str; 7] = [
    "slurmctld",
    "slurmd",
    "sbatch",
    "scontrol",
    "munged",
    "setpriv",
    "unshare",
];
/// Where a distribution puts them.
const PLACES: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
/// What the name of the second node has behind that of the machine. The backfill scheduler starts a heterogeneous job
/// only if it finds a node for each part.
const SECOND: &str = "b";
/// The plug-in that reads `job_submit.lua`.
const PLUGIN: &str = "job_submit_lua.so";

/// Whether Slurm can be started here; reports why not.
pub(super) fn is_here() -> bool {
    let found = |name: &&str| {
        PLACES
            .iter()
            .any(|place| Path::new(place).join(name).exists())
    };
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| !found(name)).collect();
    if !missing.is_empty() {
        skip("slurm", &format!("no {}", missing.join(", ")));
        return false;
    }
    let arches = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    if !arches
        .into_iter()
        .any(|arch| arch.path().join("slurm-wlm").join(PLUGIN).exists())
    {
        skip("slurm", &format!("no {PLUGIN}"));
        return false;
    }
    let is_root = fs::read_link("/proc/self").is_ok() && user() == "root";
    if !is_root {
        skip("slurm", "its daemons need root");
    }
    is_root
}

fn user() -> String {
    let ran = Ran::of(Command::new("id").arg("-un"), b"");
    ran.stdout.trim().to_owned()
}

/// A running cluster and its bank.
pub(super) struct Cluster {
    /// Its server ends before the folder of the bank is removed, where its files are.
    accounting: Option<Accounting>,
    pub(super) bank: Bank,
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// A bank with the machine `test`, the user root and these projects with their credits, and a cluster whose
    /// scripts ask it.
    pub(super) fn new(projects: &[(&str, i64)]) -> Self {
        Self::without_hooks("test", bank(projects)).hooked()
    }

    /// With the scripts of the bank, and started.
    fn hooked(mut self) -> Self {
        self.settings("");
        self.scripts();
        let dir = self.folder.path().display();
        let hooks = format!(
            "JobSubmitPlugins=lua\nPrologSlurmctld={dir}/bin/prolog\nEpilogSlurmctld={dir}/bin/epilog\n"
        );
        let text = fs::read_to_string(self.path("slurm.conf")).unwrap();
        self.write("slurm.conf", &format!("{text}{hooks}"));
        self.lua(true);
        self.start();
        self
    }

    /// A cluster that was not started, and whose `slurm.conf` names nothing of this bank.
    pub(super) fn without_hooks(name: &str, bank: Bank) -> Self {
        let folder = tempfile::Builder::new().prefix("slurm-").tempdir().unwrap();
        let cluster = Self {
            accounting: None,
            bank,
            folder,
            daemons: Vec::new(),
        };
        for name in ["run", "state", "spool", "log", "munge", "bin"] {
            fs::create_dir(cluster.path(name)).unwrap();
        }
        cluster.write("slurm.conf", &cluster.configuration(name));
        cluster.write("job.sh", "#!/bin/sh\nexec sleep \"$1\"\n");
        cluster
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes an executable file of the folder.
    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes `nami.conf`, with further lines.
    pub(super) fn settings(&self, more: &str) {
        let text = format!(
            "server=unix:{}\nspool_dir={}\nslurm_conf={}\nslurm_submit_ms=5000\n{more}\n",
            self.bank.socket().display(),
            self.path("nami-spool").display(),
            self.path("slurm.conf").display(),
        );
        self.write("nami.conf", &text);
    }

    /// Writes `job_submit.lua` with the settings of the test at its top.
    pub(super) fn lua(&self, fail_open: bool) {
        let path = workspace().join("nami-scripts/slurm/job_submit.lua");
        let text = fs::read_to_string(path).unwrap();
        let text = text
            .replace(
                "/usr/libexec/bank/nami/bank-slurm-submit",
                &self.path("bin/submit").display().to_string(),
            )
            .replace("TIMEOUT = \"0.5\"", "TIMEOUT = \"6\"")
            .replace("FAIL_OPEN = true", &format!("FAIL_OPEN = {fail_open}"));
        self.write("job_submit.lua", &text);
    }

    /// Links of the program, each behind a script that names the settings, as `slurm.conf` gives none.
    fn scripts(&self) {
        for role in ["prolog", "epilog", "submit"] {
            let link = self.path(&format!("bin/bank-slurm-{role}"));
            symlink(programs().scripts(), &link).unwrap();
            let text = format!(
                "#!/bin/sh\nexport NAMI_CONF={}\nexec {} \"$@\" 2>>{}\n",
                self.path("nami.conf").display(),
                link.display(),
                self.path("log/bank").display(),
            );
            self.write(&format!("bin/{role}"), &text);
        }
    }

    fn configuration(&self, name: &str) -> String {
        let host = Ran::of(Command::new("hostname").arg("-s"), b"");
        let host = host.stdout.trim().to_owned();
        let dir = self.folder.path().display();
        let (controller, node, second) = (free_port(), free_port(), free_port());
        format!(
            "ClusterName={name}\nSlurmctldHost={host}(127.0.0.1)\nAuthType=auth/munge\n\
             AuthInfo=socket={dir}/run/munge.sock\nCredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\n\
             SlurmctldPort={controller}\nStateSaveLocation={dir}/state\n\
             SlurmdSpoolDir={dir}/spool/%n\nSlurmctldLogFile={dir}/log/slurmctld\nSlurmdLogFile={dir}/log/slurmd-%n\n\
             SlurmctldPidFile={dir}/run/ctld.pid\nSlurmdPidFile={dir}/run/%n.pid\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             ReturnToService=2\nSlurmdParameters=config_overrides\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1\nKillWait=1\nDefMemPerCPU=100\n\
             JobCompType=jobcomp/none\nAccountingStorageType=accounting_storage/none\n\
             NodeName={host} NodeAddr=127.0.0.1 Port={node} CPUs=8 RealMemory=2000 State=UNKNOWN\n\
             NodeName={host}{SECOND} NodeAddr=127.0.0.1 Port={second} CPUs=8 RealMemory=2000 State=UNKNOWN\n\
             PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP \
             TRESBillingWeights=\"CPU=3.0,Mem=0.25G\"\n"
        )
    }

    /// Starts the daemons, and waits until both nodes are idle.
    pub(super) fn start(&mut self) {
        let dir = self.folder.path().to_owned();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        let key: String = (0..64).fold(String::new(), |mut key, n| {
            let _ = write!(key, "{:032x}", u128::from(std::process::id()) * 7919 + n);
            key
        });
        fs::write(self.path("munge/key"), key).unwrap();
        fs::set_permissions(self.path("munge/key"), fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(self.path("munge"), fs::Permissions::from_mode(0o700)).unwrap();
        let mut chown = Command::new("chown");
        chown
            .args(["-R", "munge"])
            .arg(self.path("munge"))
            .arg(self.path("run"));
        assert_eq!(Ran::of(&mut chown, b"").exit, 0);
        let mut munged = Command::new("setpriv");
        munged
            .args([
                "--reuid=munge",
                "--regid=munge",
                "--clear-groups",
                "munged",
                "-F",
            ])
            .arg(format!("--socket={}/run/munge.sock", dir.display()));
        for name in ["key", "pid", "log", "seed"] {
            munged.arg(format!("--{name}-file={}/munge/{name}", dir.display()));
        }
        self.spawn(munged);
        until("munged listens", || {
            self.path("run/munge.sock").exists().then_some(())
        });
        self.start_accounting();
        let conf = self.path("slurm.conf");
        let mut controller = Command::new("slurmctld");
        controller.args(["-D", "-f"]).arg(&conf);
        self.spawn(controller);
        until("slurmctld answers", || {
            (self.slurm(&["scontrol", "ping"]).exit == 0).then_some(())
        });
        let mut node = Command::new("slurmd");
        node.args(["-D", "-f"]).arg(&conf);
        self.spawn(node);
        // Debian builds slurmd without --enable-multiple-slurmd (`-N`): the second one has a name of its own.
        let script = format!("hostname \"$(hostname -s){SECOND}\"; exec slurmd -D -f \"$0\"");
        let mut node = Command::new("unshare");
        node.args(["--uts", "sh", "-c", &script]).arg(&conf);
        self.spawn(node);
        until("both nodes are idle", || {
            let ran = self.slurm(&["sinfo", "-h", "-o", "%T %D"]);
            (ran.stdout.trim() == "idle 2").then_some(())
        });
    }

    fn spawn(&mut self, mut command: Command) {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path("log/output"))
            .unwrap();
        let child = command
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .env_remove("NAMI_CONF")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.daemons.push(child);
    }

    /// Runs a command of Slurm.
    pub(super) fn slurm(&self, words: &[&str]) -> Ran {
        let mut command = Command::new("timeout");
        command
            .arg("20")
            .args(words)
            .current_dir(self.folder.path())
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("SLURM_TIME_FORMAT", "%s");
        Ran::of(&mut command, b"")
    }

    /// Submits a job that sleeps so many seconds, and returns its number.
    #[track_caller]
    pub(super) fn submit(&self, words: &[&str], seconds: &str) -> String {
        let ran = self.try_submit(words, seconds);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        ran.stdout.trim().to_owned()
    }

    pub(super) fn try_submit(&self, words: &[&str], seconds: &str) -> Ran {
        let all = [
            &["sbatch", "--parsable", "-o", "/dev/null"][..],
            words,
            &["job.sh", seconds],
        ]
        .concat();
        self.slurm(&all)
    }

    /// A value of `scontrol show job`.
    pub(super) fn value(&self, job: &str, key: &str) -> String {
        let ran = self.slurm(&["scontrol", "show", "job", job, "-o"]);
        let found = ran.stdout.split_once(&format!(" {key}="));
        let value = found.map_or("", |(_, rest)| rest);
        value.split(' ').next().unwrap().trim().to_owned()
    }

    /// Waits for a state of a job.
    #[track_caller]
    pub(super) fn wait(&self, job: &str, state: &str) {
        until(&format!("job {job} is {state}"), || {
            (self.value(job, "JobState") == state).then_some(())
        });
    }

    /// Waits until the bank has closed all uses of these jobs, and there are as many.
    #[track_caller]
    pub(super) fn wait_closed(&self, id: &str, uses: usize) {
        until(&format!("the bank has closed {id}"), || {
            let rows = self.uses(id);
            let closed = rows.iter().filter(|row| row["state"] == "closed").count();
            (closed == uses && rows.len() == uses).then_some(())
        });
    }

    /// The uses of a job in the bank.
    pub(super) fn uses(&self, id: &str) -> Vec<serde_json::Value> {
        let mut rows = self.bank.jobs();
        rows.retain(|row| row["job"] == id);
        rows
    }

    /// Runs `bank.drain`.
    pub(super) fn drain(&self) -> Ran {
        let mut command = Command::new(programs().scripts());
        command
            .args(["--event", "drain"])
            .env("NAMI_CONF", self.path("nami.conf"));
        Ran::of(&mut command, b"")
    }

    /// Imports the output of `sacct`.
    #[track_caller]
    pub(super) fn import_records(&self, records: &str) {
        let path = self.path("day.sacct");
        fs::write(&path, records).unwrap();
        let path = path.to_str().unwrap();
        let words = ["import", "sacct", path, "--source", "slurm:test"];
        self.bank.bank_ok(&words);
    }

    /// How many documents wait in the spool.
    pub(super) fn waiting(&self) -> usize {
        let Ok(entries) = fs::read_dir(self.path("nami-spool")) else {
            return 0;
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "doc"))
            .count()
    }

    /// Runs whose epilog has not come.
    pub(super) fn open_runs(&self) -> usize {
        fs::read_dir(self.path("nami-spool/slurm")).map_or(0, Iterator::count)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for name in ["log/bank", "log/slurmctld"] {
                let log = fs::read_to_string(self.path(name)).unwrap_or_default();
                eprintln!("{name}:");
                let tail: Vec<&str> = log.lines().rev().take(40).collect();
                tail.iter().rev().for_each(|line| eprintln!("  {line}"));
            }
        }
        // Jobs first, then the daemons in the reverse order of their start.
        let _ = self.slurm(&["scancel", "--partition=batch"]);
        while let Some(mut child) = self.daemons.pop() {
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

fn bank(projects: &[(&str, i64)]) -> Bank {
    // Slurm's times are those of the machine.
    let mut bank = Bank::bare(vec![("BANKD_TEST_CLOCK".to_owned(), String::new())]);
    let mut init = Command::new(programs().bankd());
    init.args(["init", "--precision", "0", "--data"])
        .arg(bank.data());
    let ran = Ran::of(&mut init, b"");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    bank.start();
    bank.bank_ok(&["user", "add", "root"]);
    bank.bank_ok(&["machine", "add", "test", "--mode", "strict"]);
    for (project, credits) in projects {
        bank.bank_ok(&["project", "add", project, "--members", "root"]);
        bank.bank_ok(&[
            "deposit",
            project,
            &credits.to_string(),
            "--limit",
            "0",
            "--new",
        ]);
    }
    bank
}
