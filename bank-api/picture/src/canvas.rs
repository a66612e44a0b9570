//! SVG as text: elements whose places are whole thousandths of a pixel, so that the same input gives
//! the same bytes on every machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::ways::Ways;
use super::words::{escaped, shortened, width};

/// How many series are told apart by colour and pattern.
pub(super) const SERIES: usize = 8;

/// Where a text has its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The elements of one drawing.
#[derive(Debug)]
pub(super) struct Canvas {
    id: String,
    pub(super) body: String,
    /// Attributes of the whole, for a script.
    pub(super) facts: String,
    /// Links of marks.
    pub(super) ways: Ways,
    /// What is to be hatched, by series; taken by [`Canvas::hatch`].
    plain: BTreeMap<usize, Hatched>,
    /// Outlines of what was hatched.
    clips: String,
    hatches: usize,
}

/// Areas of one series: their outlines, and the corners of the rectangle around them.
#[derive(Debug)]
struct Hatched {
    outlines: String,
    from: (i64, i64),
    to: (i64, i64),
}

/// What stands around the elements.
#[derive(Debug)]
pub(super) struct Around<'a> {
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    /// The class of the element, and rules of its own where it stands alone.
    pub(super) class: &'a str,
    pub(super) style: Option<&'a str>,
}

impl Canvas {
    /// An empty one; `id` is unique on the page.
    pub(super) fn new(id: &str, ways: &Ways) -> Self {
        Self {
            id: id.to_owned(),
            body: String::new(),
            facts: String::new(),
            ways: ways.clone(),
            plain: BTreeMap::new(),
            clips: String::new(),
            hatches: 0,
        }
    }

    /// A rectangle of a class.
    pub(super) fn rect(&mut self, class: &str, (x, y): (i64, i64), (width, height): (i64, i64)) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            px(x),
            px(y),
            px(width.max(0)),
            px(height.max(0))
        );
    }

    /// A rectangle filled as the series is, with what a pointer is told.
    pub(super) fn bar(
        &mut self,
        series: usize,
        (x, y): (i64, i64),
        (width, height): (i64, i64),
        label: &str,
    ) {
        let series = series % SERIES;
        let (width, height) = (width.max(0), height.max(0));
        let _ = writeln!(
            self.body,
            "<rect class=\"f s{series}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\
             <title>{}</title></rect>",
            px(x),
            px(y),
            px(width),
            px(height),
            escaped(label)
        );
        let to = (x + width, y + height);
        let outline = format!("M{} {}H{}V{}H{}Z", px(x), px(y), px(to.0), px(to.1), px(x));
        self.covers(series, &outline, (x, y), to);
    }

    /// A straight line of a class.
    pub(super) fn line(&mut self, class: &str, from: (i64, i64), to: (i64, i64)) {
        let _ = writeln!(
            self.body,
            "<path class=\"{class}\" d=\"M{} {}L{} {}\"/>",
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1)
        );
    }

    /// Straight pieces from point to point.
    pub(super) fn pieces(&mut self, class: &str, points: &[(i64, i64)]) {
        if points.len() > 1 {
            let _ = writeln!(
                self.body,
                "<path class=\"{class}\" d=\"{}\"/>",
                path_of(points)
            );
        }
    }

    /// An area within points, of a class.
    pub(super) fn shape(&mut self, class: &str, points: &[(i64, i64)]) {
        let _ = writeln!(
            self.body,
            "<path class=\"{class}\" d=\"{}Z\"/>",
            path_of(points)
        );
    }

    /// An area filled as the series is, whose outline is given as it stands in SVG, with the corners of
    /// a rectangle that it lies in.
    pub(super) fn area(
        &mut self,
        series: usize,
        outline: &str,
        (from, to): ((i64, i64), (i64, i64)),
        label: &str,
    ) {
        let series = series % SERIES;
        let _ = writeln!(
            self.body,
            "<path class=\"f s{series}\" d=\"{outline}\"><title>{}</title></path>",
            escaped(label)
        );
        self.covers(series, outline, from, to);
    }

    /// Remembers what is to be hatched; the first series is plain.
    fn covers(&mut self, series: usize, outline: &str, from: (i64, i64), to: (i64, i64)) {
        if series == 0 {
            return;
        }
        let all = self.plain.entry(series).or_insert_with(|| Hatched {
            outlines: String::new(),
            from,
            to,
        });
        all.outlines.push_str(outline);
        all.from = (all.from.0.min(from.0), all.from.1.min(from.1));
        all.to = (all.to.0.max(to.0), all.to.1.max(to.1));
    }

    /// Hatches a series from here to there too, if it has something to hatch.
    pub(super) fn reaches(&mut self, series: usize, top: i64, bottom: i64) {
        if let Some(all) = self.plain.get_mut(&(series % SERIES)) {
            all.from.1 = all.from.1.min(top);
            all.to.1 = all.to.1.max(bottom);
        }
    }

    /// Hatches what was filled so far, each series in a way of its own, so that nobody needs its
    /// colour. Lines within an outline, and no pattern: paper gets them as sharp as everything else.
    pub(super) fn hatch(&mut self) {
        for (series, all) in std::mem::take(&mut self.plain) {
            let id = format!("{}-{}", self.id, self.hatches);
            self.hatches += 1;
            let _ = writeln!(
                self.clips,
                "<clipPath id=\"{id}\"><path d=\"{}\"/></clipPath>",
                all.outlines
            );
            let class = if series == 6 { "hatch dots" } else { "hatch" };
            let lines = hatching(series, all.from, all.to);
            let _ = writeln!(
                self.body,
                "<path class=\"{class}\" clip-path=\"url(#{id})\" d=\"{lines}\"/>"
            );
        }
    }

    /// A sign of its own for every series: circle, square, triangle, diamond, and so on.
    pub(super) fn marker(&mut self, series: usize, (x, y): (i64, i64), label: &str) {
        let r = 3_500;
        let outline: &[(i64, i64)] = match series % 4 {
            0 => &[
                (-3, -7),
                (3, -7),
                (7, -3),
                (7, 3),
                (3, 7),
                (-3, 7),
                (-7, 3),
                (-7, -3),
            ],
            1 => &[(-6, -6), (6, -6), (6, 6), (-6, 6)],
            2 => &[(0, -8), (7, 6), (-7, 6)],
            _ => &[(0, -8), (8, 0), (0, 8), (-8, 0)],
        };
        let points: Vec<_> = outline
            .iter()
            .map(|(dx, dy)| (x + dx * r / 7, y + dy * r / 7))
            .collect();
        let title = if label.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", escaped(label))
        };
        let _ = writeln!(
            self.body,
            "<path class=\"m s{}\" d=\"{}Z\">{title}</path>",
            series % SERIES,
            path_of(&points)
        );
    }

    /// A text; cut where it is wider than `most`, and then told in full to a pointer.
    pub(super) fn text(
        &mut self,
        class: &str,
        at: (i64, i64),
        anchor: Anchor,
        text: &str,
        most: i64,
    ) {
        self.text_with(class, at, anchor, (text, ""), most);
    }

    /// A text with a tail that is never cut, and that a name from right to left does not turn round.
    pub(super) fn text_with(
        &mut self,
        class: &str,
        (x, y): (i64, i64),
        anchor: Anchor,
        (text, tail): (&str, &str),
        most: i64,
    ) {
        let short = shortened(text, most - width(tail));
        let title = if short == text {
            String::new()
        } else {
            format!("<title>{}</title>", escaped(text))
        };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}>{}{}{title}</text>",
            px(x),
            px(y),
            escaped(&short),
            escaped(tail)
        );
    }

    /// The whole drawing.
    pub(super) fn around(self, around: &Around<'_>) -> String {
        let Around { width, height, .. } = around;
        let id = &self.id;
        // Within a page the namespace is understood: a page names no address at all.
        let space = match around.style {
            Some(_) => " xmlns=\"http://www.w3.org/2000/svg\"",
            None => "",
        };
        // What an image contains cannot be reached: a drawing with links is a group.
        let role = if self.ways.link.is_some() {
            "group"
        } else {
            "img"
        };
        let facts = &self.facts;
        let mut out = format!(
            "<svg{space} class=\"{}\" role=\"{role}\" \
             aria-labelledby=\"{id}-t {id}-d\" viewBox=\"0 0 {} {}\"{facts}>\n\
             <title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n",
            around.class,
            px(*width),
            px(*height),
            escaped(around.title),
            escaped(around.description)
        );
        if let Some(style) = around.style {
            let _ = writeln!(out, "<style>\n{style}</style>");
            let _ = writeln!(
                out,
                "<rect class=\"paper\" width=\"{}\" height=\"{}\"/>",
                px(*width),
                px(*height)
            );
        }
        if !self.clips.is_empty() {
            let _ = writeln!(out, "<defs>\n{}</defs>", self.clips);
        }
        out + &self.body + "</svg>\n"
    }
}

