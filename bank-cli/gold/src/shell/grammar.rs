//! The language of `goldsh`: `OBJECT[,OBJECT] ACTION [PREDICATE]...`.
//!
//! A predicate is `[&& || !] [(] NAME OPERATOR VALUE [)]`: a condition, an assignment or an option.

use super::super::request::{Condition, Request};

/// A command that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Gold's status code.
    code: u16,
    pub(super) line: String,
}

impl Fault {
    fn new(code: u16, line: impl Into<String>) -> Self {
        let line = line.into();
        Self { code, line }
    }

    fn predicate(line: impl Into<String>) -> Self {
        Self::new(310, line)
    }

    /// The exit code: a quarter of the status code.
    pub(super) fn exit(&self) -> u8 {
        u8::try_from(self.code / 4).unwrap_or(u8::MAX)
    }
}

/// The unread rest of a command.
struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    /// The longest prefix of such characters, without the space around it.
    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let text = self.0.trim_start();
        let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
        let (taken, rest) = text.split_at(end);
        self.0 = rest.trim_start();
        taken
    }

    /// A value, and whether it was in quotes.
    fn value(&mut self) -> Option<(&'a str, bool)> {
        if let Some(text) = self.0.strip_prefix('"') {
            let (value, rest) = text.split_once('"')?;
            self.0 = rest.trim_start();
            return Some((value, true));
        }
        let value = self.take(|c| !c.is_whitespace() && !"\"()|&".contains(c));
        (!value.is_empty()).then_some((value, false))
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn starts_upper(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Reads a command.
pub(super) fn parse(command: &str) -> Result<Request, Fault> {
    let mut scanner = Scanner(command.trim());
    let objects = scanner.take(|c| is_word(c) || c == ',' || c == ':');
    if objects.is_empty() {
        return Err(Fault::new(311, "An object must be specified."));
    }
    if !starts_upper(objects) {
        let line = format!("The object is malformed ({objects}).");
        return Err(Fault::new(311, line));
    }
    let action = scanner.take(|c| is_word(c) || c == ':');
    if action.is_empty() {
        return Err(Fault::new(312, "An action must be specified."));
    }
    let verb = action.rsplit("::").next().unwrap_or_default();
    if !starts_upper(verb) || verb.contains(':') {
        let line = format!("The action is malformed ({action}).");
        return Err(Fault::new(312, line));
    }
    let mut request = Request::of(action);
    for object in objects.split(',').filter(|name| !name.is_empty()) {
        let (name, alias) = object.split_once(':').unwrap_or((object, ""));
        request = request.object(name, alias);
    }
    let is_join = objects.contains(',');
    while !scanner.0.is_empty() {
        request = predicate(&mut scanner, request, is_join)?;
    }
    Ok(request)
}

/// Reads one predicate into the request.
fn predicate(scanner: &mut Scanner<'_>, request: Request, is_join: bool) -> Result<Request, Fault> {
    let conjunction = conjunction(scanner)?;
    let opened = scanner.take(|c| c == '(' || c == ')' || c.is_whitespace());
    let opened: String = opened.split_whitespace().collect();
    if opened.contains(')') {
        let line = format!("The open grouping is malformed ({opened}).");
        return Err(Fault::predicate(line));
    }
    let name = scanner.take(|c| is_word(c) || c == '.');
    if name.is_empty() {
        let line = format!("An option name was expected ({}).", scanner.0);
        return Err(Fault::predicate(line));
    }
    let is_sound = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic());
    if !name.split('.').all(is_sound) || name.split('.').count() > 2 {
        return Err(Fault::predicate(format!("The name is malformed ({name}).")));
    }
    let operator = operator(scanner)?;
    let Some((value, is_quoted)) = scanner.value() else {
        let line = format!("A value was expected ({}).", scanner.0);
        return Err(Fault::predicate(line));
    };
    let closed = closing(scanner);
    match operator {
        ":=" | ":!" if name == "Show" => shown(request, value),
        ":=" if name == "Data" => Ok(request.data(value)),
        ":=" => Ok(request.option(name, value)),
        ":!" => Ok(request.option_op(name, "Not", value)),
        "=" => Ok(request.set(name, value)),
        _ => {
            let group = i32::try_from(opened.len())
                .unwrap_or(i32::MAX)
                .saturating_sub(closed);
            let (object, name) = name.split_once('.').unwrap_or(("", name));
            let (subject, value) = subject(value, is_join && !is_quoted);
            Ok(request.condition(&Condition {
                conjunction: conjunction.to_owned(),
                group,
                object: object.to_owned(),
                name: name.to_owned(),
                operator: comparison(operator).to_owned(),
                subject: subject.to_owned(),
                value: value.to_owned(),
            }))
        }
    }
}

/// Reads `&&`, `||`, `!` and their combinations.
fn conjunction(scanner: &mut Scanner<'_>) -> Result<&'static str, Fault> {
    let typed = scanner.take(|c| "&|!".contains(c) || c.is_whitespace());
    let compact: String = typed.split_whitespace().collect();
    match compact.as_str() {
        "" => Ok(""),
        "&&" => Ok("And"),
        "||" => Ok("Or"),
        "&&!" | "&!" | "!" => Ok("AndNot"),
        "||!" | "|!" => Ok("OrNot"),
        _ => {
            let line = format!("The conjunction is malformed ({}).", typed.trim());
            Err(Fault::predicate(line))
        }
    }
}

const OPERATORS: [&str; 10] = ["==", "!=", ">=", "<=", ":=", ":!", "=", ">", "<", "~"];

/// Reads an operator. A sign behind it belongs to the value.
fn operator(scanner: &mut Scanner<'_>) -> Result<&'static str, Fault> {
    let rest = scanner.0;
    let typed = scanner.take(|c| "-+<>!~:=".contains(c));
    if typed.is_empty() {
        let line = format!("An operator was expected ({rest}).");
        return Err(Fault::predicate(line));
    }
    let signless = typed.strip_suffix(['-', '+']).unwrap_or(typed);
    let known = |text: &str| OPERATORS.into_iter().find(|known| *known == text);
    if let Some(operator) = known(typed) {
        return Ok(operator);
    }
    if let Some(operator) = known(signless) {
        scanner.0 = rest.get(operator.len()..).unwrap_or_default();
        return Ok(operator);
    }
    let line = format!("The operator is malformed ({typed}).");
    Err(Fault::predicate(line))
}

fn comparison(operator: &str) -> &'static str {
    match operator {
        "==" => "EQ",
        ">" => "GT",
        "<" => "LT",
        ">=" => "GE",
        "<=" => "LE",
        "!=" => "NE",
        _ => "Match",
    }
}

/// The closing parentheses that follow.
fn closing(scanner: &mut Scanner<'_>) -> i32 {
    let closed = scanner.take(|c| c == ')' || c.is_whitespace());
    let count = closed.matches(')').count();
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The object and the attribute of a value, if it is an attribute of another object.
fn subject(value: &str, is_join: bool) -> (&str, &str) {
    let parts = value.split_once('.').filter(|(object, name)| {
        let is_name = |text: &str| starts_upper(text) && text.chars().all(is_word);
        is_join && is_name(object) && is_name(name)
    });
    parts.unwrap_or(("", value))
}

/// `Show:=Name,Sort(Id),Sum(Amount)=Total`: columns of the answer.
fn shown(mut request: Request, list: &str) -> Result<Request, Fault> {
    for whole in list.split(',').map(str::trim) {
        let (column, alias) = whole.split_once('=').unwrap_or((whole, ""));
        let parts = match column.split_once('(') {
            Some((operator, rest)) => rest.strip_suffix(')').map(|name| (operator, name)),
            None => Some(("", column)),
        };
        let is_sound = |(operator, name): &(&str, &str)| {
            let is_name = !name.is_empty() && name.chars().all(|c| is_word(c) || c == '.');
            let is_aliased = column.len() == whole.len() || !alias.is_empty();
            is_name && is_aliased && [operator, alias].iter().all(|o| o.chars().all(is_word))
        };
        let Some((operator, name)) = parts.filter(is_sound) else {
            let line = format!("The selection is malformed ({whole}).");
            return Err(Fault::predicate(line));
        };
        let (object, name) = name.split_once('.').unwrap_or(("", name));
        request = request.get_of(object, name, operator, alias);
    }
    Ok(request)
}

#[cfg(test)]
mod tests;
