//! `bank migrate`: moving in from another bank. The crate `bank-cli-migrate` reads the old bank and makes the plan;
//! here it is shown and sent.

use std::fmt::Write as _;

use bank_api::exit::bank as exit;
use bank_api::text;
use bank_api::v1::{
    Migration, MovedHistory, MovedIn, NewMigration, NewUsages, NotMoved, RenamedObject, Status,
    UsageTaken,
};
use bank_cli_migrate::{Database, Fault, Plan, Reading, Settings, Slurm, Source};
use bank_picture::Zone;
use ureq::http::Method;

use super::confirm;
use crate::{
    cli::{MigrateArgs, MigrateCommand, WriteArgs},
    context::Context,
    fail::Failure,
    when,
};

/// Most finished jobs of one request: the daemon accepts 1 MiB.
const RECORDS_MAX: usize = 300;
/// Refused jobs that are shown.
const REFUSED_SHOWN: usize = 10;

pub(super) fn run(context: &Context, command: MigrateCommand) -> Result<String, Failure> {
    let (source, name, args) = match command {
        MigrateCommand::Gold(own) => {
            let databases = [
                own.postgres.map(Database::Postgres),
                own.mysql.map(Database::Mysql),
                own.sqlite.map(Database::Sqlite),
            ];
            let database = databases.into_iter().flatten().next();
            let folder = own.folder.unwrap_or_default();
            let source = database.map_or(Source::Gold(folder), Source::GoldDatabase);
            (source, "gold", own.migrate)
        }
        MigrateCommand::Mam(own) => (Source::Mam(own.folder), "mam", own.migrate),
        MigrateCommand::Csv(own) => (Source::Csv(own.folder), "csv", own.migrate),
        MigrateCommand::Slurm(own) => {
            let slurm = Slurm {
                dump: own.dump,
                usage: own.usage,
                tres: own.tres,
                per_minute: own.per_minute,
            };
            (Source::Slurm(slurm), "slurm", own.migrate)
        }
    };
    let plan = plan(context, &source, name, &args)?;
    move_in(context, &plan, &args)
}

fn plan(
    context: &Context,
    source: &Source,
    name: &str,
    args: &MigrateArgs,
) -> Result<Plan, Failure> {
    let status: Status = context.get(&["status"], &())?;
    let now_us = when::read(&status.at).unwrap_or(context.now_us);
    let zone = match &args.tz {
        Some(name) => Zone::named(name).ok_or_else(|| {
            Failure::usage(format!("no time zone {name:?}")).hint("Europe/Berlin")
        })?,
        None => context.zone,
    };
    let time = |argument: &Option<String>| -> Result<Option<i64>, Failure> {
        let text = argument.as_deref();
        let text = text
            .map(|text| when::bounded(text, now_us, zone))
            .transpose()?;
        Ok(text.as_deref().and_then(when::read))
    };
    let at = time(&args.opening)?.unwrap_or(now_us);
    if at > now_us {
        let what = "--opening is later than now: this bank opens when the old one is closed";
        return Err(
            Failure::usage(what).hint("run it on the day of the move; --dry-run shows the plan")
        );
    }
    let reading = Reading {
        reservations: !args.no_reservations,
        history: !args.no_history,
        now_us,
        zone,
    };
    let settings = Settings {
        source: args.source.clone().unwrap_or_else(|| name.to_owned()),
        at,
        now: now_us,
        precision: usize::from(status.precision),
        since: time(&args.since)?,
    };
    bank_cli_migrate::plan(source, &reading, args.listed.as_deref(), &settings).map_err(fault)
}

fn fault(fault: Fault) -> Failure {
    Failure::usage(bank_picture::printable::printable(&fault.what)).hint(fault.hint)
}

/// Decides everything, asks, and sends the plan.
fn move_in(context: &Context, plan: &Plan, args: &MigrateArgs) -> Result<String, Failure> {
    let source = &plan.request().source;
    let decided = match send(context, plan.request(), true).map_err(|failure| placed(plan, failure))
    {
        Err(failure) if failure.is("migration_unequal") => moved_before(context, plan, failure),
        Err(failure) => Err(before(context, plan, failure)),
        decided => decided,
    };
    let mut moved = moved(plan, decided?);
    if args.dry_run {
        return shown(context, plan, &moved);
    }
    let is_used = moved.migration.proof.is_empty() && !plan.expected().is_empty();
    if is_used {
        // Only finished jobs may be missing from an earlier run.
        moved.migration.dry_run = false;
    } else {
        if !context.is_json() {
            context.print(&plan.text())?;
        }
        if !args.yes {
            confirm(&format!("open this bank with the contents of {source}"))?;
        }
        let sent = send(context, plan.request(), false);
        moved.migration = sent.map_err(|failure| placed(plan, failure))?;
    }
    moved.history = history(context, plan, moved.history)?;
    let refused = moved.history.refused.len();
    let message = shown(context, plan, &moved)?;
    if refused == 0 {
        return Ok(message);
    }
    let what = format!(
        "{source}: {} refused",
        text::counted(refused, "finished job")
    );
    let mut failure = Failure::of(exit::REFUSED, what);
    let some = moved.history.refused.iter().take(REFUSED_SHOWN);
    failure.hint = Some(some.cloned().collect::<Vec<_>>().join("; "));
    failure.before = Some(message);
    Err(failure)
}

