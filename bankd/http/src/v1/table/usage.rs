//! Usage that others recorded: how it comes in, what could not be read, what waits, what was made
//! of it.

use bank_api::v1::{
    AssignDone, ExportPage, ExportQuery, FallbackQuery, FallbackReport, Import, ImportDone,
    ImportOpened, ImportTaken, List, NewAssign, NewImport, PageQuery, PatchSource, PieceQuery,
    QuarantineQuery, QuarantineRemoval, QuarantineRemoved, QuarantineReplayed, Quarantined,
    ReconcileQuery, Reconciled, RecordLine, RecordQuery, Removed, ReplayQuarantined, SampledQuery,
    SampledTable, Source, SourceQuery, Unmapped, UnmappedQuery, UsageBody, UsageQuery, UsageTable,
    UsageTaken, WriteQuery, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{
    export, import, quarantine, reconcile, records, report, report_sampled, report_usage, source,
    unmapped, usage,
};
use super::{NAMED, VALUES};
use crate::route::Route;
use crate::v1::call::Empty;

pub(super) fn rows() -> Vec<Route> {
    [sources(), imports(), aside(), waiting()]
        .into_iter()
        .flatten()
        .collect()
}

fn sources() -> Vec<Route> {
    vec![
        Route::post("/api/v1/usage", usage::take)
            .right(Right::ReportUsage)
            .description("Hand in finished usage")
            .more(
                "One record, or up to 1,000 under `records`. Each is taken in or refused by \
                 itself; `items` say what became of it.",
            )
            .query::<WriteQuery>()
            .body::<UsageBody>()
            .gives::<UsageTaken>(200, "The result for each record.")
            .refuses(&[VALUES, NAMED]),
        Route::get("/api/v1/reconcile", reconcile::show)
            .right(Right::SeeSources)
            .description("Charges of a machine compared with usage from other sources")
            .asks::<ReconcileQuery>()
            .gives::<Reconciled>(200, "A page of uses that differ.")
            .refuses(&[NAMED, &["bad_window", "missing_field"]]),
        Route::get("/api/v1/sources", source::list)
            .right(Right::SeeSources)
            .description("Collectors")
            .asks::<SourceQuery>()
            .gives::<List<Source>>(200, "The collectors."),
        Route::get("/api/v1/sources/{name}", source::show)
            .right(Right::SeeSources)
            .description("One collector")
            .query::<Empty>()
            .gives::<Source>(200, "The collector."),
        Route::patch("/api/v1/sources/{name}", source::set)
            .right(Right::ChangeSources)
            .description("Say how long a collector may be silent")
            .body::<PatchSource>()
            .gives::<Written<Source>>(200, "The collector as it is now.")
            .refuses(&[VALUES, &["bad_duration"]]),
        Route::delete("/api/v1/sources/{name}", source::remove)
            .right(Right::ChangeSources)
            .description("Remove a collector from the list until it reports again")
            .gives::<Removed>(200, "It is off the list."),
    ]
}

fn imports() -> Vec<Route> {
    vec![
        Route::get("/api/v1/imports", import::list)
            .right(Right::SeeImports)
            .description("Usage files on their way in")
            .asks::<PageQuery>()
            .gives::<List<Import>>(200, "The imports that are under way."),
        Route::post("/api/v1/imports", import::open)
            .right(Right::Import)
            .description("Open an import")
            .query::<Empty>()
            .body::<NewImport>()
            .gives::<ImportOpened>(201, "Where to send the pieces.")
            .refuses(&[VALUES, NAMED, IMPORT]),
        Route::delete("/api/v1/imports/{id}", import::give_up)
            .right(Right::Import)
            .description("Give an import up; what it committed stays")
            .query::<Empty>()
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[IMPORT]),
        Route::post("/api/v1/imports/{id}/data", import::take)
            .right(Right::Import)
            .description("A piece of a file, as bytes")
            .query::<PieceQuery>()
            .bytes("application/octet-stream")
            .gives::<ImportTaken>(200, "How far it is.")
            .refuses(&[VALUES, IMPORT]),
        Route::post("/api/v1/imports/{id}/end", import::end)
            .right(Right::Import)
            .description("No more comes: answers once all is committed")
            .query::<Empty>()
            .gives::<ImportDone>(200, "The result of the import.")
            .refuses(&[VALUES, IMPORT]),
    ]
}

