//! Usage that waits for a project: summed up, and given to one (ledger.md 2.8, `#unbilled`).
//! Administrators and auditors see it, administrators give it away.

use std::collections::BTreeMap;

use bank_api::error::Problem;
use bank_api::v1::{
    ASSIGN_MAX, AssignDone, AssignReason, AssignRefused, AssignedRecord, NewAssign, Unmapped,
    UnmappedQuery, UnmappedRow,
};
use bank_core::amount::Amount;
use bank_core::command::{Assign, Command};
use bank_core::directory::{Bank, Directory};
use bank_core::effects::Outcome;
use bank_core::ids::MappingId;
use bank_core::mapping::{Field, Mapping, Mappings, Naming};
use bank_core::refusal::Refusal;
use bankd_intake::namespace;
use bankd_ledger::writer::{Decided, Reply, Submission};
use bankd_store::answer::{Answer, Media};
use bankd_store::read::SCAN_MAX;
use bankd_store::read::unmapped::{self, Waiting};

use super::call::{Call, Handled, ok, rendered};
use super::outcome::Beside;
use super::pages::{self, Turn};
use super::{json, mapping};
use crate::error::{self, Failure};
use crate::log::Denied;

/// Maximum number of distinct groups. A page contains fewer.
const GROUPS_MAX: usize = 100_000;
/// Default number of records that one request assigns.
const ASSIGN_USUAL: u32 = 500;
/// Rows that one request to give away looks at.
const LOOK_MAX: usize = 10_000;

/// Columns for the sums.
const COLUMNS: [&str; 6] = ["source", "machine", "account", "user", "group", "queue"];

/// `GET /api/v1/unmapped`: the most processor time first.
pub(super) async fn list(call: Call) -> Handled {
    let query: UnmappedQuery = call.query()?;
    let turn = Turn::of(&call, query.limit, query.after.clone())?;
    let by = columns(query.by.as_deref()).map_err(|r| call.refused(&r))?;
    let mut groups: BTreeMap<Vec<String>, Sums> = BTreeMap::new();
    let (mut total, mut complete, mut behind) = (Sums::default(), true, 0);
    loop {
        let page = call.ask(move |connection| unmapped::page(connection, behind, SCAN_MAX));
        let page = page.await?;
        let Some(last) = page.last() else { break };
        behind = last.number;
        let rows = page.iter().filter(|row| waits(row, &call));
        for row in rows.filter(|row| wanted(row, &query)) {
            let own: Vec<String> = by
                .iter()
                .map(|column| value(row, column).to_owned())
                .collect();
            total.add(row);
            if groups.len() < GROUPS_MAX || groups.contains_key(&own) {
                groups.entry(own).or_default().add(row);
            } else {
                complete = false;
            }
        }
    }
    let mut groups: Vec<(Vec<String>, Sums)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.millis_us));
    let page = turn.behind(groups, |(own, _)| format!("{own:?}"));
    let (groups, next) = page.map_err(|refusal| call.refused(&refusal))?;
    let bank = &call.directory().bank;
    ok(&Unmapped {
        items: groups
            .iter()
            .map(|(own, sums)| sums.row(&by, own, bank))
            .collect(),
        next,
        total: total.row(&[], &[], bank),
        complete,
        unit: bank.unit.clone(),
    })
}

/// Whether usage in view is pending. Usage with a payer, such as an account that is open to all users, is not.
fn waits(row: &Waiting, call: &Call) -> bool {
    row.paid_by.is_none() && call.view.sees_work(&row.account, &row.user, &row.machine)
}

fn columns(by: Option<&str>) -> Result<Vec<&'static str>, Refusal> {
    let bad = || Refusal::BadValue {
        field: "by",
        expected: "source, machine, account, user, group and queue, with commas between them",
    };
    let known = |word: &str| {
        let found = COLUMNS.iter().find(|column| **column == word.trim());
        found.copied().ok_or_else(bad)
    };
    by.unwrap_or("source,account,user")
        .split(',')
        .map(known)
        .collect()
}

fn value<'a>(row: &'a Waiting, column: &str) -> &'a str {
    match column {
        "source" => &row.identity.source,
        "machine" => &row.machine,
        "account" => &row.account,
        "user" => &row.user,
        "group" => &row.group,
        _ => &row.queue,
    }
}

fn wanted(row: &Waiting, query: &UnmappedQuery) -> bool {
    let rows = [
        (&query.source, "source"),
        (&query.machine, "machine"),
        (&query.account, "account"),
        (&query.user, "user"),
    ];
    let fits = |(rows, column): (&Option<String>, &str)| {
        rows.as_ref().is_none_or(|rows| value(row, column) == rows)
    };
    rows.into_iter().all(fits)
}

/// Sums of uses.
#[derive(Default)]
struct Sums {
    records: u64,
    /// Thousandths of processors × microseconds.
    millis_us: i128,
    unbilled: i128,
    shadow: i128,
    first: Option<bank_core::time::Timestamp>,
    last: Option<bank_core::time::Timestamp>,
}

