//! Effects out: the one function of the program that writes a balance, in the same database
//! transaction as the journal entries that explain it.

use super::sqlite::SqliteStore;
use super::{Error, codec, hash};
use bank_core::effects::{DirectoryRow, Effects, Entry, InstanceChange, Transaction, UsageRow};
use bank_core::model::{Account, Allocation, Instance, Lien, LienState, Quote};
use bank_core::time::Timestamp;
use bank_core::view::Next;
use rusqlite::{Connection, params};
use std::sync::Arc;

/// Writes what a command did.
pub(super) fn append(store: &mut SqliteStore, effects: &Effects) -> Result<(), Error> {
    let before = store.next;
    for row in &effects.directory {
        directory(&store.connection, row)?;
    }
    for allocation in &effects.allocations {
        write_allocation(&store.connection, allocation, before)?;
        consider(&mut store.next_due, allocation.next_boundary());
    }
    for change in &effects.instances {
        write_instance(&store.connection, change, before)?;
        consider(&mut store.next_due, change.instance.due);
    }
    for lien in &effects.liens {
        write_lien(&store.connection, lien, before)?;
    }
    for quote in &effects.quotes {
        write_quote(&store.connection, quote)?;
    }
    for usage in &effects.usages {
        write_usage(&store.connection, usage)?;
    }
    for transaction in &effects.transactions {
        write_transaction(store, transaction)?;
    }
    if !effects.directory.is_empty() {
        let directory = Arc::make_mut(&mut store.directory);
        for row in &effects.directory {
            directory.put(row);
        }
    }
    store.next = effects.next;
    Ok(())
}

fn consider(next_due: &mut Option<Timestamp>, due: Option<Timestamp>) {
    if let Some(due) = due {
        *next_due = Some(next_due.map_or(due, |known| known.min(due)));
    }
}

fn write_transaction(store: &mut SqliteStore, tx: &Transaction) -> Result<(), Error> {
    let stamp = &store.stamp;
    let hash = hash::transaction(tx, stamp, &store.last_hash);
    store
        .connection
        .prepare_cached(
            "INSERT INTO tx (id, req_id, at_effective, at_recorded, actor, client, origin, op,
                 idem_key, instance, reverses, corrects, reason, prev_hash, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            tx.id.0,
            stamp.request_id,
            tx.at_effective.0,
            stamp.now.0,
            stamp.actor,
            stamp.client,
            stamp.origin,
            tx.op,
            stamp.key,
            tx.instance.map(|i| i.0),
            tx.corrects.map(|t| t.0),
            tx.reason,
            store.last_hash,
            hash.as_slice(),
        ])?;
    for (n, entry) in (0_i64..).zip(&tx.entries) {
        write_entry(&store.connection, tx, n, entry)?;
    }
    store.last_hash.clear();
    store.last_hash.extend_from_slice(&hash);
    store.last_recorded = store.stamp.now;
    Ok(())
}

fn write_entry(
    connection: &Connection,
    tx: &Transaction,
    n: i64,
    entry: &Entry,
) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO entry (id, tx, n, prev, kind, account, allocation, lien, usage,
                 delta_amount, delta_held, delta_active, delta_shadow, delta_shadow_held,
                 amount_after, held_after, project, user, machine, instance)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18, ?19, ?20)",
        )?
        .execute(params![
            entry.id.0,
            tx.id.0,
            n,
            entry.prev.map(|e| e.0),
            entry.kind.word(),
            entry.account.map(|a| a.0),
            entry.allocation.map(|a| a.0),
            entry.lien.map(|l| l.0),
            entry.usage.map(|u| u.0),
            entry.delta.amount,
            entry.delta.held,
            entry.delta.active,
            entry.delta.shadow,
            entry.delta.shadow_held,
            entry.amount_after.0,
            entry.held_after.0,
            entry.project,
            entry.user,
            entry.machine,
            tx.instance.map(|i| i.0),
        ])?;
    Ok(())
}

