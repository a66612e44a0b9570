//! Terms of a charge beyond the plain "number of further seconds": its measure, and who covers the uncovered
//! part (ledger.md 2.8, decisions.md 7, 8 and 14).

use crate::amount::Amount;
use crate::decimal::Decimal;
use crate::ids::InstanceId;
use crate::partner::Delivered;
use crate::time::{Seconds, Timestamp};
pub use bank_core_values::span::Span;

/// The terms of a charge by hand or by a program with more facts than a scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate and exceptional term"
)]
pub struct Terms {
    /// The charged window. With start and end, the window rules apply: a part that is billed already is left
    /// out or refused (decisions.md 8).
    pub window: Option<Span>,
    /// The caller reports totals: billed is the price of the total less what was billed before,
    /// and a total that falls gives money back (decisions.md 7).
    pub total: bool,
    /// The amount to bill, independent of the rates; zero or above.
    pub amount: Option<Amount>,
    /// Why this amount: kept in the journal, at most [`ITEMISATION_BYTES_MAX`] bytes.
    pub itemisation: String,
    /// Who covers the uncovered part; the site's policy if none is given.
    pub shortfall: Option<Shortfall>,
    /// The caller delivers at once and in order: the charge is for the newest use of the id, independent of
    /// the caller's clock (gold-wire.md 5).
    pub newest: bool,
    /// Only the project in the request pays. Amounts held for another one are released, and the instance
    /// drops its earlier payer (gold-wire.md 4).
    pub named_only: bool,
    /// Time for which an instance without a lien waits for its next charge; the site's policy if none is
    /// given.
    pub idle: Option<Seconds>,
    /// The source: `nami`, `gold` or an import source. None for a person, who may charge with any source of
    /// the machine (decisions.md 19).
    pub source: Option<String>,
    /// No money moves, in any mode: priced as in mode `track` (decisions.md 30).
    pub track: bool,
    /// A finished use: what is charged is the whole of it.
    pub finished: Option<Whole>,
    /// The earlier charge waited for a project: it goes back first, and then the whole use is charged again.
    pub assigned: bool,
    /// A partner delivers it: the amount is that of the message, below zero for a return.
    pub delivered: Option<Delivered>,
}

impl Terms {
    /// Whether Gold's gateway delivers it. Its clients send each charge once, whatever the answer, and have no other
    /// message for a late one (gold-wire.md 5).
    pub(crate) fn is_golds(&self) -> bool {
        self.source.as_deref() == Some("gold")
    }

    /// Whether a person submitted it, and not a scheduler, a collector or a partner.
    pub(crate) fn is_by_hand(&self) -> bool {
        let is_reported = self.source.is_some() || self.finished.is_some();
        !(is_reported || self.delivered.is_some() || self.assigned)
    }

    /// The explanation of a given amount; none if the rates decide the amount.
    pub(crate) fn given(&self) -> Option<String> {
        self.amount.map(|_| self.itemisation.clone())
    }
}

/// A use that is over, as one charge (nami.md 4.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// When it began: the rates of then count.
    pub began: Timestamp,
    /// The instance of an amended record; if none is named, the open one, else a new one.
    pub instance: Option<InstanceId>,
    /// The remark for the journal: policy, metric and quantity.
    pub remark: String,
}

/// Longest itemisation in bytes.
pub const ITEMISATION_BYTES_MAX: usize = 1024;

/// Separate windows that are remembered of one instance; what touches is one.
pub const SPANS_MAX: usize = 500;

/// The treatment of a charge that lien and free money do not cover (ledger.md 2.8, step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shortfall {
    /// The first allocation goes below zero: usage is never lost.
    #[default]
    Debt,
    /// The charge is refused: for sites that post-process.
    Reject,
    /// The fallback account pays; what it lacks is debt.
    Fallback,
}

/// Every policy with its word.
pub const SHORTFALLS: [(Shortfall, &str); 3] = [
    (Shortfall::Debt, "debt"),
    (Shortfall::Reject, "reject"),
    (Shortfall::Fallback, "fallback"),
];

crate::words!(Shortfall, SHORTFALLS, "debt");

/// The treatment of a window that was billed in part or whole (decisions.md 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Only the rest is billed.
    #[default]
    BillRest,
    /// The charge is refused.
    Reject,
}

/// The treatment of reported time beyond the plausible maximum (nami.md 1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Excess {
    /// It is not billed; a `disputed` row records the time.
    #[default]
    Clip,
    /// It is billed; a `disputed` row records the time.
    Accept,
    /// The charge is refused.
    Refuse,
}

/// The word that begins the reason of a charge that billed windows.
pub(crate) const WINDOWS: &str = "windows=";

