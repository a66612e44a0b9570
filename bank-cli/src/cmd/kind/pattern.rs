//! Regular expressions of the older program as patterns of hosts. It matched them at the start of a
//! name, with anything behind. What cannot be said as patterns is refused with the reason: a pattern
//! that fits other hosts would price their jobs wrong.

/// Most patterns of one expression.
const MOST: usize = 64;
/// Deepest groups.
const DEPTH_MAX: usize = 8;

/// Patterns that fit exactly the names that an expression matches at their start.
///
/// # Errors
/// What of it no pattern can say.
pub(super) fn patterns(expression: &str) -> Result<Vec<String>, String> {
    let mut reader = Reader {
        letters: expression.trim().chars().collect(),
        at: 0,
    };
    let ways = reader.ways(0)?;
    if reader.at < reader.letters.len() {
        return Err("a ) without a (".to_owned());
    }
    let mut patterns: Vec<String> = Vec::new();
    for way in ways {
        let pattern = written(&way)?;
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    Ok(patterns)
}

/// A piece of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// One letter, as patterns have it: itself, `?`, `[0-9]`.
    One(String),
    /// The same letter any number of times, from none on.
    Repeated(String),
    /// The end of the name.
    End,
}

type Way = Vec<Piece>;

/// One way as a pattern. Behind it there may be anything, unless it ends with the end of the name; so
/// repetitions before that say nothing.
fn written(way: &[Piece]) -> Result<String, String> {
    let (mut rest, mut is_open) = (way, true);
    while let Some((last, before)) = rest.split_last() {
        match last {
            Piece::End => is_open = false,
            Piece::Repeated(_) if is_open => {}
            _ => break,
        }
        rest = before;
    }
    let mut pattern = String::new();
    for piece in rest {
        match piece {
            Piece::One(letter) => pattern.push_str(letter),
            Piece::Repeated(letter) if letter == "?" => {
                if !pattern.ends_with('*') {
                    pattern.push('*');
                }
            }
            Piece::Repeated(letter) => {
                return Err(format!("{letter}* or {letter}+ with something behind it"));
            }
            Piece::End => return Err("$ with something behind it".to_owned()),
        }
    }
    if is_open && !pattern.ends_with('*') {
        pattern.push('*');
    }
    if pattern.is_empty() {
        return Err("it matches the empty name only".to_owned());
    }
    Ok(pattern)
}