fn write_allocation(connection: &Connection, a: &Allocation, before: Next) -> Result<(), Error> {
    let (start, end) = (a.window.start.map(|t| t.0), a.window.end.map(|t| t.0));
    let last_entry = a.last_entry.map(|e| e.0);
    if a.id.0 >= before.allocation {
        connection
            .prepare_cached(
                "INSERT INTO allocation (account, start_at, end_at, phase, amount, held,
                     credit_limit, deposited, shadow, shadow_held, last_entry, id)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                a.account.0,
                start,
                end,
                a.phase.word(),
                a.amount.0,
                a.held.0,
                a.credit_limit.0,
                a.deposited.0,
                a.shadow.0,
                a.shadow_held.0,
                last_entry,
                a.id.0
            ])?;
        return Ok(());
    }
    // Money first: most changes are these five columns, and no index looks at them.
    connection
        .prepare_cached(
            "UPDATE allocation SET amount = ?1, held = ?2, deposited = ?3, shadow = ?4,
                 shadow_held = ?5, last_entry = ?6 WHERE id = ?7",
        )?
        .execute(params![
            a.amount.0,
            a.held.0,
            a.deposited.0,
            a.shadow.0,
            a.shadow_held.0,
            last_entry,
            a.id.0
        ])?;
    connection
        .prepare_cached(
            "UPDATE allocation SET start_at = ?1, end_at = ?2, phase = ?3, credit_limit = ?4
             WHERE id = ?5 AND (phase <> ?3 OR credit_limit <> ?4
                 OR start_at IS NOT ?1 OR end_at IS NOT ?2)",
        )?
        .execute(params![
            start,
            end,
            a.phase.word(),
            a.credit_limit.0,
            a.id.0
        ])?;
    Ok(())
}

fn write_instance(
    connection: &Connection,
    change: &InstanceChange,
    before: Next,
) -> Result<(), Error> {
    let i = &change.instance;
    if i.id.0 >= before.instance {
        insert_instance(connection, i)?;
    } else {
        update_instance(connection, i)?;
        if change.facts_changed {
            update_facts(connection, i)?;
        }
    }
    Ok(())
}

fn insert_instance(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let (exact_whole, exact_part) = codec::columns(i.exact_sum);
    let (once_whole, once_part) = codec::columns(i.once_sum);
    let f = &i.facts;
    let text = |d: Option<bank_core::decimal::Decimal>| d.map(|d| d.to_string());
    connection
        .prepare_cached(
            "INSERT INTO instance (id, machine, object_type, object_id, number, opened_at,
                 closed_at, closed_by, account, fallback_from, exact_whole, exact_part,
                 once_whole, once_part, billed, shadow_billed, charged_s, processor_s, record,
                 last_usage, rates_at, quote, absorbed, due_at, lien, project, user, group_name,
                 qos, class, processors, nodes, memory_mb, disk_mb, gres, attributes, wall_s,
                 start_at, end_at, submit_at, state, exit_code, other)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33,
                 ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43)",
        )?
        .execute(params![
            i.id.0,
            i.key.machine,
            i.key.object_type.word(),
            i.key.object_id,
            i.number,
            i.opened.0,
            i.closed.map(|c| c.0.0),
            i.closed.map(|c| c.1.word()),
            i.account.map(|a| a.0),
            i.fallback_from.map(|a| a.0),
            exact_whole,
            exact_part,
            once_whole,
            once_part,
            i.billed.0,
            i.shadow_billed.0,
            i.charged.0,
            i.processor_seconds.to_string(),
            i.record.map(|u| u.0),
            i.last_usage.map(|u| u.0),
            i.rates_at.map(|t| t.0),
            i.quote.map(|q| q.0),
            i.absorbed,
            i.due.map(|t| t.0),
            i.lien.as_ref().map(|l| l.id.0),
            f.project,
            f.user,
            f.group,
            f.usage.qos,
            f.usage.class,
            text(f.usage.processors),
            text(f.usage.nodes),
            text(f.usage.memory_mb),
            text(f.usage.disk_mb),
            codec::quantities(&f.usage.gres),
            codec::pairs(&f.usage.attributes),
            f.wall.map(|s| s.0),
            f.start.map(|t| t.0),
            f.end.map(|t| t.0),
            f.submit.map(|t| t.0),
            f.state,
            f.exit_code,
            codec::pairs(&f.other),
        ])?;
    Ok(())
}

