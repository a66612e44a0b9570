//! How many columns of a terminal a text takes, as terminals draw it.

/// First and last letters that take two columns: those of East Asia, and pictures.
const WIDE: [(char, char); 13] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{33ff}'),
    ('\u{3400}', '\u{4dbf}'),
    ('\u{4e00}', '\u{a4cf}'),
    ('\u{a960}', '\u{a97f}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// First and last of those that take none: they belong to the letter before.
const NONE: [(char, char); 6] = [
    ('\u{300}', '\u{36f}'),
    ('\u{1ab0}', '\u{1aff}'),
    ('\u{1dc0}', '\u{1dff}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe00}', '\u{fe0f}'),
];

/// The columns of a text without control characters.
pub(crate) fn width(text: &str) -> usize {
    let is_of = |all: &[(char, char)], letter| {
        let mut all = all.iter();
        all.any(|(first, last)| (*first..=*last).contains(&letter))
    };
    let columns = |letter| match letter {
        _ if is_of(&NONE, letter) => 0,
        _ if is_of(&WIDE, letter) => 2,
        _ => 1,
    };
    text.chars().map(columns).sum()
}

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn letters_of_east_asia_take_two_columns_and_accents_none() {
        for (text, columns) in [
            ("", 0),
            ("amy", 3),
            ("日本", 4),
            ("Größe", 5),
            ("u\u{308}", 1),
            ("한국 a", 6),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }
}
