//! The quarantine of unreadable records: list, replay, remove. A line belongs to no project, so only
//! callers with an unlimited view see it.

use std::io;

use bank_api::text;
use bank_api::v1::{
    List, QuarantineQuery, QuarantineRemoval, QuarantineRemoved, QuarantineReplayed, Quarantined,
    ReadOptions, Removed, ReplayQuarantined,
};
use bank_core::refusal::Refusal;
use bankd_ingest::job::RAW_MAX;
use bankd_ingest::{Format, Found, Options, Record};
use bankd_intake::auditor::again::{self, Bank, Kept};
use bankd_intake::{Feed, Intake, Taken};
use bankd_ledger::writer::Writer;
use bankd_store::read::quarantine::{self, Aside, Reading};

use super::call::{Call, Handled, ok};
use super::import;
use super::pages;
use super::path::Path;
use super::share::whole;
use crate::error::Failure;

/// Maximum shown bytes of a body, so that clients can read the answer.
const SHOWN_MAX: usize = 8 << 20;

/// `GET /api/v1/quarantine`
pub(super) async fn list(call: Call) -> Handled {
    whole(&call)?;
    let query: QuarantineQuery = call.query()?;
    let (limit, after) = pages::numbered(&call, query.limit, query.after.as_deref())?;
    let after = after.unwrap_or(0);
    let source = query.source;
    let page =
        call.ask(move |connection| quarantine::list(connection, source.as_deref(), after, limit));
    let page = page.await?;
    ok(&List {
        items: page.rows.into_iter().map(shaped).collect(),
        next: page.next.map(|id| id.to_string()),
    })
}

/// `GET /api/v1/quarantine/{id}`
pub(super) async fn show(Path(id): Path<i64>, call: Call) -> Handled {
    whole(&call)?;
    let mut aside = find(&call, id).await?;
    let mut body = std::mem::take(&mut aside.body);
    body.truncate(SHOWN_MAX);
    let mut shown = shaped(aside);
    shown.body = Some(String::from_utf8_lossy(&body).into_owned());
    ok(&shown)
}

/// `DELETE /api/v1/quarantine/{id}`
pub(super) async fn remove(Path(id): Path<i64>, call: Call) -> Handled {
    whole(&call)?;
    let dry_run = call.dry_run()?;
    find(&call, id).await?;
    if !dry_run {
        call.services.writer.discard(vec![id]).await?;
    }
    ok(&Removed {
        name: id.to_string(),
        transaction: None,
        dry_run,
        warnings: Vec::new(),
    })
}

/// `DELETE /api/v1/quarantine?source=NAME`: all of a collector.
pub(super) async fn clear(call: Call) -> Handled {
    whole(&call)?;
    let QuarantineRemoval { source, dry_run } = call.query()?;
    let removed = if dry_run {
        let count = call.ask(move |connection| quarantine::count(connection, &source));
        count.await?
    } else {
        call.services.writer.discard_of(source).await?
    };
    ok(&QuarantineRemoved { removed, dry_run })
}

/// `POST /api/v1/quarantine/{id}/replay`: reads and accepts the record again. On success it leaves the
/// quarantine.
pub(super) async fn replay(Path(id): Path<i64>, call: Call) -> Handled {
    whole(&call)?;
    let dry_run = call.dry_run()?;
    let given: ReplayQuarantined = call.json()?;
    let aside = find(&call, id).await?;
    if given.format.is_none() && aside.line == 0 && again::came_here(&aside.place) {
        return replay_collected(&call, aside, given, dry_run).await;
    }
    let source = aside.source.clone();
    let known = call.ask(move |connection| quarantine::reading(connection, &source));
    let known = known.await?;
    if given.body.is_none() && aside.body.len() >= RAW_MAX {
        return Err(cut());
    }
    let (format, options) = reading(
        &aside.source,
        given.format.as_deref(),
        given.options,
        &known,
    )?;
    let named = given.machine;
    let machine = match named {
        Some(named) => import::machine(&call, Some(named))?,
        None => Some(known.machine).filter(|machine| !machine.is_empty()),
    };
    let work = Again {
        writer: call.services.writer.clone(),
        feed: Feed {
            source: aside.source.clone(),
            format: format.name.to_owned(),
            machine,
            caller: call.auth.caller.clone(),
            request_id: call.auth.request_id.clone(),
            dry_run,
            keep_raw: true,
        },
        format,
        options,
        body: given.body.map_or(aside.body, String::into_bytes),
        place: aside.place,
        line: aside.line,
    };
    let done = tokio::task::spawn_blocking(move || work.run()).await;
    let broken = |_| Failure::new("internal", "reading it ended badly; the log has more");
    let (taken, skipped) = done.map_err(broken)??;
    let is_refused = taken.outcomes.contains_key("refused");
    if !dry_run && !is_refused {
        call.services.writer.discard(vec![id]).await?;
    }
    ok(&QuarantineReplayed {
        id,
        jobs: taken.summary.jobs,
        outcomes: taken.outcomes,
        skipped,
        dry_run,
    })
}

