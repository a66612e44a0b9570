//! The files of the workspace, and a lexer that tells code from comments and texts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A file of Rust.
pub(super) struct Source {
    /// Relative to the workspace, with `/`.
    pub(super) path: String,
    /// As it stands.
    pub(super) text: String,
    /// Its code: comments, texts and test modules are blanks, lines stay lines.
    pub(super) code: String,
    /// Its texts, one per string literal outside of test modules.
    pub(super) literals: Vec<String>,
    /// Only tests and measurements use it.
    pub(super) is_test: bool,
}

impl Source {
    /// Whether the file lies in a folder or is that file.
    pub(super) fn is_in(&self, place: &str) -> bool {
        let rest = self.path.strip_prefix(place);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('/') || rest == ".rs" || place.ends_with('/')
        })
    }

    /// Whether the file lies in one of several places.
    pub(super) fn is_in_any(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.is_in(place))
    }

    /// The lines of the code that hold a word as a whole, counted from 1.
    pub(super) fn lines_with(&self, word: &str) -> Vec<usize> {
        let numbered = (1..).zip(self.code.lines());
        let found = numbered.filter(|(_, line)| has_word(line, word));
        found.map(|(number, _)| number).collect()
    }
}

/// The workspace's root.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// A file of the workspace as text.
pub(super) fn read(path: &str) -> String {
    let full = root().join(path);
    std::fs::read_to_string(&full).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The product's sources: everything of Rust but tests and measurements.
pub(super) fn product() -> Vec<&'static Source> {
    rust().iter().filter(|source| !source.is_test).collect()
}

/// Every file of Rust in the workspace, read once.
pub(super) fn rust() -> &'static [Source] {
    static ALL: OnceLock<Vec<Source>> = OnceLock::new();
    ALL.get_or_init(|| {
        let files = files();
        let rust = files.iter().filter(|path| ends_in(path, "rs"));
        rust.map(|path| source(path, read(path))).collect()
    })
}

/// Whether a file has an extension.
pub(super) fn ends_in(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|e| e == extension)
}

/// Every file of the workspace that is ours, sorted.
pub(super) fn files() -> Vec<String> {
    let mut found = Vec::new();
    walk(&root(), "", &mut found);
    found.sort();
    found
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            let foreign = matches!(
                path.as_str(),
                ".git" | "target" | "bank-data" | "node_modules"
            );
            if !foreign && name != "__pycache__" {
                walk(&entry.path(), &format!("{path}/"), found);
            }
        } else if kind.is_file() {
            found.push(path);
        }
    }
}

fn source(path: &str, text: String) -> Source {
    let name = path.rsplit('/').next().unwrap();
    let is_test = path.starts_with("tests/")
        || path.contains("/tests/")
        || path.contains("/benches/")
        || name.starts_with("tests")
        || name.ends_with("tests.rs");
    let (mut code, spans) = lex(&text);
    let hidden = if is_test {
        Vec::new()
    } else {
        blank_tests(&mut code)
    };
    let shown = spans
        .iter()
        .filter(|(at, _)| !hidden.iter().any(|(from, to)| (from..to).contains(&at)));
    let literals = shown.map(|(_, literal)| literal.clone()).collect();
    Source {
        path: path.to_owned(),
        text,
        code,
        literals,
        is_test,
    }
}

/// Whether a line holds a word that no letter, digit or `_` continues on either side.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let (first, last) = (word.starts_with(part), word.ends_with(part));
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(part);
        let after = line[at + word.len()..].chars().next().is_some_and(part);
        !(first && before || last && after)
    })
}

