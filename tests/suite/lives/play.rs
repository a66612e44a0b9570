//! Plays the steps of a life on a bank.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::beside;
use super::exports::Pages;
use super::house::{Answer, House, month, time};
use super::statements;
use super::steps::{ACCOUNTS, MACHINES, PROJECTS, Reported, Span, Step, USERS, Undone};

const DAY: i64 = 86_400;
const MODES: [&str; 5] = ["strict", "notional", "track", "fast", "default"];
const RATES: [&str; 5] = [
    "1 second",
    "2 second",
    "0.5 second",
    "1 hour",
    "0.333333333 second",
];

/// A job as its scheduler has it.
#[derive(Clone, Debug, Default)]
struct Running {
    start: Option<i64>,
    charged_until: i64,
    is_over: bool,
}

/// A bank with the state that its clients keep.
pub(super) struct Play {
    pub(super) house: House,
    jobs: BTreeMap<u64, Running>,
    records: Vec<Value>,
    last: Option<(String, String)>,
    /// Exports along a cursor.
    pub(super) pages: Pages,
    /// Statements of closed periods, as they were after the close.
    pub(super) closed: Vec<(String, String)>,
    /// The first answer of 500 or above: status and body.
    pub(super) broken: Option<String>,
}

impl Play {
    /// A bank in which a life can begin.
    pub(super) fn new(places: u8) -> Play {
        let mut play = Play {
            house: House::new(places),
            jobs: BTreeMap::new(),
            records: Vec::new(),
            last: None,
            pages: Pages::default(),
            closed: Vec::new(),
            broken: None,
        };
        play.world();
        play
    }

    fn world(&mut self) {
        for name in ["amy", "bob"] {
            self.must("users", &json!({"name": name}));
        }
        for name in MACHINES {
            self.must("machines", &json!({"name": name}));
        }
        for name in ["chem", "phys", "bio"] {
            self.must(
                "projects",
                &json!({"name": name, "members": ["amy", "bob"]}),
            );
        }
        let both = json!([{"value": "chem", "allow": true}, {"value": "phys", "allow": true}]);
        let pool = json!({"name": "pool", "projects": both, "priority": 1});
        self.must("accounts", &pool);
        let rate = json!({"kind": "VBR", "name": "Processors", "rate": "1", "from": "1970-01-01T00:00:00Z"});
        self.must("rates", &rate);
        for (machine, change) in [
            (
                "m1",
                json!({"source": "nami", "reservation_charge": "reported"}),
            ),
            ("m2", json!({"source": "slurm:m2"})),
            ("m3", json!({"source": "slurm:m3", "mode": "track"})),
        ] {
            let answer = self
                .house
                .write("PATCH", &format!("/api/v1/machines/{machine}"), &change);
            assert!(answer.is_good(), "{}", answer.text);
        }
    }

    fn must(&mut self, route: &str, body: &Value) {
        let answer = self.house.write("POST", &format!("/api/v1/{route}"), body);
        assert!(answer.is_good(), "{route} {body}: {}", answer.text);
    }

    /// Plays one step. A rule may refuse it; other errors are recorded.
    pub(super) fn step(&mut self, step: &Step) {
        let answer = match step {
            Step::Pass(seconds) => {
                self.house.pass(*seconds);
                return;
            }
            Step::Export => {
                self.pages.go_on(&self.house);
                return;
            }
            Step::Reserve { .. }
            | Step::Interim { .. }
            | Step::End { .. }
            | Step::Delete { .. }
            | Step::Reserved(_)
            | Step::Again => self.scheduled(step),
            Step::Import(reported) => {
                let record = self.record(*reported);
                self.usage(vec![record])
            }
            Step::History(own) => self.usage(vec![beside::record(*own, self.house.now())]),
            Step::Chunk(all) => {
                let records = all.iter().map(|one| self.record(*one)).collect();
                self.chunk(records)
            }
            Step::Amend {
                back,
                percent,
                project,
                user,
            } => self.amend(*back, *percent, *project, *user),
            Step::Undo { back, of } => self.undo(*back, *of),
            Step::Extend { back, days } => self.extend(*back, *days),
            _ => self.plain(step),
        };
        match (step, &answer) {
            (Step::Close, Some(answer)) if answer.is_good() => {
                self.closed = statements::closed(&self.house);
            }
            (Step::Reopen, _) => self.closed.clear(),
            _ => {}
        }
        if let Some(answer) = answer.filter(|answer| answer.status >= 500) {
            let response = format!("{} {}", answer.status, answer.text);
            self.broken.get_or_insert(response);
        }
        self.house.pass(1);
    }

