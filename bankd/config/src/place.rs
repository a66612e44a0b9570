//! Where the value is that a check refused: its variable, or its line in the file.

/// Puts the place in front of an error about a setting (`web.concurrency: …`) or a definition (`scheduled_report 2 …`).
/// Another error, and that of a value that the file does not contain, stays as it is.
pub fn located(file: &str, text: &str, error: String) -> String {
    let line = match error.strip_prefix("scheduled_report ") {
        Some(rest) => line_of_report(text, rest),
        None => setting_of(&error).and_then(|setting| line_of(text, setting)),
    };
    match line {
        Some(line) => format!("{file} line {line}: {error}"),
        None => error,
    }
}

/// The same with the name of the environment variable, if that contains the value.
pub(super) fn located_or_variable(
    (file, text): (&str, &str),
    environment: impl Fn(&str) -> Option<String>,
    error: String,
) -> String {
    let name = setting_of(&error).map(variable_of);
    match name.filter(|name| environment(name).is_some()) {
        Some(name) => format!("{name}: {error}"),
        None => located(file, text, error),
    }
}

/// The environment variable of a setting such as `http.listen`.
pub(super) fn variable_of(setting: &str) -> String {
    format!("BANKD_{}", setting.replace('.', "_")).to_ascii_uppercase()
}

/// The setting at the beginning of an error: its section and its key.
fn setting_of(error: &str) -> Option<&str> {
    let (setting, _) = error.split_once(':')?;
    let is_name = |part: &str| {
        let mut bytes = part.bytes();
        !part.is_empty() && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    (setting.contains('.') && setting.split('.').all(is_name)).then_some(setting)
}

/// The line of a setting, whose section can be a table or a part of its key.
fn line_of(text: &str, setting: &str) -> Option<usize> {
    let mut section = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[') {
            let name = table.split(']').next().unwrap_or_default();
            section = format!("{}.", name.trim_start_matches('[').trim());
        } else if let Some((key, _)) = line.split_once('=')
            && setting.strip_prefix(section.trim_start_matches('.')) == Some(key.trim())
        {
            return Some(number);
        }
    }
    None
}

/// The head of the definition with the number at the start of `rest`, which counts from 1.
fn line_of_report(text: &str, rest: &str) -> Option<usize> {
    let number: usize = rest.split([' ', ':']).next()?.parse().ok()?;
    let lines = (1_usize..).zip(text.lines());
    let mut heads = lines.filter(|(_, line)| {
        line.split('#').next().unwrap_or_default().trim() == "[[scheduled_report]]"
    });
    heads.nth(number.checked_sub(1)?).map(|(line, _)| line)
}
