//! `bank settlement`, and the counterparts of a transaction at partner banks in `bank explain`.

use std::fmt::Write as _;

use bank_api::v1::{
    PartnerEntry, PartnerExplained, PartnerMessageQuery, Settlement, SettlementQuery,
    SettlementSide,
};
use bank_picture::figure;
use serde_json::Value;

use crate::{
    cli::SettlementArgs,
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
    when,
};

pub(super) fn settlement(context: &Context, args: &SettlementArgs) -> Result<String, Failure> {
    let query = SettlementQuery {
        month: args.month.clone(),
    };
    let path = ["partners", &args.partner, "settlement"];
    let answer: Settlement = context.get(&path, &query)?;
    let mut text = context.form.list(&answer, &totals(&answer))?;
    if !context.form.is_table() || !context.form.columns.is_empty() {
        return Ok(text);
    }
    text.push_str(&sentence(context, &answer));
    if !answer.differences.is_empty() {
        text.push('\n');
        text.push_str(&context.form.list(&answer, &differences(&answer))?);
    }
    Ok(text)
}

fn directions(answer: &Settlement) -> [String; 2] {
    let partner = &answer.partner;
    [
        format!("jobs of {partner} here"),
        format!("own jobs at {partner}"),
    ]
}

fn totals(answer: &Settlement) -> Sheet {
    let [theirs, ours] = directions(answer);
    let sides = [(theirs, &answer.partner_owes), (ours, &answer.partner_gets)];
    let rows = sides.into_iter().map(|(direction, side)| {
        let mut row = out::row(side);
        row.insert("direction".to_owned(), Value::from(direction));
        row
    });
    let columns = vec![
        column("direction", "Direction", Kind::Text),
        column("entries", "Entries", Kind::Number),
        column("charged", "Charged", Kind::Amount),
        column("returned", "Returned", Kind::Amount),
        column("total", "Total", Kind::Amount),
        column("in_flight", "In flight", Kind::Number),
        column("in_flight_amount", "Amount", Kind::Amount),
    ];
    let mut sheet = Sheet::new(columns, &[] as &[SettlementSide], "").unit(&answer.unit);
    sheet.rows.extend(rows);
    sheet.remark = format!("{} with {}, UTC", answer.month, answer.partner);
    sheet
}

/// Who owes what, and whether the partner agrees.
fn sentence(context: &Context, answer: &Settlement) -> String {
    let (partner, unit) = (&answer.partner, &answer.unit);
    let mut text = if let Some(net) = answer.net.strip_prefix('-') {
        let net = context.form.amount(net);
        format!("This bank owes {partner} {net} {unit}.")
    } else {
        let net = context.form.amount(&answer.net);
        format!("{partner} owes this bank {net} {unit}.")
    };
    match (answer.compared, answer.agrees) {
        (false, _) => {
            let cause = answer.cause.as_deref().unwrap_or("no answer");
            // Writing to a string cannot fail.
            let _ = writeln!(text, " Nothing is compared: {cause}.");
        }
        (true, true) => text.push_str(" Both banks agree.\n"),
        (true, false) => text.push_str(" These entries are left out:\n"),
    }
    text
}

fn differences(answer: &Settlement) -> Sheet {
    let [theirs, ours] = directions(answer);
    let rows = answer.differences.iter().map(|difference| {
        let (here, there) = (difference.here.as_ref(), difference.there.as_ref());
        let entry = here.or(there);
        let direction = if difference.sent { &theirs } else { &ours };
        let mut row = out::row(difference);
        for (key, value) in [
            ("direction", Value::from(direction.as_str())),
            ("job", Value::from(entry.map(|e| e.job.as_str()))),
            ("project", Value::from(entry.map(|e| e.project.as_str()))),
            ("here", Value::from(here.map(|e| e.amount.as_str()))),
            ("there", Value::from(there.map(|e| e.amount.as_str()))),
            ("transaction", Value::from(here.map(|e| e.transaction))),
            ("counterpart", Value::from(there.map(|e| e.transaction))),
        ] {
            row.insert(key.to_owned(), value);
        }
        row
    });
    let columns = vec![
        column("direction", "Direction", Kind::Text),
        column("number", "Message", Kind::Number),
        column("what", "What", Kind::Text),
        column("job", "Job", Kind::Text),
        column("project", "Project", Kind::Text),
        column("here", "Here", Kind::Amount),
        column("there", "There", Kind::Amount),
        column("transaction", "Transaction", Kind::Number),
        column("counterpart", "There", Kind::Number),
    ];
    let mut sheet = Sheet::new(columns, &[] as &[Settlement], "no differences");
    sheet.rows.extend(rows);
    sheet.unit(&answer.unit)
}

/// The counterpart of a transaction; if `asks`, with the entries there.
pub(super) fn counterpart(context: &Context, entry: &PartnerEntry, asks: bool) -> String {
    let partner = &entry.partner;
    let amount = context.form.amount(&entry.amount);
    let way = if entry.sent { "to" } else { "from" };
    let head = format!(
        "message {} {way} {partner}: {amount} {}",
        entry.number, entry.unit
    );
    let Some(transaction) = entry.counterpart else {
        return format!("  {head}, in flight\n");
    };
    let mut out = format!("  {head}, transaction {transaction} there\n");
    if asks {
        out.push_str(&there(context, entry));
    }
    out
}

/// The entries of a message at the other bank.
fn there(context: &Context, entry: &PartnerEntry) -> String {
    let number = entry.number.to_string();
    let path = ["partners", &entry.partner, "messages", &number];
    let query = PartnerMessageQuery { sent: entry.sent };
    let answer: PartnerExplained = match context.get(&path, &query) {
        Ok(answer) => answer,
        Err(failure) => return format!("    no explanation there: {}\n", failure.what),
    };
    let recorded = when::moment(&answer.entry.recorded_at, context.zone);
    let mut out = format!(
        "    there: job {} of project {}, recorded {recorded}\n",
        answer.entry.job, answer.entry.project
    );
    for line in &answer.lines {
        let account = line.account.as_deref().unwrap_or("(no account)");
        // Writing to a string cannot fail.
        let _ = write!(out, "    {}  {account}", line.kind);
        let changes = [("amount", Some(&line.amount)), ("held", line.held.as_ref())];
        for (what, change) in changes {
            if let Some(change) = change.filter(|change| !figure::is_zero(change)) {
                let sign = if change.starts_with('-') { "" } else { "+" };
                let _ = write!(out, "  {what} {sign}{}", context.form.amount(change));
            }
        }
        out.push('\n');
    }
    out
}