/// A refusal names the item: with the file and the line that the item is from.
fn placed(plan: &Plan, mut failure: Failure) -> Failure {
    let detail = failure.problem.as_ref().and_then(|own| own.detail.clone());
    let detail = detail.unwrap_or_default();
    let items = plan.request().items.iter();
    let named = items.filter(|item| {
        let rest = detail.strip_prefix(item.id.as_str());
        rest.is_some_and(|rest| rest.starts_with(": "))
    });
    let longest = named.max_by_key(|item| item.id.len());
    let Some(place) = longest.and_then(|item| plan.place(&item.id)) else {
        return failure;
    };
    let hint = failure.hint.take();
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    failure.hint(format!(
        "{place}: correct this row, or correct it in the old bank and export it again{hint}"
    ))
}

/// A failure after the plan.
fn before(context: &Context, plan: &Plan, mut failure: Failure) -> Failure {
    if !context.is_json() {
        failure.before = Some(plan.text());
    }
    failure
}

/// Balances that differ after an earlier migration show that this bank has been used since, if nothing is new.
fn moved_before(context: &Context, plan: &Plan, unequal: Failure) -> Result<Migration, Failure> {
    let request = NewMigration {
        expected: Vec::new(),
        ..plan.request().clone()
    };
    let decided = send(context, &request, true)?;
    let is_old = decided.items.iter().any(|item| item.result == "done");
    let is_new = decided.items.iter().any(|item| item.result == "added");
    if is_old && !is_new {
        return Ok(decided);
    }
    Err(before(context, plan, unequal))
}

fn send(context: &Context, request: &NewMigration, dry_run: bool) -> Result<Migration, Failure> {
    let write = WriteArgs { dry_run, key: None };
    let moved = context.send(Method::POST, &["migrations"], request, &write);
    moved.map_err(|failure: Failure| {
        if failure.is("insufficient_funds") {
            failure.hint(
                "the new bank cannot hold this reservation: --no-reservations moves without them",
            )
        } else {
            failure
        }
    })
}

fn moved(plan: &Plan, migration: Migration) -> MovedIn {
    let renamed = plan.renamed().iter().map(|(kind, old, new)| RenamedObject {
        kind: kind.clone(),
        old: old.clone(),
        new: new.clone(),
    });
    let not_moved = plan.skipped().iter().map(|(reason, objects)| NotMoved {
        reason: reason.clone(),
        objects: objects.clone(),
    });
    MovedIn {
        migration,
        renamed: renamed.collect(),
        not_moved: not_moved.collect(),
        notes: plan.notes(),
        compared: plan.compared(),
        history: MovedHistory {
            jobs: plan.history().len(),
            charged: plan.charged(),
            ..MovedHistory::default()
        },
    }
}

/// Sends the finished jobs. A repeat changes nothing.
fn history(
    context: &Context,
    plan: &Plan,
    mut done: MovedHistory,
) -> Result<MovedHistory, Failure> {
    for (number, chunk) in plan.history().chunks(RECORDS_MAX).enumerate() {
        let records: Result<Vec<serde_json::Value>, _> =
            chunk.iter().map(serde_json::to_value).collect();
        let records =
            records.map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?;
        let write = WriteArgs::default();
        let body = NewUsages { records };
        let taken: Result<UsageTaken, Failure> =
            context.send(Method::POST, &["usage"], &body, &write);
        let taken = taken.map_err(|failure| {
            failure.hint("the balances are moved in, finished jobs are not complete: run the same command again")
        })?;
        for (index, item) in taken.items.into_iter().enumerate() {
            *done.outcomes.entry(item.outcome.clone()).or_default() += 1;
            if item.outcome == "refused" {
                let (code, detail) = (
                    item.code.unwrap_or_default(),
                    item.detail.unwrap_or_default(),
                );
                let place =
                    plan.place_of_use(number.saturating_mul(RECORDS_MAX).saturating_add(index));
                let place = place.map_or_else(String::new, |place| format!("{place}: "));
                let id = &item.id;
                done.refused.push(format!("{place}{id}: {code}: {detail}"));
            }
        }
    }
    Ok(done)
}

/// The plan of a dry run, or the result.
fn shown(context: &Context, plan: &Plan, moved: &MovedIn) -> Result<String, Failure> {
    let migration = &moved.migration;
    let count = |word: &str| {
        let items = migration.items.iter();
        items.filter(|item| item.result == word).count()
    };
    let (added, exist, done) = (count("added"), count("exists"), count("done"));
    let accounts = migration.proof.iter().filter(|own| own.equal).count();
    if migration.dry_run && !context.is_json() {
        context.print(&format!("{}\n", plan.text()))?;
    }
    let source = &migration.source;
    let proof = if migration.proof.is_empty() {
        "it was moved in before; its balances are not compared, because this bank has been used since"
            .to_owned()
    } else {
        format!(
            "balances of {} equal those of {source}",
            text::counted(accounts, "account")
        )
    };
    let mut sentence = format!(
        "{source} closes and this bank opens at {}: {added} objects added, {exist} exist, {done} moved in before\n{proof}",
        migration.at
    );
    if !migration.dry_run {
        let outcomes = &moved.history.outcomes;
        let counts = outcomes
            .iter()
            .map(|(word, count)| format!("{count} {word}"));
        let counts: Vec<String> = counts.collect();
        let (jobs, charged) = (moved.history.jobs, &moved.history.charged);
        // Writing to a string cannot fail.
        let _ = write!(sentence, "\nfinished jobs: {jobs}, charged {charged}");
        if !counts.is_empty() {
            let _ = write!(sentence, " ({})", counts.join(", "));
        }
    }
    context.done(
        moved,
        &sentence,
        migration.transaction,
        migration.dry_run,
        &[],
    )
}
