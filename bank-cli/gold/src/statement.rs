//! `gstatement`: credits and debits of accounts in a period.

use std::fmt::Write as _;

use bank_picture::figure;

use super::{
    balance::negated,
    list::of_accounts,
    request::Request,
    response::Row,
    session::{Session, Stop},
};

/// The end of a report that has none.
const NOW: &str = "now";

/// The period as it was typed.
struct Period {
    start: String,
    end: String,
    /// The end for requests. Times have whole seconds: a report until now includes the running second.
    until: String,
}

impl Period {
    fn of(session: &Session<'_>) -> Self {
        let text = |option, default: &str| {
            let given = session.given.text(option);
            given.unwrap_or(default).to_owned()
        };
        let end = text("endTime", NOW);
        let until = if end == NOW {
            let seconds = session.clock.now_us.div_euclid(1_000_000);
            seconds.saturating_add(1).to_string()
        } else {
            end.clone()
        };
        Self {
            start: text("startTime", "-infinity"),
            end,
            until,
        }
    }
}

/// Refuses a period that ends before it starts, as the bank's own reports do.
pub(super) fn check_period(session: &mut Session<'_>) -> Result<(), Stop> {
    let Period { start, until, .. } = Period::of(session);
    let seconds = |text: &str| session.clock.epoch(text).parse::<i64>().ok();
    match (seconds(&start), seconds(&until)) {
        (Some(from), Some(to)) if to < from => {
            Err(session.refuse("The end time is before the start time"))
        }
        _ => Ok(()),
    }
}

/// The head of a report: its title lines, when it was made, and the period.
pub(super) fn head(session: &Session<'_>, titles: &[String], subject: &str) -> String {
    let Period { start, end, .. } = Period::of(session);
    let line = "#".repeat(80);
    let mut out = format!("{line}\n#\n");
    for title in titles {
        let title = bank_picture::printable::printable(title);
        let _ = writeln!(out, "# {title}");
    }
    let _ = writeln!(out, "# Generated on {}.", session.clock.long());
    let _ = writeln!(out, "# Reporting {subject} from {start} to {end}.");
    out + "#\n" + &line + "\n\n"
}

/// Transactions of the period.
pub(super) fn in_period(session: &Session<'_>, request: Request) -> Request {
    let Period { start, until, .. } = Period::of(session);
    request
        .filter_op("CreationTime", "GE", &start)
        .filter_op("CreationTime", "LT", &until)
}

/// Prints the statement.
pub(super) fn statement(session: &mut Session<'_>) -> Result<u8, Stop> {
    check_period(session)?;
    let account = session.given_account()?;
    let accounts = accounts(session, account.as_deref())?;
    let titles = titles(session, account.as_deref(), &accounts);
    let head = head(session, &titles, "account activity");
    let ids: Vec<String> = accounts.into_iter().map(|(id, _)| id).collect();
    session.say(head);
    let period = Period::of(session);
    let opening = balance(session, &ids, &period.start)?;
    let credits = sum(session, &ids, true)?;
    let debits = sum(session, &ids, false)?;
    let closing = balance(session, &ids, &period.until)?;
    let text = balances(session, &opening, &credits, &debits, &closing);
    session.say(text);
    let is_short = session.given.flag("summarize");
    let word = if is_short { "Summary #" } else { "Detail ##" };
    let line = "#".repeat(31);
    session.say(format!("\n{line} Credit {word}{line}#\n\n"));
    let rows = movements(session, &ids, true, is_short)?;
    session.print(&rows);
    session.say(format!("\n{line} Debit {word}{line}##\n\n"));
    let rows = movements(session, &ids, false, is_short)?;
    session.print(&rows);
    session.say(format!("\n{line} End of Report {line}###\n\n"));
    Ok(0)
}

/// Numbers and names of the accounts.
fn accounts(
    session: &mut Session<'_>,
    account: Option<&str>,
) -> Result<Vec<(String, String)>, Stop> {
    let request = Request::new("Query", "Account");
    let mut request = request.get_op("Id", "Sort").get("Name");
    if let Some(account) = account {
        request = request.filter("Id", account);
    }
    for (name, value) in session.scope() {
        request = request.option(name, &value);
    }
    if account.is_none() {
        request = request.option("UseRules", "True");
    }
    let response = session.query(&request)?;
    if response.is_failure {
        session.show(&response, false);
        return Err(Stop::Exit(response.exit()));
    }
    if response.rows.is_empty() {
        let line = "No accounts were matched. An account statement cannot be produced.";
        return Err(session.refuse(line));
    }
    let pair = |row: &Row| {
        let mut values = row.iter().map(|(_, value)| value.clone());
        let id = values.next().unwrap_or_default();
        (id, values.next().unwrap_or_default())
    };
    Ok(response.rows.iter().map(pair).collect())
}

