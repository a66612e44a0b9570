//! A server of `PostgreSQL` for one test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bankd_cluster::Settings;
use tempfile::TempDir;

use crate::auditor::authority::Authority;
use crate::harness::free_port;

/// Runs a program, which must succeed. The output goes to a file: a server that it starts keeps it open.
#[track_caller]
fn ran(command: &mut Command) -> String {
    let out = tempfile::NamedTempFile::new().unwrap();
    command.stdin(std::process::Stdio::null());
    command
        .stdout(out.reopen().unwrap())
        .stderr(out.reopen().unwrap());
    let status = command.status().unwrap();
    let text = fs::read_to_string(out.path()).unwrap();
    assert!(status.success(), "{command:?}: {text}");
    text
}

/// The server; it listens on a port of the loopback and asks for a password.
pub(super) struct Server {
    folder: TempDir,
    programs: PathBuf,
    is_root: bool,
    pub(super) port: u16,
}

pub(super) const PASSWORD: &str = "Geheim-7714";

impl Server {
    pub(super) fn start(programs: PathBuf) -> Server {
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let port = free_port();
        let is_root = ran(Command::new("id").arg("-u")).trim() == "0";
        let home = folder.path().join("pg");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("password"), PASSWORD).unwrap();
        if is_root {
            ran(Command::new("chown").arg("-R").arg("nobody").arg(&home));
        }
        let server = Server {
            folder,
            programs,
            is_root,
            port,
        };
        let (data, password) = (server.path("data"), server.path("password"));
        let password = format!("--pwfile={password}");
        let words = [
            "-D",
            &data,
            "-U",
            "bank",
            "-A",
            "scram-sha-256",
            &password,
            "-E",
            "UTF8",
        ];
        server.run("initdb", &[&words[..], &["--locale=C", "-N"]].concat());
        server.up();
        server
    }

    fn path(&self, name: &str) -> String {
        let home = self.folder.path().join("pg");
        home.join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, name: &str, words: &[&str]) {
        let program: &Path = &self.programs.join(name);
        let mut command = if self.is_root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        ran(command.args(words).current_dir("/"));
    }

    pub(super) fn up(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} -c fsync=off",
            self.port,
            self.path("")
        );
        let (data, log) = (self.path("data"), self.path("log"));
        self.run(
            "pg_ctl",
            &["-D", &data, "-o", &options, "-l", &log, "-w", "start"],
        );
    }

    /// From now on, only connections with TLS and the certificate `server` of an authority.
    pub(super) fn secure(&self, authority: &Authority) {
        self.down();
        for (name, mode) in [("server.pem", 0o644), ("server.key", 0o600)] {
            let own = self.path(name);
            fs::copy(authority.path(name), &own).unwrap();
            fs::set_permissions(&own, fs::Permissions::from_mode(mode)).unwrap();
            if self.is_root {
                ran(Command::new("chown").arg("nobody").arg(&own));
            }
        }
        let settings = format!(
            "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
            self.path("server.pem"),
            self.path("server.key")
        );
        let config = self.path("data/postgresql.conf");
        let all = fs::read_to_string(&config).unwrap();
        fs::write(&config, all + &settings).unwrap();
        let access = "hostssl all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(self.path("data/pg_hba.conf"), access).unwrap();
        self.up();
    }

    pub(super) fn down(&self) {
        self.run(
            "pg_ctl",
            &["-D", &self.path("data"), "-m", "immediate", "-w", "stop"],
        );
    }

    /// Runs statements, each in a transaction of its own, and returns their output.
    pub(super) fn sql(&self, statements: &[&str]) -> String {
        ran(&mut self.psql(statements))
    }

    pub(super) fn psql(&self, statements: &[&str]) -> Command {
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1"]);
        for statement in statements {
            command.args(["-c", statement]);
        }
        let port = self.port;
        command.arg(format!(
            "postgres://bank:{PASSWORD}@127.0.0.1:{port}/postgres"
        ));
        command
    }

    /// The settings of a log over a port: that of the server, or of a link to it.
    pub(super) fn settings(port: u16) -> Settings {
        Settings {
            address: format!("postgres://bank@127.0.0.1:{port}/postgres"),
            password: Some(PASSWORD.to_owned()),
            ca: None,
            bank: "0192f7c4-0000-7000-8000-000000000001".to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if Path::new(&self.path("data/postmaster.pid")).exists() {
            self.down();
        }
    }
}
