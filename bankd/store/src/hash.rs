//! The journal's hash chain (decisions.md 20): each transaction's hash covers its columns, its
//! entries' columns and the previous hash; the first hash covers the identity of the bank. The
//! chain detects accidental changes.

use super::chain::Chain;
use super::stamp::Stamp;
use super::version::Version;
use super::{Error, choice};
use bank_core::attention::Event;
use bank_core::directory::Bank;
use bank_core::effects::{Entry, EntryKind, Settings, Traces, Transaction, UsageRow};
use bank_core::period::PeriodClose;
use rusqlite::Row;
use rusqlite::types::ValueRef;

/// Usage rows from a number on, in the order in which they are hashed.
pub(super) const USAGES: &str = "SELECT id, prev, instance, tx, at, charged_s, processors, amount,
    billing, late, facts, rates_at FROM usage WHERE id >= ?1 ORDER BY id";

const USAGE_COLUMNS: usize = 12;

/// The input of the first transaction's hash.
pub(super) fn first(bank: &Bank) -> Vec<u8> {
    let mut chain = Chain::new();
    chain.text(&bank.uuid);
    chain.number(i64::from(bank.precision.places()));
    chain.text(&bank.unit);
    chain.finish().to_vec()
}

/// The hash of a transaction that is about to be written, with its usage among all that is.
pub(super) fn transaction(
    tx: &Transaction,
    versions: &[Version],
    usages: &[UsageRow],
    stamp: &Stamp,
    before: &[u8],
) -> [u8; 32] {
    let mut chain = Chain::new();
    chain.head(&Head {
        id: tx.id.0,
        request_id: &stamp.request_id,
        at_effective: tx.at_effective.0,
        at_recorded: stamp.now.0,
        actor: &stamp.actor,
        client: &stamp.client,
        origin: stamp.origin,
        op: tx.op,
        key: stamp.key.as_deref(),
        instance: tx.instance.map(|i| i.0),
        reverses: tx.reverses.map(|t| t.0),
        corrects: tx.corrects.map(|t| t.0),
        reason: &tx.reason,
    });
    for entry in &tx.entries {
        chain.entry(entry, tx.instance.map(|i| i.0));
    }
    chain.traces(&tx.traces);
    chain.versions(versions);
    for usage in usages.iter().filter(|usage| usage.tx == tx.id) {
        chain.usage(usage);
    }
    chain.bytes(before);
    chain.finish()
}

/// A usage row as it is stored, in the columns of [`USAGES`], as it goes into a hash.
pub(super) fn stored_usage(row: &Row<'_>) -> Result<Vec<u8>, Error> {
    let mut chain = Chain::part();
    chain.text("usage");
    for column in 0..USAGE_COLUMNS {
        match row.get_ref(column)? {
            ValueRef::Null => chain.bytes(&[]),
            ValueRef::Integer(number) => chain.number(number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => chain.bytes(bytes),
            ValueRef::Real(number) => chain.bytes(&number.to_bits().to_be_bytes()),
        }
    }
    Ok(chain.into_bytes())
}

/// The columns of a transaction.
pub(super) struct Head<'a> {
    pub(super) id: i64,
    pub(super) request_id: &'a str,
    pub(super) at_effective: i64,
    pub(super) at_recorded: i64,
    pub(super) actor: &'a str,
    pub(super) client: &'a str,
    pub(super) origin: &'a str,
    pub(super) op: &'a str,
    pub(super) key: Option<&'a str>,
    pub(super) instance: Option<i64>,
    pub(super) reverses: Option<i64>,
    pub(super) corrects: Option<i64>,
    pub(super) reason: &'a str,
}

impl Chain {
    /// The columns of a transaction.
    pub(super) fn head(&mut self, head: &Head<'_>) {
        self.number(head.id);
        self.text(head.request_id);
        self.number(head.at_effective);
        self.number(head.at_recorded);
        self.text(head.actor);
        self.text(head.client);
        self.text(head.origin);
        self.text(head.op);
        self.optional_text(head.key);
        self.optional(head.instance);
        self.optional(head.reverses);
        self.optional(head.corrects);
        self.text(head.reason);
    }

