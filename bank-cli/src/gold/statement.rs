//! `gstatement`: a statement as Gold lays it out (ledger.md 5 and 7).
//!
//! Credits are what raised active money and debits all the rest, entry by entry, as Gold has it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bank_api::v1::{Balance, BalanceQuery, List, Statement, StatementLine, StatementQuery};
use bank_cli_picture::figure;

use super::options::Given;
use super::sheet::{self, Cell, money, one, text};
use crate::{cmd::movements::pages, context::Context, fail::Failure, when};

/// Lines are kept until they are printed side by side: so many at most.
const LINES_MAX: i64 = 100_000;

/// The statement of the accounts that were asked for.
pub(super) fn statement(context: &Context, given: &Given) -> Result<String, Failure> {
    let accounts = accounts(context, given)?;
    let (from, until) = times(context, given)?;
    let mut parts = Vec::new();
    for account in &accounts {
        let query = StatementQuery {
            account: Some(account.account.clone()),
            from: from.clone(),
            until: until.clone(),
            ..StatementQuery::default()
        };
        let statement: Statement = context.get(&["statements"], &query)?;
        parts.push((query, statement));
    }
    let entries: i64 = parts.iter().map(|(_, statement)| statement.entries).sum();
    let is_short = given.flag("summarize");
    if entries > LINES_MAX && !is_short {
        return Err(
            Failure::usage(format!("{entries} lines are too many for one page"))
                .hint("--summarize, a shorter time, or `bank statement --csv`"),
        );
    }
    let mut sides = Sides::default();
    for (query, statement) in &parts {
        pages(context, query, statement, |lines| {
            for line in lines {
                sides.take(line, is_short);
            }
            Ok(true)
        })?;
    }
    let mut out = header(context, given, &accounts);
    out += &balances(given, &parts, &sides);
    out += &detail(context, given, &sides)?;
    Ok(out)
}

/// The accounts that Gold would include: one by its id or name, else those that these may use.
fn accounts(context: &Context, given: &Given) -> Result<Vec<Balance>, Failure> {
    let query = BalanceQuery {
        project: given.owned("project"),
        user: given.owned("user"),
        machine: given.owned("machine"),
        account: given.owned("account"),
        ..BalanceQuery::default()
    };
    let mut list: List<Balance> = context.get(&["balances"], &query)?;
    list.items.sort_by_key(|row| row.account_id);
    list.items.dedup_by_key(|row| row.account_id);
    if list.items.is_empty() {
        return Err(Failure::of(
            bank_api::exit::bank::NOT_FOUND,
            "No accounts were matched. An account statement cannot be produced.",
        ));
    }
    Ok(list.items)
}

/// `-s` and `-e`; Gold's are `-infinity` and `now`.
fn times(context: &Context, given: &Given) -> Result<(Option<String>, Option<String>), Failure> {
    let from = context.time(given.owned("startTime").as_ref())?;
    let until = context.time(given.owned("endTime").as_ref())?;
    Ok((from, until))
}

fn header(context: &Context, given: &Given, accounts: &[Balance]) -> String {
    let line = "#".repeat(80);
    let mut out = format!("{line}\n#\n");
    if let (Some(_), Some(account)) = (given.text("account"), accounts.first()) {
        let (id, name) = (account.account_id, &account.account);
        let _ = writeln!(out, "# Statement for account {id} ({name})");
    }
    for kind in ["project", "user", "machine"] {
        if let Some(name) = given.text(kind) {
            let _ = writeln!(out, "# Statement for {kind} {name}");
        }
    }
    if given.text("account").is_none() {
        for account in accounts {
            let (id, name) = (account.account_id, &account.account);
            let _ = writeln!(out, "# Includes account {id} ({name})");
        }
    }
    let now = context.zone.show(context.now_us);
    let _ = writeln!(
        out,
        "# Generated on {}.",
        now.format("%a %b %e %H:%M:%S %Y")
    );
    let start = given.text("startTime").unwrap_or("-infinity");
    let end = given.text("endTime").unwrap_or("now");
    let _ = writeln!(out, "# Reporting account activity from {start} to {end}.");
    format!("{out}#\n{line}\n\n")
}

/// Beginning, totals, ending. That they agree was checked by the daemon.
fn balances(given: &Given, parts: &[(StatementQuery, Statement)], sides: &Sides) -> String {
    let sum = |of: fn(&Statement) -> &Option<String>| {
        let amounts = parts.iter().filter_map(|(_, s)| of(s).as_deref());
        figure::sum(amounts).unwrap_or_default()
    };
    let shown = |amount: &str| match figure::hours(amount) {
        Some(hours) if given.flag("hours") => hours,
        _ => amount.to_owned(),
    };
    let line = format!("------------------ {}\n", "-".repeat(20));
    let row = |title: &str, amount: &str| format!("{title:<18} {:>20}\n", shown(amount));
    let none = sum(|statement| &statement.opening);
    let zero = figure::difference(&none, &none).unwrap_or_default();
    let total = |side: &str| {
        if side.is_empty() {
            zero.clone()
        } else {
            side.to_owned()
        }
    };
    row("Beginning Balance:", &sum(|statement| &statement.opening))
        + &line
        + &row("Total Credits:", &total(&sides.credits))
        + &row("Total Debits:", &total(&sides.debits))
        + &line
        + &row("Ending Balance:", &sum(|statement| &statement.closing))
}