/// The code with comments and texts blanked, and the texts with their places.
pub(super) fn lex(text: &str) -> (String, Vec<(usize, String)>) {
    let mut code = text.as_bytes().to_vec();
    let mut literals = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (length, literal) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if rest.starts_with("/*") {
            (block_comment(rest), None)
        } else if let Some((open, hashes)) = raw_string(rest, &text[..at]) {
            let close = format!("\"{}", "#".repeat(hashes));
            let inner = rest[open..].find(&close).unwrap_or(rest.len() - open);
            let literal = rest[open..open + inner].to_owned();
            ((open + inner + close.len()).min(rest.len()), Some(literal))
        } else if rest.starts_with('"') {
            let end = quoted(rest, b'"');
            (end, Some(rest[1..end - 1].to_owned()))
        } else if rest.starts_with('\'') && is_char(rest) {
            (quoted(rest, b'\''), None)
        } else {
            at += rest.chars().next().unwrap().len_utf8();
            continue;
        };
        if let Some(literal) = literal {
            literals.push((at, literal));
        }
        for byte in &mut code[at..at + length] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at += length;
    }
    (String::from_utf8(code).unwrap(), literals)
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Where the text of a raw string begins, and how many `#` it has.
fn raw_string(rest: &str, before: &str) -> Option<(usize, usize)> {
    let in_word = before
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || c == '_');
    let body = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = body.bytes().take_while(|byte| *byte == b'#').count();
    let opens = body[hashes..].starts_with('"') && !in_word;
    opens.then(|| (rest.len() - body.len() + hashes + 1, hashes))
}

/// The length of a quoted text with its quotes.
fn quoted(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A character, not a lifetime.
fn is_char(rest: &str) -> bool {
    let mut chars = rest.chars().skip(1);
    match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    }
}

/// Blanks what only tests see, and says where it was.
fn blank_tests(code: &mut String) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let start = from + found;
        if !is_item(&code[start..]) {
            from = start + 1;
            continue;
        }
        let body = code[start..]
            .find(['{', ';'])
            .map_or(code.len(), |b| start + b);
        let end = if code[body..].starts_with('{') {
            closing(code, body)
        } else {
            (body + 1).min(code.len())
        };
        spans.push((start, end));
        from = end;
    }
    let mut bytes = std::mem::take(code).into_bytes();
    for (start, end) in &spans {
        for byte in &mut bytes[*start..*end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    *code = String::from_utf8(bytes).unwrap();
    spans
}

/// Whether the attribute at the start of a text belongs to an item: one of a match arm hides less.
fn is_item(code: &str) -> bool {
    let mut rest = code;
    while let Some(attribute) = rest.trim_start().strip_prefix("#[") {
        rest = attribute.find(']').map_or("", |end| &attribute[end + 1..]);
    }
    let first = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
    let first = first.into_iter().find(|word| !word.is_empty());
    let items = [
        "mod", "fn", "pub", "use", "impl", "struct", "enum", "const", "static", "type",
    ];
    first.is_some_and(|word| items.contains(&word))
}

/// Behind the brace that closes the one at `open`.
pub(super) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

#[test]
fn the_lexer_distinguishes_code_from_texts() {
    for (text, code, literals) in [
        ("a // b\nc", "a     \nc", vec![]),
        ("a /* x /* y */ z */ b", "a                   b", vec![]),
        ("f(\"a\\\"b\", 'x')", "f(      ,    )", vec!["a\\\"b"]),
        ("r#\"a\"b\"# + 1", "         + 1", vec!["a\"b"]),
        ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)", vec![]),
        ("'\\'' + '{'", "     +    ", vec![]),
    ] {
        let (found, texts) = lex(text);
        assert_eq!(found, code, "{text}");
        let texts: Vec<&str> = texts.iter().map(|(_, literal)| literal.as_str()).collect();
        assert_eq!(texts, literals, "{text}");
    }
    let text = "a();\n#[cfg(test)]\nmod tests {\n    fn b() { \"SQL\"; }\n}\nc();".to_owned();
    let file = source("x/src/y.rs", text);
    assert!(file.code.contains("a()") && file.code.contains("c()"));
    assert!(!file.code.contains("b()") && file.literals.is_empty());
    assert!(has_word("use std::fs;", "std::fs") && !has_word("use std::fsx;", "std::fs"));
}