/// Format and options of a record: those of the request, else those of the last import of its collector.
fn reading(
    source: &str,
    format: Option<&str>,
    options: Option<ReadOptions>,
    known: &Reading,
) -> Result<(&'static Format, Options), Failure> {
    let format = format.unwrap_or(&known.format);
    let is_same_format = format == known.format;
    if format.is_empty() {
        let detail = format!("format: the format of source {source} is not recorded");
        return Err(Failure::new("bad_request", detail).hint("name the format"));
    }
    let format = import::format(format)?;
    // The daemon wrote this, so it is valid. Options of an older version are ignored.
    let of_import = serde_json::from_str::<ReadOptions>(&known.options).unwrap_or_default();
    let options = match options {
        Some(options) if is_same_format => joined(options, of_import),
        Some(options) => options,
        None => of_import,
    };
    Ok((format, import::read_options(format, options)?))
}

/// Options for one record, the others as the last import of its collector had them. A layout and columns exclude each
/// other.
fn joined(given: ReadOptions, known: ReadOptions) -> ReadOptions {
    let has_columns = given.layout.is_some() || !given.columns.is_empty();
    let (layout, columns) = if has_columns {
        (given.layout, given.columns)
    } else {
        (known.layout, known.columns)
    };
    ReadOptions {
        layout,
        columns,
        delimiter: given.delimiter.or(known.delimiter),
        tz: given.tz.or(known.tz),
        mapping: given.mapping.or(known.mapping),
        gpus_per_slot: given.gpus_per_slot || known.gpus_per_slot,
    }
}

/// A record from a route of AUDITOR is replayed through that route, so that its clients find it.
async fn replay_collected(
    call: &Call,
    aside: Aside,
    given: ReplayQuarantined,
    dry_run: bool,
) -> Handled {
    if given.options.is_some() {
        let detail = format!("options: records from {} have no options", aside.place);
        return Err(Failure::new("bad_request", detail).hint("omit options"));
    }
    let machine = given
        .machine
        .map(|named| import::machine(call, Some(named)));
    let work = again::Again {
        place: aside.place,
        reason: aside.reason,
        peer: aside.peer,
        body: given.body.map_or(aside.body, String::into_bytes),
        machine: machine.transpose()?.flatten(),
        caller: call.auth.caller.clone(),
        request_id: call.auth.request_id.clone(),
        dry_run,
    };
    let bank = Bank {
        writer: &call.services.writer,
        readers: &call.services.readers,
        settings: &call.services.auditor,
    };
    let outcomes = work.run(bank).await.map_err(|kept| match kept {
        Kept::Refused(why) => Failure::new("bad_value", format!("it cannot be taken in: {why}"))
            .hint("give the corrected text (--with)"),
        Kept::Submit(error) => error.into(),
        Kept::Read(error) => error.into(),
    })?;
    if !dry_run {
        // Records that the rules refused are quarantined again, with the reason.
        call.services.writer.discard(vec![aside.id]).await?;
    }
    let jobs = outcomes.iter().filter(|(word, _)| *word != "refused");
    ok(&QuarantineReplayed {
        id: aside.id,
        jobs: jobs.map(|(_, many)| *many).sum(),
        outcomes,
        skipped: Vec::new(),
        dry_run,
    })
}

