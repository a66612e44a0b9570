//! What charts over time have in common: their sizes, the axes with their marks, the legend.

use super::calendar::Axis;
use super::canvas::{Anchor, Canvas};
use super::data::Span;
use super::marks::places;
use super::scale::Scale;
use super::words::width;
use crate::zone::Zone;
use bank_api::text::format_rfc3339;

/// The room of a drawing, in thousandths of a pixel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// The whole width.
    pub(super) width: i64,
    /// The height within the axes.
    pub(super) plot: i64,
    /// The class by which the page shows it or not.
    pub(super) class: &'static str,
    /// The letter of its elements' names.
    pub(super) letter: char,
}

impl Size {
    /// For a page or a paper.
    pub(super) const WIDE: Self = Self {
        width: 720_000,
        plot: 240_000,
        class: "chart wide",
        letter: 'w',
    };
    /// For a telephone: the letters keep their size.
    pub(super) const NARROW: Self = Self {
        width: 340_000,
        plot: 200_000,
        class: "chart narrow",
        letter: 'n',
    };
    /// For a file of its own.
    pub(super) const ALONE: Self = Self {
        class: "chart",
        ..Self::WIDE
    };
}

/// Room at the edges.
pub(super) const EDGE: i64 = 8_000;
/// From line to line of text.
pub(super) const LINE: i64 = 18_000;
/// From line to line of a legend: a finger finds each entry.
const ROW: i64 = 24_000;
/// How far a text stands below the middle of its line.
pub(super) const MIDDLE: i64 = 4_000;

/// What stands before a name in the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// A field filled as the series is.
    Fill(usize),
    /// A line with the marker of the series.
    Line(usize),
    /// A line of a class.
    Stroke(&'static str),
    /// A field of a class.
    Field(&'static str),
    /// The sign of money that came in.
    Deposit,
}

impl Sign {
    /// The name of the series for a script: the same for its marks and its entry of the legend.
    pub(super) fn series(self) -> String {
        match self {
            Self::Fill(series) | Self::Line(series) => series.to_string(),
            Self::Stroke(class) | Self::Field(class) => class.to_owned(),
            Self::Deposit => "deposit".to_owned(),
        }
    }

    /// Draws it in a line of the legend.
    fn draw(self, canvas: &mut Canvas, (x, middle): (i64, i64), name: &str) {
        let (corner, extent) = ((x, middle - 6_000), (20_000, 12_000));
        match self {
            Self::Fill(series) => canvas.bar(series, corner, extent, name),
            Self::Line(series) => {
                let class = format!("line l{}", series % super::canvas::SERIES);
                canvas.line(&class, (x, middle), (x + 20_000, middle));
                canvas.marker(series, (x + 10_000, middle), "");
            }
            Self::Stroke(class) => canvas.line(class, (x, middle), (x + 20_000, middle)),
            Self::Field(class) => canvas.rect(class, corner, extent),
            Self::Deposit => deposit(canvas, (x + 10_000, middle + 5_000)),
        }
    }
}

/// An entry of the legend: its sign, its name, and what stands behind the name.
pub(super) type Entry = (Sign, String, String);

/// The legend from `top` on; gives where it ends.
pub(super) fn legend(canvas: &mut Canvas, size: &Size, top: i64, entries: &[Entry]) -> i64 {
    let (gap, sign) = (14_000, 26_000);
    // Two long names share a row of a wide drawing; on a telephone a long name has a row of its own.
    let most = (size.width / 2).max(320_000) - sign - gap;
    let (mut x, mut y) = (EDGE, top);
    for (kind, name, tail) in entries {
        let wide = sign + (width(name) + width(tail)).min(most);
        if x > EDGE && x + wide > size.width - EDGE {
            x = EDGE;
            y += ROW;
        }
        let middle = y + LINE / 2;
        canvas.group("key", &[("series", &kind.series())], |canvas| {
            kind.draw(canvas, (x, middle), name);
            let at = (x + sign, middle + MIDDLE);
            canvas.text_with("t", at, Anchor::Start, (name, tail), most);
        });
        x += wide + gap;
    }
    if entries.is_empty() { top } else { y + LINE }
}

/// The sign of money that came in: an arrow head that points up to a place.
pub(super) fn deposit(canvas: &mut Canvas, (x, y): (i64, i64)) {
    let points = [(x, y - 10_000), (x + 6_000, y), (x - 6_000, y)];
    canvas.shape("deposit", &points);
}

/// The axes of amounts and time.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) scale: Scale,
    pub(super) axis: Axis,
    left: i64,
    top: i64,
    width: i64,
    height: i64,
}