    /// The columns of an entry.
    pub(super) fn entry(&mut self, entry: &Entry, instance: Option<i64>) {
        self.number(entry.id.0);
        self.optional(entry.prev.map(|e| e.0));
        self.text(entry.kind.word());
        self.optional(entry.account.map(|a| a.0));
        self.optional(entry.allocation.map(|a| a.0));
        self.optional(entry.lien.map(|l| l.0));
        self.optional(entry.usage.map(|u| u.0));
        let delta = entry.delta;
        let figures = [
            delta.amount,
            delta.held,
            delta.active,
            delta.shadow,
            delta.shadow_held,
            entry.amount_after.0,
            entry.held_after.0,
        ];
        for figure in figures {
            self.number(figure);
        }
        self.text(&entry.project);
        self.text(&entry.user);
        self.text(&entry.machine);
        self.optional(instance);
        // The kinds that take another entry back have one more column.
        if matches!(entry.kind, EntryKind::Refund | EntryKind::Reverse) {
            self.optional(entry.takes_back.map(|e| e.0));
        }
    }

    /// Changes of a transaction other than money, in the order of their numbers; no change adds no
    /// bytes.
    pub(super) fn traces(&mut self, traces: &Traces) {
        let mut shapes = traces.shapes.clone();
        shapes.sort_unstable_by_key(|shape| shape.allocation);
        for shape in shapes {
            self.text("shape");
            self.number(shape.allocation.0);
            self.optional(shape.window.start.map(|t| t.0));
            self.optional(shape.window.end.map(|t| t.0));
            self.number(shape.credit_limit.0);
        }
        let mut presences = traces.presences.clone();
        presences.sort_unstable_by_key(|presence| presence.account);
        for presence in presences {
            self.text("presence");
            self.number(presence.account.0);
            self.number(presence.there.into());
        }
        if let Some(close) = &traces.closed {
            self.close(close);
        }
        if let Some(closed_by) = traces.reopened {
            self.text("period_reopen");
            self.number(closed_by.0);
        }
        if let Some(event) = &traces.attention {
            self.event(event);
        }
        if let Some(settings) = &traces.settings {
            self.settings(**settings);
        }
        if let Some(choice) = &traces.choice {
            choice::Stored::of(choice).hash(self);
        }
    }

    /// Settings of the site.
    fn settings(&mut self, settings: Settings) {
        self.text("settings");
        self.text(settings.mode.word());
        self.text(settings.fallback.word());
        self.text(settings.order.word());
        self.number(settings.require_cover.into());
        self.text(settings.shortfall.word());
    }

    /// A closed period, with the totals in the order of the accounts.
    fn close(&mut self, close: &PeriodClose) {
        self.text("period_close");
        self.optional(close.start.map(|t| t.0));
        self.number(close.end.0);
        let mut totals = close.totals.clone();
        totals.sort_unstable_by_key(|total| total.account);
        for total in totals {
            self.text("period_total");
            self.number(total.account.0);
            self.number(total.amount);
            self.number(total.held);
            self.number(total.credit_limit);
            self.number(total.liens);
            self.text(&total.projects.join("\n"));
        }
    }

    /// A usage row of the transaction.
    fn usage(&mut self, usage: &UsageRow) {
        self.text("usage");
        self.number(usage.id.0);
        self.optional(usage.prev.map(|u| u.0));
        self.number(usage.instance.0);
        self.number(usage.tx.0);
        self.number(usage.at.0);
        self.number(usage.charged.0);
        self.text(&usage.processors.to_string());
        self.number(usage.amount.0);
        self.text(usage.billing.word());
        self.number(usage.late.into());
        self.text(&usage.facts);
        self.optional(usage.rates_at.map(|t| t.0));
    }

    /// The reference data that a transaction changed, in the order of kinds and keys; nothing for
    /// nothing.
    pub(super) fn versions(&mut self, versions: &[Version]) {
        for version in versions {
            self.text("version");
            self.text(&version.kind);
            self.text(&version.key);
            self.optional_text(version.state.as_deref());
        }
    }

    /// An alert event of a transaction. Its sentence is the reason of the transaction.
    fn event(&mut self, event: &Event) {
        self.text("attention");
        self.text(event.turn.word());
        self.text(event.topic.kind.word());
        self.text(&event.topic.subject);
        self.number(event.topic.threshold);
        self.optional(event.of.map(|tx| tx.0));
        self.number(event.level);
        self.optional(event.concern.account.map(|a| a.0));
        self.optional(event.concern.allocation.map(|a| a.0));
        self.optional(event.concern.lien.map(|l| l.0));
        self.text(&event.concern.project);
        self.text(&event.concern.user);
        self.text(&event.concern.machine);
        self.optional(event.amount.map(|amount| amount.0));
        self.number(event.urgent.into());
        self.number(event.is_notified.into());
    }
}
