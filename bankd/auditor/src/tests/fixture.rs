//! A bank with AUDITOR's routes on a separate port, and a client that returns the received bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use bank_core::amount::{Amount, Precision};
use bank_core::command::{Command, Deposit, Scope};
use bank_core::time::Timestamp;
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_ledger::clock::{LedgerClock, SetClock};
use bankd_ledger::writer::{Caller, Decided, Origin, Submission};
use bankd_records::Drain;
use bankd_safekeeping::init::{self, Choices};
use bankd_services::{Services, start};
use bankd_store::answer::{Answer, Media};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::super::{Gate, House, serve_house};

pub(super) struct Bank {
    _folder: tempfile::TempDir,
    pub(super) services: Arc<Services>,
    pub(super) house: Arc<House>,
    pub(super) clock: Arc<SetClock>,
    /// The bank's present when it was opened, µs.
    pub(super) now: i64,
    pub(super) database: std::path::PathBuf,
    drain: Option<Drain>,
    pub(super) address: SocketAddr,
    stop: Option<watch::Sender<()>>,
    served: Option<tokio::task::JoinHandle<()>>,
}

/// The answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// In lower case.
    pub(super) head: String,
    /// Without its chunks.
    pub(super) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

impl Bank {
    pub(super) async fn open() -> Bank {
        Self::with(|_| (), false).await
    }

    /// With other settings; `track` as if the listener were off loopback.
    pub(super) async fn with(change: impl FnOnce(&mut Config), track: bool) -> Bank {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::new(&folder.path().join("bank"));
        let choices = Choices {
            precision: Precision::DEFAULT,
            unit: "SU".into(),
            test: true,
        };
        let data = tokio::task::spawn_blocking(move || init::init(&data, &choices).map(|_| data));
        let data = data.await.unwrap().unwrap();
        let mut config = Config::default();
        change(&mut config);
        // Not before the times that `init` recorded.
        let now = (bankd_ledger::clock::auth_now_s() + 1) * 1_000_000;
        let clock = Arc::new(SetClock::new(Timestamp(now)));
        let shown: Arc<dyn LedgerClock> = Arc::clone(&clock) as Arc<dyn LedgerClock>;
        let (services, drain) = start::start_with(&data, &config, |_| Ok(shown)).unwrap();
        let gate = Gate::open(&services.auditor, data.path()).unwrap();
        let house = House::new(Arc::clone(&services), Arc::new(gate), &data.database());
        let house = Arc::new(house.unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(());
        let served = {
            let house = Arc::clone(&house);
            tokio::spawn(async move { serve_house(&house, &listener, track, stopped).await })
        };
        Bank {
            _folder: folder,
            services,
            house,
            clock,
            now,
            database: data.database(),
            drain: Some(drain),
            address,
            stop: Some(stop),
            served: Some(served),
        }
    }

    /// Machine `hpc` charged from here, project `physics` with 1,000 credits; 1 credit for a processor
    /// second.
    pub(super) async fn furnish(&self) {
        self.run(Command::add_record(
            "machine",
            "hpc",
            &[("source", "auditor".into())],
        ))
        .await;
        self.run(Command::add_record("user", "amy", &[])).await;
        self.run(Command::add_record(
            "project",
            "physics",
            &[("members", vec!["amy".into()].into())],
        ))
        .await;
        self.run(Command::Deposit(Deposit {
            name: "physics".into(),
            amount: Amount(1_000_000),
            ..Deposit::default()
        }))
        .await;
    }

    pub(super) async fn run(&self, command: Command) {
        let submission = Submission {
            command,
            caller: Caller {
                actor: "admin".into(),
                client: "admin".into(),
                origin: Origin::Cli,
                scope: Scope::default(),
            },
            key: None,
            request_id: "r".into(),
            dry_run: false,
            render,
            fingerprint: String::new(),
            turn: None,
        };
        let reply = self.services.writer.submit(submission).await.unwrap();
        let bankd_ledger::writer::Reply::Fresh { summary, .. } = reply else {
            panic!("{reply:?}")
        };
        assert_eq!(summary.code, "");
    }

    pub(super) async fn ask(&self, method: &str, target: &str, headers: &str, body: &str) -> Reply {
        let reply = self.raw(method, target, headers, body.as_bytes()).await;
        reply.unwrap_or_else(|| panic!("{method} {target}: no answer"))
    }

    /// The received bytes; `None` if the connection ended without any.
    pub(super) async fn raw(
        &self,
        method: &str,
        target: &str,
        headers: &str,
        body: &[u8],
    ) -> Option<Reply> {
        let length = body.len();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\n\
             content-length: {length}\r\n{headers}\r\n"
        );
        let request = [head.as_bytes(), body].concat();
        let address = self.address;
        let exchange = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            let _ = stream.write_all(&request);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            answer
        });
        reply(&String::from_utf8(exchange.await.unwrap()).unwrap())
    }

    pub(super) async fn get(&self, target: &str) -> Reply {
        self.ask("GET", target, "", "").await
    }

    pub(super) async fn send(&self, method: &str, target: &str, body: &str) -> Reply {
        self.ask(method, target, "content-type: application/json\r\n", body)
            .await
    }

    /// The ids of an answer, in order.
    pub(super) async fn ids(&self, query: &str) -> Vec<String> {
        let reply = self.get(&format!("/records?{query}")).await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.body);
        let of = |line: &str| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["record_id"].as_str().unwrap().to_owned()
        };
        reply.body.lines().map(of).collect()
    }

    /// One number of the database.
    pub(super) async fn number(&self, sql: &'static str) -> i64 {
        let answer = self.services.readers.run(move |connection| {
            Ok(connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0))?)
        });
        answer.await.unwrap().unwrap_or(0)
    }

    /// Money of `physics` in credits: left and held, and the same in the shadow totals.
    pub(super) async fn money(&self) -> [i64; 4] {
        let mut all = [0; 4];
        for (sum, column) in all.iter_mut().zip([
            "SELECT sum(amount) / 1000 FROM allocation JOIN account ON account.id = allocation.account WHERE name = 'physics'",
            "SELECT sum(held) / 1000 FROM allocation JOIN account ON account.id = allocation.account WHERE name = 'physics'",
            "SELECT sum(shadow) / 1000 FROM allocation JOIN account ON account.id = allocation.account WHERE name = 'physics'",
            "SELECT sum(shadow_held) / 1000 FROM allocation JOIN account ON account.id = allocation.account WHERE name = 'physics'",
        ]) {
            *sum = self.number(column).await;
        }
        all
    }

    pub(super) async fn close(mut self) {
        drop(self.stop.take());
        self.served.take().unwrap().await.unwrap();
        let (drain, services) = (self.drain.take().unwrap(), Arc::clone(&self.services));
        let ended = tokio::task::spawn_blocking(move || {
            drain.stop();
            services.writer.stop();
            services.writer_thread.wait()
        });
        assert!(ended.await.unwrap());
    }
}

