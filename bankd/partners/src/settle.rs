//! Settlements: the entries that both banks have of a month, compared one by one (decision 0174).
//!
//! Only entries that both banks have are added up, so both print the same totals. An entry belongs to the month
//! in which its sender recorded it: once the month is over and everything is delivered, its settlement never
//! changes.

use std::collections::BTreeMap;

use bank_api::text::{format_amount, format_rfc3339, parse_amount};
use bank_api::v1::{PartnerEntry, Settlement, SettlementDifference, SettlementSide};
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::months::{Date, midnight, plus_months};
use bank_core::time::Timestamp;
use bankd_store::partner::PartnerRow;

use super::client::{Client, Fault};

/// Entries of a page.
pub const PAGE: usize = 1_000;

/// The first instant of a month such as `2026-10`, and that of the next one, in UTC.
pub fn month(text: &str) -> Option<(Timestamp, Timestamp)> {
    let (year, month) = text.split_once('-')?;
    let is_number =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(year, 4) || !is_number(month, 2) {
        return None;
    }
    let (year, month): (i64, i64) = (year.parse().ok()?, month.parse().ok()?);
    let from = (1..=12).contains(&month).then(|| {
        let day = 1;
        midnight(Date { year, month, day })
    })?;
    Some((from, plus_months(from, 1)))
}

/// A row as an answer shows it.
pub fn shaped(row: &PartnerRow, bank: &Bank) -> PartnerEntry {
    PartnerEntry {
        partner: row.partner.clone(),
        sent: row.sent,
        number: row.number,
        transaction: row.tx,
        counterpart: row.counterpart,
        recorded_at: format_rfc3339(row.recorded_at),
        project: row.project.clone(),
        job: row.object_id.clone(),
        machine: row.machine.clone(),
        amount: format_amount(row.amount, bank.precision.places()),
        unit: bank.unit.clone(),
    }
}

/// The entries of a month as the partner has them: those that it sent, or those that it received.
///
/// # Errors
/// If the partner does not answer.
pub fn theirs(client: &Client, month: &str, sent: bool) -> Result<Vec<PartnerEntry>, Fault> {
    let mut all: Vec<PartnerEntry> = Vec::new();
    loop {
        let after = all.last().map_or(0, |entry| entry.number);
        let target = format!("/api/v1/partner/entries?month={month}&sent={sent}&after={after}");
        let page: bank_api::v1::List<PartnerEntry> = client.get(&target)?;
        let is_last = page.next.is_none() || page.items.is_empty();
        all.extend(page.items);
        if is_last {
            return Ok(all);
        }
    }
}

/// Both directions of a month: what this bank sent and received.
#[derive(Debug, Default)]
pub struct Entries {
    /// Jobs of the partner's projects at this bank.
    pub sent: Vec<PartnerEntry>,
    /// Jobs of projects of this bank at the partner.
    pub received: Vec<PartnerEntry>,
}

/// The settlement of a month; without the partner's entries nothing is compared.
pub fn settlement(
    (partner, month): (&str, &str),
    ours: &Entries,
    theirs: Option<&Entries>,
    bank: &Bank,
) -> Settlement {
    let mut differences = Vec::new();
    let other = |pick: fn(&Entries) -> &Vec<PartnerEntry>| theirs.map(pick);
    // What one bank sent, the other one received.
    let (partner_owes, debt) = side(
        true,
        &ours.sent,
        other(|t| &t.received),
        &mut differences,
        bank,
    );
    let (partner_gets, credit) = side(
        false,
        &ours.received,
        other(|t| &t.sent),
        &mut differences,
        bank,
    );
    Settlement {
        partner: partner.to_owned(),
        month: month.to_owned(),
        unit: bank.unit.clone(),
        compared: theirs.is_some(),
        cause: None,
        agrees: theirs.is_some() && differences.is_empty(),
        partner_owes,
        partner_gets,
        net: shown(debt.saturating_sub(credit), bank),
        differences,
    }
}

/// Adds charges of this bank that no message delivers. The partner does not have them.
pub fn add_without_message(settlement: &mut Settlement, rows: &[PartnerRow], bank: &Bank) {
    settlement.agrees &= rows.is_empty();
    let lost = rows.iter().map(|row| SettlementDifference {
        sent: true,
        number: row.number,
        what: "no_message".to_owned(),
        here: Some(shaped(row, bank)),
        there: None,
    });
    settlement.differences.extend(lost);
}

/// One direction, with its total.
fn side(
    sent: bool,
    ours: &[PartnerEntry],
    theirs: Option<&Vec<PartnerEntry>>,
    differences: &mut Vec<SettlementDifference>,
    bank: &Bank,
) -> (SettlementSide, i128) {
    let mut pairs: BTreeMap<i64, (Option<&PartnerEntry>, Option<&PartnerEntry>)> = BTreeMap::new();
    for own in ours {
        pairs.entry(own.number).or_default().0 = Some(own);
    }
    for other in theirs.into_iter().flatten() {
        pairs.entry(other.number).or_default().1 = Some(other);
    }
    let mut sums = Sums::default();
    for (number, (here, there)) in pairs {
        let amount = here.or(there).map_or(0, |entry| minor(entry, bank));
        let what = match (here, there) {
            (Some(own), None) if theirs.is_none() && (!sent || own.counterpart.is_some()) => None,
            (Some(_), None) if sent => Some("in_flight"),
            (Some(_), None) => Some("missing_there"),
            // The partner sent it, and this bank does not have it yet.
            (None, _) if !sent => Some("in_flight"),
            (None, _) => Some("missing_here"),
            (Some(own), Some(other)) if is_same(own, other) => None,
            (Some(_), Some(_)) => Some("differs"),
        };
        match what {
            None => sums.add(amount),
            Some(what) => {
                if what == "in_flight" {
                    sums.fly(amount);
                }
                differences.push(SettlementDifference {
                    sent,
                    number,
                    what: what.to_owned(),
                    here: here.cloned(),
                    there: there.cloned(),
                });
            }
        }
    }
    (
        sums.shaped(bank),
        sums.charged.saturating_sub(sums.returned),
    )
}

