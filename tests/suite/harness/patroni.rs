//! A `PostgreSQL` that fails over: two nodes under Patroni with synchronous replication, and the etcd that elects.
//!
//! Everything listens on loopback, trusts it, and keeps its files in a temporary folder. Nothing is left after a drop.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::patroni_node::{Node, is_root};
use super::peers::{postgresql, skip, tool};
use super::ports::free_port;
use super::wait::pause;

/// How long a pair may take until it has a leader and a synchronous standby; measured: 15 to 20 s.
const READY: Duration = Duration::from_mins(3);
/// How long one question to Patroni may take; a stopped node never answers.
const ANSWER: Duration = Duration::from_secs(1);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// How many lines of each log a failure prints.
const LINES: usize = 300;
/// How often new ports are picked when another program took one.
const TRIES: usize = 5;

/// etcd and two nodes of Patroni.
#[derive(Debug)]
pub(crate) struct Patroni {
    // Fields are dropped in this order: the folder goes last.
    nodes: [Node; 2],
    etcd: Node,
    rest: [u16; 2],
    postgres: [u16; 2],
    #[expect(dead_code, reason = "removes the folder when it is dropped")]
    home: tempfile::TempDir,
}

impl Patroni {
    /// A pair that is ready. `None`, and one line that reports it, where a program is missing.
    pub(crate) fn start() -> Option<Self> {
        let programs = match missing() {
            Ok(programs) => programs,
            Err(why) => {
                skip("patroni", &why);
                return None;
            }
        };
        for _ in 1..TRIES {
            let pair = Self::new(&programs);
            if pair.until_ready() {
                return Some(pair);
            }
        }
        let pair = Self::new(&programs);
        pair.ready();
        Some(pair)
    }

    fn new(programs: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        // The folder must be open for the user of the server.
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (client, peer) = (free_port(), free_port());
        let rest = [free_port(), free_port()];
        let postgres = [free_port(), free_port()];
        let mut etcd = Node::new(home.path().join("etcd"), etcd_words(client, peer));
        let nodes = [0, 1].map(|index| {
            let folder = home.path().join(format!("node{index}"));
            let words = ["patroni", "config.yml"].map(str::to_owned).to_vec();
            let node = Node::new(folder, words);
            let ports = [client, rest[index], postgres[index]];
            let text = config(index, node.folder(), programs, ports);
            fs::write(node.folder().join("config.yml"), text).unwrap();
            node
        });
        etcd.start();
        let mut pair = Self {
            nodes,
            etcd,
            rest,
            postgres,
            home,
        };
        for node in &mut pair.nodes {
            node.start();
        }
        pair
    }

    /// Where clients connect: both hosts, and only to the one that writes.
    pub(crate) fn connection(&self) -> String {
        Self::connection_by(self.postgres)
    }

    /// The same by other ports of the two servers, such as those of links before them.
    pub(crate) fn connection_by([first, second]: [u16; 2]) -> String {
        format!(
            "host=127.0.0.1,127.0.0.1 port={first},{second} user=postgres dbname=postgres \
             target_session_attrs=read-write connect_timeout=2"
        )
    }

    /// The address of the server of a node, for a link before it.
    pub(crate) fn address(&self, node: usize) -> String {
        format!("127.0.0.1:{}", self.postgres[node])
    }

    /// The node that holds the lock of the leader; waits until there is one.
    pub(crate) fn leader(&self) -> usize {
        self.wait("a leader", Self::found_leader)
    }

    /// Waits until there is a leader and the other node is its synchronous standby.
    pub(crate) fn ready(&self) {
        self.wait("a leader and a synchronous standby", Self::found_pair);
    }

    /// SIGKILL to Patroni and the server of a node together.
    pub(crate) fn kill(&mut self, node: usize) {
        self.nodes[node].kill();
    }

    /// Starts a node again that was killed.
    pub(crate) fn start_again(&mut self, node: usize) {
        self.nodes[node].start();
    }

    /// SIGSTOP to all processes of a node.
    pub(crate) fn stop(&self, node: usize) {
        self.nodes[node].stop();
    }

    /// SIGCONT to all processes of a node.
    ///
    /// Not for a leader that was stopped for longer than `ttl`: Patroni 3.0.2 of Debian 12 with the v3 API of etcd may
    /// then take the lock back from the new leader (mended upstream: patroni 2689 and 2783). Rows that the new leader
    /// acknowledged are lost, and the pair may have no synchronous standby again. Kill and start such a node again.
    pub(crate) fn cont(&self, node: usize) {
        self.nodes[node].cont();
    }

    /// SIGKILL to etcd.
    pub(crate) fn kill_etcd(&mut self) {
        self.etcd.kill();
    }