/// Something to be read again.
struct Again {
    writer: Writer,
    feed: Feed,
    format: &'static Format,
    options: Options,
    body: Vec<u8>,
    place: String,
    line: u64,
}

impl Again {
    /// Reads everything before it accepts any record, so that an error changes nothing. Returns the
    /// accepted records, and reasons for those that were not charged.
    fn run(self) -> Result<(Taken, Vec<String>), Failure> {
        let records = self.read().map_err(|why| unreadable(&why))?;
        let mut skipped = Vec::new();
        for record in &records {
            match &record.found {
                Found::Malformed(why) => return Err(unreadable(why)),
                Found::Skipped(label) => skipped.push(label.to_string()),
                Found::Jobs(_) | Found::Counts(_) => {}
            }
        }
        if records.is_empty() {
            return Err(unreadable("there is no record in it"));
        }
        let mut intake = Intake::new(self.writer, self.feed, usize::MAX);
        intake.place(&self.place);
        let taken = records
            .into_iter()
            .try_for_each(|record| intake.take(record))
            .and_then(|()| intake.end(Vec::new()));
        let busy = |error: io::Error| match error.kind() {
            io::ErrorKind::ResourceBusy | io::ErrorKind::Interrupted => {
                Failure::new("busy", error.to_string())
            }
            io::ErrorKind::StorageFull => Failure::new("disk_full", error.to_string()),
            _ => Failure::new("internal", error.to_string()),
        };
        Ok((taken.map_err(busy)?, skipped))
    }

    fn read(&self) -> Result<Vec<Record>, String> {
        let mut reader = (self.format.reader)(&self.options)?;
        let mut records = Vec::new();
        let mut sink = |mut record: Record| {
            record.line = self.line;
            // A repaired part of a snapshot does not show which users had no jobs.
            if !matches!(record.found, Found::Counts(_)) {
                records.push(record);
            }
            Ok(())
        };
        let base = self.place.rsplit('/').next().unwrap_or(&self.place);
        let mut input = self.body.as_slice();
        let read = reader.again(base, &mut input, &mut sink);
        read.and_then(|()| reader.finish(&mut sink))
            .map_err(|error| error.to_string())?;
        Ok(records)
    }
}

/// The beginning of a record is not the record: its end may correct it.
fn cut() -> Failure {
    let detail = format!("the quarantine keeps only the first {RAW_MAX} bytes of a record");
    Failure::new("bad_value", detail).hint("give the whole record (--with)")
}

fn unreadable(why: &str) -> Failure {
    Failure::new("bad_value", format!("it still cannot be read: {why}"))
        .hint("set read options (--layout, --columns, …), or give the corrected text (--with)")
}

async fn find(call: &Call, id: i64) -> Result<Aside, Failure> {
    let aside = call.ask(move |connection| quarantine::one(connection, id));
    let unknown = || call.refused(&Refusal::not_found("quarantined record", &id.to_string()));
    aside.await?.ok_or_else(unknown)
}

fn shaped(aside: Aside) -> Quarantined {
    Quarantined {
        id: aside.id,
        at: text::format_rfc3339(aside.at),
        source: aside.source,
        peer: aside.peer,
        place: aside.place,
        line: Some(aside.line).filter(|line| *line > 0),
        reason: aside.reason,
        bytes: aside.bytes,
        body: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns for one line keep the mapping and the zone of the import; they replace its layout.
    #[test]
    fn options_of_one_record_are_added_to_those_of_the_import() {
        let known = ReadOptions {
            layout: Some("xdmod26".to_owned()),
            tz: Some("Europe/Berlin".to_owned()),
            mapping: Some("m".to_owned()),
            ..ReadOptions::default()
        };
        let columns = vec!["JobID".to_owned()];
        let given = ReadOptions {
            columns: columns.clone(),
            delimiter: Some(";".to_owned()),
            ..ReadOptions::default()
        };
        let expected = ReadOptions {
            layout: None,
            columns,
            delimiter: Some(";".to_owned()),
            ..known.clone()
        };
        assert_eq!(joined(given, known.clone()), expected);
        assert_eq!(joined(ReadOptions::default(), known.clone()), known);
    }
}