fn render(_: &Decided<'_>) -> Answer {
    Answer {
        status: 200,
        media: Media::Text,
        body: Vec::new(),
    }
}

/// An answer in its parts.
fn reply(answer: &str) -> Option<Reply> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let head = head.to_lowercase();
    let chunked = head.contains("transfer-encoding: chunked");
    Some(Reply {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        body: if chunked {
            joined(body)
        } else {
            body.to_owned()
        },
        head,
    })
}

/// The chunks of a body together; the last one, which is empty, must be there.
fn joined(body: &str) -> String {
    let mut whole = String::new();
    let mut rest = body;
    loop {
        let (length, after) = rest.split_once("\r\n").expect("a chunk's length");
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return whole;
        }
        whole.push_str(&after[..length]);
        rest = &after[length + 2..];
    }
}

/// A record with these times (of 2024-02) and more.
pub(super) fn record(id: &str, start: &str, stop: Option<&str>, more: &str) -> String {
    let stop = stop.map_or("null".to_owned(), |stop| format!("\"2024-02-{stop}Z\""));
    format!(
        r#"{{"record_id":"{id}","meta":{{"site_id":["hpc"],"group_id":["physics"],"user_id":["amy"]}},"components":[{{"name":"Cores","amount":2,"scores":[]}}],"start_time":"2024-02-{start}Z","stop_time":{stop}{more}}}"#
    )
}

/// An open record of `amy` that began so many seconds from the bank's present.
pub(super) fn begun(bank: &Bank, id: &str, seconds: i64) -> String {
    let at = moment(bank, seconds);
    record(id, "01T00:00:00", None, "").replace("2024-02-01T00:00:00Z", &at)
}

/// So many seconds from the bank's present.
pub(super) fn moment(bank: &Bank, seconds: i64) -> String {
    let mut text = Vec::new();
    bankd_intake::auditor::time::write(bank.now + seconds * 1_000_000, &mut text);
    String::from_utf8(text).unwrap()
}
