//! `gbalance` and `mybalance`: amounts of accounts, less reservations.

use std::collections::HashMap;

use bank_picture::figure;

use super::{
    list::{self, Values, is_joined},
    lists::BALANCES,
    request::{Condition, Request},
    response::{Row, value},
    session::{Session, Stop},
};

const COLUMNS: &str = "Id,Name,Amount,Reserved,Balance,CreditLimit,Available";

/// `gbalance`.
pub(super) fn balance(session: &mut Session<'_>) -> Result<u8, Stop> {
    let user = session.given.text("user").map(str::to_owned);
    balance_of(session, user.as_deref())
}

/// `mybalance`: of the caller. Without a choice of columns, sums by project and machine.
pub(super) fn mine(session: &mut Session<'_>) -> Result<u8, Stop> {
    let user = session.login.clone();
    if user.is_empty() {
        return Err(session.refuse("The login name is unknown. Set LOGNAME."));
    }
    let flags = ["total", "available"];
    let is_plain = !flags.into_iter().any(|flag| session.given.flag(flag));
    if session.given.text("show").is_some() || !is_plain {
        return balance_of(session, Some(&user));
    }
    let (rows, exit) = rows(session, Some(&user), "Project,Machines,Balance")?;
    let mut sums: Vec<Row> = Vec::new();
    for row in rows {
        let names = |row: &Row| {
            let name = |column| value(row, column).unwrap_or_default().to_owned();
            (name("Project"), name("Machines"))
        };
        let same = sums.iter_mut().find(|sum| names(sum) == names(&row));
        match (same.and_then(|sum| sum.last_mut()), row.last()) {
            (Some((_, sum)), Some((_, more))) => {
                *sum = figure::added(sum, more).unwrap_or_default();
            }
            _ => sums.push(row),
        }
    }
    sums.sort();
    session.print(&sums);
    Ok(exit)
}

fn balance_of(session: &mut Session<'_>, user: Option<&str>) -> Result<u8, Stop> {
    if session.given.flag("total") {
        return total(session, user);
    }
    let show = session.given.text("show").unwrap_or(COLUMNS).to_owned();
    let (rows, exit) = rows(session, user, &show)?;
    session.print(&rows);
    Ok(exit)
}

/// The options that name the accounts.
fn scoped(session: &Session<'_>, request: Request, user: Option<&str>) -> Request {
    let given = &session.given;
    let scope = [
        ("Project", given.text("project")),
        ("User", user),
        ("Machine", given.text("machine")),
    ];
    let present = scope
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    present.fold(request, |request, (name, value)| {
        request.option(name, value)
    })
}

/// One number.
fn total(session: &mut Session<'_>, user: Option<&str>) -> Result<u8, Stop> {
    let mut request = scoped(session, Request::new("Balance", "Account"), user);
    if let Some(account) = session.given_account()? {
        request = request.option("Id", &account);
    }
    let given = &session.given;
    if let Some(kind) = given.text("callType") {
        request = request.option("CallType", kind);
    }
    if given.flag("available") {
        request = request.option("ShowAvailableCredit", "True");
    }
    let request = given.supplemented(request);
    let response = session.ask(&request)?;
    session.print(&response.rows);
    // The message has the amount in credits.
    if response.is_failure || !session.given.flag("hours") {
        session.show(&response, false);
    }
    Ok(response.exit())
}

/// The rows of the accounts, and the exit code.
fn rows(session: &mut Session<'_>, user: Option<&str>, show: &str) -> Result<(Vec<Row>, u8), Stop> {
    let is_available = session.given.flag("available");
    let column = |name: &str| match name.trim() {
        "Amount" if is_available => "Available".to_owned(),
        name => name.to_owned(),
    };
    let mut names: Vec<String> = Vec::new();
    for name in show.split(',').map(column) {
        // `--available` shows this column in the place of `Amount`, and once.
        if !(is_available && name == "Available" && names.contains(&name)) {
            names.push(name);
        }
    }
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut request = Request::new("Query", "Account").get("Id");
    for column in columns.iter().filter(|column| !is_joined(BALANCES, column)) {
        request = request.get(column);
    }
    if let Some(account) = session.given_account()? {
        request = request.filter("Id", &account);
    }
    let request = request.option("UseRules", "True");
    let request = request.option("IncludeAncestors", "True");
    let request = scoped(session, request, user);
    let request = session.given.supplemented(request);
    let response = session.query(&request)?;
    if response.is_failure {
        session.show(&response, false);
        return Err(Stop::Exit(response.exit()));
    }
    let mut values = Values::new();
    for join in BALANCES.iter().filter(|join| !join.is_sum) {
        list::collect(session, join, &columns, &mut values)?;
    }
    figures(session, &columns, &response.rows, &mut values)?;
    let is_long = session.given.flag("long");
    let rows = list::joined(&response.rows, BALANCES, &columns, &mut values, is_long);
    Ok((rows, response.exit()))
}

