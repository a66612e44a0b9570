//! Snapshots in the store's form.

use bank_core::directory::Directory;
use bank_core::mapping::Naming;
use bank_core::time::Timestamp;
use bankd_ingest::{Counted, Counts};
use bankd_store::{Count, Snapshot};

use std::collections::BTreeMap;

use super::Feed;
use super::report::{machine, namespace, text};

/// The counts of a snapshot by owner: with the source's names, and with the current mappings.
pub(super) fn snapshot(counts: Counts, feed: &Feed, directory: &Directory) -> Snapshot {
    let machine = machine(None, feed, directory);
    let nothing = BTreeMap::new();
    let count = |counted: Counted| {
        let account = text(counted.account);
        let login = text(counted.user);
        let queue = text(counted.queue);
        let mapped = directory.mapped(&Naming {
            source: &feed.source,
            machine: &machine,
            user: &login,
            account: &account,
            queue: &queue,
            namespace: namespace(&feed.format, &account, &nothing),
            ..Naming::default()
        });
        Count {
            machine: machine.clone(),
            project: mapped.project,
            user: mapped.user,
            account,
            login,
            queue,
            running: counted.running,
            queued: counted.queued,
        }
    };
    Snapshot {
        at: Timestamp(counts.at_us),
        counts: counts.groups.into_iter().map(count).collect(),
    }
}
