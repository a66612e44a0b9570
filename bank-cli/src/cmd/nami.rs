//! `bank nami`: the scripts' spool and quarantine on this machine, and the replay of documents.
//!
//! Nothing here asks the daemon by itself: what is sent goes the way of the scripts.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use bank_api::exit::bank as exit;
use bank_api::v1::{Drained, List, Waiting};
use bank_picture::printable::printable_lines;
use nami_scripts::shelf::{Place, Shelf, Trouble};

use super::confirm;
use crate::{
    cli::{DropArgs, Format, NamiCommand, One, Page, QuarantineCommand, SpoolCommand},
    fail::Failure,
    out::{self, Form, Kind, Sheet, column},
};

pub(crate) fn run(form: &Form, command: NamiCommand) -> Result<String, Failure> {
    match command {
        NamiCommand::Spool(command) => match command {
            SpoolCommand::Ls(page) => list(form, Place::Spool, &page),
            SpoolCommand::Show(one) => show(form, Place::Spool, &one),
            SpoolCommand::Retry(conf) => send(form, &open(conf.conf.as_deref())?),
            SpoolCommand::Drop(drop) => remove(form, Place::Spool, &drop),
        },
        NamiCommand::Quarantine(command) => match command {
            QuarantineCommand::Ls(page) => list(form, Place::Quarantine, &page),
            QuarantineCommand::Show(one) => show(form, Place::Quarantine, &one),
            QuarantineCommand::Retry { ids, all, conf } => {
                retry(form, ids, all, conf.conf.as_deref())
            }
            QuarantineCommand::Drop(drop) => remove(form, Place::Quarantine, &drop),
        },
        NamiCommand::Replay { arguments } => replay(form, arguments),
    }
}

fn open(conf: Option<&Path>) -> Result<Shelf, Failure> {
    Shelf::open(conf).map_err(failed)
}

fn failed(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Settings(why) => Failure::usage(why).hint("see nami.conf, or name it with --conf"),
        Trouble::Denied(why) => Failure::access(format!("cannot use the spool: {why}"))
            .hint("run this as the user who runs the scheduler"),
        Trouble::Folder(why) => Failure::unreachable(format!("cannot use the spool: {why}")),
        Trouble::Busy => Failure::unreachable("another process is draining the spool")
            .hint("try again when it has ended"),
        Trouble::NoSuch(id) => Failure::of(exit::NOT_FOUND, format!("no document {id:?} here"))
            .hint("`ls` lists the documents; accepted ones are removed"),
        Trouble::Ambiguous(id, keys) => {
            Failure::usage(format!("several documents have the number {id}"))
                .hint(format!("name one by its key: {}", keys.join(", ")))
        }
    }
}

fn list(form: &Form, place: Place, page: &Page) -> Result<String, Failure> {
    let shelf = open(page.conf.conf.as_deref())?;
    let listed = shelf.list(place, page.limit.into()).map_err(failed)?;
    let shown = listed.documents.len();
    if shown < listed.total {
        out::warn(&format!(
            "{shown} of {} documents shown: --limit",
            listed.total
        ));
    }
    let list = List::whole(listed.documents);
    form.list(&list, &sheet(&list.items, place))
}

fn show(form: &Form, place: Place, one: &One) -> Result<String, Failure> {
    let shelf = open(one.conf.conf.as_deref())?;
    let (mut waiting, body) = shelf.show(place, &one.id).map_err(failed)?;
    let text = String::from_utf8_lossy(&body).into_owned();
    if !form.is_table() {
        waiting.document = Some(text.clone());
    }
    let rows = std::slice::from_ref(&waiting);
    let mut shown = form.one(&waiting, &sheet(rows, place))?;
    if form.is_table() {
        // A terminal must not obey what is in a document.
        shown.push('\n');
        shown.push_str(&printable_lines(text.trim_end()));
        shown.push('\n');
    }
    Ok(shown)
}

fn remove(form: &Form, place: Place, drop: &DropArgs) -> Result<String, Failure> {
    let shelf = open(drop.conf.conf.as_deref())?;
    if !drop.yes {
        let count = drop.ids.len();
        confirm(&format!(
            "drop {count} of the scheduler's documents for good"
        ))?;
    }
    let list = List::whole(shelf.drop(place, &drop.ids).map_err(failed)?);
    if !form.is_table() {
        return form.list(&list, &sheet(&list.items, place));
    }
    let line = |waiting: &Waiting| format!("dropped {}\n", about(waiting));
    Ok(list.items.iter().map(line).collect())
}