/// Billed windows for the journal, in microseconds: so that an undo makes them billable again.
/// Nothing for none.
pub(crate) fn written(spans: &[Span]) -> String {
    let one = |span: &Span| format!("{}/{}", span.start.0, span.end.0);
    let all: Vec<String> = spans.iter().map(one).collect();
    match all.as_slice() {
        [] => String::new(),
        _ => format!("{WINDOWS}{}", all.join(",")),
    }
}

/// Reads what [`written`] wrote at the beginning of a reason; nothing where there is none.
pub(crate) fn read_windows(reason: &str) -> Vec<Span> {
    let first = reason.split(' ').next().unwrap_or_default();
    let Some(text) = first.strip_prefix(WINDOWS) else {
        return Vec::new();
    };
    let one = |text: &str| {
        let (start, end) = text.split_once('/')?;
        Some(Span {
            start: Timestamp(start.parse().ok()?),
            end: Timestamp(end.parse().ok()?),
        })
    };
    text.split(',').filter_map(one).collect()
}

/// The word before the exact sum of a charge whose amount a minimum or maximum changed, or that has a fee.
const EXACT: &str = "exact=";

/// The addition of a charge to the exact sums of its instance, in trillionths of a credit. An undo subtracts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Added {
    /// All of it, before a minimum or maximum.
    pub(crate) sum: i128,
    /// The part of it that counts once for each instance (rates.md): a fee that no earlier charge had.
    pub(crate) once: i128,
}

impl Added {
    /// For the journal: `exact=SUM`, or `exact=SUM/ONCE` with a fee.
    pub(crate) fn written(self) -> String {
        match self.once {
            0 => format!("{EXACT}{}", self.sum),
            once => format!("{EXACT}{}/{once}", self.sum),
        }
    }

    /// What takes it back.
    pub(crate) fn negated(self) -> Self {
        Self {
            sum: self.sum.saturating_neg(),
            once: self.once.saturating_neg(),
        }
    }

    /// Reads the text of [`Added::written`]; only windows can precede it.
    pub(crate) fn read(reason: &str) -> Option<Self> {
        let mut words = reason
            .split(' ')
            .skip_while(|word| word.starts_with(WINDOWS));
        let text = words.next()?.strip_prefix(EXACT)?;
        let (sum, once) = text.split_once('/').unwrap_or((text, "0"));
        Some(Self {
            sum: sum.parse().ok()?,
            once: once.parse().ok()?,
        })
    }
}

/// The disputed seconds of a charge, from its reason; none if it has none. The itemisation of a given amount
/// comes from outside and is last.
pub(crate) fn read_disputed(reason: &str) -> Option<Seconds> {
    let own = reason.split(GIVEN).next().unwrap_or_default();
    let mut words = own
        .split(' ')
        .filter_map(|word| word.strip_prefix(DISPUTED));
    words.next()?.parse().ok().map(Seconds)
}

/// The word before the disputed seconds of a charge.
pub(crate) const DISPUTED: &str = "disputed_s=";

/// The word of a charge that reported a total, not what was new since the charge before.
pub(crate) const TOTAL: &str = "total";

/// The first word of both transactions of an assignment.
pub(crate) const ASSIGNED: &str = "assigned";

/// Whether a charge reported a total: its seconds are what was new, its price is that of all.
pub fn is_of_total(reason: &str) -> bool {
    // The explanation of a given amount is outside input.
    let own = reason.split(GIVEN).next().unwrap_or_default();
    own.split(' ').any(|word| word == TOTAL)
}

/// Whether a charge billed all of its use, less what was billed before: a total, or a finished use.
pub(crate) fn is_of_whole(reason: &str) -> bool {
    let own = reason.split(GIVEN).next().unwrap_or_default();
    let is_whole = |w: &str| w == TOTAL || w == ASSIGNED || w.starts_with("counted=");
    own.split(' ').any(is_whole)
}

/// Whether a transaction is a part of an assignment.
pub(crate) fn is_of_assignment(reason: &str) -> bool {
    let own = reason.split(GIVEN).next().unwrap_or_default();
    own.split(' ').any(|word| word == ASSIGNED)
}

/// Whether a charge is of a finished use, which states all of its hours.
pub(crate) fn is_of_finished(reason: &str) -> bool {
    let own = reason.split(GIVEN).next().unwrap_or_default();
    own.split(' ').any(|word| word.starts_with("counted="))
}

/// The reason of a correction of a reservation's charge: time of one of its jobs changed.
pub(crate) const IDLE: &str = "idle_time";

/// The word before the idle part of a reservation's charge, and all that it reported.
const IDLE_PART: &str = "idle_part=";

/// The idle part of a reservation's charge and the whole, in processor-seconds, for the journal.
pub(crate) fn written_idle(idle: Decimal, of: Decimal) -> String {
    format!("{IDLE_PART}{idle}/{of}")
}