impl Frame {
    /// Draws the axes below `top`.
    pub(super) fn draw(
        canvas: &mut Canvas,
        size: &Size,
        top: i64,
        (scale, axis): (Scale, Axis),
        unit: &str,
    ) -> Self {
        let ticks = scale.ticks(size.plot);
        let widest = ticks.iter().map(|(_, text)| width(text)).max();
        let left = EDGE + widest.unwrap_or(0) + 6_000;
        let unit = scale.unit(unit);
        let unit = if unit.is_empty() { "count" } else { &unit };
        let at = (EDGE, top + LINE / 2 + MIDDLE);
        canvas.text("t faint", at, Anchor::Start, unit, size.width - 2 * EDGE);
        let frame = Self {
            left,
            top: top + LINE + 9_000,
            width: size.width - left - EDGE - 8_000,
            height: size.plot,
            scale,
            axis,
        };
        let right = frame.left + frame.width;
        for (at, text) in &ticks {
            let y = frame.top + frame.height - at;
            canvas.line("grid", (frame.left, y), (right, y));
            let place = (frame.left - 6_000, y + MIDDLE);
            canvas.text("t tick", place, Anchor::End, text, size.width);
        }
        frame.times(canvas, size);
        frame
    }

    /// The marks of time, each written where it does not touch the one before.
    fn times(&self, canvas: &mut Canvas, size: &Size) {
        let bottom = self.top + self.height;
        let zero = bottom - self.scale.zero(self.height);
        canvas.line("zero", (self.left, zero), (self.left + self.width, zero));
        let room = usize::try_from(self.width / 90_000).unwrap_or(2);
        let mut taken = 0;
        for (at, text) in self.axis.ticks(self.width, room) {
            let x = self.left + at;
            canvas.line("notch", (x, bottom), (x, bottom + 5_000));
            let half = width(&text) / 2;
            let middle = x.clamp(EDGE + half, (size.width - EDGE - half).max(EDGE + half));
            if middle - half < taken {
                continue;
            }
            let place = (middle, bottom + LINE);
            canvas.text("t tick", place, Anchor::Middle, &text, size.width);
            taken = middle + half + 6_000;
        }
        let place = (size.width - EDGE, bottom + 2 * LINE);
        let title = self.axis.title();
        canvas.text("t faint", place, Anchor::End, &title, size.width - 2 * EDGE);
    }

    /// Gives a script the edges of spans: their places, their times as they are shown and, if the page has a
    /// period in its address, as they are written there.
    pub(super) fn edges(&self, canvas: &mut Canvas, spans: &[Span], zone: Zone) {
        let instants = spans.iter().map(|span| span.from);
        let instants: Vec<i64> = instants.chain(spans.last().map(|last| last.to)).collect();
        let shown: Vec<String> = instants.iter().map(|us| zone.date(*us)).collect();
        canvas.fact("x", &places(instants.iter().map(|us| self.x(*us))));
        canvas.fact("at", &shown.join("|"));
        canvas.fact("plot", &places([self.top, self.height].into_iter()));
        if let Some((from, until)) = canvas.ways.zoom.clone() {
            let times = instants.iter().map(|us| format_rfc3339(*us));
            canvas.fact("times", &times.collect::<Vec<_>>().join(" "));
            canvas.fact("zoom", &format!("{from} {until}"));
        }
    }

    /// Where an instant stands.
    pub(super) fn x(&self, us: i64) -> i64 {
        self.left + self.axis.at(us, self.width)
    }

    /// Where an amount stands.
    pub(super) fn y(&self, number: super::Number) -> i64 {
        self.top + self.height - self.scale.at(number, self.height)
    }

    /// The upper end.
    pub(super) fn top(&self) -> i64 {
        self.top
    }

    /// The left end and the right one.
    pub(super) fn sides(&self) -> (i64, i64) {
        (self.left, self.left + self.width)
    }

    /// The lower end of the axes.
    pub(super) fn bottom(&self) -> i64 {
        self.top + self.height
    }

    /// The end of everything that stands below the axes.
    pub(super) fn end(&self) -> i64 {
        self.bottom() + 2 * LINE + EDGE
    }
}
