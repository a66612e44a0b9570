//! Answers as one line of text: what a test expects, and what is stored with a key.

use super::fixture::show_time;
use bank_api::error;
use bank_core::effects::{
    Billing, Charged, Fate, LienChanged, Outcome, Outlived, Quoted, Reserved,
};
use bank_core::ledger::Decision;
use bank_core::model::LienState;
use bank_core::months;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_ledger::writer::Decided;
use bankd_store::answer::{Answer, Media};

/// The answer that the writer stores.
pub(crate) fn render(decided: &Decided<'_>) -> Answer {
    answer(decided.decision)
}

/// The same for a decision alone.
pub(crate) fn answer(decision: &Decision) -> Answer {
    Answer {
        status: 200,
        media: Media::Text,
        body: text(decision).into_bytes(),
    }
}

/// One line: what was done with its figures, or `refused CODE, exit N` with the figures of short
/// money.
pub(crate) fn text(decision: &Decision) -> String {
    match decision {
        Ok(outcome) => done(outcome),
        Err(refusal) => refusal_text(refusal),
    }
}

/// What a code becomes for the user of `bank`.
pub(crate) fn refused(code: &str) -> String {
    let row = error::row(code).expect("every refusal has a row");
    format!("refused {code}, exit {}", row.bank)
}

fn refusal_text(refusal: &Refusal) -> String {
    let mut text = refused(refusal.code());
    match refusal {
        Refusal::AmbiguousJob { candidates } => {
            return format!("{text}: {}", candidates.join(", "));
        }
        Refusal::HasRefunds { transactions } => {
            return format!("{text}: {} of them", transactions.len());
        }
        Refusal::Uncovered { free, .. } => return format!("{text}: {}", free.0),
        _ => {}
    }
    if let Refusal::InsufficientFunds {
        needed, available, ..
    } = refusal
    {
        text = format!("{text}: needed {}, available {}", needed.0, available.0);
    }
    text
}

fn done(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Deposited(d) => {
            let new = if d.created { "new: " } else { "" };
            let (amount, deposited) = (d.allocation.amount.0, d.allocation.deposited.0);
            format!("{new}amount {amount}, deposited {deposited}")
        }
        Outcome::Withdrawn(w) => format!("withdrawn {}", w.amount.0),
        Outcome::Quoted(q) => quoted(q),
        Outcome::Created(_) => "created".to_owned(),
        Outcome::Reserved(r) => reserved(r),
        Outcome::Charged(c) => charged(c),
        Outcome::Used(used) => {
            let counted = format!("{} {}", used.became.word(), used.counted);
            let charged = used.charged.as_ref().map(charged);
            let charged = charged.map(|charged| format!(": {charged}"));
            format!("{}{}", counted.trim_end(), charged.unwrap_or_default())
        }
        Outcome::Imported(imported) => {
            let fates: Vec<&str> = imported.fates.iter().map(Fate::word).collect();
            format!("imported: {}", fates.join(" "))
        }
        Outcome::Closed(c) if c.instance.is_none() => "nothing open".to_owned(),
        Outcome::Closed(c) => format!("closed, released {}", c.released.0),
        Outcome::LienChanged(c) => lien_changed(c),
        Outcome::Allocation(_, outlived) => {
            let of = |o: &Outlived| format!(", outlives_allocation {}", o.instance.object_id);
            format!("changed{}", outlived.iter().map(of).collect::<String>())
        }
        Outcome::Removed(_) => "removed".to_owned(),
        Outcome::CycleRun(run) => {
            let side = |at: Option<Timestamp>| at.map(show_time).unwrap_or_default();
            let (start, end) = (side(run.period.start), side(run.period.end));
            format!("run [{start},{end}), rollover {}", run.rollover.0)
        }
        Outcome::Transferred(t) => format!("moved {}", t.amount.0),
        Outcome::Refunded(r) => {
            let mut text = format!("refunded {}, left {}", r.amount.0, r.left.0);
            if r.expired.0 != 0 {
                text = format!("{text}, expired {}", r.expired.0);
            }
            if r.forgiven.0 != 0 {
                text = format!("{text}, ended debt {}", r.forgiven.0);
            }
            text
        }
        Outcome::Adjusted(a) => format!("adjusted {}", a.amount.0),
        Outcome::Reversed(r) => format!("undid {}", r.op),
        Outcome::Repeated(_) => "came again".to_owned(),
        Outcome::Settled(s) => format!("settled {}, debt {}", s.amount.0, s.debt.0),
        Outcome::PeriodClosed(p) => format!("books closed until {}", months::text(p.close.end)),
        Outcome::PeriodReopened(p) => {
            let from = p.close.start.map(months::text).unwrap_or_default();
            format!("books open from {from}")
        }
        _ => "done".to_owned(),
    }
}

fn quoted(q: &Quoted) -> String {
    let mut text = format!("cost {}", q.cost.0);
    flag(&mut text, q.undefined_instance, "undefined_instance");
    if let Some(row) = &q.quote {
        let side = |at: Option<Timestamp>| at.map(show_time).unwrap_or_default();
        let (start, end) = (side(row.window.start), side(row.window.end));
        text = format!("{text}, valid [{start},{end})");
    }
    text
}

fn reserved(r: &Reserved) -> String {
    let mut text = match &r.lien {
        Some(lien) if lien.shadow => format!("lien 0, shadow {}", lien.placed.0),
        _ => format!("lien {}", r.held.0),
    };
    flag(&mut text, r.fallback_from.is_some(), "fallback");
    flag(&mut text, r.outlives_allocation, "outlives_allocation");
    flag(&mut text, r.quote_invalid, "quote_invalid");
    flag(&mut text, r.absorbed, "absorbed");
    if let Some(refusal) = &r.would_refuse {
        text = format!("{text}, would_refuse {}", refusal.code());
    }
    text
}

fn charged(c: &Charged) -> String {
    let mut text = format!("charged {}", c.amount.0);
    if c.debt.0 != 0 {
        text = format!("{text}, debt {}", c.debt.0);
    }
    if c.by_fallback.0 != 0 {
        text = format!("{text}, by fallback {}", c.by_fallback.0);
    }
    flag(&mut text, c.billing == Billing::Unbilled, "unbilled");
    flag(&mut text, c.billing == Billing::Shadow, "shadow");
    flag(&mut text, c.late, "late");
    flag(&mut text, c.quote_invalid, "quote_invalid");
    format!("{text}, balance {}", c.balance.0)
}

fn lien_changed(c: &LienChanged) -> String {
    if c.lien.state != LienState::Open {
        return format!("lien {}, gave back {}", c.lien.state.word(), c.released.0);
    }
    let end = show_time(c.lien.end);
    let mut text = format!("lien {} until {end}", c.lien.remaining());
    flag(&mut text, c.revived, "revived");
    flag(&mut text, c.outlives_allocation, "outlives_allocation");
    text
}

fn flag(text: &mut String, is_set: bool, word: &str) {
    if is_set {
        text.push_str(", ");
        text.push_str(word);
    }
}