struct Reader {
    letters: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    /// Alternatives up to the end or a closing bracket.
    fn ways(&mut self, depth: usize) -> Result<Vec<Way>, String> {
        if depth > DEPTH_MAX {
            return Err("groups in groups, deeper than 8".to_owned());
        }
        let mut all = Vec::new();
        loop {
            all.extend(self.sequence(depth)?);
            if all.len() > MOST {
                return Err("more than 64 alternatives".to_owned());
            }
            if self.peek() != Some('|') {
                return Ok(all);
            }
            self.at += 1;
        }
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Way>, String> {
        let mut ways: Vec<Way> = vec![Vec::new()];
        while let Some(letter) = self.peek() {
            if matches!(letter, '|' | ')') {
                break;
            }
            let start = self.at;
            let items = self.item(depth)?;
            let items = match (letter, self.repeat()?) {
                ('^', Repeat::Once) if start == 0 || depth > 0 => continue,
                ('^', _) => return Err("^ inside".to_owned()),
                (_, Repeat::Once) => items,
                (_, Repeat::Maybe) => [vec![Vec::new()], items].concat(),
                (_, Repeat::Any) => vec![vec![Piece::Repeated(single(&items)?)]],
                (_, Repeat::Some) => {
                    let letter = single(&items)?;
                    vec![vec![Piece::One(letter.clone()), Piece::Repeated(letter)]]
                }
                (_, Repeat::Times(times)) => {
                    (1..times).try_fold(items.clone(), |all, _| behind(&all, &items))?
                }
            };
            ways = behind(&ways, &items)?;
        }
        Ok(ways)
    }

    /// One letter, class or group.
    fn item(&mut self, depth: usize) -> Result<Vec<Way>, String> {
        let Some(letter) = self.next() else {
            return Ok(vec![Vec::new()]);
        };
        let one = |text: &str| Ok(vec![vec![Piece::One(text.to_owned())]]);
        match letter {
            '^' => Ok(vec![Vec::new()]),
            '$' => Ok(vec![vec![Piece::End]]),
            '.' => one("?"),
            '[' => {
                let class = self.class()?;
                one(&class)
            }
            '(' => {
                if self.peek() == Some('?') {
                    self.at += 1;
                    if self.next() != Some(':') {
                        return Err("(? with anything but :".to_owned());
                    }
                }
                let ways = self.ways(depth + 1)?;
                match self.next() {
                    Some(')') => Ok(ways),
                    _ => Err("a ( without a )".to_owned()),
                }
            }
            '\\' => match self.next() {
                Some('d') => one("[0-9]"),
                Some('w') => one("[a-zA-Z0-9_]"),
                Some(sign) if !sign.is_alphanumeric() && is_plain(sign) => one(&sign.to_string()),
                other => Err(format!("\\{}", other.map(String::from).unwrap_or_default())),
            },
            '*' | '+' | '?' | '{' => Err(format!("{letter} with nothing before it")),
            letter if is_plain(letter) => one(&letter.to_string()),
            letter => Err(format!("the letter {letter:?}")),
        }
    }

    fn class(&mut self) -> Result<String, String> {
        let mut class = String::from("[");
        while let Some(letter) = self.next() {
            match letter {
                ']' if class.len() > 1 && class != "[!" => {
                    class.push(']');
                    return Ok(class);
                }
                '^' if class == "[" => class.push('!'),
                letter if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.') => {
                    class.push(letter);
                }
                letter => return Err(format!("{letter:?} between brackets")),
            }
        }
        Err("a [ without a ]".to_owned())
    }

    fn repeat(&mut self) -> Result<Repeat, String> {
        let repeat = match self.peek() {
            Some('*') => Repeat::Any,
            Some('+') => Repeat::Some,
            Some('?') => Repeat::Maybe,
            Some('{') => return self.times(),
            _ => return Ok(Repeat::Once),
        };
        self.at += 1;
        if matches!(self.peek(), Some('*' | '+' | '?' | '{')) {
            return Err("one repetition behind another".to_owned());
        }
        Ok(repeat)
    }

    fn times(&mut self) -> Result<Repeat, String> {
        self.at += 1;
        let mut digits = String::new();
        while let Some(letter) = self.next() {
            if letter == '}' {
                let times = digits.parse().ok().filter(|n| (1..=16_usize).contains(n));
                return times
                    .map(Repeat::Times)
                    .ok_or_else(|| format!("{{{digits}}}: one number from 1 to 16 is read"));
            }
            digits.push(letter);
        }
        Err("a { without a }".to_owned())
    }
}

enum Repeat {
    Once,
    Maybe,
    Any,
    Some,
    Times(usize),
}

/// The one letter that is repeated.
fn single(items: &[Way]) -> Result<String, String> {
    match items {
        [way] => match way.as_slice() {
            [Piece::One(letter)] => Ok(letter.clone()),
            _ => Err("a repeated group".to_owned()),
        },
        _ => Err("a repeated group".to_owned()),
    }
}

/// Every way behind every other.
fn behind(ways: &[Way], items: &[Way]) -> Result<Vec<Way>, String> {
    if ways.len().saturating_mul(items.len()) > MOST {
        return Err("more than 64 alternatives".to_owned());
    }
    let pairs = ways
        .iter()
        .flat_map(|way| items.iter().map(move |item| (way, item)));
    Ok(pairs
        .map(|(way, item)| [way.as_slice(), item].concat())
        .collect())
}

/// What means itself in a pattern and in an expression.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | '@' | '/')
}