/// `1767225600000000: charge of Moab.1024`
fn about(waiting: &Waiting) -> String {
    let event = waiting.event.as_deref().unwrap_or("no whole document");
    let objects = waiting.objects.join(", ");
    let of = if objects.is_empty() { "" } else { " of " };
    format!("{}: {event}{of}{objects}", waiting.id)
}

fn retry(
    form: &Form,
    mut ids: Vec<String>,
    all: bool,
    conf: Option<&Path>,
) -> Result<String, Failure> {
    let shelf = open(conf)?;
    if all {
        let listed = shelf.list(Place::Quarantine, usize::MAX).map_err(failed)?;
        let keys = listed.documents.into_iter();
        // What has no key is no document and would only come back.
        ids = keys.filter_map(|waiting| waiting.key).collect();
    }
    if !ids.is_empty() {
        shelf.release(&ids).map_err(failed)?;
    }
    send(form, &shelf)
}

fn send(form: &Form, shelf: &Shelf) -> Result<String, Failure> {
    let drained = shelf.send().map_err(failed)?;
    let Drained {
        delivered,
        quarantined,
        left,
        ..
    } = drained;
    let message = if form.is_table() {
        format!("{delivered} delivered, {quarantined} in quarantine, {left} left\n")
    } else {
        let columns = vec![
            column("delivered", "Delivered", Kind::Number),
            column("quarantined", "Quarantined", Kind::Number),
            column("left", "Left", Kind::Number),
            column("outage", "Outage", Kind::Text),
            column("why", "Why", Kind::Text),
        ];
        let rows = std::slice::from_ref(&drained);
        form.one(&drained, &Sheet::new(columns, rows, ""))?
    };
    if quarantined == 0 && left == 0 {
        return Ok(message);
    }
    let mut failure = if left > 0 {
        let why = drained.why.as_deref().unwrap_or("more than one run sends");
        let exit = if drained.outage || drained.why.is_none() {
            exit::UNAVAILABLE
        } else {
            exit::REFUSED
        };
        Failure::of(exit, format!("documents stay in the spool: {why}"))
    } else {
        Failure::of(exit::REFUSED, "the bank cannot take some documents")
            .hint("`bank nami quarantine ls` shows the reason")
    };
    failure.before = Some(message);
    Err(failure)
}

fn sheet(rows: &[Waiting], place: Place) -> Sheet {
    let aside = place == Place::Quarantine;
    let has_reason = aside || rows.iter().any(|row| row.reason.is_some());
    let columns = vec![
        column("id", "Id", Kind::Text),
        column("event", "Event", Kind::Text),
        column("objects", "Objects", Kind::Text),
        column("time", "Time of the event", Kind::Time),
        column("bytes", "Bytes", Kind::Number).secondary(),
        column("query", "Query", Kind::Text).if_machine(),
        column("key", "Key", Kind::Text).if_machine(),
        column("reason", "Reason", Kind::Text).screen_if(has_reason),
        column("document", "Document", Kind::Text).on_request(),
    ];
    let empty = if aside {
        "nothing in the quarantine"
    } else {
        "nothing waits"
    };
    Sheet::new(columns, rows, empty)
}

/// Becomes `bankd replay`, which has the rules: the one beside this program, else that of the path.
fn replay(form: &Form, arguments: Vec<OsString>) -> Result<String, Failure> {
    let own = std::env::current_exe().ok();
    let beside = own
        .and_then(|own| Some(own.parent()?.join("bankd")))
        .filter(|path| path.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from("bankd"));
    let error = std::process::Command::new(&program)
        .arg("replay")
        // A flag of every command of `bank` is not among the arguments.
        .args(is_json(form).then_some("--json"))
        .args(arguments)
        .exec();
    Err(
        Failure::of(exit::NOT_FOUND, format!("{}: {error}", program.display()))
            .hint("a replay needs `bankd` on this machine"),
    )
}

/// True where a program reads JSON: then nothing else may be printed.
pub(super) fn is_json(form: &Form) -> bool {
    matches!(form.format, Format::Json | Format::Jsonl)
}
