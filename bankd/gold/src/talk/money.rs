//! Money of accounts in Gold's messages (ledger.md 2.1 to 2.5): Deposit, Withdraw, Transfer, Refund, Balance.

use std::sync::Arc;

use bank_api::text::format_amount;
use bank_core::amount::Amount;
use bank_core::command::{After, Command, Deposit, Refund, Transfer, Withdraw};
use bank_core::directory::Bank;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Account, ObjectType};
use bank_core::refusal::Refusal;
use bank_core::time::{Timestamp, Window};
use bankd_ledger::access::right::Right;
use bankd_query::Cell;
use bankd_services::Services;
use bankd_store::read::jobs;

use super::query::{equal, find, of_object};
use super::reply::{Came, element, escaped};
use super::request::{Call, Wanted, missing, plain, time, unsupported};
use super::{Asked, Content, Fault, demand, run};
use crate::{Value, Verified};

/// Runs a message about money.
pub(super) async fn answer(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
    request_id: &str,
) -> Result<Content, Fault> {
    check_options(call)?;
    let directory = services.writer.directory();
    let asked = Asked::new(services, request, call, &directory);
    let (command, words) = match call.action.as_str() {
        "Deposit" => {
            demand(request, Right::Deposit)?;
            asked.deposit()?
        }
        "Withdraw" => {
            demand(request, Right::Withdraw)?;
            asked.withdraw()?
        }
        "Transfer" => {
            demand(request, Right::Transfer)?;
            asked.transfer()?
        }
        "Refund" => {
            demand(request, Right::Refund)?;
            refund(&asked).await?
        }
        _ => return balance(services, request, call).await,
    };
    let came = run(services, request, command, request_id).await?;
    let amount = match came {
        Came::Done(amount, _) => amount,
        Came::Refused(code, why) => return Err(words.refused(&code, &why)),
    };
    let bank = &directory.bank;
    let number = format_amount(amount.0, bank.precision.places());
    let (before, after) = words.done;
    Ok(Content {
        value: Value::Success,
        code: "000",
        message: Some(format!(
            "Successfully {before} {number} {} {after}",
            bank.unit
        )),
        data: words.job.map(|job| {
            let inner = element("JobId", &escaped(&job)) + &element("Refund", &number);
            element("Refund", &inner)
        }),
        count: Some(number),
    })
}

/// The words of an answer.
struct Words {
    /// What was done, before and after the amount.
    done: (&'static str, String),
    /// The purpose in a refusal for lack of money.
    short: &'static str,
    /// The job of a refund.
    job: Option<String>,
}

/// Gold's words for a refund of no job.
const NO_JOB: &str = "There are no jobs matching the specified job id";

impl Words {
    fn refused(&self, code: &str, why: &str) -> Fault {
        let row = bank_api::error::row_or_internal(code);
        if row.gold == "782" {
            let message = format!("Insufficient balance to perform requested {}", self.short);
            return Fault::new(row.code, message);
        }
        if self.job.is_some() && row.code == "not_found" {
            return Fault::new(row.code, NO_JOB);
        }
        Fault::refused(row.code, why)
    }
}

type Made = Result<(Command, Words), Fault>;

impl Asked<'_> {
    fn deposit(&self) -> Made {
        let (name, id) = self.account("Id")?;
        let limit = self.amount("CreditLimit")?;
        // An allocation for credit alone needs no amount.
        let none = limit.map(|_| Amount::ZERO);
        let amount = self.amount("Amount")?.or(none);
        let command = Command::Deposit(Deposit {
            name,
            amount: amount.ok_or_else(|| missing("Amount"))?,
            allocation: self.number("Allocation")?.map(AllocationId),
            window: Window {
                start: self.time("StartTime")?,
                end: self.time("EndTime")?,
            },
            credit_limit: limit,
            // A credit limit always makes an allocation of its own (ledger.md 2.1).
            always_new: limit.is_some(),
            allow_past: true,
            no_tree: false,
            effective: None,
            note: self.note(),
        });
        Ok((
            command,
            words("deposited", format!("into account {id}"), "deposit"),
        ))
    }

    fn withdraw(&self) -> Made {
        let (name, id) = self.account("Id")?;
        let command = Command::Withdraw(Withdraw {
            name,
            amount: self.amount("Amount")?.ok_or_else(|| missing("Amount"))?,
            allocation: self.number("Allocation")?.map(AllocationId),
            no_credit: false,
            note: self.note(),
        });
        Ok((
            command,
            words("withdrew", format!("from account {id}"), "withdrawal"),
        ))
    }

