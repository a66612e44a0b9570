//! Names of hosts: patterns that fit them, and the first of those that a record lists.

/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 128;

/// A pattern of host names: `*` stands for any text, `?` for one letter, `[0-9a]` for one of those,
/// `[!0-9]` for any other; everything else means itself, and case counts. It fits the whole name.
///
/// ```
/// use bank_core::contribution::host::Pattern;
/// assert!(Pattern::parse("node[0-9]*").unwrap().fits("node17"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Letter(char),
    One,
    Of(Vec<(char, char)>, bool),
    Any,
}

impl Pattern {
    /// Reads a pattern: 1 to 128 bytes without blanks, commas and control characters.
    pub fn parse(text: &str) -> Option<Pattern> {
        let strange = |c: char| c.is_control() || c.is_whitespace() || c == ',';
        if text.is_empty() || text.len() > PATTERN_BYTES_MAX || text.contains(strange) {
            return None;
        }
        let (mut parts, mut letters) = (Vec::new(), text.chars());
        while let Some(letter) = letters.next() {
            parts.push(match letter {
                '*' if parts.last() == Some(&Part::Any) => continue,
                '*' => Part::Any,
                '?' => Part::One,
                '[' => class(&mut letters)?,
                ']' => return None,
                letter => Part::Letter(letter),
            });
        }
        Some(Pattern {
            text: text.to_owned(),
            parts,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it fits a name. Takes at most as many steps as the name has letters times its parts.
    pub fn fits(&self, name: &str) -> bool {
        let letters: Vec<char> = name.chars().collect();
        let (mut at, mut part) = (0_usize, 0_usize);
        // Behind the last star: where it stands, and where the name went on.
        let mut back: Option<(usize, usize)> = None;
        while let Some(letter) = letters.get(at) {
            match self.parts.get(part) {
                Some(Part::Any) => {
                    back = Some((part, at));
                    part = part.saturating_add(1);
                    continue;
                }
                Some(one) if one.fits(*letter) => {
                    (at, part) = (at.saturating_add(1), part.saturating_add(1));
                    continue;
                }
                _ => {}
            }
            let Some((star, from)) = back else {
                return false;
            };
            back = Some((star, from.saturating_add(1)));
            (at, part) = (from.saturating_add(1), star.saturating_add(1));
        }
        let rest = self.parts.get(part..).unwrap_or_default();
        rest.iter().all(|part| *part == Part::Any)
    }
}

impl Part {
    fn fits(&self, letter: char) -> bool {
        match self {
            Part::Letter(own) => *own == letter,
            Part::One | Part::Any => true,
            Part::Of(ranges, negated) => {
                let inside = ranges.iter().any(|(a, b)| *a <= letter && letter <= *b);
                inside != *negated
            }
        }
    }
}

/// What stands between brackets.
fn class(letters: &mut std::str::Chars<'_>) -> Option<Part> {
    let text = letters.as_str();
    let (inside, rest) = text.split_once(']')?;
    *letters = rest.chars();
    let (inside, negated) = match inside.strip_prefix(['!', '^']) {
        Some(inside) => (inside, true),
        None => (inside, false),
    };
    let mut signs = inside.chars().peekable();
    let mut ranges = Vec::new();
    while let Some(first) = signs.next() {
        let mut last = first;
        if signs.peek() == Some(&'-') {
            let _ = signs.next();
            last = signs.next()?;
        }
        if last < first || matches!(first, '[' | '-' | '*' | '?') {
            return None;
        }
        ranges.push((first, last));
    }
    (!ranges.is_empty()).then_some(Part::Of(ranges, negated))
}

/// The first host of a list as schedulers write them: `n01/0*4+n02/0`, `16*n01 n02`, `n[01-04,7],x`,
/// `n01:4`, `slot1_2@n01.example`. None where it names none.
pub fn first(list: &str) -> Option<String> {
    let list = list.trim();
    // Of a list with brackets the first of them: `n[01-04]-ib` begins with n01-ib.
    let end = list
        .find([',', '+', ' ', '\t', '&', '['])
        .unwrap_or(list.len());
    let (head, rest) = list.split_at_checked(end)?;
    if let Some(inside) = rest.strip_prefix('[') {
        let (inside, behind) = inside.split_once(']')?;
        let number = inside.split([',', '-']).next()?;
        let behind = behind
            .split([',', '+', ' ', '['])
            .next()
            .unwrap_or_default();
        return plain(&format!("{head}{number}{behind}"));
    }
    plain(head)
}

/// One host without what stands beside its name.
fn plain(host: &str) -> Option<String> {
    let host = host.rsplit('@').next()?;
    let host = match host.split_once('*') {
        Some((count, host)) if count.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => host,
    };
    let host = host.split(['/', ':', '*']).next()?.trim();
    let fits = !host.is_empty() && host.len() <= 255 && !host.contains(char::is_control);
    fits.then(|| host.to_owned())
}