/// Credits and debits: their lines, or their sums by what they are.
#[derive(Default)]
struct Sides {
    credits: String,
    debits: String,
    lines: Vec<StatementLine>,
    /// By side, object and action, and for debits project, user and machine.
    sums: BTreeMap<(bool, [String; 5]), (String, i64)>,
}

impl Sides {
    fn take(&mut self, line: StatementLine, is_short: bool) {
        let is_credit = is_credit(&line);
        let total = if is_credit {
            &mut self.credits
        } else {
            &mut self.debits
        };
        *total = figure::added(total, &line.amount).unwrap_or_default();
        if !is_short {
            self.lines.push(line);
            return;
        }
        let (object, action) = gold_words(&line);
        let whom = |name: &Option<String>| {
            let name = name.clone().unwrap_or_default();
            if is_credit { String::new() } else { name }
        };
        let key = [
            object.to_owned(),
            action,
            whom(&line.project),
            whom(&line.user),
            whom(&line.machine),
        ];
        let (sum, count) = self.sums.entry((is_credit, key)).or_default();
        *sum = figure::added(sum, &line.amount).unwrap_or_default();
        *count += 1;
    }
}

fn is_credit(line: &StatementLine) -> bool {
    !line.amount.starts_with('-') && !figure::is_zero(&line.amount)
}

/// Gold's object and action of an entry.
fn gold_words(line: &StatementLine) -> (&'static str, String) {
    let (object, action) = match line.kind.as_str() {
        "deposit" => ("Account", "Deposit"),
        "withdraw" => ("Account", "Withdraw"),
        "transfer_in" | "transfer_out" => ("Account", "Transfer"),
        "activate" => ("Allocation", "Activate"),
        "expire" => ("Allocation", "Deactivate"),
        "delete" => ("Allocation", "Delete"),
        "refund" => ("Job", "Refund"),
        "charge" | "charge_debt" | "charge_fallback" | "late_charge" => {
            let is_reservation = line.job_type.as_deref() == Some("reservation");
            let object = if is_reservation { "Reservation" } else { "Job" };
            (object, "Charge")
        }
        "reverse" => ("Transaction", "Undo"),
        other => return ("Account", other.to_owned()),
    };
    (object, action.to_owned())
}

fn detail(context: &Context, given: &Given, sides: &Sides) -> Result<String, Failure> {
    let is_short = given.flag("summarize");
    let word = if is_short { "Summary #" } else { "Detail ##" };
    let mut out = String::new();
    for (is_credit, title, end) in [(true, "Credit", "#"), (false, "Debit", "##")] {
        let _ = write!(
            out,
            "\n{} {title} {word}{}{end}\n\n",
            "#".repeat(31),
            "#".repeat(31)
        );
        out += &if is_short {
            summed(given, sides, is_credit)?
        } else {
            listed(context, given, sides, is_credit)?
        };
    }
    Ok(out)
}

fn listed(
    context: &Context,
    given: &Given,
    sides: &Sides,
    credits: bool,
) -> Result<String, Failure> {
    let mut lines: Vec<&StatementLine> = sides.lines.iter().collect();
    lines.retain(|line| is_credit(line) == credits);
    lines.sort_by(|a, b| (&a.at, a.entry).cmp(&(&b.at, b.entry)));
    let mut columns = vec![text("Object"), text("Action"), text("JobId")];
    if !credits {
        columns.extend([text("Project"), text("User"), text("Machine")]);
    }
    columns.extend([money("Amount"), text("Time")]);
    let cells = |line: &&StatementLine| -> Vec<Cell> {
        let (object, action) = gold_words(line);
        let name = |name: &Option<String>| one(name.clone().unwrap_or_default());
        let mut cells = vec![one(object), one(action), name(&line.job)];
        if !credits {
            cells.extend([name(&line.project), name(&line.user), name(&line.machine)]);
        }
        cells.extend([one(&line.amount), one(when::moment(&line.at, context.zone))]);
        cells
    };
    let rows: Vec<Vec<Cell>> = lines.iter().map(cells).collect();
    sheet::print(given, &columns, &rows)
}

fn summed(given: &Given, sides: &Sides, credits: bool) -> Result<String, Failure> {
    let mut columns = vec![text("Object"), text("Action")];
    if !credits {
        columns.extend([text("Project"), text("User"), text("Machine")]);
    }
    columns.push(money("Amount"));
    if !credits {
        columns.push(text("Count"));
    }
    let own = sides.sums.iter().filter(|((of, _), _)| *of == credits);
    let cells = |((_, key), (sum, count)): (&(bool, [String; 5]), &(String, i64))| {
        let width = if credits { 2 } else { 5 };
        let mut cells: Vec<Cell> = key.iter().take(width).map(one).collect();
        cells.push(one(sum));
        if !credits {
            cells.push(one(count.to_string()));
        }
        cells
    };
    let rows: Vec<Vec<Cell>> = own.map(cells).collect();
    sheet::print(given, &columns, &rows)
}