    fn transfer(&self) -> Made {
        let (from, from_id) = self.account("FromId")?;
        let (to, to_id) = self.account("ToId")?;
        let command = Command::After(After::Transfer(Transfer {
            from,
            to,
            amount: self.amount("Amount")?.ok_or_else(|| missing("Amount"))?,
            allocation: self.number("Allocation")?.map(AllocationId),
            note: self.note(),
        }));
        let after = format!("from account {from_id} to account {to_id}");
        Ok((command, words("transferred", after, "transfer")))
    }

    /// The account that an option names, by its number or its name: name and number.
    fn account(&self, option: &str) -> Result<(String, i64), Fault> {
        let named = self.call.option(option).filter(|text| !text.is_empty());
        let named = named.ok_or_else(|| missing(option))?;
        let is_there = |account: &Account| !account.deleted;
        // Gold's accounts are numbers; a name of digits is no name here.
        let found = match named.parse() {
            Ok(id) => self.directory.account(AccountId(id)),
            Err(_) => self.view.find_account(named, is_there),
        };
        let found = found.filter(|own| is_there(own) && self.view.sees_account(own));
        let found = found.ok_or_else(|| {
            let message = format!("The specified account id ({named}) does not exist.");
            Fault::refused("not_found", &message)
        })?;
        Ok((found.name.clone(), found.id.0))
    }

    fn amount(&self, option: &str) -> Result<Option<Amount>, Fault> {
        let Some(text) = self.call.option(option) else {
            return Ok(None);
        };
        amount(text, &self.directory.bank).map(Some)
    }

    fn number(&self, option: &str) -> Result<Option<i64>, Fault> {
        let text = self.call.option(option);
        let number = text.map(|text| {
            let parsed = text.parse();
            parsed.map_err(|_| bad_value(option, "a whole number", text))
        });
        number.transpose()
    }

    fn time(&self, option: &str) -> Result<Option<Timestamp>, Fault> {
        let text = self.call.option(option);
        text.map_or(Ok(None), |text| {
            time(text, || bad_value(option, "seconds since 1970", text))
        })
    }

    fn note(&self) -> String {
        self.call
            .option("Description")
            .unwrap_or_default()
            .to_owned()
    }
}

fn words(before: &'static str, after: String, short: &'static str) -> Words {
    Words {
        done: (before, after),
        short,
        job: None,
    }
}

/// An amount of a message.
pub(super) fn amount(text: &str, bank: &Bank) -> Result<Amount, Fault> {
    let refused = |error| Fault::of(&Refusal::from(error), bank);
    Amount::parse(text, bank.precision).map_err(refused)
}

/// The options of each action. Any other one could change an amount.
const OPTIONS: [(&str, &[&str]); 5] = [
    (
        "Deposit",
        &[
            "Id",
            "Amount",
            "StartTime",
            "EndTime",
            "CreditLimit",
            "Allocation",
        ],
    ),
    ("Withdraw", &["Id", "Amount", "Allocation"]),
    ("Transfer", &["FromId", "ToId", "Amount", "Allocation"]),
    (
        "Refund",
        &["JobId", "Id", "Machine", "Type", "Amount", "Account"],
    ),
    (
        "Balance",
        &["Id", "Project", "User", "Machine", "ShowAvailableCredit"],
    ),
];
/// Options of every action: a note, and what changes the words of an answer only.
const COMMON: [&str; 6] = [
    "Description",
    "ShowHours",
    "UseRules",
    "IncludeAncestors",
    "Verbose",
    "Itemize",
];

/// Refuses options that are unknown or given twice.
fn check_options(call: &Call) -> Result<(), Fault> {
    let own = OPTIONS.iter().find(|(action, _)| *action == call.action);
    let own = own.map_or(&[][..], |(_, names)| names);
    let mut seen: Vec<&str> = Vec::new();
    for (name, value) in &call.options {
        let name = name.as_str();
        if seen.contains(&name) {
            return Err(bad(name, "given once only"));
        }
        seen.push(name);
        let is_normal = name == "CallType" && value == "Normal";
        if !is_normal && !own.contains(&name) && !COMMON.contains(&name) {
            let (name, action) = (plain(name), plain(&call.action));
            return Err(unsupported(&format!("option {name} of {action}")));
        }
    }
    Ok(())
}

