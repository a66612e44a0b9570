//! `bank report balance-sheet`: what came into each account over a period, what went out of it, and
//! what it had before and after. `bank report top`: who used the most.

use std::collections::BTreeMap;

use bank_api::v1::{Account, AccountsQuery, ContributionRow, List, Statement, StatementQuery};
use bank_picture::{Bars, Cell, Chart, Number, Report, Section, Span, Table, figure};
use serde_json::{Value, json};

use super::{share, statement};
use crate::{
    cli::{BalanceSheetArgs, TopArgs},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    when,
};

/// Headings of statements, and the column that each is added up in. What is in none is `other`.
const COLUMNS: [(&str, &str); 8] = [
    ("deposits", "deposits"),
    ("activations", "activations"),
    ("refunds", "refunds"),
    ("charges", "charges"),
    ("withdrawals", "withdrawals"),
    ("expiries", "expiries"),
    ("debts_ended", "expiries"),
    ("deletions", "expiries"),
];

/// The columns of amounts, with their titles.
const TITLES: [(&str, &str); 9] = [
    ("opening", "Opening"),
    ("deposits", "Deposits"),
    ("activations", "Begun"),
    ("refunds", "Refunds"),
    ("charges", "Charges"),
    ("withdrawals", "Withdrawals"),
    ("expiries", "Ended"),
    ("other", "Other"),
    ("closing", "Closing"),
];

/// The columns that have several movements.
const REMARK: &str = "Other: transfers, corrections, undone transactions and amounts carried over. \
                      Begun, Ended: allocations that started or ended, and removed accounts.";

/// `bank report balance-sheet`
pub(super) fn balance_sheet(context: &Context, args: &BalanceSheetArgs) -> Result<String, Failure> {
    let (from, to) = statement::times(context, &args.period, context.now_us)?;
    let query = AccountsQuery {
        removed: true,
        ..AccountsQuery::default()
    };
    let mut accounts: List<Account> = context.all(&["accounts"], &query)?;
    accounts.items.sort_by(|a, b| a.name.cmp(&b.name));
    let mut rows = Vec::with_capacity(accounts.items.len() + 1);
    let mut totals: BTreeMap<String, String> = BTreeMap::new();
    let (mut unit, mut begun, mut until) = (String::new(), None, String::new());
    let mut to = to;
    for account in accounts.items {
        let query = StatementQuery {
            account: Some(account.id.to_string()),
            from: from.clone(),
            until: to.clone(),
            ..StatementQuery::default()
        };
        let output: Statement = context.get(&["statements"], &query)?;
        let sums = sums(&output).ok_or_else(unlike)?;
        for (word, amount) in &sums {
            let total = totals.entry(word.clone()).or_default();
            *total = figure::added(total, amount).ok_or_else(unlike)?;
        }
        (unit, begun, until) = (output.unit, output.from, output.until);
        // All accounts at one moment, whatever moves meanwhile.
        to = to.or_else(|| Some(until.clone()));
        if !(account.removed && sums.values().all(|sum| figure::is_zero(sum))) {
            rows.push(row(&account.name, sums));
        }
    }
    if !rows.is_empty() {
        rows.push(row("total", totals));
    }
    let (rows, unit) = in_units(context, &rows, &unit)?;
    let period = begun.as_deref().and_then(when::read);
    let period = period.zip(when::read(&until));
    let picture = || Ok(pictured(context, &rows, &unit, period));
    if let Some(output) = context.pictured(args.chart, picture) {
        return output;
    }
    let mut columns = vec![column("account", "Account", Kind::Text)];
    for (key, title) in TITLES {
        columns.push(column(key, title, Kind::Amount));
    }
    let mut sheet = Sheet::new(columns, &rows, "no accounts");
    sheet.unit.clone_from(&unit);
    let time = |text: &str| when::moment(text, context.zone);
    sheet.remark = format!(
        "From {} to {} (exclusive). {REMARK}",
        begun
            .as_deref()
            .map_or_else(|| "the beginning".to_owned(), time),
        time(&until)
    );
    let answer = json!({"from": begun, "to": until, "unit": unit, "items": rows});
    context.form.report(&answer, &sheet)
}

/// The rows in the units that were asked for, each amount rounded once.
fn in_units(
    context: &Context,
    rows: &[Value],
    unit: &str,
) -> Result<(Vec<Value>, String), Failure> {
    let mut output: BTreeMap<String, Value> = BTreeMap::from([
        ("items".to_owned(), json!(rows)),
        ("unit".to_owned(), json!(unit)),
    ]);
    output = context.form.in_units(output)?;
    let items = output.remove("items").and_then(|items| match items {
        Value::Array(items) => Some(items),
        _ => None,
    });
    let unit = output
        .remove("unit")
        .and_then(|unit| Some(unit.as_str()?.to_owned()));
    Ok((items.unwrap_or_default(), unit.unwrap_or_default()))
}

