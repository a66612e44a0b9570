//! Moving in from another bank (decision 0170): the items of a request become commands that are written together.

use bank_api::v1::{
    BalanceFigures, ExpectedBalance, MIGRATION_ITEMS_MAX, MigratedItem, Migration, MigrationItem,
    MigrationKind, MigrationMember, NewMember, NewMigration, OpeningAllocation, OpeningLien,
    ProvedBalance,
};
use bank_core::amount::Amount;
use bank_core::command::{AfterEnd, Command, Open, OpenAllocation, Request, Reserve, Whose};
use bank_core::decimal::Decimal;
use bank_core::directory::Bank;
use bank_core::kind;
use bank_core::model::{self, Facts, ObjectType};
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, Timestamp, Window};
use bank_core::usage::Usage;
use bankd_ledger::writer::{IdempotencyKey, Opened, Opening, Step, StepDone, StepKey, Unopened};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::call::{Call, Handled, ok};
use super::json::{self, read_amount, read_bound, read_time};
use super::{account, member, rate, record};
use crate::error::Failure;

/// Longest name of an old bank, in bytes.
const SOURCE_MAX: usize = 64;
/// Longest id of an item, in bytes.
const ID_MAX: usize = 200;

/// `POST /api/v1/migrations`
pub(super) async fn open(call: Call) -> Handled {
    let dry_run = call.dry_run()?;
    call.check_key(dry_run)?;
    let new: NewMigration = call.json()?;
    check(&new)?;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let at = new.at.as_deref().map(|text| read_time(text, "at"));
    let at = at
        .transpose()
        .map_err(refused)?
        .unwrap_or_else(|| call.now());
    let opening = Opening {
        steps: steps(&new, at, &call)?,
        expected: expected(&new.expected, &call)?,
        caller: call.auth.caller.clone(),
        request_id: call.auth.request_id.clone(),
        dry_run,
    };
    let opened = call.services.writer.open(opening).await?;
    let shown = shaped(&new, at, &opened, &call.directory().bank);
    match &opened.unopened {
        None | Some(Unopened::DryRun) => ok(&Migration { dry_run, ..shown }),
        Some(why) => Err(unopened(why, &new.items, &shown, &call)),
    }
}

fn check(new: &NewMigration) -> Result<(), Failure> {
    let bad = |detail: String| Err(Failure::new("bad_request", detail));
    let is_word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !(1..=SOURCE_MAX).contains(&new.source.len()) || !new.source.chars().all(is_word) {
        return bad("source: 1 to 64 letters, digits, `.`, `_` or `-`".to_owned());
    }
    if new.items.len() > MIGRATION_ITEMS_MAX {
        return bad(format!("items: at most {MIGRATION_ITEMS_MAX}"));
    }
    let mut seen = std::collections::HashSet::new();
    for item in &new.items {
        let is_text = !item.id.chars().any(char::is_control);
        if !(1..=ID_MAX).contains(&item.id.len()) || !is_text {
            return bad(format!(
                "items: the id {:?} is not 1 to 200 bytes of text",
                item.id
            ));
        }
        if !seen.insert(item.id.as_str()) {
            return bad(format!("items: the id {:?} is there twice", item.id));
        }
    }
    Ok(())
}

/// The opening itself, then each item.
fn steps(new: &NewMigration, at: Timestamp, call: &Call) -> Result<Vec<Step>, Failure> {
    let source = &new.source;
    let opening = Open::Bank {
        source: source.clone(),
        at,
    };
    let mut steps = vec![Step {
        command: Command::Open(opening),
        key: Some(key(source, "opening", "")),
    }];
    for item in &new.items {
        let command = command(item, source, at, call).map_err(|failure| failure.about(&item.id))?;
        let moves_money = matches!(item.add, MigrationKind::Allocation | MigrationKind::Lien);
        let of_item = || key(source, &format!("item {}", item.id), &item.body.to_string());
        steps.push(Step {
            command,
            key: moves_money.then(of_item),
        });
    }
    Ok(steps)
}

fn key(source: &str, id: &str, contents: &str) -> StepKey {
    StepKey {
        client: format!("migration:{source}"),
        key: IdempotencyKey {
            key: id.to_owned(),
            whole: None,
            fingerprint: Sha256::digest(contents.as_bytes()).into(),
            nonce: String::new(),
            is_content: false,
        },
    }
}

