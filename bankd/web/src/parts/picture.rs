//! Drawings in a page, each with its table.

use bank_picture::{self as picture, Cell, Section};
use maud::{Markup, PreEscaped, html};

use super::table::{Table, figures, words};
use crate::failed::Failed;
use crate::target::Target;
use crate::visit::Visit;

/// The zone of the page, for drawings.
pub(crate) fn zone(visit: &Visit) -> Result<picture::Zone, Failed> {
    picture::Zone::named(visit.zone().name()).ok_or_else(Failed::internal)
}

/// A drawing whose table is elsewhere on the page. `id` is unique on the page.
pub(crate) fn alone(section: &Section, id: &str, zone: picture::Zone) -> Markup {
    let section = section.clone().without_table();
    PreEscaped(picture::embedded(&section, id, 2, zone))
}

/// A drawing with its table, which is folded up, and the data behind both.
pub(crate) fn show(section: &Section, id: &str, zone: picture::Zone, data: Target) -> Markup {
    with_table(section, id, zone, Some(data))
}

/// The same for another site, which has no data.
pub(crate) fn framed(section: Option<&Section>, zone: picture::Zone) -> Markup {
    html! {
        @if let Some(section) = section {
            (with_table(section, "picture", zone, None))
        } @else {
            p .absent { "No data in this period." }
        }
    }
}

fn with_table(section: &Section, id: &str, zone: picture::Zone, data: Option<Target>) -> Markup {
    let table = section.shown_table().filter(|table| !table.rows.is_empty());
    html! {
        (alone(section, id, zone))
        @if let Some(table) = table {
            details .more {
                summary { "Table of this picture" }
                (listed(table, zone, data))
            }
        }
    }
}

/// The table of a drawing as a table of pages.
fn listed(table: &picture::Table, zone: picture::Zone, data: Option<Target>) -> Markup {
    let decimals = table.decimals();
    let cells = |row: &Vec<Cell>| -> Vec<Markup> {
        let cells = row.iter().zip(&decimals);
        cells
            .map(|(cell, decimals)| html! { (cell.shown(*decimals, zone)) })
            .collect()
    };
    let columns = table.columns.iter();
    Table {
        caption: &table.caption,
        columns: columns
            .map(|(head, is_number)| {
                if *is_number {
                    figures(head)
                } else {
                    words(head)
                }
            })
            .collect(),
        rows: table.rows.iter().map(cells).collect(),
        empty: html! {},
        data,
        next: None,
    }
    .with_totals(&table.foot.iter().map(cells).collect::<Vec<_>>())
}