/// The page: what was charged beside what is left, by account, and below both the whole table.
fn pictured(context: &Context, rows: &[Value], unit: &str, period: Option<(i64, i64)>) -> Report {
    let (total, accounts): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["account"] == "total");
    let amount = |row: &Value, key: &str| Number::or_zero(row[key].as_str().unwrap_or_default());
    let name = |row: &Value| row["account"].as_str().unwrap_or_default().to_owned();
    let cells = |row: &&Value| {
        let amounts = TITLES.iter().map(|(key, _)| Cell::Number(amount(row, key)));
        std::iter::once(Cell::Text(name(row)))
            .chain(amounts)
            .collect()
    };
    let amounts = TITLES.iter().map(|(_, title)| (title.to_lowercase(), true));
    let table = Table {
        caption: "By account".to_owned(),
        columns: std::iter::once(("account".to_owned(), false))
            .chain(amounts)
            .collect(),
        rows: accounts.iter().map(cells).collect(),
        foot: total.iter().map(cells).collect(),
    };
    let bars = |key: &str, sign: i64| {
        let rows = accounts.iter().map(|row| {
            let amount = amount(row, key);
            (
                name(row),
                if sign < 0 {
                    Number::ZERO.minus(amount)
                } else {
                    amount
                },
            )
        });
        Chart::Bars(Bars {
            what: "account".to_owned(),
            unit: unit.to_owned(),
            rows: rows.collect(),
        })
    };
    let sections = vec![
        Section::chart("Charged", bars("charges", -1)).without_table(),
        Section::chart("At the end", bars("closing", 1)).without_table(),
        Section::table("By account", table),
    ];
    let remarks = vec![format!("Amounts in {unit}."), REMARK.to_owned()];
    let mut made = context.report("Balance sheet", remarks, sections);
    made.period = period.map(|(from, to)| Span { from, to });
    made
}

/// The sums of an account by column.
fn sums(output: &Statement) -> Option<BTreeMap<String, String>> {
    let mut sums = BTreeMap::new();
    let nothing = figure::difference(&output.total_credits, &output.total_credits)?;
    for (_, word) in COLUMNS.iter().chain(&[("", "other")]) {
        sums.insert((*word).to_owned(), nothing.clone());
    }
    for group in output.credits.iter().chain(&output.debits) {
        let own = COLUMNS
            .iter()
            .find(|(heading, _)| *heading == group.heading);
        let word = own.map_or("other", |(_, word)| word);
        let sum = sums.get_mut(word)?;
        *sum = figure::added(sum, &group.amount)?;
    }
    sums.insert("opening".to_owned(), output.opening.clone()?);
    sums.insert("closing".to_owned(), output.closing.clone()?);
    Some(sums)
}

fn row(account: &str, sums: BTreeMap<String, String>) -> Value {
    let mut cells = BTreeMap::from([("account".to_owned(), json!(account))]);
    cells.extend(sums.into_iter().map(|(word, amount)| (word, json!(amount))));
    json!(cells)
}

fn unlike() -> Failure {
    Failure::internal("the daemon sent amounts that cannot be added")
}

/// `bank report top`
pub(super) fn top(context: &Context, args: TopArgs) -> Result<String, Failure> {
    let most = usize::try_from(args.most).unwrap_or(usize::MAX);
    let chart = args.of.chart;
    let mut report = share::ask(context, args.of, "project")?;
    for period in &mut report.periods {
        let digits = |row: &ContributionRow| figure::minor(&row.usage).map_or(0, |(n, _)| n);
        period.rows.retain(|row| digits(row) > 0);
        // Equal ones stay by name.
        period
            .rows
            .sort_by_key(|row| std::cmp::Reverse(digits(row)));
        period.rows.truncate(most);
    }
    let Some(first) = report.periods.first() else {
        return Err(Failure::internal("the daemon sent no period"));
    };
    let picture = || Ok(share::pictured_top(context, &report, first));
    if let Some(output) = context.pictured(chart, picture) {
        return output;
    }
    let rows: Vec<Value> = (1_u64..)
        .zip(&first.rows)
        .map(|(place, row)| {
            json!({"place": place, "group": row.group, "usage": row.usage,
                "usage_share": row.usage_share, "cpu_efficiency": row.cpu_efficiency})
        })
        .collect();
    let title = if report.by == "user" {
        "User"
    } else {
        "Project"
    };
    let columns = vec![
        column("place", "#", Kind::Number),
        column("group", title, Kind::Text),
        column("usage", "Usage", Kind::Amount),
        column("usage_share", "% of all", Kind::Number),
        column("cpu_efficiency", "CPU %", Kind::Number),
    ];
    let mut sheet = Sheet::new(columns, &rows, "no usage in this period");
    sheet.unit.clone_from(&report.unit);
    sheet.remark = share::remark(&report);
    share::listed(context, &report, &sheet)
}
