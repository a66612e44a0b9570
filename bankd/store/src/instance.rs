//! Reads instances: by their scheduler's id, and one by its number.

use super::{Error, codec, lien};
use bank_core::amount::Amount;
use bank_core::decimal::Decimal;
use bank_core::ids::{AccountId, InstanceId, LienId, QuoteId, UsageId};
use bank_core::model::{Closing, Facts, Instance, InstanceKey, Mode, ObjectType};
use bank_core::need::INSTANCES_MAX;
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::Usage;
use rusqlite::{Connection, Row};

macro_rules! instance_columns {
    () => {
        "id, machine, object_type, object_id, number, opened_at, closed_at, closed_by, account,
        fallback_from, exact_whole, exact_part, once_whole, once_part, billed, shadow_billed,
        charged_s, processor_s, record, last_usage, rates_at, quote, absorbed, due_at, lien,
        project, user, group_name, qos, class, processors, nodes, memory_mb, disk_mb, gres,
        attributes, wall_s, start_at, end_at, submit_at, state, exit_code, other, lien_expired,
        began_at, used_until, disputed_s, earliest_at, mode, kept_s"
    };
}

/// Columns of an instance, in the order that [`read`] reads.
pub(super) const INSTANCE: &str = instance_columns!();

/// The instances of a key, the newest first.
pub(super) fn of_key(connection: &Connection, key: &InstanceKey) -> Result<Vec<Instance>, Error> {
    let sql = concat!(
        "SELECT ",
        instance_columns!(),
        " FROM instance WHERE object_id = ?1 AND machine = ?2 AND object_type = ?3
          ORDER BY number DESC"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((&key.object_id, &key.machine, key.object_type.word()))?;
    let mut found = Vec::new();
    // The index is walked no further than asked for.
    while found.len() < INSTANCES_MAX {
        let Some(row) = rows.next()? else { break };
        found.push(with_lien(connection, row)?);
    }
    Ok(found)
}

/// An instance by its number.
pub(super) fn by_id(connection: &Connection, id: InstanceId) -> Result<Option<Instance>, Error> {
    let sql = concat!(
        "SELECT ",
        instance_columns!(),
        " FROM instance WHERE id = ?1"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    match rows.next()? {
        Some(row) => with_lien(connection, row).map(Some),
        None => Ok(None),
    }
}

/// An instance with its lien, out of a row of [`INSTANCE`].
pub(super) fn with_lien(connection: &Connection, row: &Row<'_>) -> Result<Instance, Error> {
    let mut found = read(row)?;
    if let Some(id) = row.get::<_, Option<i64>>(24)? {
        found.lien = lien::one(connection, LienId(id))?;
    }
    Ok(found)
}

/// An instance without its lien.
fn read(row: &Row<'_>) -> Result<Instance, Error> {
    let closed_by = codec::text_or_null(row, 7)?;
    let closed_by = closed_by
        .map(|w| codec::word("instance.closed_by", w, Closing::parse))
        .transpose()?;
    let closed_at = row.get::<_, Option<i64>>(6)?.map(Timestamp);
    let processor_s = codec::text(row, 17)?;
    let time = |column: usize| row.get::<_, Option<i64>>(column).map(|t| t.map(Timestamp));
    let object_type = codec::text(row, 2)?;
    let mode = codec::text_or_null(row, 48)?;
    Ok(Instance {
        id: InstanceId(row.get(0)?),
        key: InstanceKey {
            machine: row.get(1)?,
            object_type: codec::word("object_type", object_type, ObjectType::parse)?,
            object_id: row.get(3)?,
        },
        number: row.get(4)?,
        opened: Timestamp(row.get(5)?),
        closed: closed_at.zip(closed_by),
        account: row.get::<_, Option<i64>>(8)?.map(AccountId),
        fallback_from: row.get::<_, Option<i64>>(9)?.map(AccountId),
        exact_sum: codec::trillionths(row.get(10)?, row.get(11)?),
        once_sum: codec::trillionths(row.get(12)?, row.get(13)?),
        billed: Amount(row.get(14)?),
        shadow_billed: Amount(row.get(15)?),
        charged: Seconds(row.get(16)?),
        processor_seconds: codec::word("processor_s", processor_s, |t| t.parse().ok())?,
        record: row.get::<_, Option<i64>>(18)?.map(UsageId),
        last_usage: row.get::<_, Option<i64>>(19)?.map(UsageId),
        rates_at: time(20)?,
        quote: row.get::<_, Option<i64>>(21)?.map(QuoteId),
        absorbed: row.get(22)?,
        lien_expired: row.get(43)?,
        due: time(23)?,
        began: time(44)?,
        earliest: time(47)?,
        used_until: time(45)?,
        disputed: Seconds(row.get(46)?),
        mode: mode
            .map(|word| codec::word("instance.mode", word, Mode::parse))
            .transpose()?,
        kept: Seconds(row.get(49)?),
        lien: None,
        facts: facts(row)?,
    })
}

fn facts(row: &Row<'_>) -> Result<Facts, Error> {
    let decimal = |what: &'static str, column: usize| -> Result<Option<Decimal>, Error> {
        let text = codec::text_or_null(row, column)?;
        text.map(|t| codec::word(what, t, Decimal::read))
            .transpose()
    };
    let time = |column: usize| row.get::<_, Option<i64>>(column).map(|t| t.map(Timestamp));
    Ok(Facts {
        project: row.get(25)?,
        user: row.get(26)?,
        group: row.get(27)?,
        usage: Usage {
            qos: row.get(28)?,
            class: row.get(29)?,
            processors: decimal("instance.processors", 30)?,
            nodes: decimal("instance.nodes", 31)?,
            memory_mb: decimal("instance.memory_mb", 32)?,
            disk_mb: decimal("instance.disk_mb", 33)?,
            gres: codec::read_quantities("instance.gres", codec::text(row, 34)?)?,
            attributes: codec::read_pairs("instance.attributes", codec::text(row, 35)?)?,
            counted: None,
            idle: None,
        },
        wall: row.get::<_, Option<i64>>(36)?.map(Seconds),
        start: time(37)?,
        end: time(38)?,
        submit: time(39)?,
        state: row.get(40)?,
        exit_code: row.get(41)?,
        other: codec::read_pairs("instance.other", codec::text(row, 42)?)?,
    })
}