fn command(
    item: &MigrationItem,
    source: &str,
    at: Timestamp,
    call: &Call,
) -> Result<Command, Failure> {
    let body = || call.with_body(item.body.to_string().into_bytes());
    let refused = |refusal: Refusal| call.refused(&refusal);
    match item.add {
        MigrationKind::User => new_record("user", &body()),
        MigrationKind::Machine => new_record("machine", &body()),
        MigrationKind::Project => new_record("project", &body()),
        MigrationKind::Account => account::added(&body()),
        MigrationKind::Rate => {
            let set = rate::read(call.directory(), body().json()?).map_err(refused)?;
            Ok(Command::SetRate(set))
        }
        MigrationKind::Member => {
            let own: MigrationMember = read(&item.body)?;
            let member = NewMember {
                user: own.user,
                active: Some(own.active),
                role: own.role,
            };
            member::read(own.project, member).map_err(refused)
        }
        MigrationKind::Allocation => {
            let own: OpeningAllocation = read(&item.body)?;
            let id = format!("{source} {}", item.id);
            let own = allocation(own, &id, at, &call.directory().bank).map_err(refused)?;
            Ok(Command::Open(Open::Allocation(own)))
        }
        MigrationKind::Lien => {
            let own: OpeningLien = read(&item.body)?;
            let lien = lien(own, at, &call.directory().bank).map_err(refused)?;
            Ok(Command::Reserve(lien))
        }
    }
}

fn read<T: DeserializeOwned>(body: &Value) -> Result<T, Failure> {
    let bad = |error: serde_json::Error| Failure::new("bad_request", format!("body: {error}"));
    T::deserialize(body).map_err(bad)
}

fn new_record(word: &str, call: &Call) -> Result<Command, Failure> {
    let directory = call.directory();
    let kind = directory.records.kind(word).or_else(|| kind::of(word));
    let kind = kind.ok_or_else(|| Failure::new("internal", "no such kind"))?;
    record::added(kind, call)
}

/// The allocation of an item; its note names the old bank and the id there.
fn allocation(
    own: OpeningAllocation,
    id: &str,
    at: Timestamp,
    bank: &Bank,
) -> Result<OpenAllocation, Refusal> {
    let precision = bank.precision;
    let amount = read_amount(&own.amount, precision)?;
    let optional = |text: Option<String>| text.map(|text| read_amount(&text, precision));
    let deposited = optional(own.deposited).transpose()?;
    let start = own.start.as_deref();
    let start = start.map(|text| read_bound(text, "start", "-infinity"));
    let end = own.end.as_deref();
    let end = end.map(|text| read_bound(text, "end", "infinity"));
    let note = own.note.unwrap_or_default();
    Ok(OpenAllocation {
        account: own.account,
        window: Window {
            start: start.transpose()?.flatten(),
            end: end.transpose()?.flatten(),
        },
        deposited: deposited.unwrap_or_else(|| amount.max(Amount::ZERO)),
        amount,
        credit_limit: optional(own.credit_limit).transpose()?.unwrap_or_default(),
        at,
        note: format!("{id} {note}").trim_end().to_owned(),
    })
}

/// A lien that is open at the opening, and began at it if the old bank has no start.
fn lien(own: OpeningLien, at: Timestamp, bank: &Bank) -> Result<Reserve, Refusal> {
    let start = own.start.as_deref().map(|text| read_time(text, "start"));
    let (start, end) = (
        start.transpose()?.unwrap_or(at),
        read_time(&own.end, "end")?,
    );
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let facts = Facts {
        project: own.project.clone(),
        user: own.user.clone().unwrap_or_default(),
        start: Some(start),
        wall: Some(Seconds(end.seconds().saturating_sub(start.seconds()))),
        usage: Usage {
            processors: own.processors.map(Decimal::whole),
            nodes: own.nodes.map(Decimal::whole),
            qos: some(own.qos),
            class: some(own.class),
            ..Usage::default()
        },
        ..Facts::default()
    };
    Ok(Reserve {
        request: Request {
            object_type: ObjectType::Job,
            object_id: own.job,
            whose: Whose {
                project: Some(own.project),
                user: own.user,
                machine: own.machine,
                for_reservation: false,
            },
            facts,
            ..Request::default()
        },
        amount: Some(read_amount(&own.amount, bank.precision)?),
        start: Some(start),
        end: Some(end),
        after_end: AfterEnd::Begins,
        ..Reserve::default()
    })
}

