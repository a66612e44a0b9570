//! The state of the daemon.

use std::collections::BTreeMap;

use bank_api::v1::{
    ClusterNode, ClusterStatus, Limited, MachineStatus, NextCycle, PartnerWaiting, RefusedAccess,
    Status, StuckBoundary, Unbilled,
};
use bank_core::rules::sweep::{Stuck, Subject};
use bankd_ledger::writer::{Cluster, Role};
use bankd_safekeeping::backup;
use bankd_store as store;
use bankd_store::partner;
use bankd_store::read::status::{self, LedgerStatus};
use bankd_store::read::{attention, sources};

use super::call::Empty;
use super::call::{Call, Handled, ok};
use super::clock;
use super::natural::Natural;
use super::{json, records, source};

/// `GET /api/v1/status`
pub(super) async fn show(call: Call) -> Handled {
    call.query::<Empty>()?;
    let suspense = call.directory().suspense().map(|account| account.id);
    // Not `ask`: the state is available even after the writer has stopped.
    let _ = call.services.writer.look().await;
    let readers = &call.services.readers;
    let data = call.services.backups.data().clone();
    let is_unlimited = call.view.is_unlimited();
    let ledger = readers.run(move |connection| {
        let sources = sources::list(connection, None)?;
        let attention = attention::standing(connection)?;
        let reports = store::schedules(connection)?;
        let mut ledger = status::read(connection)?;
        let mut partners = Vec::new();
        if is_unlimited {
            ledger.whole = Some(status::whole(connection, suspense)?);
            partners = partner::all_waiting(connection)?;
        }
        Ok((
            ledger,
            sources,
            (attention, reports, partners),
            backup::last(&data),
            backup::wal_bytes(&data),
        ))
    });
    let (ledger, sources, (text, reports, partners), last_backup, wal) = ledger.await?;
    let mut status = shaped(&call, &ledger);
    status.wal_bytes = Some(whole(wal));
    if call.view.is_unlimited() {
        status.sinks = records::standings(&call, ledger.records);
        status.refused_access = refused_access(&call);
        status.auth_failures = auth_failures(&call);
        status.silent_sources = source::silent(&call, &sources);
        status.partners = waiting(&call, partners);
        status.attention = Some(super::attention::standing(&call, text));
        status.reports = Some(super::scheduled::standing(&reports));
        status.last_backup = last_backup;
        status.backup_error = call.services.backups.error();
        status.checkpoint_error = call.services.checkpoints.error();
        status.signs_checkpoints = call.services.checkpoints.keeper().key.exists();
    }
    ok(&status)
}

/// The partner banks for which messages wait, each with the cause.
fn waiting(call: &Call, partners: Vec<partner::Waiting>) -> Vec<PartnerWaiting> {
    let shaped = partners.into_iter().map(|one| PartnerWaiting {
        waiting: one.count,
        since: json::time(one.since),
        cause: call.services.partners.fault(&one.partner),
        name: one.partner,
    });
    shaped.collect()
}

/// The part that every caller may see.
fn shaped(call: &Call, ledger: &LedgerStatus) -> Status {
    let directory = call.directory();
    let bank = &directory.bank;
    let writer = call.services.writer.counters();
    let obstacles = call.services.writer.obstacles();
    let obstacles: Vec<String> = obstacles.map(str::to_owned).collect();
    let standing = call.services.writer.standing();
    // Numbers of other people's allocations are theirs.
    let may_see = call.view.is_unlimited();
    let stuck = standing.stuck.iter().filter(|_| may_see);
    let seen = directory
        .machines()
        .filter(|m| call.view.sees_machine(&m.name));
    let machines = seen.map(|machine| MachineStatus {
        name: machine.name.clone(),
        mode: directory.mode(None, Some(machine.id)).word().to_owned(),
        last_contact: ledger.contacts.get(&machine.name).copied().map(json::time),
        source: machine.source.clone(),
        test: machine.test,
    });
    let mut machines: Vec<MachineStatus> = machines.collect();
    machines.sort_by_cached_key(|machine| Natural(machine.name.clone()));
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        healthy: obstacles.is_empty(),
        obstacles,
        uptime_s: whole(call.services.started.elapsed().as_secs()),
        unit: bank.unit.clone(),
        precision: bank.precision.places(),
        sqlite_version: rusqlite::version().to_owned(),
        journal_transactions: ledger.transactions,
        journal_entries: ledger.entries,
        database_bytes: Some(ledger.bytes),
        open_liens: ledger.whole.as_ref().map(|whole| whole.open_liens),
        queue_depth: whole(writer.queue_depth),
        queue_capacity: whole(writer.queue_capacity),
        commits: whole(writer.commits),
        commands: whole(writer.commands),
        unbilled: ledger.whole.as_ref().map(|whole| Unbilled {
            count: whole.unbilled_instances,
            amount: json::sum(whole.unbilled, bank),
        }),
        disputed: ledger.whole.as_ref().map(|whole| whole.disputed),
        mode: directory.policy.mode.word().to_owned(),
        machines,
        at: json::time(call.now()),
        clock: clock::shaped(&standing),
        next_boundary: call.services.writer.next_due().map(json::time),
        next_cycle: next_cycle(call),
        stuck: stuck.map(|stuck| shaped_stuck(call, stuck)).collect(),
        stuck_total: whole(standing.stuck_total),
        sinks: Vec::new(),
        silent_sources: Vec::new(),
        partners: Vec::new(),
        attention: None,
        reports: None,
        refused_access: Vec::new(),
        auth_failures: BTreeMap::new(),
        wal_bytes: None,
        last_backup: None,
        backup_error: None,
        checkpoint_error: None,
        signs_checkpoints: false,
        cluster: call.services.writer.cluster().map(|own| cluster(own)),
        limited: limited(call),
    }
}

