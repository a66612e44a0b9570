//! The state of the daemon.

use bank_api::v1::{MachineStatus, Status, Unbilled};

use super::call::{Call, Handled, ok};
use super::project::Empty;
use super::shape;
use crate::store::read::status::{self, LedgerStatus};

/// `GET /api/v1/status`
pub(super) async fn show(call: Call) -> Handled {
    call.query::<Empty>()?;
    let suspense = call.directory().suspense().map(|account| account.id);
    // Not `ask`: the state is told even when the writer has stopped.
    let _ = call.app.writer.settle().await;
    let readers = &call.app.readers;
    let ledger = readers.run(move |connection| status::read(connection, suspense));
    ok(&shaped(&call, &ledger.await?))
}

fn shaped(call: &Call, ledger: &LedgerStatus) -> Status {
    let directory = call.directory();
    let bank = &directory.bank;
    let writer = call.app.writer.counters();
    let seen = directory
        .machines()
        .filter(|m| call.view.sees_machine(&m.name));
    let machines = seen.map(|machine| MachineStatus {
        name: machine.name.clone(),
        mode: directory.mode(None, Some(machine.id)).word().to_owned(),
        last_contact: ledger.contacts.get(&machine.name).copied().map(shape::time),
    });
    let mut machines: Vec<MachineStatus> = machines.collect();
    machines.sort_by(|a, b| a.name.cmp(&b.name));
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        healthy: call.app.writer.is_healthy(),
        uptime_s: whole(call.app.started.elapsed().as_secs()),
        unit: bank.unit.clone(),
        precision: bank.precision.places(),
        sqlite_version: rusqlite::version().to_owned(),
        journal_transactions: ledger.transactions,
        journal_entries: ledger.entries,
        database_bytes: Some(ledger.bytes),
        open_liens: ledger.open_liens,
        queue_depth: whole(writer.queue_depth),
        queue_capacity: whole(writer.queue_capacity),
        commits: whole(writer.commits),
        commands: whole(writer.commands),
        unbilled: Unbilled {
            count: ledger.unbilled_instances,
            amount: shape::sum(ledger.unbilled, bank),
        },
        mode: directory.policy.mode.word().to_owned(),
        machines,
        at: shape::time(call.now()),
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
