//! `bank quarantine`: what collectors sent that could not be read or taken in.

use std::fs::File;
use std::io::{self, Read as _};

use bank_api::v1::{
    List, QuarantineQuery, QuarantineRemoval, QuarantineRemoved, QuarantineReplayed, Quarantined,
    Removed, ReplayQuarantined,
};
use bank_picture::figure;
use bank_picture::printable::printable_lines;
use ureq::http::Method;

use super::{confirm, import};
use crate::{
    cli::{QuarantinedCommand, RemoveArgs, ReplayArgs, Which, WriteArgs},
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
};

/// Rows of one request.
const PAGE: u32 = 1000;
/// The longest text that can take the place of one, in bytes.
const BODY_MAX: u64 = 512 << 10;

pub(super) fn run(context: &Context, command: QuarantinedCommand) -> Result<String, Failure> {
    match command {
        QuarantinedCommand::Ls { source, limit } => list(context, source.as_deref(), limit),
        QuarantinedCommand::Show { id } => show(context, id),
        QuarantinedCommand::Replay(args) => replay(context, &args),
        QuarantinedCommand::Rm { which, remove } => remove_some(context, which, &remove),
    }
}

fn list(context: &Context, source: Option<&str>, limit: u32) -> Result<String, Failure> {
    let mut all = List::whole(Vec::new());
    let mut left = limit;
    let mut after = None;
    loop {
        let query = QuarantineQuery {
            source: source.map(str::to_owned),
            after,
            limit: Some(left.min(PAGE)),
        };
        let page: List<Quarantined> = context.get(&["quarantine"], &query)?;
        left = left.saturating_sub(u32::try_from(page.items.len()).unwrap_or(u32::MAX));
        all.items.extend(page.items);
        after = page.next;
        if after.is_none() || left == 0 {
            break;
        }
    }
    if after.is_some() && context.form.is_table() {
        out::warn(&format!("the {limit} oldest are shown: --limit shows more"));
    }
    all.next = after;
    context.form.list(&all, &sheet(&all.items))
}

fn show(context: &Context, id: i64) -> Result<String, Failure> {
    let one: Quarantined = context.get(&["quarantine", &id.to_string()], &())?;
    let mut shown = context.form.one(&one, &sheet(std::slice::from_ref(&one)))?;
    if context.form.is_table() {
        // A terminal must not obey what somebody sent.
        let body = one.body.as_deref().unwrap_or_default();
        shown.push('\n');
        shown.push_str(&printable_lines(body.trim_end()));
        shown.push('\n');
    }
    Ok(shown)
}

fn sheet(rows: &[Quarantined]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("at", "Since", Kind::Time).secondary(),
        column("source", "Source", Kind::Text),
        column("place", "Place", Kind::Text),
        column("line", "Line", Kind::Number),
        column("bytes", "Bytes", Kind::Number).secondary(),
        column("reason", "Reason", Kind::Text),
        column("peer", "From", Kind::Text).if_machine(),
        column("body", "Text", Kind::Text).on_request(),
    ];
    Sheet::new(columns, rows, "nothing in the quarantine")
}

