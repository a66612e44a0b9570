//! Bars of several amounts for each name, such as a subscription beside a contribution.

use super::canvas::{Anchor, Canvas};
use super::data::Beside;
use super::frame::{EDGE, MIDDLE, Sign, Size, legend};
use super::number::Number;
use super::scale::Scale;
use super::words::width;

impl Beside {
    /// The drawing; gives the height.
    pub(super) fn draw(&self, canvas: &mut Canvas, size: &Size) -> i64 {
        let entries = self.series.iter().enumerate();
        let entries = entries.map(|(at, name)| (Sign::Fill(at), name.clone(), String::new()));
        let top = legend(canvas, size, EDGE, &entries.collect::<Vec<_>>());
        let amounts = self.values().map(|amount| width(&self.shown(amount)));
        let beside = 2 * EDGE + 14_000 + amounts.max().unwrap_or(0);
        let names = self.rows.iter().map(|(name, _)| width(name)).max();
        let names = names.unwrap_or(0).min(size.width * 2 / 5);
        let place = Place {
            scale: Scale::of(self.values()),
            left: EDGE + names + 8_000,
            names,
            top: top + 8_000,
            room: (size.width - names - beside).max(size.width / 8),
            row: i64::try_from(self.series.len()).unwrap_or(1) * BAR + GAP,
        };
        canvas.fact("unit", &self.unit);
        for (at, (name, _)) in (0..).zip(&self.rows) {
            let middle = place.top + at * place.row + (place.row - GAP) / 2 + MIDDLE;
            let end = (place.left - 8_000, middle);
            canvas.text("t", end, Anchor::End, name, place.names);
        }
        for (number, of) in self.series.iter().enumerate() {
            let facts = [("series", number.to_string()), ("name", of.clone())];
            canvas.series(&facts, |canvas| self.bars(canvas, &place, number, size));
        }
        let zero = place.left + place.scale.zero(place.room);
        let count = i64::try_from(self.rows.len()).unwrap_or(0);
        let bottom = place.top + count * place.row;
        canvas.line("zero", (zero, top + 4_000), (zero, bottom));
        bottom + EDGE
    }

    /// An amount behind its bar. A share has its sign; a longer unit is in the caption.
    fn shown(&self, amount: Number) -> String {
        let shown = amount.shown();
        if self.unit == "%" {
            return format!("{shown} %");
        }
        shown
    }

    /// The bars of one of the amounts.
    fn bars(&self, canvas: &mut Canvas, place: &Place, number: usize, size: &Size) {
        let zero = place.left + place.scale.zero(place.room);
        let own = i64::try_from(number).unwrap_or(0) * BAR;
        for (at, (name, amounts)) in (0..).zip(&self.rows) {
            let Some(amount) = amounts.get(number).copied().flatten() else {
                continue;
            };
            let y = place.top + at * place.row + own;
            let end = place.left + place.scale.at(amount, place.room);
            let (from, to) = (zero.min(end), zero.max(end));
            let long = (to - from).max(if amount.is_zero() { 0 } else { 1_000 });
            let of = self.series.get(number).map_or("", String::as_str);
            let label = format!("{name}, {of}: {} {}", amount.shown(), self.unit);
            let address = canvas.ways.of(name, None, false);
            let facts = [("name", name.as_str()), ("values", &amount.raw())];
            canvas.group("row", &facts, |canvas| {
                canvas.linked(address, |canvas| {
                    canvas.bar(number, (from, y), (long, BAR - 2_000), label.trim_end());
                    let behind = (to.max(from + long) + 6_000, y + BAR / 2 + MIDDLE - 1_000);
                    let shown = self.shown(amount);
                    canvas.text("t tick", behind, Anchor::Start, &shown, size.width);
                });
            });
        }
    }
}

/// Height of a bar, and the gap between names.
const BAR: i64 = 16_000;
const GAP: i64 = 12_000;

/// Where the bars are.
struct Place {
    scale: Scale,
    left: i64,
    names: i64,
    top: i64,
    room: i64,
    row: i64,
}