impl Sums {
    fn add(&mut self, row: &Waiting) {
        self.records = self.records.saturating_add(1);
        let used = row.core_us.saturating_mul(1000);
        self.millis_us = self.millis_us.saturating_add(used);
        let sum = if row.is_unbilled {
            &mut self.unbilled
        } else {
            &mut self.shadow
        };
        *sum = sum.saturating_add(row.amount.0.into());
        let start = row.identity.start;
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
        self.last = self.last.max(row.end);
    }

    fn row(&self, by: &[&str], own: &[String], bank: &Bank) -> UnmappedRow {
        let of = |column: &str| {
            let mut named = by.iter().zip(own);
            named
                .find(|(known, _)| **known == column)
                .map(|(_, value)| value.clone())
        };
        UnmappedRow {
            source: of("source"),
            machine: of("machine"),
            account: of("account"),
            user: of("user"),
            group: of("group"),
            queue: of("queue"),
            records: self.records,
            core_hours: thousandths(self.millis_us),
            unbilled: json::sum(self.unbilled, bank),
            shadow: json::sum(self.shadow, bank),
            first: self.first.map(json::time),
            last: self.last.map(json::time),
        }
    }
}

/// Thousandths of processors × microseconds as processor hours, rounded to thousandths.
fn thousandths(millis_us: i128) -> String {
    const HOUR_US: i128 = 3_600_000_000;
    let rounded = millis_us.saturating_add(HOUR_US / 2).div_euclid(HOUR_US);
    format!(
        "{}.{:03}",
        rounded.div_euclid(1000),
        rounded.rem_euclid(1000)
    )
}

/// `POST /api/v1/unmapped/assign`: a bounded number of records, each in a separate transaction. After an
/// interruption, the same request continues.
pub(super) async fn assign(call: Call) -> Handled {
    let new: NewAssign = call.json()?;
    let dry_run = call.dry_run()?;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let limit = new.limit.unwrap_or(ASSIGN_USUAL);
    if !(1..=ASSIGN_MAX).contains(&limit) {
        return Err(refused(Refusal::bad_value("limit", "1 to 1000")));
    }
    let mut behind = new
        .after
        .as_deref()
        .map_or(Ok(0), pages::cursor)
        .map_err(refused)?;
    let rule = rule(&new).map_err(refused)?;
    let page = call.ask(move |connection| unmapped::page(connection, behind, LOOK_MAX));
    let page = page.await?;
    let mut next = (page.len() >= LOOK_MAX).then_some(());
    let mut commands = Vec::new();
    for row in &page {
        if commands.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
            next = Some(());
            break;
        }
        behind = row.number;
        if let Some(command) = given(row, &rule, new.mapping).filter(|_| waits(row, &call)) {
            commands.push(command);
        }
    }
    let (mut done, beside) = submit(&call, commands, dry_run).await?;
    done.next = next.map(|()| behind.to_string());
    Ok(beside.mark(ok(&done)?))
}

/// The request as a mapping.
fn rule(new: &NewAssign) -> Result<Mappings, Refusal> {
    let conditions = mapping::conditions(&new.when)?;
    if conditions.is_empty() {
        return Err(Refusal::MissingField { field: "when" });
    }
    if conditions
        .iter()
        .any(|own| matches!(own.field, Field::Attribute(_)))
    {
        return Err(Refusal::BadValue {
            field: "when",
            expected: "what is kept with usage: source, machine, user, group, account, queue, qos, \
                       namespace",
        });
    }
    let project = mapping::template(&new.project)?;
    let optional = |text: &Option<String>| match text.as_deref() {
        Some(text) => mapping::template(text),
        None => Ok(None),
    };
    let (user, pi) = (optional(&new.user)?, optional(&new.pi)?);
    let rule = Mapping {
        id: MappingId(1),
        priority: 0,
        conditions,
        project,
        user,
        pi,
        description: String::new(),
        deleted: false,
    };
    let templates = [&rule.project, &rule.user, &rule.pi];
    let suits = templates
        .into_iter()
        .flatten()
        .all(|own| own.suits(&rule.conditions));
    if rule.project.is_none() || !suits {
        return Err(Refusal::BadValue {
            field: "project",
            expected: "a project, without a star that the conditions do not have",
        });
    }
    let mut rules = Mappings::default();
    rules.put(rule);
    Ok(rules)
}

