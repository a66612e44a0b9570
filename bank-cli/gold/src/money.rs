//! `gdeposit`, `gwithdraw`, `gtransfer` and `grefund`.

use bank_picture::figure;

use super::{
    account::Purpose,
    options::Given,
    request::Request,
    session::{Session, Stop},
};

/// The request with options that were given.
pub(super) fn options(
    session: &Session<'_>,
    mut request: Request,
    options: &[(&str, &str)],
) -> Request {
    for (option, name) in options {
        if let Some(value) = session.given.text(option) {
            request = request.option(name, value);
        }
    }
    if session.given.flag("hours") {
        request = request.option("ShowHours", "True");
    }
    session.given.supplemented(request)
}

/// The account and the amount: options, or words in this order.
fn account_and_amount(given: &Given) -> Result<(Option<String>, Option<String>), Stop> {
    let mut words = given.words.iter();
    let is_named = |option| given.text(option).is_some();
    let has_account = ["account", "project", "user", "machine"]
        .into_iter()
        .any(is_named);
    let account = match given.text("account") {
        Some(account) => Some(account.to_owned()),
        None if has_account => None,
        None => words.next().cloned(),
    };
    let amount = match given.text("amount") {
        Some(amount) => Some(amount.to_owned()),
        None => words.next().cloned(),
    };
    if words.next().is_some() {
        return Err(Stop::Usage(None));
    }
    let amount = amount.map(|amount| number(given, &amount)).transpose()?;
    Ok((account, amount))
}

/// An amount in credits that is a number.
fn number(given: &Given, amount: &str) -> Result<String, Stop> {
    let read = figure::amount(amount).map_err(|_| {
        let line = format!("Value {amount:?} invalid for the amount (number expected)");
        Stop::Usage(Some(line))
    })?;
    Ok(given.credits(&read))
}

pub(super) fn deposit(session: &mut Session<'_>) -> Result<u8, Stop> {
    let (account, amount) = account_and_amount(&session.given)?;
    let scope = session.scope();
    if account.is_some() != scope.is_empty() {
        return Err(Stop::Usage(None));
    }
    let account = if let Some(account) = account {
        session.account(&account)?
    } else {
        let purpose = Purpose {
            scope: "user/machine/project",
            command: "the deposit with",
            end: "",
            by_rules: true,
        };
        session.one_account(&scope, None, &purpose)?
    };
    let mut request = Request::new("Deposit", "Account").option("Id", &account);
    if let Some(amount) = amount {
        request = request.option("Amount", &amount);
    }
    let window = [
        ("allocation", "Allocation"),
        ("startTime", "StartTime"),
        ("endTime", "EndTime"),
    ];
    for (option, name) in window {
        if let Some(value) = session.given.text(option) {
            request = request.option(name, value);
        }
    }
    if let Some(limit) = session.given.text("creditLimit") {
        request = request.option("CreditLimit", &session.given.credits(limit));
    }
    let request = options(session, request, &REMARKS);
    Ok(session.change(&request)?.exit())
}

const REMARKS: [(&str, &str); 2] = [("callType", "CallType"), ("description", "Description")];
const MOVEMENT: [(&str, &str); 3] = [
    ("allocation", "Allocation"),
    ("callType", "CallType"),
    ("description", "Description"),
];

pub(super) fn withdraw(session: &mut Session<'_>) -> Result<u8, Stop> {
    let (account, amount) = account_and_amount(&session.given)?;
    let project = session.given.text("project").map(str::to_owned);
    let amount = amount.ok_or(Stop::Usage(None))?;
    let account = account
        .map(|account| session.account(&account))
        .transpose()?;
    let account = match (&project, account) {
        (Some(project), account) => {
            let purpose = Purpose {
                scope: "project",
                command: "the withdrawal with",
                end: "",
                by_rules: true,
            };
            let scope = [("Project", project.clone())];
            session.one_account(&scope, account.as_deref(), &purpose)?
        }
        (None, Some(account)) => account,
        (None, None) => return Err(Stop::Usage(None)),
    };
    let request = Request::new("Withdraw", "Account");
    let request = request.option("Amount", &amount).option("Id", &account);
    let request = options(session, request, &MOVEMENT);
    let mut response = session.ask(&request)?;
    if let Some(project) = project.filter(|_| !response.is_failure) {
        response.message = response.message.replace(
            &format!("from account {account}"),
            &format!("from project {project}"),
        );
    }
    session.show(&response, session.given.flag("verbose"));
    Ok(response.exit())
}

pub(super) fn transfer(session: &mut Session<'_>) -> Result<u8, Stop> {
    let given = &session.given;
    let has = |account, project| given.text(account).is_some() || given.text(project).is_some();
    let amount = given.value("amount").map(str::to_owned);
    let is_whole = has("fromAccount", "fromProject") && has("toAccount", "toProject");
    let Some(amount) = amount.filter(|_| is_whole) else {
        return Err(Stop::Usage(None));
    };
    let amount = number(given, &amount)?;
    let from = end(session, "fromAccount", "fromProject", "source ")?;
    let to = end(session, "toAccount", "toProject", "target ")?;
    let request = Request::new("Transfer", "Account");
    let request = request.option("Amount", &amount);
    let request = request.option("FromId", &from).option("ToId", &to);
    let request = options(session, request, &MOVEMENT);
    let mut response = session.ask(&request)?;
    let projects = (
        session.given.text("fromProject"),
        session.given.text("toProject"),
    );
    if let ((Some(source), Some(target)), false) = (projects, response.is_failure) {
        response.message = response.message.replace(
            &format!("from account {from} to account {to}"),
            &format!("from project {source} to project {target}"),
        );
    }
    session.show(&response, session.given.flag("verbose"));
    Ok(response.exit())
}

/// The account at one end of a transfer.
fn end(
    session: &mut Session<'_>,
    account: &str,
    project: &str,
    end: &'static str,
) -> Result<String, Stop> {
    let account = session.given.text(account).map(str::to_owned);
    let account = account
        .map(|account| session.account(&account))
        .transpose()?;
    let project = session.given.text(project).map(str::to_owned);
    match (project, account) {
        (Some(project), account) => {
            let purpose = Purpose {
                scope: "project",
                command: "the transfer with",
                end,
                by_rules: true,
            };
            session.one_account(&[("Project", project)], account.as_deref(), &purpose)
        }
        (None, Some(account)) => Ok(account),
        (None, None) => Err(Stop::Usage(None)),
    }
}

pub(super) fn refund(session: &mut Session<'_>) -> Result<u8, Stop> {
    let (job_id, job) = session.given.job();
    if job_id.is_none() && job.is_none() {
        return Err(Stop::Usage(None));
    }
    let mut request = Request::new("Refund", "Job");
    if let Some(amount) = session.given.text("amount") {
        request = request.option("Amount", &session.given.credits(amount));
    }
    if let Some(account) = session.given_account()? {
        request = request.option("Account", &account);
    }
    for (name, value) in [("JobId", job_id), ("Id", job)] {
        if let Some(value) = value {
            request = request.option(name, &value);
        }
    }
    let more = [
        ("machine", "Machine"),
        ("type", "Type"),
        ("description", "Description"),
    ];
    let request = options(session, request, &more);
    Ok(session.change(&request)?.exit())
}