/// Reads what `written_idle` wrote: the idle part and the whole.
pub fn read_idle(reason: &str) -> Option<(&str, &str)> {
    let own = reason.split(GIVEN).next().unwrap_or_default();
    let mut words = own
        .split(' ')
        .filter_map(|word| word.strip_prefix(IDLE_PART));
    words.next()?.split_once('/')
}

/// Whether a transaction corrects a reservation's charge because time of one of its jobs changed.
pub fn is_of_idle_time(op: &str, reason: &str) -> bool {
    op == "adjust" && reason.split(' ').next() == Some(IDLE)
}

/// The word before the explanation of a given amount: the last of the reason.
const GIVEN: &str = "itemisation=";

/// The explanation of a given amount, for the journal; it may be empty.
pub(crate) fn written_given(text: &str) -> String {
    format!("{GIVEN}{text}")
}

/// Reads what `written_given` wrote, up to the end of the reason.
pub fn read_given(reason: &str) -> Option<&str> {
    let found = |place: usize| place == 0 || reason.get(..place).is_some_and(|r| r.ends_with(' '));
    let place = reason.find(GIVEN).filter(|place| found(*place))?;
    reason.get(place.saturating_add(GIVEN.len())..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(start: i64, end: i64) -> Span {
        Span {
            start: Timestamp::from_seconds(start),
            end: Timestamp::from_seconds(end),
        }
    }

    #[test]
    fn what_is_billed_is_left_out() {
        for (window, billed, rest) in [
            (span(0, 100), vec![], vec![span(0, 100)]),
            (span(0, 100), vec![span(0, 100)], vec![]),
            (span(0, 250), vec![span(0, 100)], vec![span(100, 250)]),
            (span(50, 250), vec![span(0, 100)], vec![span(100, 250)]),
            (
                span(0, 100),
                vec![span(10, 20), span(30, 40), span(90, 200)],
                vec![span(0, 10), span(20, 30), span(40, 90)],
            ),
            (span(100, 200), vec![span(0, 100)], vec![span(100, 200)]),
        ] {
            assert_eq!(window.without(&billed), rest, "{window:?} {billed:?}");
        }
    }

    #[test]
    fn windows_that_touch_are_one() {
        for (new, known, all) in [
            (span(0, 10), vec![], vec![span(0, 10)]),
            (span(10, 20), vec![span(0, 10)], vec![span(0, 20)]),
            (
                span(30, 40),
                vec![span(0, 10)],
                vec![span(0, 10), span(30, 40)],
            ),
            (
                span(5, 35),
                vec![span(0, 10), span(30, 40)],
                vec![span(0, 40)],
            ),
            (span(2, 3), vec![span(0, 10)], vec![span(0, 10)]),
        ] {
            assert_eq!(new.joined(&known), all, "{new:?} {known:?}");
        }
    }

    proptest! {
        #[test]
        fn what_a_reason_holds_is_read_again(
            spans in prop::collection::vec((any::<i64>(), any::<i64>()), 0..4),
            exact in prop::option::of((any::<i128>(), any::<i128>())),
            total in any::<bool>(),
            outside in "(asserted|tid|project_was)=[a-z= ]{0,20}",
            given in prop::option::of("[ -~\u{e9}]{0,30}"),
        ) {
            let spans: Vec<Span> = spans
                .into_iter()
                .map(|(start, end)| Span { start: Timestamp(start), end: Timestamp(end) })
                .collect();
            let exact = exact.map(|(sum, once)| Added { sum, once });
            let parts = [
                written(&spans),
                exact.map(Added::written).unwrap_or_default(),
                if total { TOTAL.to_owned() } else { String::new() },
                outside,
                given.as_deref().map(written_given).unwrap_or_default(),
            ];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let reason = parts.join(" ");
            prop_assert_eq!(read_windows(&reason), spans);
            prop_assert_eq!(Added::read(&reason), exact);
            prop_assert!(!total || is_of_total(&reason));
            prop_assert_eq!(read_given(&reason), given.as_deref());
        }

        #[test]
        fn every_second_is_billed_once_in_any_order(
            windows in prop::collection::vec((0i64..300, 1i64..60), 1..30),
        ) {
            let mut billed: Vec<Span> = Vec::new();
            let (mut seconds, mut used) = (0, std::collections::BTreeSet::new());
            for (start, length) in windows {
                let window = span(start, start + length);
                seconds += window.without(&billed).iter().map(|s| s.length().0).sum::<i64>();
                billed = window.joined(&billed);
                used.extend(start..start + length);
                prop_assert_eq!(seconds, i64::try_from(used.len()).unwrap());
                prop_assert!(billed.windows(2).all(|two| two[0].end < two[1].start));
            }
        }
    }
}
