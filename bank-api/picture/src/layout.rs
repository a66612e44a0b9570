//! Places sections on a page: two beside each other where there is room, wide ones in a row of their own.

use super::data::{Chart, Timed};
use super::section::Section;

/// The widest table, in letters, that has a place beside another section.
const HALF_LETTERS: usize = 60;
/// The same on paper.
const PAPER_LETTERS: usize = 40;
/// With more spans of time a chart needs the whole width.
const HALF_SPANS: usize = 100;

/// Sections that begin at the same height.
#[derive(Debug)]
pub(super) enum Row<'a> {
    /// One, with its chart beside its table if both fit.
    Whole(&'a Section),
    /// Two beside each other.
    Pair {
        /// The two sections.
        both: [&'a Section; 2],
        /// Whether both fit beside each other on paper.
        is_small: bool,
    },
}

impl<'a> Row<'a> {
    /// Its sections, from left to right.
    pub(super) fn sections(&self) -> &[&'a Section] {
        match self {
            Self::Whole(one) => std::slice::from_ref(one),
            Self::Pair { both, .. } => both,
        }
    }
}

/// The rows of a page. The sections keep their order.
pub(super) fn rows(sections: &[Section]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut rest = sections;
    while let [first, others @ ..] = rest {
        rest = others;
        match others {
            [second, behind @ ..] if !is_wide(first) && !is_wide(second) => {
                rest = behind;
                rows.push(Row::Pair {
                    both: [first, second],
                    is_small: is_small(first) && is_small(second),
                });
            }
            _ => rows.push(Row::Whole(first)),
        }
    }
    rows
}

/// Whether half of a page is too narrow.
fn is_wide(section: &Section) -> bool {
    let is_long = |timed: &Timed| timed.spans.len() > HALF_SPANS;
    let chart = match section.pictured() {
        Some((_, Chart::Columns(timed) | Chart::Area(timed) | Chart::Lines(timed))) => {
            is_long(timed)
        }
        _ => false,
    };
    let letters = section.shown_table().map_or(0, super::data::Table::letters);
    chart || letters > HALF_LETTERS
}

/// Whether half of a sheet of paper is wide enough, and one sheet is long enough.
fn is_small(section: &Section) -> bool {
    section
        .shown_table()
        .is_none_or(|table| table.letters() <= PAPER_LETTERS && !table.is_tall())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bars, Cell, Number, Span, Table};

    fn table(columns: usize, amount: i64) -> Section {
        let numbers = std::iter::repeat_n(Cell::Number(Number::whole(amount)), columns);
        let heads = (0..columns).map(|n| (format!("n{n}"), true));
        Section::table(
            "Table",
            Table {
                columns: std::iter::once(("name".to_owned(), false))
                    .chain(heads)
                    .collect(),
                rows: vec![
                    std::iter::once(Cell::Text("amy".to_owned()))
                        .chain(numbers)
                        .collect(),
                ],
                ..Table::default()
            },
        )
    }

    fn days(count: i64) -> Section {
        let spans = (0..count).map(|n| Span { from: n, to: n + 1 }).collect();
        let rows = [(0, "amy".to_owned(), Number::whole(1))];
        let timed = Timed::gathered("user", "SU", spans, rows).unwrap();
        Section::chart("Days", Chart::Lines(timed))
    }

    /// `2` for two sections beside each other, `s` if that holds on paper too, and `1` for one.
    fn shape(sections: &[Section]) -> String {
        let letter = |row: &Row<'_>| match row {
            Row::Whole(_) => '1',
            Row::Pair { is_small: true, .. } => 's',
            Row::Pair { .. } => '2',
        };
        rows(sections).iter().map(letter).collect()
    }

    #[test]
    fn two_narrow_sections_stand_beside_each_other() {
        let bars = || Section::chart("Bars", Chart::Bars(Bars::default()));
        let (small, wide) = (|| table(2, 1_000), || table(9, 1_000_000));
        for (sections, want) in [
            (vec![], ""),
            (vec![small()], "1"),
            (vec![small(), bars()], "s"),
            (vec![small(), bars(), small()], "s1"),
            (vec![small(), wide(), small(), small()], "11s"),
            (vec![wide(), small(), small()], "1s"),
            (vec![table(4, 1_000_000), small()], "2"),
            // The table has more rows than a page of paper.
            (vec![days(31), small()], "2"),
            (vec![days(101), small(), small()], "1s"),
        ] {
            assert_eq!(shape(&sections), want, "{sections:?}");
        }
        let order = [small(), wide(), bars(), small()];
        let kept = rows(&order);
        let kept = kept.iter().flat_map(Row::sections).copied();
        assert!(kept.zip(&order).all(|(is, want)| std::ptr::eq(is, want)));
    }
}
