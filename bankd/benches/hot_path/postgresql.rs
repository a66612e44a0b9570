//! Reserve and charge as bare functions of `PostgreSQL`, with its default durable configuration: no HTTP, no
//! signatures, no rules and no proofs. The functions are `bench/pg` of the shared samples.

use crate::figure::Figure;
use crate::place::{LOAD_CORE, Place, SERVER_CORE, on_core};
use crate::report::Figures;
use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Clients of `pgbench` that share its one thread.
const CLIENTS: &str = "16";

/// The account that the server runs as when the bench is root, which it refuses.
const ACCOUNT: &str = "postgres";

/// Measures it, where both the server and the samples exist.
pub(crate) fn run(place: &Place, seconds: u64, figures: &mut Figures) -> Result<()> {
    let samples = env::var_os("BANK_SHARED").map(|shared| PathBuf::from(shared).join("bench/pg"));
    let (Some(samples), Some(programs)) = (samples, programs()) else {
        eprintln!("  PostgreSQL is left out: its server or BANK_SHARED is missing");
        return Ok(());
    };
    let server = Server::start(place, programs, SERVER_CORE)?;
    let schema = samples.join("schema.sql");
    ran(server.client("psql").args(["-q", "-f"]).arg(schema))?;
    let seconds = seconds.to_string();
    let words = [
        "-n", "-M", "prepared", "-j", "1", "-c", CLIENTS, "-T", &seconds, "-f",
    ];
    let printed = ran(server
        .client("pgbench")
        .args(words)
        .arg(samples.join("pair.sql")))?;
    let pairs = printed.lines().find_map(|line| line.strip_prefix("tps = "));
    let pairs = pairs.and_then(|rest| rest.split(['.', ' ']).next()?.parse::<u64>().ok());
    // An iteration is a reserve and a charge.
    let pairs = pairs.with_context(|| format!("pgbench printed {printed}"))?;
    figures.add("pg", Figure::whole(pairs * 2));
    Ok(())
}

/// The folder of the programs of the newest version.
pub(crate) fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.flatten().map(|version| version.path().join("bin"));
    let mut whole: Vec<PathBuf> = folders
        .filter(|folder| folder.join("pgbench").exists())
        .collect();
    whole.sort();
    whole.pop()
}

/// A running server; stopped when it is dropped.
pub(crate) struct Server {
    folder: PathBuf,
    programs: PathBuf,
}

impl Server {
    /// An empty server on these cores.
    pub(crate) fn start(place: &Place, programs: PathBuf, core: &str) -> Result<Server> {
        let folder = place.folder("pg")?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777))?;
        let server = Server { folder, programs };
        ran(server
            .own("initdb", core)?
            .args(["-A", "trust", "-U", ACCOUNT, "--locale=C"]))?;
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={}",
            server.folder.display()
        );
        let log = server.folder.join("log");
        let mut start = server.own("pg_ctl", core)?;
        ran(start
            .args(["-w", "-o", &options, "-l"])
            .arg(log)
            .arg("start"))?;
        Ok(server)
    }

    /// The settings of a node whose log is here.
    pub(crate) fn node(&self, name: &str) -> [(&'static str, String); 3] {
        let folder = self.folder.display();
        [
            (
                "BANKD_CLUSTER_LOG",
                format!("host={folder} user={ACCOUNT} dbname=postgres"),
            ),
            ("BANKD_CLUSTER_NODE", name.to_owned()),
            // Nothing is passed on: the load goes to the writer.
            ("BANKD_CLUSTER_ADDRESS", format!("http://{name}.invalid:1")),
        ]
    }

    /// A program of the server, with its data directory, as its account.
    fn own(&self, name: &str, core: &str) -> Result<Command> {
        let program = self.programs.join(name);
        let is_root = fs::metadata("/proc/self")?.uid() == 0;
        let mut command = if is_root {
            let mut command = on_core(core, Path::new("setpriv"));
            command.args(["--clear-groups", "--reuid", ACCOUNT, "--regid", ACCOUNT]);
            command.arg(program);
            command
        } else {
            on_core(core, &program)
        };
        command.arg("-D").arg(self.folder.join("data"));
        Ok(command)
    }

    /// A client of the server.
    fn client(&self, name: &str) -> Command {
        let mut command = on_core(LOAD_CORE, &self.programs.join(name));
        command
            .arg("-h")
            .arg(&self.folder)
            .args(["-U", ACCOUNT, "-d", "postgres"]);
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(mut stop) = self.own("pg_ctl", SERVER_CORE) {
            let _ = stop.args(["-m", "immediate", "stop"]).output();
        }
    }
}

/// Runs a program to its end; what it printed.
pub(crate) fn ran(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
