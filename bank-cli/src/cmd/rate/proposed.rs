//! `bank rate test`: what usage would cost, and what the past would have cost.

use std::fmt::Write as _;

use bank_api::v1::{NewRate, RateTest, RateTested, Replay, TestedPrice};
use clap::Parser;
use ureq::http::Method;

use super::body;
use crate::{
    cli::{SetRate, TestRate},
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Form, Kind, Sheet, column, fitted, warn},
    when,
};

/// A proposed rate in one argument.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Proposed {
    #[command(flatten)]
    rate: SetRate,
}

pub(super) fn run(context: &Context, args: TestRate) -> Result<String, Failure> {
    let rates = args.rates.iter().map(|text| proposed(context, text));
    let rates = rates.collect::<Result<Vec<_>, _>>()?;
    let wall = args.wall.as_deref().map(when::seconds).transpose()?;
    let last_days = args.replay.as_deref().map(last_days).transpose()?;
    if args.from.is_none() && last_days.is_none() && wall.is_none() {
        return Err(Failure::usage("nothing to price")
            .hint("name usage and --wall, or --replay last-30-days"));
    }
    let body = RateTest {
        project: args.project,
        user: args.user,
        machine: args.machine,
        usage: args.usage.into_iter().collect(),
        wall_s: wall,
        start: context.time(args.start.as_ref())?,
        rates,
        only: args.only,
        from: context.time(args.from.as_ref())?,
        last_days,
        to: context.time(args.to.as_ref())?,
        ..RateTest::default()
    };
    let call = Call::send(Method::POST, client::path(&["rates", "test"]), &body, None)?;
    let answer: RateTested = context.client.call(&call)?;
    for warning in &answer.warnings {
        warn(warning);
    }
    if let Some(replay) = &answer.replay {
        return replayed(context, &answer, replay);
    }
    if !context.form.is_table() {
        let columns = vec![
            column("amount", "Amount", Kind::Amount),
            column("itemisation", "Arithmetic", Kind::Text),
        ];
        let price = answer.proposed.as_ref().or(answer.current.as_ref());
        let rows: Vec<&TestedPrice> = price.into_iter().collect();
        let sheet = Sheet::new(columns, &rows, "no price");
        return context.form.one(&answer, &sheet);
    }
    Ok(prices(&context.form, &answer))
}

/// The price at present rates and at the proposed ones, each with its arithmetic below it.
fn prices(form: &Form, answer: &RateTested) -> String {
    let mut out = String::new();
    for (what, price) in [("now", &answer.current), ("proposed", &answer.proposed)] {
        if let Some(price) = price {
            let amount = form.amount(&price.amount);
            let _ = writeln!(out, "{what}: {amount} {}", answer.unit);
            let _ = writeln!(out, "  {}", price.itemisation);
        }
    }
    fitted(&out, form.width, |_| 4)
}

/// Who would pay more or less.
fn replayed(context: &Context, answer: &RateTested, replay: &Replay) -> Result<String, Failure> {
    let columns = vec![
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("shadow", "Shadow", Kind::Text).on_screen_if(replay.shadow_total.is_some()),
        column("charges", "Charges", Kind::Number),
        column("billed", "Billed", Kind::Amount),
        column("proposed", "Proposed", Kind::Amount),
        column("difference", "Difference", Kind::Amount),
    ];
    let mut rows = replay.rows.clone();
    rows.push(bank_api::v1::ReplayRow {
        project: Some("total".to_owned()),
        ..replay.total.clone()
    });
    rows.extend(
        replay
            .shadow_total
            .iter()
            .map(|total| bank_api::v1::ReplayRow {
                project: Some("total in shadow".to_owned()),
                ..total.clone()
            }),
    );
    if context.form.is_table() {
        let sheet = Sheet::new(columns, &rows, "no charges").unit(&answer.unit);
        let mut text = context
            .form
            .list(&bank_api::v1::List::whole(rows), &sheet)?;
        let (from, to) = (
            when::moment(&replay.from, context.form.zone),
            when::moment(&replay.to, context.form.zone),
        );
        let _ = writeln!(text, "charges from {from} (inclusive) to {to} (exclusive)");
        if replay.left_out > 0 {
            let jobs = bank_picture::figure::counted(&replay.left_out.to_string(), "job");
            let _ = writeln!(text, "left out: {jobs} that cannot be priced");
        }
        return Ok(text);
    }
    let sheet = Sheet::new(columns, &replay.rows, "no charges");
    context.form.one(answer, &sheet)
}

fn proposed(context: &Context, text: &str) -> Result<NewRate, Failure> {
    let words = words(text);
    let parsed = Proposed::try_parse_from(words).map_err(|_| {
        Failure::usage(format!("--rate {text:?} is not a rate"))
            .hint("write it as for bank rate set: --rate 'VBR Processors 2 --per hour'")
    })?;
    body(context, parsed.rate)
}

/// Words separated by blanks; what stands in double quotes is one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in text.split('"').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The days of `last-30-days`.
fn last_days(span: &str) -> Result<i64, Failure> {
    let days = span.strip_prefix("last-");
    let days = days.and_then(|rest| rest.strip_suffix("-days").or(rest.strip_suffix("-day")));
    let days = days.and_then(|days| days.parse().ok());
    days.ok_or_else(|| {
        Failure::usage(format!("{span:?} is not a span of days")).hint("--replay last-30-days")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::{assert_fits, filled, test_form};

    #[test]
    fn the_widest_prices_fit_a_terminal() {
        for answer in filled::<RateTested>() {
            assert_fits(&prices(&test_form(), &answer));
        }
    }
}