fn bad(option: &str, expected: &str) -> Fault {
    Fault::new(
        "bad_number",
        format!("option {} is not {expected}", plain(option)),
    )
}

fn bad_value(option: &str, expected: &str, value: &str) -> Fault {
    bad(option, &format!("{expected}: {}", plain(value)))
}

/// A refund by the scheduler's name of the job, or by the number of the job.
async fn refund(asked: &Asked<'_>) -> Made {
    let call = asked.call;
    let mut job = call.option("JobId").map(str::to_owned);
    let mut machine = call.option("Machine").map(str::to_owned);
    let mut object_type = match call.option("Type") {
        None => None,
        Some(word) => {
            let known = ObjectType::parse(&word.to_lowercase());
            Some(known.ok_or_else(|| bad("Type", "Job or Reservation"))?)
        }
    };
    let mut number = None;
    if let Some(id) = asked.number("Id")? {
        let named = by_number(asked, id).await?;
        let ([name, on, kind], use_number) =
            named.ok_or_else(|| Fault::new("not_found", NO_JOB))?;
        number = Some(use_number);
        let kind = ObjectType::parse(&kind.to_lowercase());
        let differs = [
            ("JobId", job.is_some_and(|job| job != name)),
            ("Machine", machine.is_some_and(|machine| machine != on)),
            ("Type", object_type.is_some_and(|own| Some(own) != kind)),
        ];
        if let Some((option, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            return Err(bad(option, &format!("that of job {id}")));
        }
        (job, machine, object_type) = (Some(name), Some(on), kind);
    }
    let object_id = job.ok_or_else(|| missing("JobId"))?;
    let account = match call.option("Account") {
        Some(_) => Some(asked.account("Account")?.0),
        None => None,
    };
    let command = Command::After(After::Refund(Refund {
        object_id: object_id.clone(),
        machine,
        object_type,
        number,
        amount: asked.amount("Amount")?,
        account,
        reissue_until: None,
        note: asked.note(),
    }));
    let after = format!("for job {}", plain(&object_id));
    Ok((
        command,
        Words {
            job: Some(object_id),
            ..words("refunded", after, "refund")
        },
    ))
}

/// `JobId`, `Machine` and `Type` of a job by its number, and which use of its id it is.
async fn by_number(asked: &Asked<'_>, id: i64) -> Result<Option<([String; 3], i64)>, Fault> {
    let own = |name: &str| Wanted {
        name: name.to_owned(),
        ..Wanted::default()
    };
    let of = Call {
        wanted: ["JobId", "Machine", "Type"].map(own).to_vec(),
        ..of_object("Job", vec![equal("Id", id.to_string())])
    };
    let (_, found) = find(asked.services, asked.request, &of).await?;
    let Some([Cell::Text(name), Cell::Text(on), Cell::Text(kind)]) =
        found.rows.first().map(Vec::as_slice)
    else {
        return Ok(None);
    };
    let question = move |connection: &_| jobs::one(connection, id);
    let row = asked.services.readers.run(question).await?;
    let named = [name.clone(), on.clone(), kind.clone()];
    Ok(row.map(|row| (named, row.number)))
}

/// What the accounts of a query have together.
async fn balance(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
) -> Result<Content, Fault> {
    demand(request, Right::SeeLedger)?;
    let available = call.option("ShowAvailableCredit") == Some("True");
    let name = if available { "Available" } else { "Balance" };
    let ids = call.option("Id").into_iter();
    let query = Call {
        wanted: vec![Wanted {
            name: name.to_owned(),
            op: "Sum".to_owned(),
            ..Wanted::default()
        }],
        options: call.options.clone(),
        ..of_object("Account", ids.map(|id| equal("Id", id)).collect())
    };
    let (_, found) = find(services, request, &query).await?;
    let sum = match found.rows.first().and_then(|row| row.first()) {
        Some(Cell::Sum(sum)) => *sum,
        _ => 0,
    };
    let bank = &services.writer.directory().bank;
    let number = format_amount(Amount::clamped(sum).0, bank.precision.places());
    Ok(Content {
        value: Value::Success,
        code: "000",
        message: Some(format!("The account balance is {number} {}", bank.unit)),
        data: Some(element("Account", &element(name, &number))),
        count: Some(number),
    })
}
