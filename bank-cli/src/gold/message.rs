//! How Gold's commands fail: one line, and Gold's status code divided by ten.

use std::fmt::Write as _;

use bank_api::exit::bank as exit;

use super::options::Given;
use crate::{fail::Failure, gold_tools::Tool};

/// Gold's exit code: its status code, from the one table of refusals, divided by ten.
pub(super) fn exit(failure: &Failure) -> u8 {
    if let Some(problem) = &failure.problem {
        let code = problem.row().gold.parse::<u16>().unwrap_or(720);
        return u8::try_from(code / 10).unwrap_or(72);
    }
    match failure.exit {
        exit::USAGE => 2,
        exit::UNAVAILABLE => 22,
        exit::DENIED => 42,
        exit::NOT_FOUND | exit::REFUSED | exit::CONFLICT => 74,
        exit::FUNDS => 78,
        _ => 72,
    }
}

/// The line for standard error; with `-v` also what would help.
pub(super) fn failed(tool: Tool, given: &Given, failure: &Failure) -> String {
    let what = match short(tool, given, failure) {
        Some(short) => short,
        None => failure
            .what
            .strip_prefix("refused: ")
            .unwrap_or(&failure.what)
            .to_owned(),
    };
    let mut line = format!("{}: {what}", tool.name());
    let hint = failure.hint.as_ref().filter(|_| given.flag("verbose"));
    if let Some(hint) = hint {
        line.push_str("\nhint: ");
        line.push_str(hint);
    }
    line
}

/// The money is short: Gold's phrase, with the two figures.
fn short(tool: Tool, given: &Given, failure: &Failure) -> Option<String> {
    if !failure.is("insufficient_funds") {
        return None;
    }
    let job = given.text("jobId").or(given.all("words").first().copied());
    let purpose = match (tool, job) {
        (Tool::Reserve, Some(job)) => format!("to reserve job {job}"),
        (Tool::Charge, Some(job)) => format!("to charge job {job}"),
        (Tool::Reserve | Tool::Charge | Tool::Quote, _) => "to quote job".to_owned(),
        (Tool::Withdraw, _) => "to withdraw".to_owned(),
        (Tool::Transfer, _) => "to transfer".to_owned(),
        _ => return None,
    };
    let problem = failure.problem.as_ref()?;
    let mut line = format!("Insufficient balance {purpose}");
    if let (Some(needed), Some(available)) = (&problem.needed, &problem.available) {
        let _ = write!(line, " (needed {needed}, available {available})");
    }
    Some(line)
}
