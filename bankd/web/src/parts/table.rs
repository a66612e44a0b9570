//! Tables with the same data as CSV and JSON.

use bank_api::v1::{UsageFigures, UsageLine};
use maud::{Markup, html};

use super::amount::{amount, is_zero};
use super::turn;
use crate::target::Target;
use crate::visit::Visit;

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    head: String,
    /// Figures are aligned at the right.
    is_figure: bool,
    /// Buttons are not printed.
    is_buttons: bool,
}

/// A column of words.
pub(crate) fn words(head: &str) -> Column {
    Column {
        head: head.to_owned(),
        is_figure: false,
        is_buttons: false,
    }
}

/// A column of buttons, which has no place on paper.
pub(crate) fn buttons(head: &str) -> Column {
    Column {
        is_buttons: true,
        ..words(head)
    }
}

/// A column of figures without a unit.
pub(crate) fn figures(head: &str) -> Column {
    Column {
        is_figure: true,
        ..words(head)
    }
}

/// A column of amounts: the unit is in the head.
pub(crate) fn amounts(head: &str, unit: &str) -> Column {
    figures(&format!("{head} ({unit})"))
}

/// With at most so many columns, a wide page has room for long names.
const ROOMY: usize = 6;
/// With at most so many columns, rows are cards on a telephone only.
const SHORT: usize = 3;

/// A table with a caption. The first cell of a row is its head. `data` is the route behind it with the place in the
/// list (`turn::asked`): as JSON it has the rows of the page, as CSV all rows. `next` is the page with the following
/// rows.
pub(crate) struct Table<'a> {
    pub(crate) caption: &'a str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Markup>>,
    /// What to do first if there is no row.
    pub(crate) empty: Markup,
    pub(crate) data: Option<Target>,
    pub(crate) next: Option<Target>,
}

impl<'a> Table<'a> {
    /// A table with a row for each of some items, and no columns yet.
    pub(crate) fn of<T: Copy>(
        caption: &'a str,
        items: impl IntoIterator<Item = T>,
    ) -> Listing<'a, T> {
        let items: Vec<T> = items.into_iter().collect();
        let table = Table {
            caption,
            columns: Vec::new(),
            rows: items.iter().map(|_| Vec::new()).collect(),
            empty: html! {},
            data: None,
            next: None,
        };
        Listing { items, table }
    }

    pub(crate) fn show(&self) -> Markup {
        self.with_totals(&[])
    }

    /// The same with rows of totals below, which the data have not.
    pub(crate) fn with_totals(&self, totals: &[Vec<Markup>]) -> Markup {
        if self.rows.is_empty() {
            return html! {
                section .table {
                    h2 { (self.caption) }
                    div .empty { (self.empty) }
                    (self.following())
                }
            };
        }
        html! {
            section .table {
                div .scroll tabindex="0" role="region" aria-label=(self.caption) {
                    table .roomy[self.columns.len() <= ROOMY] .short[self.columns.len() <= SHORT] {
                        caption { (self.caption) }
                        thead { tr { @for column in &self.columns {
                            th scope="col" .figure[column.is_figure] .buttons[column.is_buttons] { (column.head) }
                        } } }
                        tbody { @for row in &self.rows { (self.row(row)) } }
                        @if !totals.is_empty() { tfoot { @for row in totals { (self.row(row)) } } }
                    }
                }
                (self.following())
                p .below {
                    @if let Some(data) = &self.data {
                        @let is_part = self.next.is_some() || turn::is_later(data);
                        a href=(data.clone().with("format", "csv")) { "CSV" @if is_part { " of all rows" } } " · "
                        a href=(data) { "JSON" @if is_part { " of these rows" } }
                    }
                }
            }
        }
    }

    /// That the list goes on, also on paper, and the way to its next rows.
    fn following(&self) -> Markup {
        html! {
            @if let Some(next) = &self.next {
                p .following { "More rows follow. " a .button href=(next) rel="next" { "Next rows" } }
            }
        }
    }

    fn row(&self, cells: &[Markup]) -> Markup {
        html! {
            tr { @for (place, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
                @if place == 0 {
                    th scope="row" .figure[column.is_figure] data-head=[Some(&column.head).filter(|head| !head.is_empty())] { (cell) }
                } @else {
                    // In a card the cell is a line with its head at the left: the content is one box.
                    td .figure[column.is_figure] .buttons[column.is_buttons] .blank[is_blank(cell)] data-head=(column.head) {
                        @if !cell.0.is_empty() { div { (cell) } }
                    }
                }
            } }
        }
    }
}