    /// Steps that are one request.
    fn plain(&mut self, step: &Step) -> Option<Answer> {
        match step {
            Step::Refund {
                job,
                percent,
                reissue,
            } => return self.refund(*job, *percent, *reissue),
            Step::Total { job, closes } => return self.total(*job, *closes),
            _ => {}
        }
        let now = self.house.now();
        let (method, target, body) = money(step, now).or_else(|| rule(step, now))?;
        let target = format!("/api/v1/{target}");
        Some(self.house.write(method, &target, &body))
    }

    fn scheduled(&mut self, step: &Step) -> Option<Answer> {
        let now = self.house.now();
        let (event, document) = match *step {
            Step::Reserve { job, wall } => {
                let mut running = self.jobs.get(&job).cloned().unwrap_or_default();
                if running.is_over || running.start.is_none() {
                    running = Running {
                        start: Some(now),
                        charged_until: now,
                        is_over: false,
                    };
                }
                self.jobs.insert(job, running);
                ("reserve", document(job, &[("WallDuration", wall)]))
            }
            Step::Interim { job } => {
                let running = self.jobs.get_mut(&job).filter(|r| !r.is_over)?;
                let seconds = now - running.charged_until;
                running.charged_until = now;
                (
                    "charge",
                    document(job, &[("ChargeDuration", seconds.max(1))]),
                )
            }
            Step::End { job, late, stated } => {
                let running = self.jobs.get_mut(&job).filter(|r| !r.is_over)?;
                running.is_over = true;
                let start = running.start.unwrap_or(now);
                let end = (now - late).max(running.charged_until);
                let seconds = (end - running.charged_until).max(0);
                running.charged_until = end;
                let mut fields = vec![("ChargeDuration", seconds)];
                if stated {
                    fields.extend([("StartTime", start), ("EndTime", end)]);
                }
                ("end", document(job, &fields))
            }
            Step::Delete { job } => ("delete", document(job, &[])),
            Step::Reserved(own) => beside::document(own, now),
            _ => {
                let (event, document) = self.last.clone()?;
                return Some(self.nami(&event, &document));
            }
        };
        self.last = Some((event.to_owned(), document.clone()));
        Some(self.nami(event, &document))
    }

    fn nami(&mut self, event: &str, document: &str) -> Answer {
        let target = format!("/nami/v1/{event}");
        self.house
            .keyed("POST", &target, &[], document.as_bytes().to_vec())
    }

    fn total(&mut self, job: u64, closes: bool) -> Option<Answer> {
        let now = self.house.now();
        let running = self.jobs.get_mut(&job)?;
        let start = running.start?;
        running.charged_until = running.charged_until.max(now);
        running.is_over |= closes;
        let rate = ["1", "0.5", "2"][usize::try_from(now % 3).unwrap()];
        let body = json!({
            "job": id(job), "machine": machine(job), "project": project(job), "user": user(job),
            "processors": processors(job), "duration_s": (now - start).max(1), "total": true,
            "interim": !closes, "attributes": {"ConsumptionRate": rate},
        });
        Some(self.house.write("POST", "/api/v1/charges", &body))
    }

    fn refund(&mut self, job: u64, percent: Option<i64>, reissue: Option<i64>) -> Option<Answer> {
        let mut body = json!({"job": id(job), "machine": machine(job)});
        if let Some(percent) = percent {
            let sql = "SELECT coalesce(sum(billed), 0) FROM instance WHERE object_id = ?1 AND machine = ?2";
            let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
            let billed = self
                .house
                .journal
                .query_row(sql, (id(job), machine(job)), read)
                .unwrap();
            let scale = 10_i64.pow(self.house.places());
            body["amount"] = json!((billed * percent / 100 / scale).max(1).to_string());
        }
        if let Some(days) = reissue {
            body["reissue_until"] = json!(time(self.house.now() + days * DAY));
        }
        Some(self.house.write("POST", "/api/v1/refunds", &body))
    }

