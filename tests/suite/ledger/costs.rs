//! Costs add up: over wild histories, whatever the pages, what is billed is what was charged less what went
//! back, times the price, to the last digit; and a deposit costs nothing.

use super::ground::Ground;
use super::history::{history, wild};
use bank_core::decimal::Decimal;
use bankd_emit::focus::{Money, head, line};
use bankd_records::costs::row;
use bankd_store::open_reader;
use bankd_store::read::costs::{What, page};

const SEEDS: [u64; 3] = [5_417, 88, 2_027];

/// Credits of the tests have no decimal places, prices three.
const PRICE: i64 = 137;

fn money() -> Money {
    Money {
        currency: "EUR".to_owned(),
        price: Decimal::from_billionths(i128::from(PRICE) * 1_000_000),
        unit: "SU".to_owned(),
        precision: 0,
        issuer: "x".to_owned(),
        bank: "8f1c2d3a".to_owned(),
        names: false,
    }
}

/// The first cell of each line, in thousandths, and the seventh: what is billed, and of what.
fn billed(text: &str) -> Vec<(i128, String)> {
    let mut columns = head();
    columns.truncate(columns.len() - 1);
    let columns: Vec<&str> = columns.split(',').collect();
    assert_eq!((columns[0], columns[6]), ("BilledCost", "ChargeCategory"));
    let lines = text.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let cost = Decimal::parse(cells[0]).unwrap().billionths();
        assert_eq!(cost % 1_000_000, 0, "{line}");
        (cost / 1_000_000, cells[6].to_owned())
    });
    lines.collect()
}

#[test]
fn what_is_billed_is_what_was_charged_times_the_price() {
    for seed in SEEDS {
        let (store, _) = history(seed, 9_000, wild);
        let directory = store.directory();
        let reader = open_reader(store.path()).unwrap();
        let read = |limit: usize| {
            let (mut text, mut after, mut back) = (String::new(), 0, 0);
            loop {
                let costs = page(&reader, after, limit).unwrap();
                for cost in &costs.rows {
                    back += usize::from(matches!(cost.what, What::Back(_)));
                    let made = row(&directory, &costs.closes, (cost, String::new())).unwrap();
                    text.push_str(&line(&made, &money(), false).unwrap());
                }
                after = costs.last;
                if !costs.more {
                    return (text, back);
                }
            }
        };
        let (whole, back) = read(1_000_000);
        assert!(back > 0, "nothing went back");
        assert_eq!(read(7).0, whole, "other pages");
        let charged: i64 = reader
            .query_row(
                "SELECT coalesce(sum(u.amount), 0) FROM usage u
                 WHERE EXISTS (SELECT 1 FROM entry e WHERE e.usage = u.id AND e.delta_amount <> 0)",
                [],
                |r| r.get(0),
            )
            .unwrap();
        let rows = billed(&whole);
        assert!(rows.len() > 50, "{} rows", rows.len());
        let sum: i128 = rows.iter().map(|(cost, _)| cost).sum();
        assert_eq!(sum, i128::from(charged) * i128::from(PRICE));
        assert!(rows.iter().any(|(_, category)| category == "Purchase"));
        let purchases = rows.iter().filter(|(_, category)| category == "Purchase");
        assert!(purchases.map(|(cost, _)| cost).all(|cost| *cost == 0));
    }
}