impl Listing<'_, &UsageLine> {
    /// Charges, and the shadow charges of the modes `track` and `notional` if the total has any.
    pub(crate) fn charges(self, unit: &str, total: Option<&UsageFigures>) -> Self {
        let table = self.amounts("Charged", unit, |line| amount(&line.figures.charged));
        if total.is_some_and(has_shadow) {
            table.amounts("Shadow", unit, |line| amount(&line.figures.shadow_charged))
        } else {
            table
        }
    }
}

/// Whether there are shadow charges.
pub(crate) fn has_shadow(figures: &UsageFigures) -> bool {
    !is_zero(&figures.shadow_charged)
}

/// A table of items. A column is added with what its cells show of an item.
pub(crate) struct Listing<'a, T> {
    items: Vec<T>,
    table: Table<'a>,
}

impl<T: Copy> Listing<'_, T> {
    fn column(mut self, column: Column, cell: impl Fn(T) -> Markup) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.push(cell(*item));
        }
        self
    }

    pub(crate) fn words(self, head: &str, cell: impl Fn(T) -> Markup) -> Self {
        self.column(words(head), cell)
    }

    pub(crate) fn figures(self, head: &str, cell: impl Fn(T) -> Markup) -> Self {
        self.column(figures(head), cell)
    }

    pub(crate) fn amounts(self, head: &str, unit: &str, cell: impl Fn(T) -> Markup) -> Self {
        self.column(amounts(head, unit), cell)
    }

    pub(crate) fn buttons(self, head: &str, cell: impl Fn(T) -> Markup) -> Self {
        self.column(buttons(head), cell)
    }

    /// What to do first if there is no item.
    pub(crate) fn empty(mut self, empty: Markup) -> Self {
        self.table.empty = empty;
        self
    }

    pub(crate) fn data(mut self, data: impl Into<Option<Target>>) -> Self {
        self.table.data = data.into();
        self
    }

    pub(crate) fn next(mut self, next: Option<Target>) -> Self {
        self.table.next = next;
        self
    }

    pub(crate) fn show(&self) -> Markup {
        self.table.show()
    }
}

/// Whether a cell has nothing but a dash: a narrow page leaves it out.
fn is_blank(cell: &Markup) -> bool {
    let inner = cell.0.strip_prefix("<span class=\"none\">");
    let inner = inner.and_then(|inner| inner.strip_suffix("</span>"));
    inner.unwrap_or(&cell.0) == "–"
}

/// A name that may be absent.
pub(crate) fn or_none(text: Option<&str>) -> Markup {
    text.map_or_else(|| html! { span .none { "–" } }, name)
}

/// A name that may be long: cut by the style sheet, with the whole in the title.
pub(crate) fn name(text: &str) -> Markup {
    html! { span .name title=(text) { (text) } }
}

/// Words that may be several lines long.
pub(crate) fn prose(text: Option<&str>) -> Markup {
    text.map_or_else(|| or_none(None), |text| html! { span .prose { (text) } })
}

/// A job, with the link to what was charged for it.
pub(crate) fn job(visit: &Visit, job: &str, machine: Option<&str>) -> Markup {
    link(&visit.link(&["jobs", job]).maybe("machine", machine), job)
}

/// A link with a name that may be long.
pub(crate) fn link(target: &Target, text: &str) -> Markup {
    html! { a .name href=(target) title=(text) { (text) } }
}
