//! `gdeposit`, `gwithdraw`, `gtransfer` and `grefund`.

use std::fmt::Write as _;

use bank_api::v1::{Account, NewDeposit, NewWithdrawal, Receipt};
use serde_json::{Map, Value};
use ureq::http::Method;

use super::options::Given;
use crate::{
    cli::{self, WriteArgs},
    cmd::Context,
    fail::Failure,
    figure,
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
    Ok(said(given, &sentence, receipt.transaction))
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
    Ok(said(given, &sentence, receipt.transaction))
}

pub(super) fn transfer(context: &Context, given: &Given) -> Result<String, Failure> {
    let from = end_of_transfer(context, given, "from")?;
    let to = end_of_transfer(context, given, "to")?;
    let body = transfer_body(given, &from, &to)?;
    let answer: Value = send(context, "transfers", &body)?;
    let (from, to) = (number_of(context, &from)?, number_of(context, &to)?);
    let sentence = format!(
        "Successfully transferred {} from account {from} to account {to}",
        amount_said(&answer, &body)
    );
    Ok(said(given, &sentence, transaction(&answer)))
}

fn transfer_body(given: &Given, from: &str, to: &str) -> Result<Value, Failure> {
    let amount = given.text("amount").or(given.all("words").first().copied());
    let mut body = Map::new();
    body.insert("from".to_owned(), from.into());
    body.insert("to".to_owned(), to.into());
    let amount = credits(given, amount.ok_or_else(no_amount)?)?;
    body.insert("amount".to_owned(), amount.into());
    put(&mut body, "allocation", given.whole("allocation"));
    put(&mut body, "note", given.text("description"));
    Ok(body.into())
}

pub(super) fn refund(context: &Context, given: &Given) -> Result<String, Failure> {
    let mut body = refund_body(given)?;
    if let Some(account) = given.text("account") {
        let account: Account = context.get(&["accounts", account], &())?;
        put(&mut body, "account", Some(account.name));
    }
    let body = Value::from(body);
    let answer: Value = send(context, "refunds", &body)?;
    let job = body.get("job").and_then(Value::as_str).unwrap_or_default();
    let sentence = format!(
        "Successfully refunded {} for job {job}",
        amount_said(&answer, &body)
    );
    Ok(said(given, &sentence, transaction(&answer)))
}

fn refund_body(given: &Given) -> Result<Map<String, Value>, Failure> {
    let mut body = Map::new();
    body.insert("job".to_owned(), job(given)?.into());
    put(&mut body, "machine", given.text("machine"));
    put(&mut body, "type", given.text("type"));
    let amount = given.text("amount");
    let amount = amount.map(|text| credits(given, text)).transpose()?;
    put(&mut body, "amount", amount);
    put(&mut body, "note", given.text("description"));
    Ok(body)
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
    let text = cli::amount(text)
        .map_err(|why| Failure::usage(format!("the amount {text:?} must be a number: {why}")))?;
    if !given.flag("hours") {
        return Ok(text);
    }
    figure::times(&text, 3600)
        .ok_or_else(|| Failure::usage(format!("the amount {text:?} is too large")))
}

/// Puts a member in where there is a value.
pub(super) fn put(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}

/// Sends a change under a key of its own.
pub(super) fn send<T: serde::de::DeserializeOwned>(
    context: &Context,
    noun: &str,
    body: &impl serde::Serialize,
) -> Result<T, Failure> {
    context.send(Method::POST, &[noun], body, &WriteArgs::default())
}

/// The sentence, and with `-v` the transaction; nothing with `--quiet`.
pub(super) fn said(given: &Given, sentence: &str, transaction: Option<i64>) -> String {
    if given.flag("quiet") {
        return String::new();
    }
    let mut text = format!("{sentence}\n");
    if let (true, Some(id)) = (given.flag("verbose"), transaction) {
        let _ = writeln!(text, "transaction {id}");
    }
    text
}

/// `100.00 credits`, as the answer says, else as was asked.
pub(super) fn amount_said(answer: &Value, body: &Value) -> String {
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let names = ["amount", "held"];
    let amount = names.iter().find_map(|name| text(answer, name));
    let amount = amount.or_else(|| text(body, "amount"));
    let unit = text(answer, "unit").unwrap_or_else(|| "credits".to_owned());
    format!("{} {unit}", amount.unwrap_or_else(|| "0".to_owned()))
}

/// The transaction that an answer names.
pub(super) fn transaction(answer: &Value) -> Option<i64> {
    answer.get("transaction")?.as_i64()
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

/// The number of an account, else the name: a project's account may have another name.
fn number_of(context: &Context, name: &str) -> Result<String, Failure> {
    match account_id(context, name) {
        Ok(id) => Ok(id.to_string()),
        Err(failure) if failure.exit == bank_api::exit::bank::NOT_FOUND => Ok(name.to_owned()),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::Tool, super::options::read, *};

    fn given(tool: Tool, line: &str) -> Given {
        let words = line.split_whitespace().map(Into::into);
        read(tool, words).unwrap()
    }

    #[test]
    fn a_transfer_is_asked_for_as_agreed() {
        let given = given(
            Tool::Transfer,
            "--fromAccount 1 --toProject bio -z 12.5 -i 7 -d why",
        );
        assert_eq!(
            transfer_body(&given, "chem", "bio").unwrap(),
            json!({"from": "chem", "to": "bio", "amount": "12.5", "allocation": 7, "note": "why"})
        );
        let alone = self::given(Tool::Transfer, "--fromAccount 1 --toAccount 2 2 -h");
        let body = transfer_body(&alone, "a", "b").unwrap();
        assert_eq!(body["amount"], "7200", "two hours");
    }

    #[test]
    fn a_refund_is_asked_for_as_agreed() {
        let whole = given(Tool::Refund, "-J PBS.1 -m colony -d broken");
        assert_eq!(
            Value::from(refund_body(&whole).unwrap()),
            json!({"job": "PBS.1", "machine": "colony", "note": "broken"})
        );
        let part = given(Tool::Refund, "PBS.1 -z 3");
        assert_eq!(refund_body(&part).unwrap()["amount"], "3");
        let number = given(Tool::Refund, "-j 17");
        assert_eq!(refund_body(&number).unwrap_err().exit, 2);
        let nothing = given(Tool::Refund, "-z 3");
        assert_eq!(refund_body(&nothing).unwrap_err().exit, 2);
    }

    #[test]
    fn account_and_amount_stand_with_letters_or_without() {
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

    #[test]
    fn an_answer_says_its_amount_and_unit() {
        let body = json!({"amount": "5"});
        let answer = json!({"amount": "5.000", "unit": "SU", "transaction": 7});
        assert_eq!(amount_said(&answer, &body), "5.000 SU");
        assert_eq!(amount_said(&json!({}), &body), "5 credits");
        let given = given(Tool::Withdraw, "1 5 -v");
        assert_eq!(
            said(&given, "Done", transaction(&answer)),
            "Done\ntransaction 7\n"
        );
    }
}