    fn undo(&mut self, back: usize, of: Undone) -> Option<Answer> {
        let ops = match of {
            Undone::Reversal => "'undo'",
            Undone::Reference => "'machine_set', 'mapping_add'",
            Undone::Money => {
                "'charge', 'refund', 'adjust', 'transfer', 'deposit', 'withdraw', 'settle', 'usage',
                 'import', 'assign', 'late_charge'"
            }
        };
        let sql =
            format!("SELECT id FROM tx WHERE op IN ({ops}) ORDER BY id DESC LIMIT 1 OFFSET ?1");
        let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let offset = i64::try_from(back).unwrap();
        let tx = self.house.journal.query_row(&sql, [offset], read).ok()?;
        let body = json!({"transaction": tx, "allow_debt": true});
        Some(self.house.write("POST", "/api/v1/reversals", &body))
    }

    fn extend(&mut self, back: usize, days: i64) -> Option<Answer> {
        let sql = "SELECT id FROM allocation WHERE account <> 1 ORDER BY id DESC LIMIT 1 OFFSET ?1";
        let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let offset = i64::try_from(back).unwrap();
        let found = self.house.journal.query_row(sql, [offset], read).ok()?;
        let day = self.house.now().div_euclid(DAY) * DAY;
        let body = json!({"until": time(day + days * DAY)});
        Some(
            self.house
                .write("PATCH", &format!("/api/v1/allocations/{found}"), &body),
        )
    }

    /// The record that a collector has of a job now.
    fn record(&mut self, reported: Reported) -> Value {
        let now = self.house.now();
        let machine = machine(reported.job);
        let known = self
            .jobs
            .get(&reported.job)
            .and_then(|running| running.start);
        let start = known.unwrap_or(now - reported.age);
        let end = (start + reported.length).min(now).max(start + 1);
        let record = json!({
            "source": format!("{}:{machine}", ["slurm", "pbs"][reported.collector]),
            "id": id(reported.job), "machine": machine, "start": time(start), "end": time(end),
            "project": PROJECTS[reported.project], "user": USERS[reported.user],
            "processors": processors(reported.job), "state": "completed",
        });
        self.records.push(record.clone());
        record
    }

    fn amend(
        &mut self,
        back: usize,
        percent: i64,
        project: Option<usize>,
        user: Option<usize>,
    ) -> Option<Answer> {
        let place = self.records.len().checked_sub(1 + back)?;
        let mut record = self.records[place].clone();
        let (start, end) = (read(&record["start"]), read(&record["end"]));
        let length = ((end - start) * percent / 100).max(1);
        record["end"] = json!(time((start + length).min(self.house.now())));
        if let Some(project) = project {
            record["project"] = json!(PROJECTS[project]);
        }
        if let Some(user) = user {
            record["user"] = json!(USERS[user]);
        }
        self.records.push(record.clone());
        self.usage(vec![record])
    }

    fn usage(&mut self, records: Vec<Value>) -> Option<Answer> {
        Some(
            self.house
                .write("POST", "/api/v1/usage", &json!({"records": records})),
        )
    }

    /// Records as a file that is imported.
    fn chunk(&mut self, records: Vec<Value>) -> Option<Answer> {
        let source = records.first()?["source"].clone();
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        let open = json!({"source": source, "format": "jsonl"});
        let opened = self.house.write("POST", "/api/v1/imports", &open);
        let answer = opened.json();
        let Some(import) = answer["id"].as_str() else {
            return Some(opened);
        };
        let body = (lines.join("\n") + "\n").into_bytes();
        let target = format!("/api/v1/imports/{import}/data?file=a&at=0");
        let taken = self.house.keyed("POST", &target, &[], body);
        if !taken.is_good() {
            return Some(taken);
        }
        let target = format!("/api/v1/imports/{import}/end");
        loop {
            let ended = self.house.keyed("POST", &target, &[], Vec::new());
            if ended.status != 503 {
                return Some(ended);
            }
            std::thread::yield_now();
        }
    }
}

