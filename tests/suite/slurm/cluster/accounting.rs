//! Slurm's accounting: the real slurmdbd with its database on a real server of `MariaDB`. slurmctld tracks GPUs only with
//! them.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::{Cluster, PLACES, bank};
use crate::harness::{free_port, skip, until};
use crate::migrate::MariaDb;

/// The programs that a cluster with accounting needs besides.
const PROGRAMS: [&str; 3] = ["slurmdbd", "sacctmgr", "sacct"];

/// Whether Slurm and its accounting can be started here; reports why not.
pub(in crate::slurm) fn is_here() -> bool {
    if !super::is_here() {
        return false;
    }
    let found = |name: &str| {
        PLACES
            .iter()
            .any(|place| fs::exists(format!("{place}/{name}")).unwrap())
    };
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| !found(name)).collect();
    if !missing.is_empty() {
        skip("slurmdbd", &format!("no {}", missing.join(", ")));
        return false;
    }
    let is_here = MariaDb::is_here();
    if !is_here {
        skip("slurmdbd", "no MariaDB server");
    }
    is_here
}

/// The database of a cluster, and the accounts that it gets.
pub(super) struct Accounting {
    database: MariaDb,
    accounts: Vec<String>,
}

impl Cluster {
    /// Like [`Cluster::new`], with accounting, and with two GPUs of type a100 and one of type h100 on each node. The
    /// projects are accounts of Slurm with the user root.
    pub(in crate::slurm) fn with_gpus(projects: &[(&str, i64)]) -> Self {
        let mut cluster = Self::without_hooks("test", bank(projects));
        let accounts = projects.iter().map(|(name, _)| (*name).to_owned());
        cluster.accounting = Some(Accounting {
            database: MariaDb::start(&cluster.bank),
            accounts: accounts.collect(),
        });
        let (dir, port) = (cluster.path(""), free_port());
        let dir = dir.to_str().unwrap().trim_end_matches('/');
        let text = fs::read_to_string(cluster.path("slurm.conf")).unwrap();
        let accounting = format!(
            "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n\
             AccountingStoragePort={port}\nAccountingStoragePass={dir}/run/munge.sock\n\
             AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/gpu:h100\nGresTypes=gpu"
        );
        let text = text
            .replace("AccountingStorageType=accounting_storage/none", &accounting)
            .replace(" CPUs=8 ", " CPUs=8 Gres=gpu:a100:2,gpu:h100:1 ");
        cluster.write("slurm.conf", &text);
        // Slurm counts a GPU if its file exists, and gives the file of no other to a job.
        let mut gres = String::new();
        for (kind, name) in [("a100", "a0"), ("a100", "a1"), ("h100", "h0")] {
            fs::write(cluster.path(name), "").unwrap();
            let _ = writeln!(gres, "Name=gpu Type={kind} File={dir}/{name}");
        }
        cluster.write("gres.conf", &gres);
        let settings = format!(
            "AuthType=auth/munge\nAuthInfo=socket={dir}/run/munge.sock\nDbdHost=localhost\nDbdAddr=127.0.0.1\n\
             DbdPort={port}\nSlurmUser=root\nLogFile={dir}/log/slurmdbd\nPidFile={dir}/run/dbd.pid\n\
             StorageType=accounting_storage/mysql\nStorageHost=localhost\nStorageUser=root\nStorageLoc=slurm\n"
        );
        cluster.write("slurmdbd.conf", &settings);
        // slurmdbd reads it only if nobody else can.
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(cluster.path("slurmdbd.conf"), private).unwrap();
        cluster.hooked()
    }

    /// Starts slurmdbd, if there is a database, and adds the cluster, its accounts and root.
    pub(super) fn start_accounting(&mut self) {
        let Some(accounting) = &self.accounting else {
            return;
        };
        let socket = accounting.database.socket();
        let accounts = accounting.accounts.clone();
        let mut daemon = Command::new("slurmdbd");
        daemon
            .arg("-D")
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("MYSQL_UNIX_PORT", socket);
        self.spawn(daemon);
        until("slurmdbd answers", || {
            let ran = self.slurm(&["sacctmgr", "-n", "list", "cluster"]);
            (ran.exit == 0).then_some(())
        });
        let add = |words: &[&str]| {
            let ran = self.slurm(&[&["sacctmgr", "-i", "add"], words].concat());
            assert_eq!(ran.exit, 0, "{words:?}: {}{}", ran.stdout, ran.stderr);
        };
        add(&["cluster", "test"]);
        for account in &accounts {
            add(&["account", account]);
            add(&["user", "root", &format!("account={account}")]);
        }
    }

    /// Stops the scripts of the bank at the start and end of jobs, as on a cluster that was not connected.
    pub(in crate::slurm) fn disconnect(&self) {
        let text = fs::read_to_string(self.path("slurm.conf")).unwrap();
        let hooks = ["PrologSlurmctld=", "EpilogSlurmctld=", "JobSubmitPlugins="];
        let is_kept = |line: &&str| !hooks.iter().any(|name| line.starts_with(name));
        let kept: Vec<&str> = text.lines().filter(is_kept).collect();
        self.write("slurm.conf", &format!("{}\n", kept.join("\n")));
        assert_eq!(self.slurm(&["scontrol", "reconfigure"]).exit, 0);
        until("no script is in force", || {
            let ran = self.slurm(&["scontrol", "show", "config"]);
            let is_unset = |name: &str| {
                let mut lines = ran.stdout.lines();
                lines.any(|line| line.starts_with(name) && line.ends_with("(null)"))
            };
            hooks[..2]
                .iter()
                .all(|name| is_unset(name.trim_end_matches('=')))
                .then_some(())
        });
    }

    /// The records of `sacct`, called as `docs/reference/import.md` describes, as a file.
    pub(in crate::slurm) fn sacct(&self) -> String {
        let columns = "--format=JobID,JobIDRaw,Cluster,User,Account,State,ExitCode,Submit,Start,End,Elapsed,NNodes,NCPUS,AllocTRES";
        let words = [
            "env",
            "-u",
            "SLURM_TIME_FORMAT",
            "TZ=UTC",
            "sacct",
            "--allusers",
            "--parsable2",
            "--allocations",
            "--duplicates",
            "--starttime=now-1hour",
            columns,
        ];
        let ran = self.slurm(&words);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        ran.stdout
    }
}