/// The command for one use; `None` if the conditions do not match.
fn given(row: &Waiting, rule: &Mappings, mapping: Option<i64>) -> Option<Command> {
    let none = BTreeMap::new();
    let naming = Naming {
        source: &row.identity.source,
        machine: &row.machine,
        user: &row.user,
        group: &row.group,
        account: &row.account,
        queue: &row.queue,
        qos: &row.qos,
        namespace: namespace(&row.format, &row.account, &none),
        attributes: None,
    };
    let [project, user, pi] = rule.ask(&naming);
    Some(Command::Assign(Box::new(Assign {
        identity: row.identity.clone(),
        project: project?.0,
        user: user.map(|(user, _)| user),
        pi: pi.map(|(pi, _)| pi),
        ended: row.end,
        note: mapping
            .map(|id| format!("mapping={id}"))
            .unwrap_or_default(),
    })))
}

async fn submit(
    call: &Call,
    commands: Vec<Command>,
    dry_run: bool,
) -> Result<(AssignDone, Beside), Failure> {
    let submission = |command: &Command| Submission {
        command: command.clone(),
        caller: call.auth.caller.clone(),
        // A record with a project is no longer pending. A repeat is harmless, so its answer is not stored.
        key: None,
        request_id: call.auth.request_id.clone(),
        dry_run,
        render,
        fingerprint: String::new(),
        turn: None,
    };
    let all = commands.iter().map(submission).collect();
    let replies = call.services.writer.submit_all(all).await?;
    let mut tally = Tally::default();
    let mut denied = Denied::default();
    for (command, reply) in commands.iter().zip(replies) {
        // Without a key there is no stored answer.
        let Reply::Fresh { answer, summary } = reply else {
            return Err(broken());
        };
        denied.by_rule(&summary, &answer);
        tally.take(command, &answer, call.directory())?;
    }
    let replayed = false;
    let done = tally.done(&call.directory().bank, dry_run);
    Ok((done, Beside { replayed, denied }))
}

fn broken() -> Failure {
    Failure::new("internal", "a record has no answer")
}

/// Results of the records of a request.
#[derive(Default)]
struct Tally {
    records: u64,
    changed: u64,
    was: i128,
    amount: i128,
    debt: i128,
    transaction: Option<i64>,
    refused: Vec<AssignRefused>,
    /// By code: the first sentence, and how many.
    reasons: BTreeMap<String, (String, u64)>,
}

impl Tally {
    fn take(
        &mut self,
        command: &Command,
        answer: &Answer,
        directory: &Directory,
    ) -> Result<(), Failure> {
        self.records = self.records.saturating_add(1);
        if answer.media != Media::Json {
            let problem = Problem::from_json(&answer.body).ok_or_else(broken)?;
            let Command::Assign(assign) = command else {
                return Err(broken());
            };
            let refused = AssignRefused {
                source: assign.identity.source.clone(),
                id: assign.identity.id.clone(),
                code: problem.code,
                detail: problem.detail.unwrap_or_default(),
            };
            self.stays(refused.code.clone(), refused.detail.clone());
            self.refused.push(refused);
            return Ok(());
        }
        let record: AssignedRecord = serde_json::from_slice(&answer.body).map_err(|_| broken())?;
        if record.changed {
            self.changed = self.changed.saturating_add(1);
        }
        if let Some((code, detail)) = record.stays {
            self.stays(code, detail);
        }
        let read = |text: &str| {
            let amount = json::read_amount(text, directory.bank.precision);
            amount
                .map(|Amount(minor)| i128::from(minor))
                .map_err(|_| broken())
        };
        self.was = self.was.saturating_add(read(&record.was)?);
        self.amount = self.amount.saturating_add(read(&record.amount)?);
        self.debt = self.debt.saturating_add(read(&record.debt)?);
        self.transaction = self.transaction.or(record.transaction);
        Ok(())
    }

    fn stays(&mut self, code: String, detail: String) {
        let (_, records) = self.reasons.entry(code).or_insert((detail, 0));
        *records = records.saturating_add(1);
    }

    fn done(self, bank: &Bank, dry_run: bool) -> AssignDone {
        let reason = |(code, (detail, records))| AssignReason {
            code,
            detail,
            records,
        };
        AssignDone {
            records: self.records,
            changed: self.changed,
            was: json::sum(self.was, bank),
            amount: json::sum(self.amount, bank),
            debt: json::sum(self.debt, bank),
            unit: bank.unit.clone(),
            refused: self.refused,
            reasons: self.reasons.into_iter().map(reason).collect(),
            transaction: self.transaction,
            next: None,
            dry_run,
        }
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    let bank = &decided.directory.bank;
    rendered(decided, 200, |outcome| match outcome {
        Outcome::Assigned(assigned) => Some(AssignedRecord {
            changed: assigned.changed,
            stays: assigned.stays.as_ref().map(|refusal| {
                let detail = error::detail(refusal, bank);
                (refusal.code().to_owned(), detail)
            }),
            was: json::amount(assigned.was, bank),
            amount: json::amount(assigned.amount, bank),
            debt: json::amount(
                assigned.charged.as_ref().map_or(Amount::ZERO, |c| c.debt),
                bank,
            ),
            transaction: decided.transaction,
        }),
        _ => None,
    })
}
