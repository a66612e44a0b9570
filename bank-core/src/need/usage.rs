//! Rows that commands about finished uses need.

use super::{Need, instance_need, late, times};
use crate::command::{Assign, Chunk, UsageReport, Whose};
use crate::directory::Directory;
use crate::ids::AccountId;
use crate::model::Instance;
use crate::rules;
use crate::select;
use crate::time::Timestamp;
use crate::view::View;
use std::collections::BTreeSet;

/// A record, the one before it of the same identity, and the possible payers.
pub(super) fn of_report(report: &UsageReport, directory: &Directory, now: Timestamp) -> Need {
    let request = &report.request;
    let mut accounts = select::possible_payers(directory, &request.whose);
    accounts.extend(directory.suspense().map(|a| a.id));
    let machine = directory.any_machine_named(&request.whose.machine);
    // A record that claims no machine skips this search, which is long if nothing was charged there.
    let unclaimed = machine.filter(|machine| machine.source.is_none() && !report.track);
    // Strict enforcement is checked at the begin of the use, so allocations that ended during it count.
    let used_until = request.facts.start.or(request.facts.end);
    let counts = request.facts.start.max(request.facts.end);
    Need {
        identity: Some(report.identity()),
        others: Some(request.key()),
        alias: Some(request.key()),
        charges_on: unclaimed.map(|machine| (machine.name.clone(), report.source.clone())),
        ending_after: Some(used_until.map_or(now, |at| at.min(now))),
        came_after: late(counts.map_or(now, |at| at.min(now)), directory, now),
        times: times::of_request(request, directory),
        own_times: times::are_reported(request, directory),
        ..instance_need(request, accounts, now)
    }
}

/// A finished use with all of its charges, and the possible payers.
pub(super) fn of_assignment(assign: &Assign, directory: &Directory) -> Need {
    let whose = Whose {
        project: Some(assign.project.clone()),
        user: assign.user.clone(),
        ..Whose::default()
    };
    let mut accounts = select::possible_payers(directory, &whose);
    accounts.extend(directory.suspense().map(|a| a.id));
    Need {
        identity: Some(assign.identity.clone()),
        accounts,
        history: true,
        own_times: true,
        ..Need::default()
    }
}

/// The accounts that may pay for a report of a chunk. Earlier records of its reports are loaded elsewhere.
pub(super) fn of_chunk(chunk: &Chunk, directory: &Directory, now: Timestamp) -> Need {
    let firsts = chunk.reports.firsts();
    let payers = firsts.map(|first| select::possible_payers(directory, &first.request.whose));
    let accounts: BTreeSet<_> = payers.flatten().collect();
    let began = chunk.reports.iter().map(|report| {
        let facts = &report.request.facts;
        facts.start.or(facts.end).unwrap_or(now)
    });
    let earliest = began.fold(now, Timestamp::min);
    Need {
        accounts: accounts.into_iter().collect(),
        ending_after: Some(earliest),
        ..Need::default()
    }
}

/// Further rows for a finished use: the fallback accounts that its instance keeps. A use with an earlier
/// record also needs all payments for it, which an amended record may give back. One that closed by itself after a charge
/// needs the owners of its charges.
pub(super) fn further(
    report: &UsageReport,
    view: &View,
    mut first: Need,
    mut kept: Vec<AccountId>,
) -> Option<Need> {
    let known = view.known.as_ref().and_then(|known| known.instance);
    let is_known = known.is_some();
    let waits = |i: &&Instance| !i.is_open() && i.is_charged() && !i.is_billed();
    let same = || rules::same_use(report, view).filter(waits);
    let own = known.or_else(|| same().map(|instance| instance.id));
    let has_history = own.is_some();
    kept.retain(|id| !first.accounts.contains(id));
    if kept.is_empty() && !has_history {
        return None;
    }
    first.accounts.extend(kept);
    first.paid = first.paid || is_known;
    first.history = first.history || has_history;
    first.history_of = own;
    Some(first)
}
