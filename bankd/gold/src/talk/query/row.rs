//! The rows of an answer as elements. Amounts and other decimals have no zeros at the end, as Gold writes
//! them.

use bank_api::text::format_scaled;
use bank_core::directory::Bank;
use bankd_query::{Cell, Found, Kind};

use super::super::reply::{element, escaped};
use super::question::Asked;

/// Additional decimals of an average.
const AVERAGE_MORE: u32 = 6;

/// Each row as an element.
pub(super) fn written(asked: &Asked, found: &Found, bank: &Bank) -> Vec<String> {
    let place = |name: &str| found.columns.iter().position(|c| c.name == name);
    let elements = asked.elements.iter();
    let places: Vec<(&str, Option<usize>)> = elements
        .map(|(name, column)| (name.as_str(), place(column)))
        .collect();
    let row = |row: &Vec<Cell>| {
        // Sums over no rows have no value.
        let is_empty = asked.is_total && matches!(row.last(), Some(Cell::Number(0)));
        let cells = places.iter().map(|(name, at)| {
            let cell = at.and_then(|at| Some((row.get(at)?, found.columns.get(at)?.kind)));
            let is_count = matches!(cell, Some((Cell::Number(_), Kind::Whole)));
            let text = match cell {
                Some((cell, kind)) if !is_empty || is_count => value(cell, kind, bank),
                _ => String::new(),
            };
            element(name, &text)
        });
        element(&asked.element, &cells.collect::<String>())
    };
    found.rows.iter().map(row).collect()
}

/// The text of a value, escaped.
pub(super) fn value(cell: &Cell, kind: Kind, bank: &Bank) -> String {
    let places = match kind {
        Kind::Amount => u32::from(bank.precision.places()),
        Kind::Decimal => 9,
        _ => 0,
    };
    match cell {
        Cell::None => String::new(),
        Cell::Text(text) => escaped(text),
        Cell::Number(number) => match kind {
            Kind::Flag if *number == 0 => "False".to_owned(),
            Kind::Flag => "True".to_owned(),
            Kind::Time => seconds(*number).to_string(),
            _ => format_scaled(i128::from(*number), places, 0),
        },
        Cell::Sum(sum) => format_scaled(*sum, places, 0),
        Cell::Average(average) => {
            let sum = average.with_decimals(AVERAGE_MORE);
            format_scaled(sum, places.saturating_add(AVERAGE_MORE), 0)
        }
    }
}

/// Whole seconds since 1970, with the ends that Gold writes for none.
fn seconds(us: i64) -> i64 {
    match us {
        i64::MIN => 0,
        i64::MAX => 2_147_483_647,
        us => us.div_euclid(1_000_000),
    }
}
