//! One call from start to end: drain the spool, send this document, store it if the bank did not
//! accept it, and end with an exit code (`nami.md` 2.2).

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::client::{Client, Document, query_of};
use crate::clock::{Deadline, event_time_us, now_us};
use crate::event::Event;
use crate::input::Input;
use crate::outcome::{Condition, Outcome};
use crate::scan;
use crate::settings::{Loaded, Settings};
use crate::spool::{Entry, Remembered, Report, Sent, Spool, drain, fetch_strays};

/// How long a call waits for another process that is draining, when a document of its own object
/// is among those.
const LOCK_TIME: Duration = Duration::from_secs(1);

/// How a call ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) exit: u8,
    pub(crate) stdout: String,
    /// One line, without the program's name; empty for silence.
    pub(crate) stderr: String,
    /// Whether the document waits in the spool.
    pub(crate) is_kept: bool,
}

impl Ending {
    pub(crate) fn new(exit: u8, stderr: impl Into<String>) -> Self {
        Self {
            exit,
            stdout: String::new(),
            stderr: stderr.into(),
            is_kept: false,
        }
    }

    fn of(settings: &Settings, outcome: Outcome) -> Self {
        let exit = settings.exit(outcome.condition);
        Self {
            exit,
            stdout: outcome.stdout,
            stderr: outcome.text,
            is_kept: false,
        }
    }
}

/// Runs one call. `argument` is the last argument, which may be the document.
pub(crate) fn call(event: Event, argument: Option<&[u8]>, loaded: Loaded) -> Ending {
    let Loaded { settings, mistake } = loaded;
    let deadline = Deadline::after(settings.talk_time());
    if event == Event::Query {
        let text = "the event query is not supported";
        return Ending::of(&settings, Outcome::new(Condition::Unsupported, text));
    }
    if event == Event::Drain {
        return match mistake {
            Some(mistake) => Ending::of(&settings, Outcome::new(Condition::Other, mistake)),
            None => drain_only(&settings, deadline),
        };
    }
    let time_us = event_time_us();
    let input = Input::read(argument);
    send_input(event, (time_us, input), &settings, mistake, deadline).1
}

/// Sends a document of a script of Slurm. Returns the condition beside the ending, whose exit code a site may map.
pub(crate) fn send(
    event: Event,
    body: Vec<u8>,
    loaded: &Loaded,
    deadline: Deadline,
) -> (Condition, Ending) {
    let (settings, mistake) = (&loaded.settings, loaded.mistake.clone());
    let input = (event_time_us(), Input::Document(body));
    send_input(event, input, settings, mistake, deadline)
}

/// Asks once what an event would do. Waiting documents are not sent first: the question changes nothing.
pub(crate) fn ask(settings: &Settings, event: Event, body: &[u8], deadline: Deadline) -> Outcome {
    let client = match Client::new(settings) {
        Ok(client) => client,
        Err(outcome) => return outcome,
    };
    let query = [query_of(settings, event).as_str(), "dry_run=true"].join("&");
    let document = Document {
        event,
        key: &new_key(),
        event_time: None,
        query: query.trim_start_matches('&'),
        body,
    };
    client.send(&document, deadline)
}

fn send_input(
    event: Event,
    (time_us, input): (i64, Input),
    settings: &Settings,
    mistake: Option<String>,
    deadline: Deadline,
) -> (Condition, Ending) {
    if let (Some(folder), Input::Document(body) | Input::Unusable { body, .. }) =
        (&settings.capture_dir, &input)
    {
        capture(folder, event, body);
    }
    let known = match &input {
        Input::Document(body) if mistake.is_none() => remember(settings, event, time_us, body),
        _ => None,
    };
    let key = known.as_ref().map(|known| known.key.clone());
    let is_mistaken = mistake.is_some();
    let entry = |body| Entry {
        key: key.unwrap_or_else(new_key),
        event,
        time_us,
        query: query_of(settings, event),
        file: settings.file.clone(),
        body,
    };
    let (entry, outcome) = match (input, mistake) {
        (Input::Unusable { why, body }, _) => {
            let text = format!("bad document: {why}");
            (entry(body), Outcome::new(Condition::Document, text))
        }
        (Input::Document(body), Some(mistake)) => {
            (entry(body), Outcome::new(Condition::Other, mistake))
        }
        (Input::Document(body), None) => {
            let entry = entry(body);
            let outcome = deliver(settings, &entry, deadline);
            (entry, outcome)
        }
    };
    if let Some(known) = known.filter(|_| !outcome.is_done() && !is_kept(settings, event, &outcome))
    {
        known.forget();
    }
    let mut ending = (outcome.condition, conclude(settings, &entry, outcome));
    if is_mistaken && ending.1.is_kept {
        // The mistake may hide the site's spool.
        let folder = settings.spool_dir.display();
        ending.1.stderr = format!("{} (spool {folder})", ending.1.stderr);
    }
    ending
}

