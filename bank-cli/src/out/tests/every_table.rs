//! Every table of the program on a terminal of 80 columns, with ordinary values and with the widest
//! ones that the limits allow. The tables are read from the sources, so that none can be forgotten.

use std::{fs, path::Path};

use serde_json::Value;

use super::super::*;
use bank_picture::figure;

/// The columns of a terminal.
const WIDTH: usize = 80;

/// Functions that make a sheet of columns from another function: file, function, and that function.
const ELSEWHERE: [(&str, &str, &str); 2] = [
    ("balance.rs", "sheet", "columns"),
    ("statement/text.rs", "lines", "columns"),
];

/// A table as its source declares it.
struct Declared {
    place: String,
    columns: Vec<Column>,
}

/// The text of a function of the program.
struct Function {
    file: String,
    name: String,
    text: String,
}

/// Every function of the commands, without tests.
fn functions() -> Vec<Function> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cmd")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("tests.rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        let product = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
        let file = path.to_str().unwrap().split("/cmd/").nth(1).unwrap();
        for line in product.lines() {
            let words = line.trim_start();
            let start = ["", "pub(super) ", "pub(crate) "]
                .iter()
                .find_map(|public| words.strip_prefix(&format!("{public}fn ")));
            if let Some(rest) = start {
                let name = rest.split(['(', '<']).next().unwrap();
                found.push(Function {
                    file: file.to_owned(),
                    name: name.to_owned(),
                    text: String::new(),
                });
            }
            if let Some(function) = found.last_mut().filter(|f| f.file == file) {
                function.text += line;
                function.text += "\n";
            }
        }
    }
    found
}

/// The arguments of calls of a function, and what is called on its result.
fn calls<'a>(text: &'a str, name: &str) -> Vec<(usize, &'a str, &'a str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(&format!("{name}(")) {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        if before.is_alphanumeric() || "_.".contains(before) {
            continue;
        }
        let open = at + name.len() + 1;
        let end = closed(text, open);
        let mut after = end;
        while text[after..].trim_start().starts_with('.') {
            let dot = text.len() - text[after..].trim_start().len();
            after = closed(text, dot + text[dot..].find('(').unwrap() + 1);
        }
        found.push((at, &text[open..end - 1], &text[end..after]));
    }
    found
}

/// Behind the bracket that closes the one before a place.
fn closed(text: &str, open: usize) -> usize {
    let mut depth = 1;
    for (at, letter) in text[open..].char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + at + 1;
        }
    }
    panic!("a bracket is not closed");
}

/// The columns that a function declares; the key and the title of one that is computed are made up.
fn columns(text: &str) -> Vec<Column> {
    let mut found = Vec::new();
    for name in ["column", "named", "text", "amount"] {
        for (at, arguments, behind) in calls(text, name) {
            let is_declared = arguments.matches('"').count() >= 4;
            let kind = match arguments.split("Kind::").nth(1) {
                Some("Text") => Kind::Text,
                Some("Number") => Kind::Number,
                Some("Amount") => Kind::Amount,
                Some("Time") => Kind::Time,
                Some("Date") => Kind::Date,
                Some("Tree") => Kind::Tree,
                Some(rest) => match rest.split_terminator([',', '\n']).next() {
                    Some("Text") => Kind::Text,
                    Some("Number") => Kind::Number,
                    Some("Amount") => Kind::Amount,
                    Some("Time") => Kind::Time,
                    Some("Date") => Kind::Date,
                    other => panic!("{other:?}"),
                },
                None if name == "amount" && is_declared => Kind::Amount,
                None if name == "text" && is_declared => Kind::Text,
                None if name == "named" => Kind::Text,
                None => continue,
            };
            let quoted: Vec<&str> = arguments.split('"').skip(1).step_by(2).collect();
            let mut column = named(&format!("key{at}"), kind);
            column.title = quoted
                .get(1)
                .map_or("Computed title", |title| *title)
                .to_owned()
                .into();
            column.is_secondary = behind.contains(".secondary()");
            if behind.contains(".if_machine()") {
                column.shown = Shown::Machine;
            }
            if behind.contains(".if_asked()") {
                column.shown = Shown::OnRequest;
            }
            found.push((at, column));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, column)| column).collect()
}

/// Every table: each function that makes a sheet, with the columns that it declares.
fn tables() -> Vec<Declared> {
    let functions = functions();
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for function in &functions {
        let makes = function.text.match_indices("Sheet::new(").count()
            + function.text.match_indices("    Sheet {\n").count();
        if makes == 0 {
            continue;
        }
        let mut own = columns(&function.text);
        let place = format!("{}: {}", function.file, function.name);
        if own.is_empty() {
            let other = ELSEWHERE
                .iter()
                .find(|(file, name, _)| (*file, *name) == (&function.file, &function.name));
            let Some((_, _, other)) = other else {
                without.push(place);
                continue;
            };
            let other = functions
                .iter()
                .find(|f| f.file == function.file && f.name == *other);
            own = columns(&other.unwrap().text);
        }
        assert!(!own.is_empty(), "{place}: no columns");
        found.push(Declared {
            place,
            columns: own,
        });
    }
    assert!(
        without.is_empty(),
        "sheets without columns; name their function in ELSEWHERE: {without:#?}"
    );
    found
}

