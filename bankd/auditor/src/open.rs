//! Liens of records that go on (`auditor-api.md` 9.1): placed again before they are over, until the
//! record is closed or `auditor.open_max` is over.

use std::sync::Arc;
use std::time::Duration;

use bank_core::time::Timestamp;
use bankd_intake::auditor::looked;
use bankd_intake::auditor::money::{Known, Terms};
use bankd_ledger::clock;
use bankd_ledger::writer::{Collect, Collecting};
use bankd_listen::gone;
use bankd_store::read::auditor::{StoredRecord, renewals};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use super::access::Identity;
use super::house::{House, Visitor};

/// Interval of the search for liens to place again.
const TICK: Duration = Duration::from_secs(5);
/// Maximum number of them in one search.
const ONCE: i64 = 256;
/// Maximum wait of a lien for a connection.
const PATIENCE: Duration = Duration::from_secs(8);

/// Looks after liens until the daemon stops.
pub(super) async fn renew(house: Arc<House>, mut stopped: watch::Receiver<()>) {
    if house.settings().open_horizon == 0 {
        return;
    }
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => if house.services.writer.is_writing() {
                due(&house).await;
            },
            () = gone(&mut stopped) => return,
        }
    }
}

/// Places due liens again.
pub(super) async fn due(house: &House) {
    let now = house.services.writer.ledger_now();
    let answer = house.readers.ask(PATIENCE, move |connection| {
        renewals(connection, now.0, ONCE)
    });
    for record in answer.await.unwrap_or_default() {
        one(house, &record, now).await;
    }
}

async fn one(house: &House, record: &StoredRecord, now: Timestamp) {
    let Some(text) = looked(&record.head).ok() else {
        return;
    };
    let visitor = Visitor {
        identity: Identity::Anyone,
        peer: ([127, 0, 0, 1], 0).into(),
        track: false,
    };
    let request_id = clock::request_id();
    let directory = house.services.writer.directory();
    let feed = house.feed(&visitor, &request_id);
    let terms = Terms {
        settings: house.settings(),
        feed: &feed,
        directory: &directory,
        track: false,
    };
    let record_id = record.record_id.as_str();
    let work = terms.work(
        &Known {
            record_id,
            head: &record.head,
            meta: text.meta.as_ref(),
            start: record.start,
            stop: None,
            runtime: None,
        },
        now,
    );
    // A lien that can no longer be held is not retried.
    let (work, next) = work.unwrap_or_default();
    let request = Collect {
        what: Collecting::Renew {
            record_id: record.record_id.clone(),
            work: Box::new(work),
            next,
        },
        source: house.settings().source.clone(),
        caller: house.caller(&visitor),
        request_id,
        place: "open records",
        peer: String::new(),
        memory: None,
    };
    if let Err(error) = house.services.writer.collect(request, PATIENCE).await {
        tracing::warn!(record_id, %error, "a lien was not placed again");
    }
}
