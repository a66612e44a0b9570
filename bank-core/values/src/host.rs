//! Names of hosts: patterns that fit them, and those that a record lists.

use std::collections::BTreeSet;

/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 128;

/// A pattern of host names: `*` matches any text, `?` one letter, `[0-9a]` one of those, `[!0-9]` any other.
/// Everything else matches itself; case counts. The pattern must match the whole name.
///
/// ```
/// use bank_core_values::host::Pattern;
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
        // Behind the last star: its place, and the place where matching of the name continued.
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

/// The part between brackets.
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

/// All hosts of such a list in their order, each once, up to a limit. Ranges are expanded; text in brackets
/// that is no list stays as it is. A bare number, such as a processor count, is no host.
///
/// ```
/// use bank_core_values::host::all;
/// assert_eq!(all("n[09-10,12],x/0*2+x/1", 9), ["n09", "n10", "n12", "x"]);
/// ```
pub fn all(list: &str, most: usize) -> Vec<String> {
    let (mut hosts, mut known) = (Vec::new(), BTreeSet::new());
    for part in parts(list) {
        for name in written_out(part, most) {
            let name = plain(&name).filter(|name| name.bytes().any(|b| !b.is_ascii_digit()));
            if let Some(name) = name.filter(|_| hosts.len() < most)
                && known.insert(name.clone())
            {
                hosts.push(name);
            }
        }
    }
    hosts
}

/// The parts between separators outside of brackets.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    let ends = move |c: char| {
        match c {
            '[' => is_inside = true,
            ']' => is_inside = false,
            _ => {}
        }
        !is_inside && (c.is_whitespace() || ",:;+&".contains(c))
    };
    list.split(ends).filter(|part| !part.is_empty())
}

/// The expanded names of a part such as `r[1-2]n[01-04]`, up to a limit.
fn written_out(part: &str, most: usize) -> Vec<String> {
    let (mut names, mut rest) = (vec![String::new()], part);
    while let Some((head, behind)) = rest.split_once('[') {
        let Some((inside, behind)) = behind.split_once(']') else {
            return vec![part.to_owned()];
        };
        let mut longer = Vec::new();
        for name in &names {
            for range in inside.split(',') {
                let Some((low, high)) = range_of(range) else {
                    return vec![part.to_owned()];
                };
                let width = range.split('-').next().map_or(0, str::len);
                let left = most.saturating_sub(longer.len());
                let numbers = (low..=high).take(left);
                longer.extend(numbers.map(|number| format!("{name}{head}{number:0width$}")));
            }
        }
        (names, rest) = (longer, behind);
    }
    for name in &mut names {
        name.push_str(rest);
    }
    names
}

/// `01-04`, or `7` alone.
fn range_of(text: &str) -> Option<(u64, u64)> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse::<u64>().ok()).flatten()
    };
    let (low, high) = (number(low)?, number(high)?);
    (low <= high).then_some((low, high))
}

/// One host name without its suffixes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_written_out() {
        for (list, hosts) in [
            ("n1", "n1"),
            ("n01/0*4+n02/0+n01/1", "n01 n02"),
            ("16*n01 n02", "n01 n02"),
            ("n[08-11],x", "n08 n09 n10 n11 x"),
            ("r[1-2]n[01,3]-ib", "r1n01-ib r1n3-ib r2n01-ib r2n3-ib"),
            ("n01:4;n02:16", "n01 n02"),
            ("slot1_2@n01.example", "n01.example"),
            ("n[4-1]", "n[4-1]"),
            ("n[1,x]", "n[1,x]"),
            ("n[1", "n[1"),
            ("n]1", "n]1"),
            ("n[1-18446744073709551615]", "n1 n2 n3 n4 n5 n6 n7 n8 n9"),
            (
                "n[1-99999]m[1-99999]",
                "n1m1 n1m2 n1m3 n1m4 n1m5 n1m6 n1m7 n1m8 n1m9",
            ),
            ("4", ""),
            ("", ""),
        ] {
            assert_eq!(all(list, 9).join(" "), hosts, "{list}");
        }
    }
}
