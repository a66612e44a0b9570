//! A bank behind the gateway with the base state of the captures, a manual clock, and text for answers and
//! journal entries.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bank_core::amount::{Amount, Precision};
use bank_core::command::{Command, Deposit, Scope, SetMember, SetRate};
use bank_core::rate::{Per, RateKind, RateValue};
use bank_core::time::{MICROS, Timestamp};
use bankd_config::data_dir::DataDir;
use bankd_config::{Config, NoFundsWord};
use bankd_ledger::access::{Role, Roles};
use bankd_ledger::clock::LedgerClock;
use bankd_ledger::writer::{Caller, Origin, Reply, Submission};
use bankd_records as records;
use bankd_services::{Services, start};
use bankd_store::SqliteStore;
use bankd_store::bank::NewBank;
use bankd_store::read::{journal, liens, money};

use crate::{Content, Peer, Verified, talk};

/// 2026-11-20T23:06:50Z: the first message.
pub(super) const T0: i64 = 1_795_216_010;
/// From the first charge on.
pub(super) const T1: i64 = 1_795_216_100;

/// A clock that is set by hand, in seconds.
struct Hand(AtomicI64);

impl LedgerClock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed) * MICROS)
    }
}

/// A bank, its clock, and its client.
pub(super) struct Bench {
    _folder: tempfile::TempDir,
    pub(super) services: Arc<Services>,
    _records: records::Drain,
    clock: Arc<Hand>,
    pub(super) peer: Peer,
    pub(super) is_maui: bool,
    /// The last transaction of the search.
    mark: i64,
}

impl Bench {
    /// The base state; precision 0.
    pub(super) async fn new() -> Bench {
        Bench::of(0, Config::default()).await
    }

