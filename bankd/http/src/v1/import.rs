//! Usage files in pieces: opened, sent, ended. The reading is the business of `bankd_intake::uploads`.

use axum::http::StatusCode;
use bank_api::v1::{
    Import, ImportDone, ImportOpened, ImportTaken, NewImport, PieceQuery, ReadOptions, Removed,
};
use bank_core::ids::check_name;
use bank_core::refusal::Refusal;
use bankd_ingest::{Format, Options, formats};
use bankd_intake::Feed;
use bankd_intake::uploads::{Done, Failed, Opening, Part, Standing, Trouble};
use bankd_ledger::access::Role;
use chrono_tz::Tz;
use serde_json::value::to_raw_value;

use super::call::{Call, Handled, ok};
use super::json::read_time;
use super::pages::Turn;
use super::path::Path;
use crate::error::Failure;

/// Longest name of a file, in bytes.
const FILE_NAME_MAX: usize = 4096;

/// `POST /api/v1/imports`
pub(super) async fn open(call: Call) -> Handled {
    let new: NewImport = call.json()?;
    let source = check_name(&new.source).map_err(|_| Refusal::BadValue {
        field: "source",
        expected: "a collector's name such as slurm:colony, 1 to 256 bytes",
    });
    source.map_err(|r| call.refused(&r))?;
    let format = format(&new.format)?;
    let machine = machine(&call, new.machine)?;
    let since = new.since.as_deref().map(|text| read_time(text, "since"));
    let since = since.transpose().map_err(|r| call.refused(&r))?;
    let reading = ReadOptions {
        layout: new.layout,
        columns: new.columns,
        delimiter: new.delimiter,
        tz: new.tz,
        mapping: new.mapping,
        gpus_per_slot: new.gpus_per_slot,
    };
    let kept = serde_json::to_string(&reading);
    let kept = kept.map_err(|_| Failure::new("internal", "the options cannot be kept"))?;
    let options = read_options(format, reading)?;
    let opening = Opening {
        client: call.auth.caller.client.clone(),
        key: call.auth.key.clone(),
        feed: Feed {
            source: new.source,
            format: format.name.to_owned(),
            machine,
            caller: call.auth.caller.clone(),
            request_id: call.auth.request_id.clone(),
            dry_run: new.dry_run,
            keep_raw: new.raw,
        },
        format,
        options,
        reading: kept,
        since_us: since.map(|at| at.0),
        days: new.days,
        strict: new.strict,
    };
    let services = &call.services;
    let standing = services
        .uploads
        .open(opening, &services.writer)
        .map_err(failure)?;
    let piece = services.http.body_limit;
    let mut answer = ok(&ImportOpened {
        id: standing.id,
        at: standing.at,
        piece: u64::try_from(piece).unwrap_or(u64::MAX),
    })?;
    *answer.status_mut() = StatusCode::CREATED;
    Ok(answer)
}

/// `POST /api/v1/imports/{id}/data`: the body is the piece.
pub(super) async fn take(Path(id): Path<String>, call: Call) -> Handled {
    let PieceQuery { file, at, number } = call.query()?;
    if !(1..=FILE_NAME_MAX).contains(&file.len()) || file.chars().any(char::is_control) {
        let expected = "1 to 4096 bytes without control characters";
        let field = "file";
        return Err(call.refused(&Refusal::BadValue { field, expected }));
    }
    let part = Part {
        file,
        number,
        at,
        bytes: call.body().clone(),
    };
    let services = &call.services;
    let taken = services
        .uploads
        .take(who(&call), &id, part, &services.writer)
        .await;
    let Standing { at, records, .. } = taken.map_err(failure)?;
    ok(&ImportTaken { at, records })
}

/// `POST /api/v1/imports/{id}/end`
pub(super) async fn end(Path(id): Path<String>, call: Call) -> Handled {
    let services = &call.services;
    let ended = services
        .uploads
        .end(who(&call), &id, &services.writer)
        .await;
    let (standing, outcome) = ended.map_err(failure)?;
    match outcome.as_ref() {
        Ok(taken) => ok(&done(&standing, taken)?),
        Err(failed) => Err(failure(Trouble::Failed(failed.clone()))),
    }
}

/// `GET /api/v1/imports`
pub(super) async fn list(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let sees_all = call.auth.roles.allow(Role::Auditor) && call.view.is_unlimited();
    let own = call.auth.caller.client.as_str();
    let who = (!sees_all).then_some(own);
    let running = call.services.uploads.list(who, &call.services.writer);
    let mut running: Vec<_> = running.into_iter().map(shaped).collect();
    running.sort_by(|a, b| a.id.cmp(&b.id));
    turn.list(&call, running, |import| import.id.clone(), |row| row)
}

/// `DELETE /api/v1/imports/{id}`
pub(super) async fn give_up(Path(id): Path<String>, call: Call) -> Handled {
    let services = &call.services;
    let given = services
        .uploads
        .give_up(who(&call), &id, &services.writer)
        .await;
    ok(&Removed {
        name: given.map_err(failure)?.id,
        transaction: None,
        dry_run: false,
        warnings: Vec::new(),
    })
}

