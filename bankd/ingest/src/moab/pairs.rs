//! Lines of `NAME=VALUE` pairs, as Moab 9.1 writes a job where it does not write columns.

use super::named::{Contents, say};

/// The columns before the pairs of an event: time, epoch, object, id, event.
const LEAD: usize = 5;

/// Whether a line has pairs in place of columns.
pub(super) fn are_in(words: &[&str]) -> bool {
    let has = |at: usize| words.get(at).is_some_and(|word| word.contains('='));
    has(0) || has(1) || (has(LEAD) && words.get(2) == Some(&"job"))
}

/// Contents of a line with pairs: alone, after the id, or after the first five columns of an event.
pub(super) fn contents(text: &str, words: &[&str]) -> Contents {
    let lead = words.iter().take_while(|word| !word.contains('=')).count();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let mut contents = Contents {
        object: "job".to_owned(),
        ..Contents::default()
    };
    match lead {
        0 => {}
        1 => say(&mut contents.values, "jobid", word(0)),
        _ => {
            word(2).clone_into(&mut contents.object);
            say(&mut contents.values, "jobid", word(3));
            contents.event = Some(word(4).to_ascii_lowercase());
        }
    }
    let mut rest = text.trim_start();
    for _ in 0..lead {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    for pair in pairs(rest) {
        let (name, value) = pair.split_once('=').unwrap_or((&pair, ""));
        say(&mut contents.values, name, value);
    }
    if let Some(object) = contents
        .values
        .get("object")
        .or(contents.values.get("objecttype"))
    {
        contents.object = object.to_ascii_lowercase();
    }
    if contents.event.is_none() {
        let event = contents
            .values
            .get("event")
            .or(contents.values.get("objectevent"));
        contents.event = event.map(|event| event.to_ascii_lowercase());
    }
    contents
}

/// Pairs between semicolons or blanks; neither separates within quotes or behind a backslash.
fn pairs(text: &str) -> Vec<String> {
    let (mut all, mut pair, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters
                .peek()
                .is_some_and(|next| "#;:\\\"' ".contains(*next)) =>
            {
                pair.extend(letters.next());
            }
            '"' | '\'' if quote == Some(letter) => quote = None,
            '"' | '\'' if quote.is_none() && pair.ends_with('=') => quote = Some(letter),
            _ if quote.is_none() && (letter == ';' || letter.is_whitespace()) => {
                all.push(std::mem::take(&mut pair));
            }
            _ => pair.push(letter),
        }
    }
    all.push(pair);
    all.retain(|pair| !pair.is_empty());
    all
}
