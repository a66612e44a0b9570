//! Digests: once a day, for each recipient, the events that were not notified immediately.

use std::collections::BTreeMap;

use bank_core::directory::Directory;
use bank_core::time::Timestamp;
use bankd_config::{Deliver, DeliverWord};
use bankd_store::read::attention::{self, EventRow};
use bankd_store::{Digest, NoticeChange};

use super::{Bank, Trouble};
use crate::deliver::recipients;

/// One day in microseconds.
const DAY_US: i64 = 86_400_000_000;
/// One minute in microseconds.
const MINUTE_US: i64 = 60_000_000;

/// Makes the digests that are due; after downtime one for all the days.
pub(super) async fn make(bank: &Bank, now: Timestamp) -> Result<(), Trouble> {
    let minute = bank.settings.attention.digest_minute().unwrap_or(0);
    let due = due(now, minute);
    for target in &bank.settings.deliver {
        if !target.gets_digest() {
            continue;
        }
        let name = target.name.clone();
        let question = move |connection: &_| attention::undigested(connection, &name);
        let Some((state, events, newest)) = bank.readers.run(question).await? else {
            continue;
        };
        if state.at >= due {
            continue;
        }
        let digest = Digest {
            target: target.name.clone(),
            after: state.digested,
            upto: newest,
            at: due,
            letters: letters(target, &bank.writer.directory(), &events),
        };
        bank.writer
            .change_notice(NoticeChange::Digest(digest))
            .await?;
    }
    Ok(())
}

/// The latest digest time at or before `now`.
pub(super) fn due(now: Timestamp, minute: i64) -> Timestamp {
    let of_day = minute.saturating_mul(MINUTE_US);
    let days = now.0.saturating_sub(of_day).div_euclid(DAY_US);
    Timestamp(days.saturating_mul(DAY_US).saturating_add(of_day))
}

/// The events of each recipient, in their order: of mail each address, else the target itself.
pub(super) fn letters(
    target: &Deliver,
    directory: &Directory,
    events: &[EventRow],
) -> Vec<(String, Vec<i64>)> {
    if target.by != DeliverWord::Sendmail {
        let all: Vec<i64> = events.iter().map(|row| row.tx.0).collect();
        let some = (!all.is_empty()).then(|| (target.name.clone(), all));
        return some.into_iter().collect();
    }
    let mut letters: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for row in events {
        for recipient in recipients(target, directory, &row.event.concern.project) {
            letters.entry(recipient).or_default().push(row.tx.0);
        }
    }
    letters.into_iter().collect()
}