/// How wide values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    Ordinary,
    Sentences,
    Widest,
}

/// A letter for each column, one or two columns wide, that is in no title.
fn letter(at: usize) -> char {
    let at = u32::try_from(at).unwrap();
    char::from_u32(if at % 2 == 0 { 0x430 } else { 0x4e00 } + at).unwrap()
}

fn value(at: usize, kind: Kind, values: Values) -> Value {
    let number = i64::MAX - i64::try_from(at).unwrap();
    let letter = letter(at).to_string();
    let is_widest = values == Values::Widest;
    match kind {
        Kind::Text if values == Values::Sentences => vec![letter.repeat(4); 30].join(" ").into(),
        Kind::Text | Kind::Tree if is_widest => letter.repeat(256 / letter.len()).into(),
        Kind::Text | Kind::Tree => letter.repeat(3).into(),
        Kind::Number if is_widest => number.into(),
        Kind::Number => (100 + at).into(),
        Kind::Amount if is_widest => figure::plain(-i128::from(number), 3).into(),
        Kind::Amount => format!("{}.000", 100 + at).into(),
        Kind::Time | Kind::Date => format!("2026-11-20T21:41:{at:02}Z").into(),
    }
}

/// The lines of a table, as the first part of a list and as the next one, which has no line of its own but
/// its rows.
fn lines(form: &Form, sheet: &Sheet) -> String {
    let mut parts = Parts::new(form);
    let first = parts.lines(sheet).unwrap();
    let next = parts.lines(sheet).unwrap();
    assert!(
        first.ends_with(next.trim_start_matches('\n')),
        "{first}{next}"
    );
    first + &parts.end()
}

/// A row of a table, and the text of each cell.
fn filled(table: &Declared, values: Values) -> (Sheet, Vec<String>) {
    let mut row = Row::new();
    row.insert("depth".to_owned(), 2.into());
    for (at, column) in table.columns.iter().enumerate() {
        row.insert(column.key().to_owned(), value(at, column.kind, values));
    }
    let sheet = Sheet::new(table.columns.clone(), &[row], "");
    let cell = |column: &Column| {
        let form = Form {
            columns: vec![column.key().to_owned()],
            header: false,
            ..test_form()
        };
        let text = lines(&form, &sheet);
        text.trim().to_owned()
    };
    let cells = table.columns.iter().map(cell).collect();
    (sheet, cells)
}

/// No line is too wide, no two values touch, and every value is there in full.
fn check(place: &str, columns: &[&Column], cells: &[&str], text: &str) {
    let (text, left_out) = text.split_once("Not shown: ").unwrap_or((text, ""));
    let left_out = left_out.replace('\n', " ");
    for line in text.lines() {
        assert!(width(line) <= WIDTH, "{place}: {line}\n{text}");
    }
    let pieces: Vec<&str> = text
        .lines()
        .flat_map(|line| line.split("  "))
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .collect();
    for piece in &pieces {
        let is_title = columns.iter().any(|column| column.title.trim() == *piece);
        let is_of_value = cells.iter().any(|cell| cell.contains(piece));
        assert!(is_title || is_of_value, "{place}: {piece:?}\n{text}");
    }
    for (column, cell) in columns.iter().zip(cells) {
        let title = column.title.trim();
        let is_left_out = column.is_secondary && left_out.contains(title);
        let is_whole = if column.is_text() {
            let first = cell.chars().next().unwrap();
            text.matches(first).count() == cell.matches(first).count()
        } else {
            pieces.contains(cell)
        };
        assert!(is_whole || is_left_out, "{place}: {title} {cell}\n{text}");
    }
}

#[test]
fn every_table_fits_a_terminal_with_all_its_values() {
    let tables = tables();
    assert!(tables.len() >= 55, "{} tables", tables.len());
    for table in &tables {
        for values in [Values::Ordinary, Values::Sentences, Values::Widest] {
            let place = format!("{} {values:?}", table.place);
            let (sheet, cells) = filled(table, values);
            let shown = |column: &&Column| matches!(column.shown, Shown::Always | Shown::Screen);
            let columns: Vec<&Column> = table.columns.iter().filter(shown).collect();
            if columns.len() < 2 {
                continue;
            }
            let cells: Vec<&str> = table
                .columns
                .iter()
                .zip(&cells)
                .filter(|(column, _)| shown(column))
                .map(|(_, cell)| cell.as_str())
                .collect();
            let form = test_form();
            check(&place, &columns, &cells, &lines(&form, &sheet));
            let record = form.one(&sheet.rows[0], &sheet).unwrap();
            let record = record.lines().filter(|line| !line.starts_with("Times "));
            let record = record.collect::<Vec<_>>().join("\n");
            check(&place, &columns, &cells, &record);
        }
    }
}

/// What is named by `--columns` is there, whether it fits or not.
#[test]
fn requested_columns_are_never_left_out() {
    for table in tables() {
        let (sheet, cells) = filled(&table, Values::Ordinary);
        let columns: Vec<&Column> = table.columns.iter().collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let form = Form {
            columns: columns.iter().map(|c| c.key().to_owned()).collect(),
            ..test_form()
        };
        let text = lines(&form, &sheet);
        assert!(!text.contains("Not shown"), "{}: {text}", table.place);
        check(&table.place, &columns, &cells, &text);
    }
}