fn replay(context: &Context, args: &ReplayArgs) -> Result<String, Failure> {
    let body = match &args.with {
        None => None,
        Some(_) if args.which.ids.len() != 1 => {
            return Err(Failure::usage("--with is the text of one: name its number"));
        }
        Some(file) => Some(text(file)?),
    };
    let read = &args.read;
    let how_to_replay = read.layout.is_some()
        || !read.columns.is_empty()
        || read.delimiter.is_some()
        || read.tz.is_some()
        || read.mapping.is_some()
        || read.gpus_per_slot;
    let format = args.kind.as_deref();
    // Whether it is csv the daemon knows, where nobody says so here.
    let options = how_to_replay.then(|| import::options(format.unwrap_or("csv"), read));
    let request = ReplayQuarantined {
        format: args.kind.clone(),
        machine: args.machine.clone(),
        options: options.transpose()?,
        body,
    };
    let write = WriteArgs {
        dry_run: args.dry_run,
        key: None,
    };
    let ids = ids(context, &args.which)?;
    let mut done = List::whole(Vec::new());
    let mut failures: Vec<Failure> = Vec::new();
    for id in &ids {
        let path = ["quarantine", &id.to_string(), "replay"];
        let again: Result<QuarantineReplayed, Failure> =
            context.send(Method::POST, &path, &request, &write);
        match again {
            Ok(again) => done.items.push(again),
            // The others are none of its business; a daemon that is gone is everybody's.
            Err(failure) if failure.problem.is_some() && ids.len() > 1 => {
                out::warn(&format!("{id}: {}", failure.what));
                failures.push(failure);
            }
            Err(failure) => return Err(failure),
        }
    }
    let message = if context.is_json() {
        context.form.list(&done, &Sheet::default())?
    } else {
        done.items.iter().map(sentence).collect()
    };
    let kept = |done: &&QuarantineReplayed| done.outcomes.contains_key("refused");
    let refused = done.items.iter().filter(kept).count();
    let many = failures.len() + refused;
    if many == 0 {
        return Ok(message);
    }
    let exit = bank_api::exit::bank::REFUSED;
    let what = format!("{many} of {} could not be taken in", ids.len());
    let mut failure = Failure::of(exit, what).hint("they are still in the quarantine");
    failure.before = Some(message);
    Err(failure)
}

/// `17: 1 job: 1 charged`
fn sentence(done: &QuarantineReplayed) -> String {
    let tried = if done.dry_run {
        "dry run, nothing written: "
    } else {
        ""
    };
    let became = done.outcomes.iter().map(|(word, n)| format!("{n} {word}"));
    let skipped = done.skipped.iter().map(|why| format!("skipped: {why}"));
    let became: Vec<String> = became.chain(skipped).collect();
    let id = done.id;
    let jobs = figure::counted(&done.jobs.to_string(), "job");
    format!("{tried}{id}: {jobs}: {}\n", became.join(", "))
}

/// The rows that are meant.
fn ids(context: &Context, which: &Which) -> Result<Vec<i64>, Failure> {
    if which.source.is_none() {
        return Ok(which.ids.clone());
    }
    let query = QuarantineQuery {
        source: which.source.clone(),
        after: None,
        limit: Some(PAGE),
    };
    let all: List<Quarantined> = context.all(&["quarantine"], &query)?;
    Ok(all.items.iter().map(|item| item.id).collect())
}

fn remove_some(context: &Context, which: Which, remove: &RemoveArgs) -> Result<String, Failure> {
    let dry_run = remove.write.dry_run;
    let what = match &which.source {
        Some(source) => format!("remove all of {source} from the quarantine for good"),
        None => format!("remove {} from the quarantine for good", which.ids.len()),
    };
    let removed = if let Some(source) = which.source {
        let query = QuarantineRemoval { source, dry_run };
        context.remove_by(&["quarantine"], &query, &what, remove)?
    } else {
        if !(remove.yes || dry_run) {
            confirm(&what)?;
        }
        let mut removed = 0;
        let unconfirmed = RemoveArgs {
            yes: true,
            ..remove.clone()
        };
        for id in &which.ids {
            let path = ["quarantine", &id.to_string()];
            let _: Removed = context.remove(&path, &what, &unconfirmed)?;
            removed += 1;
        }
        QuarantineRemoved { removed, dry_run }
    };
    let sentence = format!("removed {} from the quarantine", removed.removed);
    context.done(&removed, &sentence, None, dry_run, &[])
}

/// The text of a file that takes the place of what is there.
fn text(file: &str) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::usage(format!("cannot read {file}: {error}"));
    let mut text = String::new();
    let read = if file == "-" {
        io::stdin().take(BODY_MAX + 1).read_to_string(&mut text)
    } else {
        let file = File::open(file).map_err(failed)?;
        file.take(BODY_MAX + 1).read_to_string(&mut text)
    };
    if u64::try_from(read.map_err(failed)?).unwrap_or(u64::MAX) > BODY_MAX {
        return Err(Failure::usage(format!(
            "{file}: larger than {BODY_MAX} bytes"
        )));
    }
    Ok(text)
}
