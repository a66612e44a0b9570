//! Text in pictures: made harmless, measured, shortened.

/// The width of a letter as it is reckoned with, in thousandths of a pixel at 12 pixels.
const LETTER: i64 = 7_300;

/// Text that means itself in HTML, SVG and their attributes.
///
/// Control characters, line breaks, marks that turn the direction of what follows, and what XML
/// cannot hold become `?`; a text that runs from right to left is isolated from what stands beside it.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let turns = text.chars().any(is_right_to_left);
    if turns {
        out.push('\u{2068}');
    }
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(plain(c)),
        }
    }
    if turns {
        out.push('\u{2069}');
    }
    out
}

/// A character that a terminal or a page may be given.
pub(crate) fn plain(c: char) -> char {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    let is_none = matches!(c, '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}');
    if c.is_control() || turns || breaks || is_none {
        '?'
    } else {
        c
    }
}

/// Hebrew, Arabic and their kin.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// How many columns of a terminal a character takes: 0, 1 or 2.
pub(super) fn cells_of(c: char) -> usize {
    match c {
        // Marks above and below the letter before, joiners, variation selectors.
        '\u{300}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5bd}'
        | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// How many columns of a terminal a text takes.
pub(super) fn cells(text: &str) -> usize {
    text.chars().map(cells_of).sum()
}

/// How wide a text is reckoned to be, in thousandths of a pixel.
pub(super) fn width(text: &str) -> i64 {
    i64::try_from(cells(text))
        .unwrap_or(i64::MAX)
        .saturating_mul(LETTER)
}

/// The text, cut so that it fits with `…`; whether it was cut is told by comparing.
pub(super) fn shortened(text: &str, most: i64) -> String {
    let cells = usize::try_from(most / LETTER).unwrap_or(0);
    fitted(text, cells, '…')
}

/// The text in so many columns of a terminal, with a mark where it was cut.
pub(super) fn fitted(text: &str, most: usize, mark: char) -> String {
    if cells(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let mut out = String::new();
    let mut taken = 0;
    for c in text.chars() {
        taken += cells_of(c);
        if taken > room {
            break;
        }
        out.push(c);
    }
    let mut out = out.trim_end().to_owned();
    out.push(mark);
    out
}