fn titles(
    session: &Session<'_>,
    account: Option<&str>,
    accounts: &[(String, String)],
) -> Vec<String> {
    let mut titles = Vec::new();
    if let (Some(_), Some((id, name))) = (account, accounts.first()) {
        titles.push(format!("Statement for account {id} ({name})"));
    }
    for kind in ["project", "user", "machine"] {
        if let Some(name) = session.given.text(kind) {
            titles.push(format!("Statement for {kind} {name}"));
        }
    }
    if account.is_none() {
        let line = |(id, name): &(String, String)| format!("Includes account {id} ({name})");
        titles.extend(accounts.iter().map(line));
    }
    titles
}

/// The sum of active allocations at a time.
fn balance(session: &mut Session<'_>, ids: &[String], time: &str) -> Result<String, Stop> {
    let request = Request::new("Query", "Allocation").get_op("Amount", "Sum");
    let request = of_accounts(request, ids).filter("Active", "True");
    added(session, &request.option("Time", time))
}

/// The sum of credits or debits.
fn sum(session: &mut Session<'_>, ids: &[String], is_credit: bool) -> Result<String, Stop> {
    let request = Request::new("Query", "Transaction").get_op("Delta", "Sum");
    let request = moved(session, request, ids, is_credit);
    added(session, &request)
}

fn moved(session: &Session<'_>, request: Request, ids: &[String], is_credit: bool) -> Request {
    let operator = if is_credit { "GT" } else { "LE" };
    let request = of_accounts(request, ids).filter_op("Delta", operator, "0");
    in_period(session, request)
}

/// The sum of the first column.
fn added(session: &mut Session<'_>, request: &Request) -> Result<String, Stop> {
    let rows = session.rows(request)?;
    let amounts = rows.iter().filter_map(|row| row.first());
    let sum = amounts.fold(String::from("0"), |sum, (_, amount)| {
        figure::added(&sum, amount).unwrap_or(sum)
    });
    Ok(sum)
}

fn balances(
    session: &Session<'_>,
    opening: &str,
    credits: &str,
    debits: &str,
    closing: &str,
) -> String {
    let style = session.style();
    let line = format!("------------------ {}\n", "-".repeat(20));
    let row = |title: &str, amount: &str| format!("{title:<18} {:>20}\n", style.amount(amount));
    let mut out = row("Beginning Balance:", opening)
        + &line
        + &row("Total Credits:", credits)
        + &row("Total Debits:", debits)
        + &line
        + &row("Ending Balance:", closing);
    let moved = figure::added(credits, debits);
    let change = figure::added(closing, &negated(opening));
    if let (Some(moved), Some(change)) = (moved, change) {
        let gap = figure::added(&moved, &negated(&change)).unwrap_or_default();
        if !figure::is_zero(&gap) {
            let gap = style.amount(&gap);
            let _ = writeln!(
                out,
                "\nWarning: the transactions and the balances of the accounts differ by {gap}."
            );
        }
    }
    out
}

/// Credits or debits: one row each, or their sums.
fn movements(
    session: &mut Session<'_>,
    ids: &[String],
    is_credit: bool,
    is_short: bool,
) -> Result<Vec<Row>, Stop> {
    let group = if is_short { "GroupBy" } else { "" };
    let mut request = Request::new("Query", "Transaction");
    request = request.get_op("Object", group).get_op("Action", group);
    if !is_short {
        request = request.get("JobId");
    }
    if !is_credit {
        for name in ["Project", "User", "Machine"] {
            request = request.get_op(name, group);
        }
    }
    request = match (is_short, is_credit) {
        (true, true) => request.get_of("", "Delta", "Sum", "Amount"),
        (true, false) => request
            .get_of("", "Delta", "Sum", "Amount")
            .get_of("", "Id", "Count", "Count"),
        _ => request
            .get_of("", "Delta", "", "Amount")
            .get_of("", "CreationTime", "Sort", "Time"),
    };
    let request = moved(session, request, ids, is_credit);
    let request = session.given.supplemented(request);
    session.rows(&request)
}