fn update_instance(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let (exact_whole, exact_part) = codec::columns(i.exact_sum);
    let (once_whole, once_part) = codec::columns(i.once_sum);
    connection
        .prepare_cached(
            "UPDATE instance SET closed_at = ?2, closed_by = ?3, account = ?4, fallback_from = ?5,
                 exact_whole = ?6, exact_part = ?7, once_whole = ?8, once_part = ?9, billed = ?10,
                 shadow_billed = ?11, charged_s = ?12, processor_s = ?13, record = ?14,
                 last_usage = ?15, rates_at = ?16, quote = ?17, absorbed = ?18, due_at = ?19,
                 lien = ?20 WHERE id = ?1",
        )?
        .execute(params![
            i.id.0,
            i.closed.map(|c| c.0.0),
            i.closed.map(|c| c.1.word()),
            i.account.map(|a| a.0),
            i.fallback_from.map(|a| a.0),
            exact_whole,
            exact_part,
            once_whole,
            once_part,
            i.billed.0,
            i.shadow_billed.0,
            i.charged.0,
            i.processor_seconds.to_string(),
            i.record.map(|u| u.0),
            i.last_usage.map(|u| u.0),
            i.rates_at.map(|t| t.0),
            i.quote.map(|q| q.0),
            i.absorbed,
            i.due.map(|t| t.0),
            i.lien.as_ref().map(|l| l.id.0),
        ])?;
    Ok(())
}

fn update_facts(connection: &Connection, i: &Instance) -> Result<(), Error> {
    let f = &i.facts;
    let text = |d: Option<bank_core::decimal::Decimal>| d.map(|d| d.to_string());
    connection
        .prepare_cached(
            "UPDATE instance SET project = ?2, user = ?3, group_name = ?4, qos = ?5, class = ?6,
                 processors = ?7, nodes = ?8, memory_mb = ?9, disk_mb = ?10, gres = ?11,
                 attributes = ?12, wall_s = ?13, start_at = ?14, end_at = ?15, submit_at = ?16,
                 state = ?17, exit_code = ?18, other = ?19 WHERE id = ?1",
        )?
        .execute(params![
            i.id.0,
            f.project,
            f.user,
            f.group,
            f.usage.qos,
            f.usage.class,
            text(f.usage.processors),
            text(f.usage.nodes),
            text(f.usage.memory_mb),
            text(f.usage.disk_mb),
            codec::quantities(&f.usage.gres),
            codec::pairs(&f.usage.attributes),
            f.wall.map(|s| s.0),
            f.start.map(|t| t.0),
            f.end.map(|t| t.0),
            f.submit.map(|t| t.0),
            f.state,
            f.exit_code,
            codec::pairs(&f.other),
        ])?;
    Ok(())
}

fn write_lien(connection: &Connection, lien: &Lien, before: Next) -> Result<(), Error> {
    if lien.id.0 >= before.lien {
        connection
            .prepare_cached(
                "INSERT INTO lien (id, instance, state, placed, start_at, end_at, shadow)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                lien.id.0,
                lien.instance.0,
                lien.state.word(),
                lien.placed.0,
                lien.start.0,
                lien.end.0,
                lien.shadow
            ])?;
        for (n, portion) in (0_i64..).zip(&lien.portions) {
            connection
                .prepare_cached("INSERT INTO lien_allocation VALUES (?1, ?2, ?3, ?4)")?
                .execute((lien.id.0, n, portion.allocation.0, portion.amount.0))?;
        }
        return Ok(());
    }
    if lien.state == LienState::Open {
        for (n, portion) in (0_i64..).zip(&lien.portions) {
            connection
                .prepare_cached(
                    "UPDATE lien_allocation SET amount = ?3 WHERE lien = ?1 AND n = ?2",
                )?
                .execute((lien.id.0, n, portion.amount.0))?;
        }
        return Ok(());
    }
    connection
        .prepare_cached("UPDATE lien SET state = ?2 WHERE id = ?1")?
        .execute((lien.id.0, lien.state.word()))?;
    connection
        .prepare_cached("DELETE FROM lien_allocation WHERE lien = ?1")?
        .execute([lien.id.0])?;
    Ok(())
}

fn write_quote(connection: &Connection, quote: &Quote) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO quote (id, tid, project, user, machine, amount, duration_s, from_at,
                 until_at, instance) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (id) DO UPDATE SET instance = excluded.instance",
        )?
        .execute(params![
            quote.id.0,
            quote.tid,
            quote.project.0,
            quote.user.map(|u| u.0),
            quote.machine.map(|m| m.0),
            quote.amount.0,
            quote.duration.0,
            quote.window.start.map(|t| t.0),
            quote.window.end.map(|t| t.0),
            quote.instance.map(|i| i.0),
        ])?;
    Ok(())
}

