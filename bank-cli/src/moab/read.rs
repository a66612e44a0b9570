//! A scheduler's configuration as blocks: `PARAMETER[LABEL] NAME=VALUE …`, each with its line.
//!
//! Moab's and Maui's form: names in any case, several attributes on a line, one parameter on
//! several lines, `#` begins a comment, a backslash at the end continues the line, values may be
//! quoted. Nothing is refused: what is no setting is not looked at.

/// A file of the scheduler's.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    /// As it was named.
    pub(crate) name: String,
    /// Its content.
    pub(crate) text: String,
    /// Whether others than its owner may read it.
    pub(crate) is_open: bool,
}

/// Where something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At<'a> {
    pub(super) file: &'a File,
    /// Counted from 1.
    pub(super) line: usize,
}

impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for File {}

/// One `NAME=VALUE`, or a bare word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attribute<'a> {
    /// In capitals.
    pub(super) name: String,
    /// Empty for a bare word.
    pub(super) value: String,
    pub(super) at: At<'a>,
}

/// One line, with those that continue it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// In capitals.
    pub(super) parameter: String,
    /// What stands in brackets, as written.
    pub(super) label: Option<String>,
    pub(super) attributes: Vec<Attribute<'a>>,
    pub(super) at: At<'a>,
}

impl Block<'_> {
    /// The value of a parameter that has one and no attributes: `SERVERMODE NORMAL`.
    pub(super) fn word(&self) -> &str {
        let first = self.attributes.first();
        first.map_or("", |attribute| attribute.value.as_str())
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Content<'a> {
    pub(super) blocks: Vec<Block<'a>>,
    /// Files that it includes, with their lines.
    pub(super) includes: Vec<(String, At<'a>)>,
}

/// Reads a file.
pub(super) fn read(file: &File) -> Content<'_> {
    let mut content = Content::default();
    let mut logical = Logical::default();
    for (line, text) in (1..).zip(file.text.lines()) {
        let start = text.trim_start();
        if let Some(rest) = directive(start, "#INCLUDE") {
            let at = At { file, line };
            content.includes.push((rest.trim().to_owned(), at));
        }
        if logical.add(line, text) {
            continue;
        }
        content.blocks.extend(block(file, &logical));
        logical = Logical::default();
    }
    content.blocks.extend(block(file, &logical));
    content
}

/// What follows a word at the start of a line, in any case.
fn directive<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    let (head, rest) = line.split_at_checked(word.len())?;
    let follows = rest.starts_with(char::is_whitespace);
    (head.eq_ignore_ascii_case(word) && follows).then_some(rest)
}

/// Lines that continue each other, as one.
#[derive(Debug, Default)]
struct Logical {
    text: String,
    /// Where each line begins in the text, with its number.
    starts: Vec<(usize, usize)>,
}

impl Logical {
    /// Adds a line; true if another continues it.
    fn add(&mut self, line: usize, text: &str) -> bool {
        let text = without_comment(text).trim_end();
        self.starts.push((self.text.len(), line));
        let (text, goes_on) = match text.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (text, false),
        };
        self.text.push_str(text);
        self.text.push(' ');
        goes_on
    }

    fn line(&self, at: usize) -> usize {
        let before = self.starts.iter().rev().find(|(start, _)| *start <= at);
        before.map_or(0, |(_, line)| *line)
    }
}

/// A `#` begins a comment at the start of a line and after a blank, but not between quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') if before.is_whitespace() => return line.get(..at).unwrap_or_default(),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        before = letter;
    }
    line
}

fn block<'a>(file: &'a File, logical: &Logical) -> Option<Block<'a>> {
    let mut scan = Scan {
        text: &logical.text,
        at: 0,
    };
    scan.blanks();
    let start = scan.at;
    let parameter = scan.until(|c| c.is_whitespace() || c == '[' || c == '=');
    if parameter.is_empty() {
        return None;
    }
    let parameter = parameter.to_ascii_uppercase();
    scan.blanks();
    let label = scan.take('[').then(|| {
        let label = scan.until(|c| c == ']').trim().to_owned();
        scan.take(']');
        label
    });
    scan.blanks();
    scan.take('=');
    let mut attributes = Vec::new();
    while let Some((name, value, at)) = scan.pair() {
        let line = logical.line(at);
        let is_word = value.is_none();
        attributes.push(Attribute {
            value: value.unwrap_or_else(|| name.clone()),
            name: if is_word {
                String::new()
            } else {
                name.to_ascii_uppercase()
            },
            at: At { file, line },
        });
    }
    Some(Block {
        parameter,
        label,
        attributes,
        at: At {
            file,
            line: logical.line(start),
        },
    })
}