    /// The base state with another precision or other settings.
    pub(super) async fn of(places: u8, config: Config) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::new(folder.path());
        let new = NewBank {
            uuid: "u".to_owned(),
            precision: Precision::new(places).unwrap(),
            unit: "credits".to_owned(),
            test: true,
            init_uid: 0,
            created_at: Timestamp::from_seconds(T0),
        };
        SqliteStore::create(&data.database(), &new, config.policy()).unwrap();
        std::fs::create_dir(data.keys()).unwrap();
        let clock = Arc::new(Hand(AtomicI64::new(T0)));
        let shared: Arc<dyn LedgerClock> = Arc::clone(&clock) as _;
        let (services, records) = start::start_with(&data, &config, |_| Ok(shared)).unwrap();
        let mut bench = Bench {
            _folder: folder,
            services,
            _records: records,
            clock,
            peer: Peer {
                name: "maui".to_owned(),
                key_id: "maui".to_owned(),
                client: "maui".to_owned(),
                scope: Scope {
                    projects: Vec::new(),
                    machines: vec!["cluster1".to_owned()],
                    ..Scope::default()
                },
                roles: Roles::of(&[Role::Scheduler]),
                user: None,
                no_funds: NoFundsWord::Auto,
                strict_project: false,
            },
            is_maui: true,
            mark: 0,
        };
        bench.base_state().await;
        bench
    }

    async fn base_state(&mut self) {
        self.admin(Command::SetRate(SetRate {
            kind: RateKind::Vbr,
            name: "Processors".to_owned(),
            instance: String::new(),
            value: RateValue::parse("1").unwrap(),
            per: Per::Second,
            machine: None,
            from: None,
            until: None,
            when: None,
            description: String::new(),
        }))
        .await;
        self.machine("cluster1").await;
        for name in ["chem", "physics", "freebie", "R&D", "broke"] {
            self.project(name).await;
            if name != "broke" {
                self.deposit(name, 1_000_000).await;
            }
        }
        for (name, default, projects) in [
            ("amy", "chem", &["chem", "R&D"][..]),
            ("bob", "physics", &["physics"]),
            ("eve", "broke", &["broke", "freebie"]),
        ] {
            self.user(name, Some(default)).await;
            for project in projects {
                self.admin(Command::SetMember(SetMember {
                    project: (*project).to_owned(),
                    user: name.to_owned(),
                    active: Some(true),
                    role: None,
                }))
                .await;
            }
        }
    }

    pub(super) async fn machine(&mut self, name: &str) {
        self.admin(Command::add_record("machine", name, &[])).await;
    }

    pub(super) async fn project(&mut self, name: &str) {
        self.admin(Command::add_record("project", name, &[])).await;
    }

    pub(super) async fn user(&mut self, name: &str, default: Option<&str>) {
        self.admin(Command::add_record(
            "user",
            name,
            &[("default_project", default.into())],
        ))
        .await;
    }

    /// Whole credits into a project's account.
    pub(super) async fn deposit(&mut self, name: &str, credits: i64) {
        let minor = self
            .services
            .writer
            .directory()
            .bank
            .precision
            .minor_per_credit();
        self.admin(Command::Deposit(Deposit {
            name: name.to_owned(),
            amount: Amount(credits * minor),
            ..Deposit::default()
        }))
        .await;
    }

    /// A command of the site's, which must be accepted.
    pub(super) async fn admin(&mut self, command: Command) {
        let submission = Submission {
            command,
            caller: Caller {
                actor: "admin".to_owned(),
                client: "admin".to_owned(),
                origin: Origin::Cli,
                scope: Scope::default(),
            },
            key: None,
            request_id: "r".to_owned(),
            dry_run: false,
            render: |decided| bankd_store::answer::Answer {
                status: 200,
                media: bankd_store::answer::Media::Text,
                body: decided
                    .decision
                    .as_ref()
                    .err()
                    .map_or("", |r| r.code())
                    .into(),
            },
            fingerprint: String::new(),
            turn: None,
        };
        match self.services.writer.submit(submission).await.unwrap() {
            Reply::Fresh { answer, .. } => assert_eq!(String::from_utf8_lossy(&answer.body), ""),
            other => panic!("{other:?}"),
        }
        let _ = self.journal().await;
    }

    /// Moves the clock.
    pub(super) fn at(&self, second: i64) {
        self.clock.0.store(second, Ordering::Relaxed);
    }

    /// Acts as a client other than Maui.
    pub(super) fn as_other(&mut self) -> &mut Bench {
        self.is_maui = false;
        self
    }

    /// Sends the bytes of a body.
    pub(super) async fn send(&self, body: &[u8]) -> Content {
        let request = Verified {
            origin: Origin::Gold,
            key: None,
            dry_run: false,
            peer: Arc::new(self.peer.clone()),
            is_maui: self.is_maui,
            body: body.to_vec(),
        };
        talk::answer(&self.services, &request).await
    }

    /// Sends a request about a job, its fields as `Name=value` words.
    pub(super) async fn job(&self, action: &str, fields: &str) -> String {
        shown(&self.send(job(action, fields).as_bytes()).await)
    }

    /// Sends a query of an object, with the given content of the request.
    pub(super) async fn query(&self, object: &str, inside: &str) -> String {
        let body = format!(
            "<Body><Request action=\"Query\" actor=\"x\"><Object>{object}</Object>{inside}\
             </Request></Body>"
        );
        shown(&self.send(body.as_bytes()).await)
    }

    /// Amount and held amount, in minor units.
    pub(super) async fn account(&self, name: &str) -> String {
        self.services.writer.settle().await.unwrap();
        let id = self
            .services
            .writer
            .directory()
            .any_account_named(name)
            .unwrap()
            .id;
        let now = self.services.writer.ledger_now();
        let figures = self
            .services
            .readers
            .run(move |c| money::figures(c, &[id], now))
            .await
            .unwrap();
        format!("{}/{}", figures[0].amount, figures[0].held)
    }

    /// The open liens: job, amount, end.
    pub(super) async fn liens(&self) -> String {
        self.services.writer.settle().await.unwrap();
        let page = self
            .services
            .readers
            .run(|c| liens::list(c, liens::Wanted::Open, None, 100, |_| true))
            .await
            .unwrap();
        let mut all: Vec<_> = page
            .rows
            .iter()
            .map(|row| {
                format!(
                    "{} {} until {}",
                    row.object_id,
                    row.lien.remaining(),
                    row.lien.end.seconds()
                )
            })
            .collect();
        all.sort();
        all.join("; ")
    }

    /// Journal entries since the last call: `op kind account amount/held (reason)`.
    pub(super) async fn journal(&mut self) -> String {
        let span = journal::Span {
            after: self.mark,
            limit: 1000,
            ..journal::Span::default()
        };
        let page = self
            .services
            .readers
            .run(move |c| journal::page(c, &span, |_| true))
            .await
            .unwrap();
        let directory = self.services.writer.directory();
        let mut lines = Vec::new();
        for row in page.rows {
            self.mark = row.tx.id;
            let mut line = row.tx.op.clone();
            if let Some((_, entry)) = &row.entry {
                let account = entry.account.map(bank_core::ids::AccountId);
                let account = account.and_then(|id| directory.account(id));
                let name = account.map_or("-", |a| a.name.as_str());
                let (kind, amount, held) = (&entry.kind, entry.delta_amount, entry.delta_held);
                line = format!("{line} {kind} {name} {amount}/{held}");
            }
            if !row.tx.reason.is_empty() {
                line = format!("{line} ({})", row.tx.reason);
            }
            lines.push(line);
        }
        lines.join("; ")
    }
}

/// A request about a job.
pub(super) fn job(action: &str, fields: &str) -> String {
    let field = |word: &str| {
        let (name, value) = word.split_once('=').unwrap();
        format!("<{name}>{value}</{name}>")
    };
    let fields: String = fields.split_whitespace().map(field).collect();
    format!(
        "<Body actor=\"root\"><Request action=\"{action}\" actor=\"root\"><Object>Job</Object>\
         <Data><Job>{fields}</Job></Data></Request></Body>"
    )
}

/// An answer as text: value and code, number of rows, data, message.
pub(super) fn shown(content: &Content) -> String {
    let count = content.count.as_ref();
    let count = count.map(|n| format!(" #{n}")).unwrap_or_default();
    let data = content
        .data
        .as_ref()
        .map(|d| format!(" [{d}]"))
        .unwrap_or_default();
    let message = content
        .message
        .as_ref()
        .map(|m| format!(" {m}"))
        .unwrap_or_default();
    format!("{:?} {}{count}{data}{message}", content.value, content.code)
}