/// The lines that hatch a series, across a rectangle.
fn hatching(series: usize, from: (i64, i64), to: (i64, i64)) -> String {
    let (gap, ways) = match series {
        1 => (6_000, "/"),
        2 | 6 => (6_000, "-"),
        3 => (5_000, "|"),
        4 => (6_000, "\\"),
        5 => (7_000, "-|"),
        _ => (9_000, "/\\"),
    };
    let ((left, top), (right, bottom)) = (from, to);
    let mut out = String::new();
    let mut put = |a: (i64, i64), b: (i64, i64)| {
        let _ = write!(out, "M{} {}L{} {}", px(a.0), px(a.1), px(b.0), px(b.1));
    };
    // The lines of all areas are those of one grid over the whole drawing.
    let all = |low: i64, high: i64| {
        let first = -(-low).div_euclid(gap);
        (first..=high.div_euclid(gap)).map(move |n| n * gap)
    };
    for way in ways.chars() {
        match way {
            '-' => all(top, bottom).for_each(|y| put((left, y), (right, y))),
            '|' => all(left, right).for_each(|x| put((x, top), (x, bottom))),
            '/' => all(left + top, right + bottom)
                .for_each(|sum| put((sum - top, top), (sum - bottom, bottom))),
            _ => all(left - bottom, right - top)
                .for_each(|less| put((less + top, top), (less + bottom, bottom))),
        }
    }
    out
}

/// Points as the outline of a path.
pub(super) fn path_of(points: &[(i64, i64)]) -> String {
    let mut out = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let letter = if at == 0 { 'M' } else { 'L' };
        let _ = write!(out, "{letter}{} {}", px(*x), px(*y));
    }
    out
}

/// Thousandths of a pixel as pixels with one decimal: nobody sees more.
pub(super) fn px(mils: i64) -> String {
    let tenths = (mils + 50).div_euclid(100);
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, tenth) = (tenths.abs() / 10, tenths.abs() % 10);
    if tenth == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{tenth}")
    }
}
