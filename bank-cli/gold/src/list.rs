//! `gls…`: rows of an object with columns from the objects that belong to it.
//!
//! A list is data ([`List`]); the lists are in `lists`, and the parts of one are in `shape`.

use std::collections::HashMap;

use super::{
    account::Purpose,
    clock::{Clock, is_time},
    request::{Condition, Request},
    response::{Row, value},
    session::{Session, Stop},
    shape::{Filter, Join, List},
};

/// Values by key and column.
pub(super) type Values = HashMap<(String, String), Vec<String>>;

/// Prints a list.
pub(super) fn list(session: &mut Session<'_>, list: &List) -> Result<u8, Stop> {
    let mut show = list.show.to_owned();
    if let Some(chosen) = session.given.text("show") {
        chosen.clone_into(&mut show);
    } else if session.given.flag("showHidden") {
        show = format!("{show},{}", list.hidden);
    }
    let columns: Vec<&str> = show.split(',').map(str::trim).collect();
    let mut request = Request::new("Query", list.object);
    if !list.key.0.is_empty() {
        request = request.get_op(list.key.0, list.key.1);
    }
    for column in columns
        .iter()
        .filter(|column| !is_joined(list.joins, column))
    {
        request = request.get(column);
    }
    request = filtered(session, request, list.filters)?;
    if session.given.flag("showHidden") {
        request = request.option("ShowHidden", "True");
    }
    request = session.given.supplemented(request);
    let response = session.query(&request)?;
    if response.is_failure || list.key.0.is_empty() {
        session.show(&response, true);
        return Ok(response.exit());
    }
    let mut values = Values::new();
    for join in list.joins {
        collect(session, join, &columns, &mut values)?;
    }
    let is_long = session.given.flag("long");
    let rows = joined(&response.rows, list.joins, &columns, &mut values, is_long);
    session.print(&rows);
    Ok(response.exit())
}

/// True for columns from other objects.
pub(super) fn is_joined(joins: &[Join], column: &str) -> bool {
    joins.iter().any(|join| join.parts(column).is_some())
}

/// A request with the filters of the command line.
pub(super) fn filtered(
    session: &mut Session<'_>,
    mut request: Request,
    filters: &[Filter],
) -> Result<Request, Stop> {
    let is_active = session.given.flag("active");
    let is_inactive = session.given.flag("inactive");
    let truth = if is_inactive { "False" } else { "True" };
    for filter in filters {
        request = match *filter {
            Filter::Is(option, attribute, operator) => match text(session, option)? {
                Some(value) => request.filter_op(attribute, operator, &value),
                None => request,
            },
            Filter::Like(option, attribute) => match session.given.value(option) {
                Some(value) => request.filter_op(attribute, "Match", &pattern(value)),
                None => request,
            },
            Filter::Choice(option, name) => match session.given.value(option) {
                Some(value) => request.option(name, value),
                None => request,
            },
            Filter::Ordinary if !session.given.flag("showSpecial") => {
                request.filter("Special", "False")
            }
            Filter::Rules if uses_rules(session) => request.option("UseRules", "True"),
            Filter::OneAccount => one_account(session, request)?,
            _ if !is_active && !is_inactive => request,
            Filter::Active => request.filter("Active", truth),
            Filter::ActiveOption => request.option("Active", truth),
            Filter::Window => request.window(!is_inactive),
            Filter::End => {
                request.filter_op("EndTime", if is_inactive { "LT" } else { "GE" }, "now")
            }
            Filter::Ordinary | Filter::Rules => request,
        };
    }
    Ok(request)
}

/// The value of an option; an account by its number.
fn text(session: &mut Session<'_>, option: &str) -> Result<Option<String>, Stop> {
    if option == "account" {
        return session.given_account();
    }
    Ok(session.given.value(option).map(str::to_owned))
}

fn pattern(text: &str) -> String {
    text.replace('*', "%").replace('?', "_")
}

fn uses_rules(session: &Session<'_>) -> bool {
    let has = |option| session.given.value(option).is_some();
    !session.given.flag("exact-match") && (has("project") || has("user") || has("machine"))
}

fn one_account(session: &mut Session<'_>, request: Request) -> Result<Request, Stop> {
    let account = session.given_account()?;
    let account = match session.given.value("project").map(str::to_owned) {
        Some(project) => {
            let purpose = Purpose {
                scope: "project",
                command: "the query with",
                end: "",
                by_rules: true,
            };
            let scope = [("Project", project)];
            Some(session.one_account(&scope, account.as_deref(), &purpose)?)
        }
        None => account,
    };
    Ok(match account {
        Some(account) => request.filter("Account", &account),
        None => request,
    })
}

