//! `gdeposit`, `gwithdraw`, `gtransfer` and `grefund`.

use std::{fmt::Write as _, io::Write as _};

use bank_api::v1::{
    Account, Correction, NewDeposit, NewRefund, NewTransfer, NewWithdrawal, Receipt, Transfer,
};
use bank_cli_picture::figure;
use ureq::http::Method;

use super::options::Given;
use crate::{
    cli::{self, WriteArgs},
    context::Context,
    fail::Failure,
    gold_tools::Tool,
};

pub(super) fn deposit(context: &Context, given: &Given) -> Result<String, Failure> {
    let (account, amount) = account_and_amount(given)?;
    let credit_limit = given.text("creditLimit");
    let body = NewDeposit {
        name: name(context, account)?,
        amount: amount.map_or(Ok("0".to_owned()), |text| credits(given, text))?,
        allocation: given.whole("allocation"),
        start: context.time(given.owned("startTime").as_ref())?,
        end: context.time(given.owned("endTime").as_ref())?,
        credit_limit: credit_limit.map(|text| credits(given, text)).transpose()?,
        // A credit limit always makes an allocation of its own (ledger.md 2.1).
        new: credit_limit.is_some(),
        allow_past: true,
        no_tree: false,
        note: given.owned("description"),
    };
    let receipt: Receipt = send(context, "deposits", &body)?;
    let id = account_id(context, &receipt.account)?;
    let Receipt { amount, unit, .. } = &receipt;
    let sentence = format!("Successfully deposited {amount} {unit} into account {id}");
    Ok(report(given, &sentence, receipt.transaction))
}

pub(super) fn withdraw(context: &Context, given: &Given) -> Result<String, Failure> {
    let (account, amount) = account_and_amount(given)?;
    let body = NewWithdrawal {
        name: name(context, account)?,
        amount: credits(given, amount.ok_or_else(no_amount)?)?,
        allocation: given.whole("allocation"),
        no_credit: false,
        note: given.owned("description"),
    };
    let receipt: Receipt = send(context, "withdrawals", &body)?;
    let id = account_id(context, &receipt.account)?;
    let Receipt { amount, unit, .. } = &receipt;
    let sentence = format!("Successfully withdrew {amount} {unit} from account {id}");
    Ok(report(given, &sentence, receipt.transaction))
}

pub(super) fn transfer(context: &Context, given: &Given) -> Result<String, Failure> {
    let from = end_of_transfer(context, given, "from")?;
    let to = end_of_transfer(context, given, "to")?;
    let body = transfer_body(given, from, to)?;
    let done: Transfer = send(context, "transfers", &body)?;
    let (from, to) = (
        account_id(context, &done.from)?,
        account_id(context, &done.to)?,
    );
    let Transfer { amount, unit, .. } = &done;
    let sentence =
        format!("Successfully transferred {amount} {unit} from account {from} to account {to}");
    warn(Tool::Transfer, given, &done.warnings);
    Ok(report(given, &sentence, done.transaction))
}

fn transfer_body(given: &Given, from: String, to: String) -> Result<NewTransfer, Failure> {
    let amount = given.text("amount").or(given.all("words").first().copied());
    Ok(NewTransfer {
        from,
        to,
        amount: credits(given, amount.ok_or_else(no_amount)?)?,
        allocation: given.whole("allocation"),
        note: given.owned("description"),
    })
}

pub(super) fn refund(context: &Context, given: &Given) -> Result<String, Failure> {
    let mut body = refund_body(given)?;
    if let Some(account) = given.text("account") {
        let account: Account = context.get(&["accounts", account], &())?;
        body.account = Some(account.name);
    }
    let done: Correction = send(context, "refunds", &body)?;
    let Correction { amount, unit, .. } = &done;
    let sentence = format!("Successfully refunded {amount} {unit} for job {}", body.job);
    warn(Tool::Refund, given, &done.warnings);
    Ok(report(given, &sentence, done.transaction))
}

fn refund_body(given: &Given) -> Result<NewRefund, Failure> {
    let amount = given.text("amount");
    Ok(NewRefund {
        job: job(given)?,
        machine: given.owned("machine"),
        kind: given.text("type").map(str::to_lowercase),
        amount: amount.map(|text| credits(given, text)).transpose()?,
        account: None,
        reissue_until: None,
        note: given.owned("description"),
    })
}

/// The scheduler's name of the job.
pub(super) fn job(given: &Given) -> Result<String, Failure> {
    if given.text("job").is_some() {
        return Err(Failure::usage(
            "this bank has no job numbers of its own; name the job with -J",
        ));
    }
    let named = given.text("jobId").or(given.all("words").first().copied());
    let named = named.ok_or_else(|| Failure::usage("the job is missing: name it with -J"))?;
    Ok(named.to_owned())
}

/// An amount given, in credits; with `-h` it is in hours.
pub(super) fn credits(given: &Given, text: &str) -> Result<String, Failure> {
    let text = cli::value::amount(text)
        .map_err(|why| Failure::usage(format!("the amount {text:?} must be a number: {why}")))?;
    if !given.flag("hours") {
        return Ok(text);
    }
    figure::times(&text, 3600)
        .ok_or_else(|| Failure::usage(format!("the amount {text:?} is too large")))
}

/// Sends a change under a key of its own.
pub(super) fn send<T: serde::de::DeserializeOwned>(
    context: &Context,
    noun: &str,
    body: &impl serde::Serialize,
) -> Result<T, Failure> {
    context.send(Method::POST, &[noun], body, &WriteArgs::default())
}