/// The key of a charge that names a time: that of the same charge if it was sent a short time ago. A
/// charge that cannot be remembered gets a key of its own.
fn remember(settings: &Settings, event: Event, time_us: i64, body: &[u8]) -> Option<Remembered> {
    let interval_s = settings.flush_interval_s;
    if !event.charges() || interval_s == 0 {
        return None;
    }
    let repeat_s = scan::repeat_seconds(body, event == Event::End, time_us, interval_s)?;
    let mut identity = format!("{}\n{}\n", event.name(), query_of(settings, event)).into_bytes();
    identity.extend_from_slice(body);
    let spool = Spool::open_or_make(&settings.spool_dir).ok()?;
    let sent = Sent {
        identity: &identity,
        key: &new_key(),
        time_us,
        repeat_s,
        interval_s,
    };
    spool.remember(&sent).ok()
}

/// Drains, then sends the document itself, unless it has to wait behind one of its own object.
fn deliver(settings: &Settings, entry: &Entry, deadline: Deadline) -> Outcome {
    let client = match Client::new(settings) {
        Ok(client) => client,
        Err(outcome) => return outcome,
    };
    let mut patient = true;
    let mut complaint = None;
    let mut waiting = None;
    let mut drained = None;
    match before(&client, settings, entry, deadline.half()) {
        // A quote changes nothing, so it need not wait for anything.
        Ok(Some((_, true))) if entry.event == Event::Quote => patient = false,
        Ok(Some((report, true))) => {
            let outcome = report.outage.or(report.kept);
            return outcome
                .unwrap_or_else(|| Outcome::unreachable("earlier documents of this object wait"));
        }
        Ok(Some((
            Report {
                outage: Some(outage),
                ..
            },
            false,
        ))) => {
            if entry.event.is_always_kept() && outage.condition != Condition::Internal {
                return outage;
            }
            patient = false;
        }
        Ok(Some((report, false))) => {
            waiting = report.waiting();
            drained = Some(report);
        }
        Ok(_) => {}
        // A document that cannot be stored is sent anyway: out of order is better than lost.
        Err(error) => complaint = Some(unusable_spool(&error).text),
    }
    let document = Document {
        event: entry.event,
        key: &entry.key,
        event_time: None,
        query: &entry.query,
        body: &entry.body,
    };
    let mut outcome = if patient {
        client.send_patiently(&document, deadline)
    } else {
        client.send(&document, deadline)
    };
    // The bank works: documents that it answered with an internal error fail by their content.
    if let Some(mut report) = drained.filter(|_| outcome.is_done() || outcome.is_final())
        && let Ok(Some(spool)) = Spool::open(&settings.spool_dir)
        && spool.count_failing(&mut report).is_ok()
    {
        waiting = report.waiting();
    }
    if let Some(remark) = complaint.or(waiting).filter(|_| outcome.text.is_empty()) {
        outcome.text = remark;
    }
    outcome
}

/// Drains before the call, if there is a spool. Returns the result, and whether a document of this
/// one's objects still waits.
fn before(
    client: &Client<'_>,
    settings: &Settings,
    entry: &Entry,
    deadline: Deadline,
) -> std::io::Result<Option<(Report, bool)>> {
    // `bank.drain` and `bank nami` report an error of that folder; this document does not depend on it.
    let _ = fetch_strays(settings, deadline);
    let Some(spool) = Spool::open(&settings.spool_dir)? else {
        return Ok(None);
    };
    let patience = Deadline::after(LOCK_TIME.min(deadline.remaining().unwrap_or_default()));
    loop {
        let report = drain(&spool, deadline, |entry| entry.send(client, deadline))?;
        let waits = (report.left > 0 || report.more) && spool.holds(&entry.body)?;
        if !(report.busy && waits && patience.pause(Duration::from_millis(20))) {
            return Ok(Some((report, waits)));
        }
    }
}

