//! `bank query`: a question in the query language, and its rows.

use bank_api::v1::{QueryAnswer, QueryColumn, QueryQuery};

use crate::{
    cli::QueryArgs,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, named},
};

pub(super) fn run(context: &Context, args: &QueryArgs) -> Result<String, Failure> {
    let text = joined(&args.words)?;
    let answer: QueryAnswer = context.get(&["query"], &QueryQuery { text })?;
    context.form.list(&answer, &sheet(&answer))
}

fn sheet(answer: &QueryAnswer) -> Sheet {
    let column = |column: &QueryColumn| {
        let kind = match column.kind.as_str() {
            "amount" => Kind::Amount,
            "number" | "decimal" => Kind::Number,
            "time" => Kind::Time,
            _ => Kind::Text,
        };
        named(&column.name, kind)
    };
    let columns = answer.columns.iter().map(column).collect();
    let mut sheet = Sheet::new(columns, &answer.items, "nothing found").unit(&answer.unit);
    if let Some(next) = &answer.next {
        let line = format!("more rows: Offset:={next}, or a larger Limit");
        sheet.attention.push(line);
    }
    sheet
}

/// The words as one text. The shell has taken the quotes off a value that needed them: such a value
/// gets its own.
fn joined(words: &[String]) -> Result<String, Failure> {
    if let [only] = words {
        return Ok(only.clone());
    }
    let words: Vec<String> = words
        .iter()
        .map(|word| quoted(word))
        .collect::<Result<_, _>>()?;
    Ok(words.join(" "))
}

fn quoted(word: &str) -> Result<String, Failure> {
    if !word.contains(char::is_whitespace) || word.contains(['\'', '"']) {
        return Ok(word.to_owned());
    }
    // The value comes after the last character of the first operator.
    let operator = |c: char| "=!<>~".contains(c);
    let Some(start) = word.find(operator) else {
        return Ok(word.to_owned());
    };
    let rest = word.get(start..).unwrap_or_default();
    let length = rest.find(|c| !operator(c)).unwrap_or(rest.len());
    let (head, value) = word.split_at_checked(start + length).unwrap_or((word, ""));
    if !value.contains(char::is_whitespace) {
        return Ok(word.to_owned());
    }
    if value.trim() != value || value.contains(['(', ')', '&', '|']) || value.contains(operator) {
        let what = format!("quote the value in {word:?}");
        return Err(Failure::usage(what).hint("as in \"Description=='two words'\""));
    }
    Ok(format!("{head}'{value}'"))
}

#[cfg(test)]
mod tests {
    use super::joined;

    fn join(words: &[&str]) -> Option<String> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        joined(&words).ok()
    }

    #[test]
    fn words_keep_what_the_shell_held_together() {
        assert_eq!(join(&["a b==c d"]).unwrap(), "a b==c d");
        let words = ["Project", "Query", "Description==two words", "Limit:=1"];
        let text = "Project Query Description=='two words' Limit:=1";
        assert_eq!(join(&words).unwrap(), text);
        assert_eq!(join(&["a", "Query b=='c d'"]).unwrap(), "a Query b=='c d'");
        assert_eq!(join(&["a", "Query", "b==c && d==e"]), None);
        assert_eq!(join(&["a", "Query b>1"]).unwrap(), "a Query b>1");
    }
}