/// What the caller should know although it was done, on standard error.
pub(super) fn warn(tool: Tool, given: &Given, warnings: &[String]) {
    if given.flag("quiet") {
        return;
    }
    for warning in warnings {
        // Nobody reading it is no failure: the money has moved.
        let _ = writeln!(std::io::stderr(), "{}: {warning}", tool.name());
    }
}

/// The sentence, and with `-v` the transaction; nothing with `--quiet`.
pub(super) fn report(given: &Given, sentence: &str, transaction: Option<i64>) -> String {
    if given.flag("quiet") {
        return String::new();
    }
    let mut text = format!("{sentence}\n");
    if let (true, Some(id)) = (given.flag("verbose"), transaction) {
        let _ = writeln!(text, "transaction {id}");
    }
    text
}

fn no_amount() -> Failure {
    Failure::usage("the amount is missing: -z AMOUNT")
}

/// Whose money: an account, or a project with one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose<'a> {
    Account(&'a str),
    Project(&'a str),
}

/// What stands without letters is the account, where no letter names one, then the amount.
fn account_and_amount(given: &Given) -> Result<(Whose<'_>, Option<&str>), Failure> {
    let mut words = given.all("words").into_iter();
    let whose = match (given.text("account"), given.text("project")) {
        (Some(account), _) => Whose::Account(account),
        (None, Some(project)) => Whose::Project(project),
        (None, None) => match words.next() {
            Some(word) => Whose::Account(word),
            None => {
                return Err(Failure::usage(
                    "the account is missing: -a ACCOUNT or -p PROJECT",
                ));
            }
        },
    };
    let amount = given.text("amount").or_else(|| words.next());
    match words.next() {
        Some(word) => Err(Failure::usage(format!("{word:?} is one word too many"))),
        None => Ok((whose, amount)),
    }
}

/// The name by which a body names it: Gold's accounts are numbers.
fn name(context: &Context, whose: Whose<'_>) -> Result<String, Failure> {
    match whose {
        Whose::Project(name) => Ok(name.to_owned()),
        Whose::Account(name) => {
            let account: Account = context.get(&["accounts", name], &())?;
            Ok(account.name)
        }
    }
}

fn end_of_transfer(context: &Context, given: &Given, end: &str) -> Result<String, Failure> {
    let account = given.text(&format!("{end}Account"));
    let project = given.text(&format!("{end}Project"));
    match (account, project) {
        (Some(account), _) => name(context, Whose::Account(account)),
        (None, Some(project)) => Ok(project.to_owned()),
        (None, None) => Err(Failure::usage(format!(
            "--{end}Account or --{end}Project is missing"
        ))),
    }
}

fn account_id(context: &Context, name: &str) -> Result<i64, Failure> {
    let account: Account = context.get(&["accounts", name], &())?;
    Ok(account.id)
}

#[cfg(test)]
mod tests {
    use super::{super::options::read, *};

    fn given(tool: Tool, line: &str) -> Given {
        let words = line.split_whitespace().map(Into::into);
        read(tool, words).unwrap()
    }

    fn moved(line: &str) -> NewTransfer {
        let given = given(Tool::Transfer, line);
        transfer_body(&given, "chem".into(), "bio".into()).unwrap()
    }

    #[test]
    fn a_transfer_is_requested() {
        let body = moved("--fromAccount 1 --toProject bio -z 12.5 -i 7 -d why");
        let expected = NewTransfer {
            from: "chem".into(),
            to: "bio".into(),
            amount: "12.5".into(),
            allocation: Some(7),
            note: Some("why".into()),
        };
        assert_eq!(body, expected);
        let body = moved("--fromAccount 1 --toAccount 2 2 -h");
        assert_eq!(body.amount, "7200", "two hours");
    }

    #[test]
    fn a_refund_is_requested() {
        let body = |line: &str| refund_body(&given(Tool::Refund, line));
        let expected = NewRefund {
            job: "PBS.1".into(),
            machine: Some("colony".into()),
            kind: Some("job".into()),
            note: Some("broken".into()),
            ..NewRefund::default()
        };
        assert_eq!(
            body("-J PBS.1 -m colony -T Job -d broken").unwrap(),
            expected
        );
        assert_eq!(body("PBS.1 -z 3").unwrap().amount.as_deref(), Some("3"));
        assert_eq!(body("-j 17").unwrap_err().exit, 2);
        assert_eq!(body("-z 3").unwrap_err().exit, 2);
    }

    #[test]
    fn account_and_amount_have_letters_or_not() {
        for (line, whose, amount) in [
            ("-a 1 -z 5", Whose::Account("1"), Some("5")),
            ("1 5", Whose::Account("1"), Some("5")),
            ("-a 1 5", Whose::Account("1"), Some("5")),
            ("-p chem -z -5", Whose::Project("chem"), Some("-5")),
            ("chem -L 3", Whose::Account("chem"), None),
        ] {
            let given = given(Tool::Deposit, line);
            let read = account_and_amount(&given).unwrap();
            assert_eq!(read, (whose, amount), "{line}");
        }
        let much = given(Tool::Deposit, "1 5 -a 3");
        assert_eq!(account_and_amount(&much).unwrap_err().exit, 2);
        let nobody = given(Tool::Deposit, "-z 5");
        assert_eq!(account_and_amount(&nobody).unwrap_err().exit, 2);
    }
}