/// Asks for sums and computes the rest.
fn figures(
    session: &mut Session<'_>,
    columns: &[&str],
    accounts: &[Row],
    values: &mut Values,
) -> Result<(), Stop> {
    let has = |words: &[&str]| {
        let named = |column: &&str| words.iter().any(|word| column.contains(word));
        columns.iter().any(named)
    };
    let mut sums = Vec::new();
    if has(&[
        "Amount",
        "CreditLimit",
        "Balance",
        "Available",
        "Deposited",
        "Percentage",
    ]) {
        sums = session.rows(&allocations(session))?;
    }
    let mut reserved = Vec::new();
    if has(&["Reserved", "Balance", "Available"]) {
        reserved = session.rows(&reservations())?;
    }
    let (sums, reserved) = (by_account(&sums), by_account(&reserved));
    for account in accounts {
        let Some((_, id)) = account.first() else {
            continue;
        };
        let find = |rows: &HashMap<&str, &Row>, name: &str| -> String {
            let row = rows.get(id.as_str());
            let found = row
                .and_then(|row| value(row, name))
                .filter(|sum| !sum.is_empty());
            found.unwrap_or("0").to_owned()
        };
        let amount = find(&sums, "Amount");
        let deposited = find(&sums, "Deposited");
        let limit = find(&sums, "CreditLimit");
        let reserved = find(&reserved, "Amount");
        let balance = added(&amount, &negated(&reserved));
        let available = added(&balance, &limit);
        let percentage = percentage(&amount, &deposited);
        for (column, sum) in [
            ("Amount", amount),
            ("Reserved", reserved),
            ("Balance", balance),
            ("CreditLimit", limit),
            ("Available", available),
            ("Deposited", deposited),
            ("Percentage", percentage),
        ] {
            values.insert((id.clone(), column.to_owned()), vec![sum]);
        }
    }
    Ok(())
}

/// Rows by the account that they name.
fn by_account(rows: &[Row]) -> HashMap<&str, &Row> {
    let pair = |row| Some((value(row, "Account")?, row));
    rows.iter().filter_map(pair).collect()
}

fn allocations(session: &Session<'_>) -> Request {
    let kind = session.given.text("callType").unwrap_or("Normal");
    Request::new("Query", "Allocation")
        .get_op("Account", "GroupBy")
        .get_op("Amount", "Sum")
        .get_op("CreditLimit", "Sum")
        .get_op("Deposited", "Sum")
        .window(true)
        .filter("CallType", kind)
}

fn reservations() -> Request {
    let bound = |name: &str, operator: &str| Condition {
        object: "Reservation".to_owned(),
        name: name.to_owned(),
        operator: operator.to_owned(),
        value: "now".to_owned(),
        ..Condition::default()
    };
    let own = Condition {
        object: "Reservation".to_owned(),
        name: "Id".to_owned(),
        subject: "ReservationAllocation".to_owned(),
        value: "Reservation".to_owned(),
        ..Condition::default()
    };
    Request::new("Query", "Reservation")
        .object("ReservationAllocation", "")
        .get_of("ReservationAllocation", "Account", "GroupBy", "")
        .get_of("ReservationAllocation", "Amount", "Sum", "")
        .condition(&own)
        .condition(&bound("StartTime", "LE"))
        .condition(&bound("EndTime", "GT"))
}

fn added(a: &str, b: &str) -> String {
    figure::added(a, b).unwrap_or_default()
}

/// The amount with the other sign.
pub(super) fn negated(amount: &str) -> String {
    match amount.strip_prefix('-') {
        Some(amount) => amount.to_owned(),
        None if figure::is_zero(amount) => amount.to_owned(),
        None => format!("-{amount}"),
    }
}

/// The remaining part of the deposits in percent.
fn percentage(amount: &str, deposited: &str) -> String {
    let of = || {
        let (whole, decimals) = figure::minor(deposited).filter(|(whole, _)| *whole > 0)?;
        let scale = 10_i128.checked_pow(u32::try_from(decimals).ok()?)?;
        figure::scaled(amount, scale.checked_mul(100)?, whole, 2)
    };
    of().unwrap_or_else(|| "0.00".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_two_decimals() {
        assert_eq!(percentage("97550", "100000"), "97.55");
        assert_eq!(percentage("1", "3.0"), "33.33");
        assert_eq!(percentage("5", "0"), "0.00");
    }
}
