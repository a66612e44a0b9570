//! A chart as SVG: for a page in two widths, of which the page shows one, or as a file of its own.

use super::canvas::{Anchor, Around, Canvas};
use super::data::{Chart, Timed};
use super::frame::{EDGE, LINE, Size};
use super::number::{Number, total};
use super::ways::Ways;
use super::{bars, burn, style, timed};
use crate::zone::Zone;

/// What begins a document.
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// Both widths of a chart for a page; `id` is unique on the page.
pub(super) fn inline(chart: &Chart, title: &str, id: &str, zone: Zone, ways: &Ways) -> String {
    let wide = drawn(chart, title, id, &Size::WIDE, zone, ways);
    wide + &drawn(chart, title, id, &Size::NARROW, zone, ways)
}

/// A chart as a document of its own.
pub(super) fn alone(chart: &Chart, title: &str, zone: Zone) -> String {
    if let Some(why) = chart.obstacle() {
        return nothing(title, &why);
    }
    HEAD.to_owned() + &drawn(chart, title, "c", &Size::ALONE, zone, &Ways::default())
}

/// A document that says why there is no chart.
pub(super) fn nothing(title: &str, why: &str) -> String {
    let mut canvas = Canvas::new("c", &Ways::default());
    let size = Size::ALONE;
    let place = (EDGE, EDGE + LINE);
    canvas.text("t", place, Anchor::Start, title, size.width - 2 * EDGE);
    let place = (EDGE, EDGE + 2 * LINE);
    canvas.text("t faint", place, Anchor::Start, why, size.width - 2 * EDGE);
    let around = Around {
        width: size.width,
        height: 2 * EDGE + 3 * LINE,
        title,
        description: why,
        class: size.class,
        style: Some(style::CHART),
    };
    HEAD.to_owned() + &canvas.around(&around)
}

fn drawn(chart: &Chart, title: &str, id: &str, size: &Size, zone: Zone, ways: &Ways) -> String {
    let mut canvas = Canvas::new(&format!("{id}{}", size.letter), ways);
    let height = match chart {
        Chart::Bars(all) => bars::bars(&mut canvas, size, all, title),
        Chart::Pie(all) => bars::pie(&mut canvas, size, all),
        Chart::Beside(all) => all.draw(&mut canvas, size),
        Chart::Columns(all) => timed::columns(&mut canvas, size, all, zone),
        Chart::Area(all) => timed::area(&mut canvas, size, all, zone),
        Chart::Lines(all) => timed::lines(&mut canvas, size, all, zone),
        Chart::Burn(all) => burn::burn(&mut canvas, size, all, zone),
    };
    let is_alone = size.class == Size::ALONE.class;
    canvas.around(&Around {
        width: size.width,
        height,
        title,
        description: &description(chart, zone),
        class: size.class,
        style: is_alone.then_some(style::CHART),
    })
}

/// What there is to see, for those who do not see it.
pub(super) fn description(chart: &Chart, zone: Zone) -> String {
    let amount =
        |number: Number, unit: &str| format!("{} {unit}", number.shown()).trim_end().to_owned();
    match chart {
        Chart::Bars(all) | Chart::Pie(all) => {
            let kind = if matches!(chart, Chart::Pie(_)) {
                "Pie"
            } else {
                "Bars"
            };
            let most = all.rows.iter().max_by(|(_, a), (_, b)| a.compare(*b));
            let most = most.map(|(name, n)| format!(" Most: {name}, {}.", amount(*n, &all.unit)));
            format!(
                "{kind} by {}: {} in all, together {}.{}",
                all.what,
                all.rows.len(),
                amount(all.sum(), &all.unit),
                most.unwrap_or_default()
            )
        }
        Chart::Beside(all) => {
            let (series, names) = (all.series.join(" and "), all.rows.len());
            format!("Bars by {}: {series} for {names} names.", all.what)
        }
        Chart::Columns(all) => over_time("Columns", all, zone, true),
        Chart::Area(all) => over_time("Stacked areas", all, zone, true),
        Chart::Lines(all) => over_time("Lines", all, zone, false),
        Chart::Burn(all) => {
            let end = |at: Option<&(i64, Number)>| {
                at.map(|(us, n)| format!("{} on {}", amount(*n, &all.unit), zone.date(*us)))
            };
            let mut text = String::from("Burn-down:");
            let (first, last) = (end(all.amount.first()), end(all.amount.last()));
            text += &first.map(|t| format!(" from {t}")).unwrap_or_default();
            text += &last.map(|t| format!(" to {t}")).unwrap_or_default();
            let coming = if all.forecast.len() > 1 {
                end(all.forecast.last())
            } else {
                None
            };
            text += &coming
                .map(|t| format!("; forecast {t}"))
                .unwrap_or_default();
            text + "."
        }
    }
}

fn over_time(kind: &str, all: &Timed, zone: Zone, adds: bool) -> String {
    let range = all.range();
    let series = match all.series.len() {
        0 | 1 => String::new(),
        n => format!(" of {n} series"),
    };
    let sum = if adds {
        let sum = total(all.values()).shown();
        format!(", together {}", format!("{sum} {}", all.unit).trim_end())
    } else {
        let most = all.values().max_by(|a, b| a.compare(*b));
        let most = most.map(|n| format!("{} {}", n.shown(), all.unit));
        most.map_or_else(String::new, |m| format!(", at most {}", m.trim_end()))
    };
    format!(
        "{kind} over time{series}: {} values from {} to {} (exclusive){sum}.",
        all.spans.len(),
        zone.date(range.from),
        zone.date(range.to),
    )
}
