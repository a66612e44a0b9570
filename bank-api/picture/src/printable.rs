//! What a terminal may be given of names and notes that anybody may have written.

/// A text of one line as a terminal may show it: what it would obey (control characters), what would end
/// the line, and what would turn the direction of what follows stands there escaped, `\u{1b}`, `\n`. So
/// nothing is hidden, and nothing is done. Forms for programs have the text as it is.
pub fn printable(text: &str) -> String {
    escaped(text, false)
}

/// The same of a text of several lines, which stay lines.
pub fn printable_lines(text: &str) -> String {
    escaped(text, true)
}

/// A whole screen, with the colours that this program gave it: what was laid out is printable already, and
/// what a sentence took from elsewhere without that is made so.
pub fn screened(text: &str) -> String {
    let kept = |c: char| matches!(c, '\n' | '\u{1b}') || !is_harmful(c);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if kept(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    out
}

fn escaped(text: &str, keeps_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmful(c) && !(keeps_lines && c == '\n') {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Control characters, line and paragraph separators, and the marks, embeddings, overrides and isolates of
/// direction (Unicode's `Bidi_Control`).
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_letters_stay() {
        let cases = [
            ("\u{1b}[2Jx\r\n\t\0", "\\u{1b}[2Jx\\r\\n\\t\\u{0}"),
            ("a\u{85}b\u{9b}31m", "a\\u{85}b\\u{9b}31m"),
            ("a\u{2028}b\u{2029}c", "a\\u{2028}b\\u{2029}c"),
            ("\u{202e}gpj.exe\u{202c}", "\\u{202e}gpj.exe\\u{202c}"),
            ("\u{2066}x\u{2069}\u{200f}", "\\u{2066}x\\u{2069}\\u{200f}"),
            ("Jürgen 計算 פרויקט c:\\x", "Jürgen 計算 פרויקט c:\\x"),
            // What joins letters belongs to them.
            ("क्\u{200d}ष", "क्\u{200d}ष"),
        ];
        for (text, shown) in cases {
            assert_eq!(printable(text), shown, "{text:?}");
        }
        let screen = "\u{1b}[33m! a\u{202e}b\u{1b}[0m\n";
        assert_eq!(screened(screen), "\u{1b}[33m! a\\u{202e}b\u{1b}[0m\n");
        assert_eq!(printable_lines("a\nb\u{1b}\n"), "a\nb\\u{1b}\n");
    }
}
