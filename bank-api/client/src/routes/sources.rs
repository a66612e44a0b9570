//! Sources of usage, imports, rejected and unmapped records.

use bank_api::v1::{
    AssignDone, Import, ImportDone, ImportOpened, List, NewAssign, NewImport, PageQuery,
    PatchSource, QuarantineQuery, QuarantineRemoval, QuarantineRemoved, QuarantineReplayed,
    Quarantined, ReconcileQuery, Reconciled, Removed, ReplayQuarantined, Source, SourceQuery,
    Unmapped, UnmappedQuery, Written,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Collectors.
    read(sources() SourceQuery) "/api/v1/sources" -> List<Source>;
    /// One collector.
    show(source(name)) "/api/v1/sources/{name}" -> Source;
    /// Say how long a collector may be silent.
    send(PATCH change_source(name) PatchSource) "/api/v1/sources/{name}" -> Written<Source>;
    /// Take a collector off the list until it is heard again.
    act(DELETE remove_source(name)) "/api/v1/sources/{name}" -> Removed;
    /// Usage files on their way in.
    read(imports() PageQuery) "/api/v1/imports" -> List<Import>;
    /// Open an import.
    send(POST open_import() NewImport) "/api/v1/imports" -> ImportOpened;
    /// Give an import up; what it committed stays.
    act(DELETE remove_import(id)) "/api/v1/imports/{id}" -> Removed;
    /// No more comes: answers once all is committed.
    act(POST end_import(id)) "/api/v1/imports/{id}/end" -> ImportDone;
    /// What could not be read or taken in.
    read(quarantine() QuarantineQuery) "/api/v1/quarantine" -> List<Quarantined>;
    /// One, with its text.
    show(quarantined(id)) "/api/v1/quarantine/{id}" -> Quarantined;
    /// Remove one.
    act(DELETE remove_quarantined(id)) "/api/v1/quarantine/{id}" -> Removed;
    /// Remove all that one collector brought there.
    act_by(DELETE empty_quarantine() QuarantineRemoval) "/api/v1/quarantine" -> QuarantineRemoved;
    /// Read one again, and take it in.
    send(POST replay_quarantined(id) ReplayQuarantined) "/api/v1/quarantine/{id}/replay" -> QuarantineReplayed;
    /// Usage that waits for a project, in groups.
    read(unmapped() UnmappedQuery) "/api/v1/unmapped" -> Unmapped;
    /// Give usage that waits to a project.
    send(POST assign_unmapped() NewAssign) "/api/v1/unmapped/assign" -> AssignDone;
    /// Charges of a machine compared with usage from other sources.
    read(reconcile() ReconcileQuery) "/api/v1/reconcile" -> Reconciled;
}