fn expected(
    all: &[ExpectedBalance],
    call: &Call,
) -> Result<Vec<(String, model::Figures)>, Failure> {
    let precision = call.directory().bank.precision;
    let read = |text: &str| read_amount(text, precision).map(|amount| i128::from(amount.0));
    let figures = |own: &ExpectedBalance| {
        Ok(model::Figures {
            amount: read(&own.amount)?,
            held: read(&own.held)?,
            credit_limit: read(&own.credit_limit)?,
        })
    };
    let one = |own: &ExpectedBalance| {
        let figures = figures(own).map_err(|refusal: Refusal| call.refused(&refusal));
        let figures = figures.map_err(|failure| failure.about(&own.account))?;
        Ok((own.account.clone(), figures))
    };
    all.iter().map(one).collect()
}

fn shaped(new: &NewMigration, at: Timestamp, opened: &Opened, bank: &Bank) -> Migration {
    let mut steps = opened.steps.iter();
    let transaction = match steps.next() {
        Some(StepDone::Added(transaction)) => *transaction,
        _ => None,
    };
    let items = new.items.iter().zip(steps).map(|(item, done)| {
        let (result, transaction) = match done {
            StepDone::Added(transaction) => ("added", *transaction),
            StepDone::Exists => ("exists", None),
            StepDone::Before => ("done", None),
        };
        MigratedItem {
            id: item.id.clone(),
            result: result.to_owned(),
            transaction,
        }
    });
    let proof = new.expected.iter().zip(&opened.found);
    Migration {
        source: new.source.clone(),
        at: json::time(at),
        transaction,
        items: items.collect(),
        proof: proof
            .map(|(own, found)| proved(own, found.as_ref(), bank))
            .collect(),
        dry_run: false,
    }
}

fn proved(own: &ExpectedBalance, found: Option<&model::Figures>, bank: &Bank) -> ProvedBalance {
    // As the bank writes amounts, so that equal ones are equal texts.
    let text = |text: &String| match read_amount(text, bank.precision) {
        Ok(amount) => json::amount(amount, bank),
        Err(_) => text.clone(),
    };
    let expected = BalanceFigures {
        amount: text(&own.amount),
        held: text(&own.held),
        credit_limit: text(&own.credit_limit),
    };
    let found = found.map(|found| BalanceFigures {
        amount: json::sum(found.amount, bank),
        held: json::sum(found.held, bank),
        credit_limit: json::sum(found.credit_limit, bank),
    });
    let found = found.unwrap_or_default();
    ProvedBalance {
        account: own.account.clone(),
        equal: found == expected,
        expected,
        found,
    }
}

/// Why nothing was written.
fn unopened(why: &Unopened, items: &[MigrationItem], shown: &Migration, call: &Call) -> Failure {
    // The first step is the opening itself.
    let id = |place: usize| {
        let item = place.checked_sub(1).and_then(|place| items.get(place));
        item.map_or("the opening", |item| item.id.as_str())
    };
    match why {
        Unopened::Refused(place, refusal) => call.refused(refusal).about(id(*place)),
        Unopened::Changed(place) => Failure::new(
            "migration_changed",
            format!(
                "{}: it was moved in before with other contents; nothing was written",
                id(*place)
            ),
        )
        .hint("take it from the old bank as it was on the day of the opening"),
        Unopened::Unequal | Unopened::DryRun => {
            let differs = shown.proof.iter().filter(|own| !own.equal).take(5);
            let figures = |own: &BalanceFigures| {
                let none = || "no such account".to_owned();
                Some(own)
                    .filter(|own| !own.amount.is_empty())
                    .map_or_else(none, |own| {
                        format!(
                            "amount {} held {} credit limit {}",
                            own.amount, own.held, own.credit_limit
                        )
                    })
            };
            let lines = differs.map(|own| {
                let (expected, found) = (figures(&own.expected), figures(&own.found));
                format!("{}: expected {expected}, found {found}", own.account)
            });
            let lines: Vec<String> = lines.collect();
            Failure::new(
                "migration_unequal",
                format!("{}; nothing was written", lines.join("; ")),
            )
        }
    }
}