/// Goes through a text.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(end).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.until(|c| !c.is_whitespace());
    }

    fn take(&mut self, letter: char) -> bool {
        let there = self.rest().starts_with(letter);
        self.at += if there { letter.len_utf8() } else { 0 };
        there
    }

    /// The next name, its value where an equals sign follows, and where it begins.
    fn pair(&mut self) -> Option<(String, Option<String>, usize)> {
        self.blanks();
        let start = self.at;
        if self.rest().is_empty() {
            return None;
        }
        let name = match self.quoted() {
            Some(word) => word.to_owned(),
            None => self.until(|c| c.is_whitespace() || c == '=').to_owned(),
        };
        self.blanks();
        if !self.take('=') {
            return Some((name, None, start));
        }
        let here = self.at;
        self.blanks();
        // `NAME= OTHER=VALUE` leaves the first one empty.
        let next = self.rest().split_whitespace().next().unwrap_or_default();
        if self.at > here && !next.starts_with(['"', '\'']) && next.contains('=') {
            return Some((name, Some(String::new()), start));
        }
        let value = match self.quoted() {
            Some(value) => value.to_owned(),
            None => self.until(char::is_whitespace).to_owned(),
        };
        Some((name, Some(value), start))
    }

    /// What stands between quotes, if a quote is next; to the end where none closes it.
    fn quoted(&mut self) -> Option<&'t str> {
        let quote = self
            .rest()
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\''))?;
        self.take(quote);
        let inside = self.until(|c| c == quote);
        let is_closed = self.take(quote);
        Some(if is_closed { inside } else { inside.trim_end() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every block as `line PARAMETER[label] line:NAME=value …`.
    fn shown(text: &str) -> String {
        use std::fmt::Write as _;
        let file = File {
            text: text.to_owned(),
            ..File::default()
        };
        let mut out = String::new();
        for block in read(&file).blocks {
            let label = block
                .label
                .map_or(String::new(), |label| format!("[{label}]"));
            write!(out, "{} {}{label}", block.at.line, block.parameter).unwrap();
            for Attribute { name, value, at } in block.attributes {
                write!(out, " {}:{name}={value}", at.line).unwrap();
            }
            out.push('\n');
        }
        out
    }

    #[test]
    fn the_forms_of_a_line() {
        for (text, expected) in [
            ("", ""),
            ("# AMCFG[bank] TYPE=NATIVE\n\n  # x\n", ""),
            ("amcfg[bank] Type=Native\n", "1 AMCFG[bank] 1:TYPE=Native\n"),
            (
                "AMCFG[bank]  FLUSHINTERVAL=hour CHARGEPOLICY=DEBITALLWC # why\n",
                "1 AMCFG[bank] 1:FLUSHINTERVAL=hour 1:CHARGEPOLICY=DEBITALLWC\n",
            ),
            (
                "AMCFG[bank] TYPE=NATIVE \\\n  TIMEOUT=10 \\\r\n  X=1\nSERVERMODE NORMAL",
                "1 AMCFG[bank] 1:TYPE=NATIVE 2:TIMEOUT=10 3:X=1\n4 SERVERMODE 4:=NORMAL\n",
            ),
            (
                "AMCFG[bank] QuoteURL=exec:///x?a=b KEY=a#b",
                "1 AMCFG[bank] 1:QUOTEURL=exec:///x?a=b 1:KEY=a#b\n",
            ),
            (
                "AMCFG[bank] A = 1 B= C=2 D=\"x # y\" E='",
                "1 AMCFG[bank] 1:A=1 1:B= 1:C=2 1:D=x # y 1:E=\n",
            ),
            (
                "NAMITransVarName=BILLTID",
                "1 NAMITRANSVARNAME 1:=BILLTID\n",
            ),
            ("AMCFG [ bank ] A=1", "1 AMCFG[bank] 1:A=1\n"),
            ("AMCFG[bank", "1 AMCFG[bank]\n"),
            ("[x] =", ""),
            ("A \\", "1 A\n"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn included_files_are_read() {
        let file = File {
            text: "#include /etc/extra.cfg\n#INCLUDED x\n".to_owned(),
            ..File::default()
        };
        let includes = read(&file).includes;
        assert_eq!(includes.len(), 1);
        assert_eq!(
            (includes[0].0.as_str(), includes[0].1.line),
            ("/etc/extra.cfg", 1)
        );
    }
}