/// `bank.drain`: silent if the spool is empty afterwards and nothing was refused.
fn drain_only(settings: &Settings, deadline: Deadline) -> Ending {
    if let Err(error) = fetch_strays(settings, deadline.half()) {
        return Ending::of(settings, unusable_spool(&error));
    }
    let spool = match Spool::open(&settings.spool_dir) {
        Ok(None) => return Ending::new(0, ""),
        Ok(Some(spool)) => spool,
        Err(error) => return Ending::of(settings, unusable_spool(&error)),
    };
    let client = match Client::new(settings) {
        Ok(client) => client,
        Err(outcome) => return Ending::of(settings, outcome),
    };
    let report = match drain(&spool, deadline, |entry| entry.send(&client, deadline)) {
        Ok(report) => report,
        Err(error) => return Ending::of(settings, unusable_spool(&error)),
    };
    let counts = match &report.gave_up {
        Some(why) => format!("{}; {why}", report.counts()),
        None => report.counts(),
    };
    match report.outage.or(report.kept) {
        Some(outcome) => {
            let text = format!("{counts}: {}", outcome.text);
            Ending::of(settings, Outcome { text, ..outcome })
        }
        None if report.busy => Ending::new(0, "another process is draining"),
        None if report.more => Ending::new(0, format!("{counts}, more may wait: call again")),
        None if report.quarantined > 0 => Ending::new(0, counts),
        None => Ending::new(0, ""),
    }
}

/// Stores or quarantines a document that the bank has not accepted, and ends.
fn conclude(settings: &Settings, entry: &Entry, outcome: Outcome) -> Ending {
    let kept = is_kept(settings, entry.event, &outcome);
    let is_document = outcome.condition == Condition::Document;
    let aside = entry.event.is_always_kept() && is_document && !kept;
    if !kept && !aside {
        return Ending::of(settings, outcome);
    }
    let written = Spool::open_or_make(&settings.spool_dir).and_then(|spool| {
        if kept {
            spool.put(entry)
        } else {
            spool.put_quarantine(entry, &outcome.text)
        }
    });
    match written {
        Ok(()) if kept => Ending {
            is_kept: true,
            ..Ending::new(0, format!("stored in the spool: {}", outcome.text))
        },
        Ok(()) => Ending::of(settings, outcome),
        Err(error) => {
            let text = format!("cannot keep the document ({error}): {}", outcome.text);
            Ending::of(settings, Outcome { text, ..outcome })
        }
    }
}

/// Whether a document that the bank has not taken waits in the spool.
fn is_kept(settings: &Settings, event: Event, outcome: &Outcome) -> bool {
    use Condition::{Connect, Document, Done, Funds, Internal, Refused, Timeout};
    if event.is_always_kept() {
        return outcome.again || !matches!(outcome.condition, Done | Document | Refused | Funds);
    }
    let is_outage = matches!(outcome.condition, Connect | Timeout | Internal);
    event.reserves() && settings.fail_open && is_outage
}

fn unusable_spool(error: &std::io::Error) -> Outcome {
    Outcome::new(Condition::Other, format!("unusable spool: {error}"))
}

/// A copy of the document for the site's administrator. Its failure is ignored.
fn capture(folder: &Path, event: Event, body: &[u8]) {
    let name = format!("{}-{}-{}.xml", event.name(), now_us(), std::process::id());
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(folder.join(name));
    if let Ok(mut file) = file {
        let _ = file.write_all(body);
    }
}

/// A new `Idempotency-Key`: a UUID of version 7.
fn new_key() -> String {
    let now = now_us();
    let seconds = u64::try_from(now / 1_000_000).unwrap_or(0);
    let nanos = u32::try_from(now % 1_000_000).unwrap_or(0) * 1000;
    let time = uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos);
    uuid::Uuid::new_v7(time).to_string()
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
