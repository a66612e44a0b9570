//! Messages of the libraries that read settings, requests and command lines, in words of the bank.

/// The message in words of the bank, if it is one of those that are known; otherwise as it is, on one line.
pub fn own_words(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = message
        .replace(
            "invalid digit found in string",
            "not a whole number; write digits only",
        )
        .replace("number too large to fit in target type", "too large")
        .replace("number too small to fit in target type", "too small");
    in_range(&message)
        .or_else(|| choice(&message))
        .unwrap_or(message)
}

/// `TEXT: 0 is not in 1..=100` of a range.
fn in_range(message: &str) -> Option<String> {
    let (before, range) = message.split_once(" is not in ")?;
    let (least, most) = range.split_once("..")?;
    let is_number = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let most = most.strip_prefix('=').unwrap_or(most);
    if !is_number(least) || !is_number(most) {
        return None;
    }
    let before = before
        .rsplit_once(": ")
        .map_or(String::new(), |(before, _)| format!("{before}: "));
    Some(match (least, most) {
        (least, "") => format!("{before}expected {least} or more"),
        ("", most) => format!("{before}expected {most} or less"),
        (least, most) => format!("{before}expected {least} to {most}"),
    })
}

/// ``unknown field `a`, expected one of `b`, `c` `` and the same for values.
fn choice(message: &str) -> Option<String> {
    let start = ["unknown field `", "unknown variant `", "missing field `"]
        .iter()
        .find_map(|start| message.find(start))?;
    let (before, text) = message.split_at(start);
    // Where a parser stopped in a document of its own is no place of the caller's.
    let text = text.split(" at line ").next().unwrap_or(text);
    let mut words = text.split('`').skip(1).step_by(2);
    let first = words.next()?;
    let known: Vec<&str> = words.collect();
    let known = known.join(", ");
    Some(if text.starts_with("missing") {
        format!("{before}{first} is missing")
    } else if text.starts_with("unknown field") && known.is_empty() {
        format!("{before}unknown field `{first}`")
    } else if text.starts_with("unknown field") {
        format!("{before}unknown field `{first}`; the fields are {known}")
    } else {
        format!("{before}unknown word `{first}`; expected one of {known}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_libraries_are_in_words_of_the_bank() {
        for (message, expected) in [
            (
                "invalid value '0' for '--top <N>': 0 is not in 1..=10000",
                "invalid value '0' for '--top <N>': expected 1 to 10000",
            ),
            (
                "invalid value '-1' for '--most <N>': -1 is not in 1..",
                "invalid value '-1' for '--most <N>': expected 1 or more",
            ),
            (
                "invalid value '9' for '<N>': number too large to fit in target type",
                "invalid value '9' for '<N>': too large",
            ),
            (
                "unknown field `foo`, expected one of `source`, `id` at line 1 column 4",
                "unknown field `foo`; the fields are source, id",
            ),
            (
                "unknown field `foo`, there are no fields",
                "unknown field `foo`",
            ),
            (
                "unknown variant `lala`, expected `strict` or `fast`\n",
                "unknown word `lala`; expected one of strict, fast",
            ),
            ("missing field `name`", "name is missing"),
            ("job 3 is not in the list", "job 3 is not in the list"),
        ] {
            assert_eq!(own_words(message), expected);
        }
    }
}