fn write_usage(connection: &Connection, usage: &UsageRow) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO usage (id, prev, instance, tx, at, charged_s, processors, amount,
                 billing, late) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            usage.id.0,
            usage.prev.map(|u| u.0),
            usage.instance.0,
            usage.tx.0,
            usage.at.0,
            usage.charged.0,
            usage.processors.to_string(),
            usage.amount.0,
            usage.billing.word(),
            usage.late,
        ])?;
    Ok(())
}

fn directory(connection: &Connection, row: &DirectoryRow) -> Result<(), Error> {
    match row {
        DirectoryRow::Project(p) => connection.execute(
            "INSERT INTO project (id, name, parent, active, deleted, mode, description)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET parent = ?3, active = ?4, deleted = ?5, mode = ?6,
                 description = ?7",
            params![
                p.id.0,
                p.name,
                p.parent.map(|i| i.0),
                p.active,
                p.deleted,
                p.mode.map(|m| m.word()),
                p.description
            ],
        )?,
        DirectoryRow::User(u) => connection.execute(
            "INSERT INTO user (id, name, active, deleted, common_name, email, default_project)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET active = ?3, deleted = ?4, common_name = ?5,
                 email = ?6, default_project = ?7",
            params![
                u.id.0,
                u.name,
                u.active,
                u.deleted,
                u.common_name,
                u.email,
                u.default_project.map(|i| i.0)
            ],
        )?,
        DirectoryRow::Machine(m) => connection.execute(
            "INSERT INTO machine (id, name, active, deleted, mode, flush_interval_s, fallback,
                 description) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET active = ?3, deleted = ?4, mode = ?5,
                 flush_interval_s = ?6, fallback = ?7, description = ?8",
            params![
                m.id.0,
                m.name,
                m.active,
                m.deleted,
                m.mode.map(|m| m.word()),
                m.flush_interval.0,
                m.fallback,
                m.description
            ],
        )?,
        DirectoryRow::Member(m) => connection.execute(
            "INSERT INTO member VALUES (?1, ?2, ?3)
             ON CONFLICT (project, user) DO UPDATE SET active = ?3",
            (m.project.0, m.user.0, m.active),
        )?,
        DirectoryRow::MemberGone(project, user) => connection.execute(
            "DELETE FROM member WHERE project = ?1 AND user = ?2",
            (project.0, user.0),
        )?,
        DirectoryRow::Account(a) => write_account(connection, a)?,
        DirectoryRow::Rate(r) => connection.execute(
            "INSERT INTO rate (id, kind, name, instance, billionths, per_s, machine, from_at,
                 until_at, description) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (id) DO UPDATE SET until_at = ?9",
            params![
                r.id.0,
                r.kind.code(),
                r.name,
                r.instance,
                r.value.0,
                r.per.seconds(),
                r.machine.map(|m| m.0),
                r.window.start.map(|t| t.0),
                r.window.end.map(|t| t.0),
                r.description
            ],
        )?,
        DirectoryRow::Key(k) => connection.execute(
            "INSERT INTO auth_key (id, client, roles, projects, machines, from_at, until_at,
                 disabled, deleted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (id) DO UPDATE SET roles = ?3, projects = ?4, machines = ?5,
                 from_at = ?6, until_at = ?7, disabled = ?8, deleted = ?9",
            params![
                k.id,
                k.client,
                codec::join(&k.roles),
                codec::join(&k.projects),
                codec::join(&k.machines),
                k.window.start.map(|t| t.0),
                k.window.end.map(|t| t.0),
                k.disabled,
                k.deleted
            ],
        )?,
    };
    Ok(())
}

fn write_account(connection: &Connection, a: &Account) -> Result<usize, Error> {
    connection.execute(
        "INSERT INTO account (id, name, priority, fallback, blocked, deleted, description)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET priority = ?3, fallback = ?4, blocked = ?5, deleted = ?6,
             description = ?7",
        params![
            a.id.0,
            a.name,
            a.priority,
            a.fallback,
            a.blocked,
            a.deleted,
            a.description
        ],
    )?;
    connection.execute(
        "DELETE FROM account_constraint WHERE account = ?1",
        [a.id.0],
    )?;
    for (n, c) in (0_i64..).zip(&a.constraints) {
        connection.execute(
            "INSERT INTO account_constraint VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                a.id.0,
                n,
                codec::dimension_word(c.dimension),
                c.value,
                c.allow,
                c.subtree
            ],
        )?;
    }
    Ok(a.constraints.len())
}