type Request = (&'static str, String, Value);

fn post(route: &str, body: Value) -> Option<Request> {
    Some(("POST", route.to_owned(), body))
}

/// Money by hand.
fn money(step: &Step, now: i64) -> Option<Request> {
    match step {
        Step::Deposit {
            account,
            amount,
            span,
            limit,
            back,
        } => {
            let mut body = json!({"name": ACCOUNTS[*account], "amount": amount.to_string()});
            let at = |days: i64| json!(time(now.div_euclid(DAY) * DAY + days * DAY));
            if let Span::Between(first, _) = span {
                body["start"] = at(*first);
            }
            if let Span::Until(last) | Span::Between(_, last) = span {
                body["end"] = at(*last);
            }
            if *limit > 0 {
                body["credit_limit"] = json!(limit.to_string());
            }
            if *back > 0 {
                body["effective"] = json!(time(now - back * DAY));
                body["new"] = json!(true);
            }
            post("deposits", body)
        }
        Step::Withdraw { account, amount } => {
            let body = json!({"name": ACCOUNTS[*account], "amount": amount.to_string()});
            post("withdrawals", body)
        }
        Step::Transfer { from, to, amount } => {
            let (from, to) = (ACCOUNTS[*from], ACCOUNTS[*to]);
            let body = json!({"from": from, "to": to, "amount": amount.to_string()});
            post("transfers", body)
        }
        Step::Adjust { account, amount } => {
            let (account, amount) = (ACCOUNTS[*account], amount.to_string());
            let body = json!({"account": account, "amount": amount, "note": "x"});
            post("adjustments", body)
        }
        _ => None,
    }
}

/// What is set, and what gives usage to somebody.
fn rule(step: &Step, now: i64) -> Option<Request> {
    match step {
        Step::Rate { which, machine } => {
            let (rate, per) = RATES[*which].split_once(' ').unwrap();
            let mut body = json!({"kind": "VBR", "name": "Processors", "rate": rate, "per": per});
            if let Some(machine) = machine {
                body["machine"] = json!(MACHINES[*machine]);
            }
            post("rates", body)
        }
        Step::MachineMode { machine, mode } => {
            let target = format!("machines/{}", MACHINES[*machine]);
            Some(("PATCH", target, json!({"mode": MODES[*mode]})))
        }
        Step::ProjectMode { project, mode } => {
            let target = format!("projects/{}", PROJECTS[*project]);
            Some(("PATCH", target, json!({"mode": MODES[*mode]})))
        }
        Step::Source { machine, source } => {
            let machine = MACHINES[*machine];
            let source = match source {
                0 => "nami".to_owned(),
                1 => format!("slurm:{machine}"),
                _ => format!("pbs:{machine}"),
            };
            let target = format!("machines/{machine}");
            Some(("PATCH", target, json!({"source": source})))
        }
        Step::Assign { project } => {
            let body = json!({"when": ["account=ghost"], "project": PROJECTS[*project]});
            post("unmapped/assign", body)
        }
        Step::Mapping { project } => {
            let body = json!({"when": ["account=ghost"], "project": PROJECTS[*project]});
            post("mappings", body)
        }
        Step::Settle { job, project } => {
            let project = PROJECTS[*project];
            let body = json!({"job": id(*job), "machine": machine(*job), "project": project});
            post("settlements", body)
        }
        Step::Close => post("closes", json!({"until": month(now)})),
        Step::Reopen => post("closes/undo", json!({})),
        _ => None,
    }
}

fn id(job: u64) -> String {
    (100 + job).to_string()
}

fn machine(job: u64) -> &'static str {
    MACHINES[usize::try_from(job % 3).unwrap()]
}

fn processors(job: u64) -> u64 {
    1 + job % 4
}

fn project(job: u64) -> &'static str {
    PROJECTS[usize::try_from(job / 2 % 4).unwrap()]
}

fn user(job: u64) -> &'static str {
    USERS[usize::try_from(job % 2).unwrap()]
}

fn document(job: u64, fields: &[(&str, i64)]) -> String {
    let fields: String = fields
        .iter()
        .map(|(name, value)| format!("<{name}>{value}</{name}>"))
        .collect();
    format!(
        "<Job><ObjectID>{}</ObjectID><User>{}</User><Account>{}</Account><Machine>{}</Machine>\
         <Reservation>{}</Reservation><Processors>{}</Processors>{fields}</Job>",
        id(job),
        user(job),
        project(job),
        machine(job),
        beside::RESERVATION,
        processors(job)
    )
}

fn read(value: &Value) -> i64 {
    let micros = bank_api::text::parse_rfc3339(value.as_str().unwrap()).unwrap();
    micros.div_euclid(1_000_000)
}
