//! `gusage`: charges by user in a period, less refunds and what was undone, the largest first.

use std::cmp::Ordering;

use bank_picture::figure;

use super::{
    balance::negated,
    request::Request,
    response::{Row, value},
    session::{Session, Stop},
    statement::{check_period, head, in_period},
};

/// Prints the usage of a project, a user or a machine.
pub(super) fn usage(session: &mut Session<'_>) -> Result<u8, Stop> {
    check_period(session)?;
    let scope = ["project", "user", "machine"];
    let given = |kind| Some((kind, session.given.value(kind)?.to_owned()));
    let named: Vec<(&str, String)> = scope.into_iter().filter_map(given).collect();
    if named.is_empty() {
        return Err(Stop::Usage(None));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (object, action) in [
        ("Job", "Charge"),
        ("Job", "Refund"),
        ("Transaction", "Undo"),
    ] {
        for row in session.rows(&request(session, object, action))? {
            add(&mut rows, row);
        }
    }
    if rows.is_empty() {
        check(session, &named)?;
    }
    let amount = |row: &Row| value(row, "Amount").unwrap_or("0").to_owned();
    let is_less = |a: &str, b: &str| {
        let gap = figure::added(a, &negated(b));
        gap.is_some_and(|gap| gap.starts_with('-'))
    };
    rows.sort_by(|a, b| match (amount(a), amount(b)) {
        (a, b) if is_less(&a, &b) => Ordering::Greater,
        (a, b) if is_less(&b, &a) => Ordering::Less,
        _ => Ordering::Equal,
    });
    let is_bare = session.given.flag("raw") || session.given.flag("quiet");
    if !is_bare {
        let title = |(kind, name): &(&str, String)| format!("Usage Summary for {kind} {name}");
        let titles: Vec<String> = named.iter().map(title).collect();
        let head = head(session, &titles, "user charges");
        session.say(head);
    }
    if let Some(show) = session.given.text("show") {
        rows = chosen(&rows, show);
    }
    session.print(&rows);
    Ok(0)
}

/// Refuses a name that does not exist: it has no usage because of a typing error.
fn check(session: &mut Session<'_>, named: &[(&str, String)]) -> Result<(), Stop> {
    for (kind, name) in named {
        let object = match *kind {
            "project" => "Project",
            "user" => "User",
            _ => "Machine",
        };
        let request = Request::new("Query", object).get("Name");
        if session.rows(&request.filter("Name", name))?.is_empty() {
            return Err(session.refuse(&format!("{object} {name} does not exist")));
        }
    }
    Ok(())
}

/// The charged amounts, which are negative where a refund or an undo returned money. Shadow charges take no money and
/// have none, and a deposit has no job.
fn request(session: &Session<'_>, object: &str, action: &str) -> Request {
    let request = Request::new("Query", "Transaction")
        .get_op("User", "GroupBy")
        .get_of("", "Charged", "Sum", "Amount");
    let mut request = request
        .filter("Object", object)
        .filter("Action", action)
        .filter_op("JobId", "NE", "")
        .filter_op("Charged", "NE", "0");
    let scope = [
        ("project", "Project"),
        ("user", "User"),
        ("machine", "Machine"),
    ];
    for (option, attribute) in scope {
        if let Some(name) = session.given.value(option) {
            request = request.filter(attribute, name);
        }
    }
    let request = in_period(session, request);
    session.given.supplemented(request)
}

/// Adds an amount to the others of its user.
fn add(rows: &mut Vec<Row>, more: Row) {
    let user = value(&more, "User");
    let same = rows.iter_mut().find(|row| value(row, "User") == user);
    let own = same.and_then(|row| row.iter_mut().find(|(name, _)| name == "Amount"));
    match own {
        Some((_, sum)) => {
            let amount = value(&more, "Amount").unwrap_or("0");
            *sum = figure::added(sum, amount).unwrap_or_default();
        }
        None => rows.push(more),
    }
}

/// The rows with these columns.
fn chosen(rows: &[Row], show: &str) -> Vec<Row> {
    let names: Vec<&str> = show.split(',').map(str::trim).collect();
    let row = |row: &Row| {
        let cell = |name: &&str| {
            let value = value(row, name).unwrap_or_default();
            ((*name).to_owned(), value.to_owned())
        };
        names.iter().map(cell).collect()
    };
    rows.iter().map(row).collect()
}
