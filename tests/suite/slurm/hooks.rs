//! The programs of the hooks without Slurm: a `scontrol` of the test prints the facts of a job, at times of the
//! test's clock. For lives that would take a real cluster long, and for many of them: `gpus.rs` has the real GPUs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use crate::harness::{Bank, Ran, T0, programs};

/// A job as Slurm shows it. Times are seconds after T0.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// Slurm's own number.
    pub(super) raw: &'static str,
    /// The id in `sacct`: `17`, `16_3`, `16+1`.
    pub(super) id: &'static str,
    pub(super) account: &'static str,
    pub(super) user: &'static str,
    pub(super) restarts: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    /// Seconds of them in which it was suspended.
    pub(super) suspended: i64,
    pub(super) limit: i64,
    pub(super) tres: &'static str,
}

impl Job {
    /// A job of amy in chemistry from 0 to 360 on four processors, with a limit of an hour.
    pub(super) fn new(raw: &'static str, id: &'static str) -> Self {
        Self {
            raw,
            id,
            account: "chemistry",
            user: "amy",
            restarts: 0,
            start: 0,
            end: 360,
            suspended: 0,
            limit: 3600,
            tres: "cpu=4,node=1",
        }
    }

    /// Its line in the output of `scontrol show job -o`.
    fn line(&self, state: &str, (start, end, ran): (i64, i64, i64)) -> String {
        let ids = match (self.id.split_once('_'), self.id.split_once('+')) {
            (Some((job, task)), _) => format!("ArrayJobId={job} ArrayTaskId={task} "),
            (_, Some((job, part))) => format!("HetJobId={job} HetJobOffset={part} "),
            _ => String::new(),
        };
        let Self {
            raw,
            account,
            user,
            restarts,
            tres,
            ..
        } = self;
        format!(
            "JobId={raw} {ids}JobName=x UserId={user}(7) Account={account} QOS=(null) JobState={state} \
             Requeue=1 Restarts={restarts} RunTime={} \
             TimeLimit={} SubmitTime={} StartTime={} EndTime={} Partition=batch TRES={tres} Command=a\n",
            clock(ran),
            clock(self.limit),
            T0 + self.start,
            T0 + start,
            T0 + end,
        )
    }

    /// Its line in the output of `sacct`, under [`HEAD`].
    pub(super) fn record(&self) -> String {
        let part = |name: &str| {
            let mut pairs = self.tres.split(',').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).unwrap().1.to_owned()
        };
        let at = |seconds| format!("2026-01-01T{}", clock(seconds));
        let Self {
            raw,
            id,
            account,
            user,
            tres,
            ..
        } = self;
        let (start, end) = (at(self.start), at(self.end));
        let elapsed = clock(self.end - self.start - self.suspended);
        format!(
            "{id}|{raw}|colony|{user}|{account}|COMPLETED|0:0|{start}|{start}|{end}|{elapsed}|{}|{}|{tres}\n",
            part("node"),
            part("cpu"),
        )
    }
}

/// The columns of [`Job::record`].
pub(super) const HEAD: &str = "JobID|JobIDRaw|Cluster|User|Account|State|ExitCode|Submit|Start|End|Elapsed|NNodes|\
                               NCPUS|AllocTRES\n";

fn clock(seconds: i64) -> String {
    let (hours, rest) = (seconds / 3600, seconds % 3600);
    format!("{hours:02}:{:02}:{:02}", rest / 60, rest % 60)
}

/// A bank whose scripts read the facts of jobs from the test.
pub(super) struct Hooks {
    pub(super) bank: Bank,
}