/// The cluster as this node sees it.
fn cluster(own: &Cluster) -> ClusterStatus {
    let (state, role) = (own.state(), own.role());
    let lease = state.lease.filter(|lease| !lease.node.is_empty());
    let read = state.read.filter(|_| role != Role::Writer);
    let nodes = state.nodes.into_iter().map(|row| ClusterNode {
        node: row.node,
        address: row.address,
        position: row.applied,
        version: row.version,
        age_ms: row.age_ms,
    });
    ClusterStatus {
        node: own.name().to_owned(),
        role: role.word().to_owned(),
        position: own.position(),
        age_ms: read.map(|at| whole(u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX))),
        writer: lease.as_ref().map(|lease| lease.node.clone()),
        writer_address: lease.as_ref().map(|lease| lease.address.clone()),
        epoch: lease.map_or(0, |lease| lease.epoch),
        why: state.why,
        error: state.fault,
        nodes: nodes.collect(),
    }
}

fn limited(call: &Call) -> Limited {
    let [rate, concurrent, body] = call.services.counters.limits_met().map(whole);
    Limited {
        rate,
        concurrent,
        body,
    }
}

/// Number of refused accesses, by caller and reason.
fn refused_access(call: &Call) -> Vec<RefusedAccess> {
    let refusals = call.services.counters.access_refusals().into_iter();
    let shaped = refusals.map(|(roles, code, count)| RefusedAccess {
        roles: roles.words(),
        code: code.to_owned(),
        count: whole(count),
    });
    shaped.collect()
}

/// Number of failed authentications, by cause.
fn auth_failures(call: &Call) -> BTreeMap<String, i64> {
    let failures = call.services.counters.auth_failures().into_iter();
    let shaped = failures.map(|(cause, count)| (cause.to_owned(), whole(count)));
    shaped.collect()
}

/// The next cycle among those of accounts in view.
fn next_cycle(call: &Call) -> Option<NextCycle> {
    let directory = call.directory();
    let seen = |account| {
        let account = directory.account(account);
        account.is_some_and(|account| call.view.sees_account(account))
    };
    let due = directory.cycles().filter(|c| seen(c.account));
    let next = due.filter_map(|c| Some((c.due()?, &c.name))).min()?;
    Some(NextCycle {
        name: next.1.clone(),
        at: json::time(next.0),
    })
}

fn shaped_stuck(call: &Call, stuck: &Stuck) -> StuckBoundary {
    let (kind, id) = match stuck.subject {
        Subject::Allocation(id) => ("allocation", id.0),
        Subject::Instance(id) => ("instance", id.0),
        Subject::Cycle(id) => ("cycle", id.0),
    };
    let cycle = call
        .directory()
        .cycles()
        .find(|cycle| stuck.subject == Subject::Cycle(cycle.id));
    StuckBoundary {
        kind: kind.to_owned(),
        id,
        name: cycle.map(|cycle| cycle.name.clone()),
        at: json::time(stuck.at),
        code: stuck.refusal.code().to_owned(),
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