/// The values of columns that come from another object.
pub(super) fn collect(
    session: &mut Session<'_>,
    join: &Join,
    columns: &[&str],
    values: &mut Values,
) -> Result<(), Stop> {
    if !columns.iter().any(|column| join.parts(column).is_some()) {
        return Ok(());
    }
    let mut request = Request::new("Query", join.object);
    for (name, operator) in join.gets {
        request = request.get_op(name, operator);
    }
    request = filtered(session, request, join.filters)?;
    if join.is_current {
        request = request.window(!session.given.flag("inactive"));
    }
    let rows = session.rows(&request)?;
    keep(join, columns, &rows, session.clock, values);
    Ok(())
}

/// Adds the values of rows. A time inside of a value is its date.
fn keep(join: &Join, columns: &[&str], rows: &[Row], clock: Clock, values: &mut Values) {
    let text = |row: &Row, part: &str| {
        let text = value(row, part)?;
        if !is_time(part) {
            return Some(text.to_owned());
        }
        let shown = clock.shown(text);
        shown.split(' ').next().map(str::to_owned)
    };
    for row in rows {
        let key = value(row, join.parent).unwrap_or_default();
        let is_denied = value(row, join.sign).is_some_and(|sign| sign.starts_with(['F', 'f']));
        let sign = if is_denied { "-" } else { "" };
        for column in columns {
            let Some(parts) = join.parts(column) else {
                continue;
            };
            let parts: Vec<String> = parts.iter().filter_map(|part| text(row, part)).collect();
            let entry = values.entry((key.to_owned(), (*column).to_owned()));
            let list = entry.or_default();
            if join.is_sum {
                list.clear();
            }
            list.push(format!("{sign}{}", parts.join(":")));
        }
    }
}

/// The rows of the table: own columns and joined ones.
pub(super) fn joined(
    rows: &[Row],
    joins: &[Join],
    columns: &[&str],
    values: &mut Values,
    is_long: bool,
) -> Vec<Row> {
    let mut out = Vec::new();
    for row in rows {
        let mut own = row.iter().map(|(_, value)| value.clone());
        let key = own.next().unwrap_or_default();
        let mut is_first = true;
        loop {
            let mut more = false;
            let cell = |column: &&str| {
                let find = |join: &&Join| join.parts(column).is_some();
                let value = match joins.iter().find(find) {
                    None if is_first => own.next().unwrap_or_default(),
                    Some(join) if join.is_sum && is_first => sum(values, &key, column),
                    Some(join) if !join.is_sum => {
                        let list = values.get_mut(&(key.clone(), (*column).to_owned()));
                        let (value, is_more) = taken(list, is_long);
                        more |= is_more;
                        value
                    }
                    _ => String::new(),
                };
                ((*column).to_owned(), value)
            };
            out.push(columns.iter().map(cell).collect());
            is_first = false;
            if !more {
                break;
            }
        }
    }
    out
}

/// A sum; zero without one.
pub(super) fn sum(values: &Values, key: &str, column: &str) -> String {
    let found = values.get(&(key.to_owned(), column.to_owned()));
    let found = found
        .and_then(|list| list.first())
        .filter(|sum| !sum.is_empty());
    found.cloned().unwrap_or_else(|| "0".to_owned())
}

/// All values with commas, or in the long form the last one; and whether there are more.
fn taken(list: Option<&mut Vec<String>>, is_long: bool) -> (String, bool) {
    match list {
        Some(list) if is_long => (list.pop().unwrap_or_default(), !list.is_empty()),
        Some(list) => (list.join(","), false),
        None => (String::new(), false),
    }
}

/// Conditions for rows of any of these accounts.
pub(super) fn of_accounts(mut request: Request, accounts: &[String]) -> Request {
    let last = accounts.len().saturating_sub(1);
    for (at, account) in accounts.iter().enumerate() {
        let group = match at {
            _ if last == 0 => 0,
            0 => 1,
            _ if at == last => -1,
            _ => 0,
        };
        request = request.condition(&Condition {
            conjunction: if at == 0 { "And" } else { "Or" }.to_owned(),
            group,
            name: "Account".to_owned(),
            operator: "EQ".to_owned(),
            value: account.clone(),
            ..Condition::default()
        });
    }
    request
}