/// Whether both banks have the same entry: amount, project and time, and each the transaction of the other. The
/// sender may not have the confirmation yet.
fn is_same(own: &PartnerEntry, other: &PartnerEntry) -> bool {
    let names = |one: &PartnerEntry, two: &PartnerEntry| {
        one.counterpart.is_none_or(|there| there == two.transaction)
    };
    own.amount == other.amount
        && own.project == other.project
        && own.recorded_at == other.recorded_at
        && names(own, other)
        && names(other, own)
}

#[derive(Default)]
struct Sums {
    entries: i64,
    charged: i128,
    returned: i128,
    in_flight: i64,
    flying: i128,
}

impl Sums {
    fn add(&mut self, amount: i64) {
        self.entries = self.entries.saturating_add(1);
        let sum = if amount < 0 {
            &mut self.returned
        } else {
            &mut self.charged
        };
        *sum = sum.saturating_add(i128::from(amount).abs());
    }

    fn fly(&mut self, amount: i64) {
        self.in_flight = self.in_flight.saturating_add(1);
        self.flying = self.flying.saturating_add(amount.into());
    }

    fn shaped(&self, bank: &Bank) -> SettlementSide {
        SettlementSide {
            entries: self.entries,
            charged: shown(self.charged, bank),
            returned: shown(self.returned, bank),
            total: shown(self.charged.saturating_sub(self.returned), bank),
            in_flight: self.in_flight,
            in_flight_amount: shown(self.flying, bank),
        }
    }
}

fn minor(entry: &PartnerEntry, bank: &Bank) -> i64 {
    parse_amount(&entry.amount, bank.precision.places()).unwrap_or(0)
}

fn shown(sum: i128, bank: &Bank) -> String {
    format_amount(Amount::clamped(sum).0, bank.precision.places())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::amount::Precision;

    fn entry(number: i64, amount: &str, sent: bool) -> PartnerEntry {
        let (transaction, counterpart) = if sent {
            (number, 100 + number)
        } else {
            (100 + number, number)
        };
        PartnerEntry {
            number,
            sent,
            transaction,
            counterpart: Some(counterpart),
            amount: amount.to_owned(),
            ..PartnerEntry::default()
        }
    }

    #[test]
    fn both_banks_compute_the_same_totals() {
        let bank = Bank {
            uuid: "u".to_owned(),
            precision: Precision::DEFAULT,
            unit: "SU".to_owned(),
        };
        let sent = vec![
            entry(1, "10.000", true),
            entry(2, "-4.000", true),
            entry(3, "7.500", true),
        ];
        let here = Entries {
            sent,
            received: Vec::new(),
        };
        let received = vec![entry(1, "10.000", false), entry(2, "-4.000", false)];
        let there = Entries {
            sent: Vec::new(),
            received,
        };
        let one = settlement(("there", "2026-10"), &here, Some(&there), &bank);
        let other = settlement(("here", "2026-10"), &there, Some(&here), &bank);
        assert_eq!(one.partner_owes, other.partner_gets);
        assert_eq!((one.net.as_str(), other.net.as_str()), ("6.000", "-6.000"));
        assert_eq!((one.partner_owes.in_flight, one.agrees), (1, false));
        assert_eq!(one.differences[0].what, "in_flight");
        assert_eq!(other.differences[0].what, "in_flight");
    }

    #[test]
    fn another_amount_is_a_difference() {
        let bank = Bank {
            uuid: "u".to_owned(),
            precision: Precision::DEFAULT,
            unit: "SU".to_owned(),
        };
        let here = Entries {
            sent: vec![entry(1, "10.000", true)],
            received: Vec::new(),
        };
        let there = Entries {
            sent: Vec::new(),
            received: vec![entry(1, "10.001", false)],
        };
        let one = settlement(("there", "2026-10"), &here, Some(&there), &bank);
        assert_eq!(one.differences[0].what, "differs");
        assert_eq!(one.partner_owes.total, "0.000");
    }

    #[test]
    fn a_month_is_four_digits_and_two() {
        let (from, until) = month("2026-02").unwrap();
        assert_eq!(format_rfc3339(from.0), "2026-02-01T00:00:00Z");
        assert_eq!(format_rfc3339(until.0), "2026-03-01T00:00:00Z");
        for text in [
            "2026",
            "2026-13",
            "26-01",
            "2026-1",
            "2026-01-01",
            "2026-+1",
        ] {
            assert!(month(text).is_none(), "{text}");
        }
    }
}