    /// Starts etcd again.
    pub(crate) fn start_etcd(&mut self) {
        self.etcd.start();
    }

    /// SIGSTOP to etcd.
    pub(crate) fn stop_etcd(&self) {
        self.etcd.stop();
    }

    /// SIGCONT to etcd.
    pub(crate) fn cont_etcd(&self) {
        self.etcd.cont();
    }

    fn found_leader(&self) -> Option<usize> {
        let leaders = [0, 1].map(|node| is(self.rest[node], "primary"));
        match leaders {
            [true, false] => Some(0),
            [false, true] => Some(1),
            _ => None,
        }
    }

    fn found_pair(&self) -> Option<usize> {
        let leader = self.found_leader()?;
        is(self.rest[1 - leader], "synchronous").then_some(leader)
    }

    /// Whether the new pair became ready; `false` if another program took a port.
    fn until_ready(&self) -> bool {
        self.wait("a pair", |pair| match pair.found_pair() {
            Some(_) => Some(true),
            None => pair.lost_port().then_some(false),
        })
    }

    fn lost_port(&self) -> bool {
        self.logs()
            .to_lowercase()
            .contains("address already in use")
    }

    #[track_caller]
    fn wait<T>(&self, what: &str, look: impl Fn(&Self) -> Option<T>) -> T {
        let since = Instant::now();
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            let late = since.elapsed() > READY;
            assert!(!late, "waited in vain for {what}\n{}", self.logs());
            pause(LOOK);
        }
    }

    fn logs(&self) -> String {
        let [first, second] = &self.nodes;
        let logs = [&self.etcd, first, second].map(|node| {
            let name = node.folder().display();
            let log = node.log();
            let lines: Vec<&str> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(LINES)..];
            format!("== {name}\n{}", last.join("\n"))
        });
        logs.join("\n")
    }
}

/// The folder of the server's programs, or what is missing.
fn missing() -> Result<PathBuf, String> {
    for (program, package) in [
        ("patroni", "patroni"),
        ("etcd", "etcd-server"),
        ("psql", "postgresql-client"),
        ("setpriv", "util-linux"),
    ] {
        if !tool(program) {
            return Err(format!("no {program} (package {package})"));
        }
    }
    let programs = postgresql().ok_or("no PostgreSQL server")?;
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    if is_root() && !users.lines().any(|line| line.starts_with("postgres:")) {
        return Err("no user postgres".to_owned());
    }
    Ok(programs)
}

fn etcd_words(client: u16, peer: u16) -> Vec<String> {
    let (client, peer) = (
        format!("http://127.0.0.1:{client}"),
        format!("http://127.0.0.1:{peer}"),
    );
    [
        "etcd".to_owned(),
        "--name=one".to_owned(),
        "--data-dir=data".to_owned(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=one={peer}"),
    ]
    .to_vec()
}

/// The settings of a node, with the ports of etcd, of its REST API and of its server.
fn config(index: usize, folder: &Path, programs: &Path, ports: [u16; 3]) -> String {
    let [etcd, rest, postgres] = ports;
    let (folder, programs) = (folder.display(), programs.display());
    format!(
        "scope: bank
name: node{index}
restapi:
  listen: 127.0.0.1:{rest}
  connect_address: 127.0.0.1:{rest}
etcd3:
  host: 127.0.0.1:{etcd}
bootstrap:
  dcs:
    ttl: 5
    loop_wait: 1
    retry_timeout: 3
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 50
        shared_buffers: 16MB
        wal_log_hints: 'on'
  initdb:
  - encoding: UTF8
  - locale: C
postgresql:
  listen: 127.0.0.1:{postgres}
  connect_address: 127.0.0.1:{postgres}
  data_dir: {folder}/data
  bin_dir: {programs}
  pgpass: {folder}/pgpass
  remove_data_directory_on_diverged_timelines: true
  remove_data_directory_on_rewind_failure: true
  authentication:
    superuser:
      username: postgres
      password: postgres
    replication:
      username: replicator
      password: replicator
  parameters:
    unix_socket_directories: {folder}
  pg_hba:
  - local all all trust
  - host all all 127.0.0.1/32 trust
  - host replication all 127.0.0.1/32 trust
"
    )
}

/// Whether Patroni answers that its node has this role: status 200.
fn is(port: u16, role: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut stream = TcpStream::connect_timeout(&address, ANSWER)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(format!("GET /{role} HTTP/1.0\r\n\r\n").as_bytes())?;
        // To the end: Patroni logs a traceback for each answer that is not read.
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let status = answer.get(..12).unwrap_or_default();
        Ok(status.ends_with(b" 200"))
    };
    ask().unwrap_or(false)
}
