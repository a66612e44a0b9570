//! SVG as text: elements whose places are whole thousandths of a pixel, so that the same input gives
//! the same bytes on every machine.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::words::{escaped, shortened};

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
    body: String,
    patterns: BTreeSet<usize>,
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
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            body: String::new(),
            patterns: BTreeSet::new(),
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
        told: &str,
    ) {
        let fill = self.fill(series);
        let _ = writeln!(
            self.body,
            "<rect {fill} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
            px(x),
            px(y),
            px(width.max(0)),
            px(height.max(0)),
            escaped(told)
        );
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

    /// An area filled as the series is, whose outline is given as it stands in SVG.
    pub(super) fn area(&mut self, series: usize, path: &str, told: &str) {
        let fill = self.fill(series);
        let _ = writeln!(
            self.body,
            "<path {fill} d=\"{path}\"><title>{}</title></path>",
            escaped(told)
        );
    }

    /// A circle filled as the series is.
    pub(super) fn circle(&mut self, series: usize, (x, y): (i64, i64), radius: i64, told: &str) {
        let fill = self.fill(series);
        let _ = writeln!(
            self.body,
            "<circle {fill} cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}</title></circle>",
            px(x),
            px(y),
            px(radius),
            escaped(told)
        );
    }

    /// A sign of its own for every series: circle, square, triangle, diamond, and so on.
    pub(super) fn marker(&mut self, series: usize, (x, y): (i64, i64), told: &str) {
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
        let title = if told.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", escaped(told))
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
        (x, y): (i64, i64),
        anchor: Anchor,
        text: &str,
        most: i64,
    ) {
        let short = shortened(text, most);
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
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}>{}{title}</text>",
            px(x),
            px(y),
            escaped(&short)
        );
    }

    /// How a series is filled: plain, or by a pattern that is told apart without its colour.
    fn fill(&mut self, series: usize) -> String {
        let series = series % SERIES;
        if series == 0 {
            return "class=\"f s0\"".to_owned();
        }
        self.patterns.insert(series);
        format!("class=\"f\" fill=\"url(#{}-{series})\"", self.id)
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
        let mut out = format!(
            "<svg{space} class=\"{}\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\" viewBox=\"0 0 {} {}\">\n\
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
        if !self.patterns.is_empty() {
            out.push_str("<defs>\n");
            for series in &self.patterns {
                out.push_str(&pattern(id, *series));
            }
            out.push_str("</defs>\n");
        }
        out + &self.body + "</svg>\n"
    }
}

/// The pattern of a series: its colour, with marks in the colour of the paper.
fn pattern(id: &str, series: usize) -> String {
    let (size, marks) = match series {
        1 => (6, "M-1 7L7 -1M-1 1L1 -1M5 7L7 5"),
        2 => (6, "M0 3H6"),
        3 => (5, "M2.5 0V5"),
        4 => (6, "M-1 -1L7 7M5 -1L7 1M-1 5L1 7"),
        5 => (6, "M0 3H6M3 0V6"),
        6 => (7, "M2 2H4V4H2Z"),
        _ => (8, "M0 2L2 0L6 4L8 2M0 6L2 4L6 8L8 6"),
    };
    format!(
        "<pattern id=\"{id}-{series}\" width=\"{size}\" height=\"{size}\" \
         patternUnits=\"userSpaceOnUse\"><rect class=\"s{series}\" width=\"{size}\" \
         height=\"{size}\"/><path class=\"hatch\" d=\"{marks}\"/></pattern>\n"
    )
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