impl Hooks {
    pub(super) fn new(bank: Bank) -> Self {
        let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n[ \"$1\" = show ] && exec cat job\necho \"$@\" >> calls\n";
        let path = bank.folder().join("scontrol");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        for role in ["bank-slurm-prolog", "bank-slurm-epilog"] {
            symlink(programs().scripts(), bank.folder().join(role)).unwrap();
        }
        let settings = format!(
            "server=unix:{}\nspool_dir={}\nslurm_scontrol={}\n",
            bank.socket().display(),
            bank.spool().display(),
            path.display(),
        );
        fs::write(bank.folder().join("slurm-nami.conf"), settings).unwrap();
        Self { bank }
    }

    fn run(&self, role: &str, job: &Job, line: Option<&str>) -> Ran {
        match line {
            Some(line) => fs::write(self.bank.folder().join("job"), line).unwrap(),
            None => drop(fs::remove_file(self.bank.folder().join("job"))),
        }
        let mut command = Command::new(self.bank.folder().join(role));
        command
            .env("NAMI_CONF", self.bank.folder().join("slurm-nami.conf"))
            .env("BANKD_TEST_CLOCK", self.bank.clock())
            .env("SLURM_CLUSTER_NAME", "colony")
            .env("SLURM_JOB_ID", job.raw)
            .env("SLURM_JOB_USER", job.user)
            .env("SLURM_JOB_ACCOUNT", job.account)
            .env("SLURM_JOB_CPUS_PER_NODE", "4")
            .env("SLURM_JOB_NUM_NODES", "1")
            .env("SLURM_JOB_NAME", "x")
            .env("SLURM_JOB_EXIT_CODE2", "0:0")
            .env("SLURM_JOB_RESTART_COUNT", job.restarts.to_string());
        let names = match (job.id.split_once('_'), job.id.split_once('+')) {
            (Some(ids), _) => Some((ids, ["SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"])),
            (_, Some(ids)) => Some((ids, ["SLURM_HET_JOB_ID", "SLURM_HET_JOB_OFFSET"])),
            _ => None,
        };
        if let Some(((first, second), [one, two])) = names {
            command.env(one, first).env(two, second);
        }
        Ran::of(&mut command, b"")
    }

    /// The job starts.
    pub(super) fn prolog(&self, job: &Job) -> Ran {
        self.bank.set_clock(T0 + job.start);
        let times = (job.start, job.start + job.limit, 0);
        self.run(
            "bank-slurm-prolog",
            job,
            Some(&job.line("CONFIGURING", times)),
        )
    }

    /// The job ends.
    pub(super) fn epilog(&self, job: &Job) -> Ran {
        self.bank.set_clock(T0 + job.end);
        let times = (job.start, job.end, job.end - job.start - job.suspended);
        self.run(
            "bank-slurm-epilog",
            job,
            Some(&job.line("COMPLETED", times)),
        )
    }

    /// The job ends with the size that it has since a time.
    pub(super) fn epilog_resized(&self, job: &Job, at: i64) -> Ran {
        self.bank.set_clock(T0 + job.end);
        let times = (job.start, job.end, job.end - job.start);
        let line = job.line("COMPLETED", times);
        let resized = format!(" ResizeTime={} StartTime=", T0 + at);
        let line = line.replacen(" StartTime=", &resized, 1);
        self.run("bank-slurm-epilog", job, Some(&line))
    }

    /// The run ends, and the job returns to the queue.
    pub(super) fn requeue(&self, job: &Job) -> Ran {
        self.bank.set_clock(T0 + job.end);
        let mut job = job.clone();
        job.restarts += 1;
        let line = job.line("COMPLETING", (job.end, job.end + job.limit, 0));
        self.run("bank-slurm-epilog", &job, Some(&line))
    }

    /// The node of the run fails, and the job returns to the queue: the environment has the number of restarts from
    /// before.
    pub(super) fn fail_node(&self, job: &Job) -> Ran {
        self.bank.set_clock(T0 + job.end);
        let mut shown = job.clone();
        shown.restarts += 1;
        let line = shown.line("COMPLETING", (job.end, job.end + job.limit, 0));
        self.run("bank-slurm-epilog", job, Some(&line))
    }

    /// Both scripts while `scontrol` fails.
    pub(super) fn without_scontrol(&self, job: &Job) {
        for (role, at) in [
            ("bank-slurm-prolog", job.start),
            ("bank-slurm-epilog", job.end),
        ] {
            self.bank.set_clock(T0 + at);
            let ran = self.run(role, job, None);
            assert_eq!(ran.exit, 0, "{role}: {}", ran.stderr);
        }
    }

    /// The job from its start to its end.
    pub(super) fn whole(&self, job: &Job) {
        self.prolog(job).expect(0, "");
        self.epilog(job).expect(0, "");
    }

    /// Imports a file of `sacct` with these jobs, a day later.
    pub(super) fn import(&self, jobs: &[&Job]) -> String {
        self.bank.set_clock(T0 + 86_400);
        let lines: String = jobs.iter().map(|job| job.record()).collect();
        let path = self.bank.folder().join("day.sacct");
        fs::write(&path, format!("{HEAD}{lines}")).unwrap();
        let path = path.to_str().unwrap();
        self.bank
            .bank_ok(&["import", "sacct", path, "--source", "slurm:colony"])
    }
}