/// Why an import cannot go on.
const IMPORT: &[&str] = &["import_gone", "bad_document", "in_use", "machine_unknown"];

fn aside() -> Vec<Route> {
    vec![
        Route::get("/api/v1/quarantine", quarantine::list)
            .right(Right::SeeIntake)
            .description("What could not be read or taken in")
            .asks::<QuarantineQuery>()
            .gives::<List<Quarantined>>(200, "A page of it."),
        Route::delete("/api/v1/quarantine", quarantine::clear)
            .right(Right::ChangeQuarantine)
            .description("Remove all that one collector brought there")
            .query::<QuarantineRemoval>()
            .gives::<QuarantineRemoved>(200, "The number of removed records."),
        Route::get("/api/v1/quarantine/{id}", quarantine::show)
            .right(Right::SeeIntake)
            .description("One, with its text")
            .numbers(&["id"])
            .gives::<Quarantined>(200, "It."),
        Route::delete("/api/v1/quarantine/{id}", quarantine::remove)
            .right(Right::ChangeQuarantine)
            .description("Remove one")
            .numbers(&["id"])
            .gives::<Removed>(200, "It was removed."),
        Route::post("/api/v1/quarantine/{id}/replay", quarantine::replay)
            .right(Right::ChangeQuarantine)
            .description("Read one again, and take it in")
            .numbers(&["id"])
            .body::<ReplayQuarantined>()
            .gives::<QuarantineReplayed>(200, "The result.")
            .refuses(&[VALUES, IMPORT]),
    ]
}

fn waiting() -> Vec<Route> {
    vec![
        Route::get("/api/v1/unmapped", unmapped::list)
            .right(Right::SeeIntake)
            .description("Usage that waits for a project, in groups")
            .asks::<UnmappedQuery>()
            .gives::<Unmapped>(200, "At most 1,000 groups, and their total."),
        Route::post("/api/v1/unmapped/assign", unmapped::assign)
            .right(Right::AssignUsage)
            .description("Give usage that waits to a project")
            .body::<NewAssign>()
            .gives::<AssignDone>(200, "The result for each record.")
            .refuses(&[VALUES, NAMED]),
        Route::get("/api/v1/report/fallback", report::on_fallback)
            .right(Right::SeeLedger)
            .description("Who ran on a fallback account")
            .asks::<FallbackQuery>()
            .gives::<FallbackReport>(200, "The jobs.")
            .refuses(&[NAMED, &["bad_window"]]),
        Route::get("/api/v1/report/usage", report_usage::show)
            .right(Right::SeeLedger)
            .description("Usage in a period, by whose it is and by buckets of time")
            .more(
                "Who only is a member of a project sees the usage of others in one row without a name.",
            )
            .asks::<UsageQuery>()
            .gives::<UsageTable>(200, "The rows, and all of them together.")
            .refuses(&[NAMED, &["bad_window"]]),
        Route::get("/api/v1/report/sampled", report_sampled::show)
            .right(Right::SeeLedger)
            .description("How many jobs ran and waited when collectors took snapshots")
            .more(
                "Means over the snapshots in a bucket, and the most in one of them; a bucket without a \
                 snapshot has no figure. Who only is a member of a project sees jobs of others in one row \
                 without a name.",
            )
            .asks::<SampledQuery>()
            .gives::<SampledTable>(200, "The rows, and all of them together.")
            .refuses(&[NAMED, &["bad_window"]]),
        Route::get("/api/v1/export/{format}", export::show)
            .right(Right::SeeRecords)
            .description("What was used, in the format of another program")
            .more(
                "A page of it along a cursor, which a later export goes on from: `next` is its \
                 `since`. APEL's sums and SWF are made as a whole.",
            )
            .asks::<ExportQuery>()
            .gives::<ExportPage>(200, "A page.")
            .refuses(&[NAMED, &["bad_window", "too_large"]]),
        Route::get("/api/v1/records", records::list)
            .right(Right::SeeRecords)
            .description("Usage records as lines")
            .asks::<RecordQuery>()
            .gives::<List<RecordLine>>(200, "A page of lines.")
            .refuses(&[NAMED, &["bad_window"]]),
    ]
}