/// The clients whose imports the caller may use: their own, or all for an administrator of the whole bank.
fn who(call: &Call) -> Option<&str> {
    let is_admin = call.auth.roles.allow(Role::Admin) && call.view.is_unlimited();
    (!is_admin).then_some(call.auth.caller.client.as_str())
}

pub(super) fn format(name: &str) -> Result<&'static Format, Failure> {
    formats::named(name).ok_or_else(|| {
        let names: Vec<&str> = formats::FORMATS.iter().map(|f| f.name).collect();
        Failure::new("bad_request", format!("format: there is no {name:?}"))
            .hint(format!("the formats are {}", names.join(", ")))
    })
}

/// The machine that the records are of: one that there is, and within the caller's scope.
pub(super) fn machine(call: &Call, named: Option<String>) -> Result<Option<String>, Failure> {
    let scope = &call.auth.caller.scope;
    let Some(name) = named else {
        return Ok(None);
    };
    if !scope.has_machine(&name) {
        let what = format!("machine {name:?} is not this key's");
        return Err(call.refused(&Refusal::NotAllowed { what }));
    }
    if call.directory().machine_named(&name).is_none() {
        let unknown = Failure::new("machine_unknown", format!("no machine {name:?}"));
        return Err(unknown.hint("`bank machine ls` lists them, `bank machine add` creates one"));
    }
    Ok(Some(name))
}

/// The options of a reader. Unsupported options are refused before any data is sent.
pub(super) fn read_options(format: &Format, reading: ReadOptions) -> Result<Options, Failure> {
    let bad = |why: String| Failure::new("bad_request", why);
    if reading.mapping.is_some() && format.name != "csv" {
        return Err(bad(format!("mapping: {} has none, only csv", format.name)));
    }
    let zone = reading.tz.as_deref().map_or(Ok(Tz::UTC), str::parse);
    let options = Options {
        layout: reading.layout,
        columns: reading.columns,
        delimiter: reading.delimiter,
        zone: zone.map_err(|_| {
            bad("tz: no such time zone; write a name such as Europe/Berlin".to_owned())
        })?,
        mapping: reading.mapping,
        gpus_per_slot: reading.gpus_per_slot,
    };
    (format.reader)(&options).map_err(bad)?;
    Ok(options)
}

fn shaped(standing: Standing) -> Import {
    Import {
        id: standing.id,
        client: standing.client,
        source: standing.source,
        format: standing.format.to_owned(),
        state: standing.state.to_owned(),
        file: standing.file,
        at: standing.at,
        bytes: standing.bytes,
        records: standing.records,
        dry_run: standing.dry_run,
        idle_s: standing.idle_s,
    }
}

fn done(standing: &Standing, taken: &Done) -> Result<ImportDone, Failure> {
    let failed = |_| Failure::new("internal", "the summary cannot be written");
    let summary = &taken.summary;
    let rejected = summary
        .skipped
        .get("malformed")
        .copied()
        .unwrap_or_default();
    Ok(ImportDone {
        source: standing.source.clone(),
        format: standing.format.to_owned(),
        files: standing.files,
        bytes: standing.bytes,
        summary: to_raw_value(summary).map_err(failed)?,
        records: summary.records,
        jobs: summary.jobs,
        rejected,
        outcomes: taken.outcomes.clone(),
        quarantined: taken.quarantined,
        ok: !standing.strict || rejected == 0,
        dry_run: standing.dry_run,
        said: taken.summary_text.clone(),
    })
}

/// Converts an error of an import, by the one table.
pub(super) fn failure(trouble: Trouble) -> Failure {
    let again = "repeat the import: it continues, and nothing counts twice";
    match trouble {
        Trouble::Unknown => {
            let detail = "the daemon has no such import: it was restarted since, or the \
                          import was idle for import.idle_s";
            Failure::new("import_gone", detail).hint(again)
        }
        Trouble::Crowded => Failure::new("busy", "the maximum number of imports is running")
            .hint("retry later; `import.sessions` and `import.sessions_per_client` set the limits"),
        Trouble::Busy => Failure::new(
            "busy",
            "the import is still processing data; send this request again",
        ),
        Trouble::Stopping => Failure::new("busy", "the daemon is stopping"),
        Trouble::KeyReused => Failure::new(
            "key_reused",
            "this Idempotency-Key was used for another import",
        ),
        Trouble::Elsewhere { file, at } if file.is_empty() => {
            let detail = format!("at: an import begins with its first file at {at}");
            Failure::new("bad_value", detail)
        }
        Trouble::Elsewhere { file, at } => {
            let detail = format!("at: this import is in {file} at {at}");
            Failure::new("bad_value", detail)
        }
        Trouble::Ended => Failure::new("bad_value", "this import was ended already"),
        Trouble::Failed(Failed { code, detail }) => Failure::new(code, detail).hint(again),
    }
}
