//! `bank report monthly`: a month on one page, as managers ask for it: who used what, and on which days.

use bank_api::v1::{UsageQuery, UsageTable};
use bank_picture::{HIDDEN, NOBODY, OTHERS, Report};
use chrono::{Datelike as _, Months};
use serde_json::{Value, json};

use super::usage;
use crate::{
    cli::{Format, MonthlyArgs},
    config,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    period,
};

/// The three tables of the page.
struct Tables {
    projects: UsageTable,
    users: UsageTable,
    days: UsageTable,
}

impl Tables {
    /// What each is of, and the table.
    fn all(&self) -> [(&'static str, &UsageTable); 3] {
        [
            ("project", &self.projects),
            ("user", &self.users),
            ("day", &self.days),
        ]
    }
}

pub(super) fn run(context: &Context, args: &MonthlyArgs) -> Result<String, Failure> {
    let (from, until) = times(context, args)?;
    let ask = |by: Option<&str>, every: Option<&str>| -> Result<UsageTable, Failure> {
        let query = UsageQuery {
            from: Some(from.clone()),
            until: Some(until.clone()),
            by: by.map(str::to_owned),
            every: every.map(str::to_owned),
            tz: args.zone.tz.clone().or_else(config::zone_name),
            tree: args.project.is_some(),
            project: args.project.clone(),
            top: by.map(|_| args.top),
            ..UsageQuery::default()
        };
        context.get(&["report", "usage"], &query)
    };
    let tables = Tables {
        projects: ask(Some("project"), None)?,
        users: ask(Some("user"), None)?,
        days: ask(None, Some("day"))?,
    };
    let picture = || pictured(context, &tables);
    if let Some(output) = context.pictured(args.chart, picture) {
        return output;
    }
    if context.form.is_table() && context.form.columns.is_empty() {
        let screens = tables.all().map(|(by, table)| {
            let screen = usage::screen(&context.form, &format!("By {by}, "), table, &[], false);
            let nothing = if table.rows.is_empty() {
                "no usage in this period\n"
            } else {
                ""
            };
            screen + nothing
        });
        return Ok(screens.join("\n"));
    }
    let sheet = sheet(&tables, context.form.in_seconds());
    if context.form.format == Format::Jsonl {
        let UsageTable {
            from,
            until,
            tz,
            unit,
            ..
        } = &tables.projects;
        let whole = json!({"from": from, "until": until, "tz": tz, "unit": unit});
        return context.form.report(&whole, &sheet);
    }
    let answer = json!({"projects": tables.projects, "users": tables.users, "days": tables.days});
    context.form.list(&answer, &sheet)
}

/// Two dates of the zone that is asked for, the second exclusive; or what `--from` and `--to` say.
fn times(context: &Context, args: &MonthlyArgs) -> Result<(String, String), Failure> {
    if let (Some(from), Some(to)) = (&args.from, &args.to) {
        let time = |text| {
            let time = context.time_or_date(Some(text), false)?;
            Ok::<_, Failure>(time.unwrap_or_default())
        };
        return Ok((time(from)?, time(to)?));
    }
    if let Some(month) = args.month.as_ref().or(args.named.as_ref()) {
        // A quarter or a year has commands of its own.
        period::month(month, context.zone)?;
        return period::dates(month);
    }
    let today = context.zone.show(context.now_us);
    let last = today.date_naive().with_day(1);
    let last = last.and_then(|first| first.checked_sub_months(Months::new(1)));
    let last = last.ok_or_else(|| Failure::internal("this month has none before it"))?;
    period::dates(&last.format("%Y-%m").to_string())
}

fn pictured(context: &Context, tables: &Tables) -> Result<Report, Failure> {
    let mut page = usage::picture::report(context, &tables.projects, &[])?;
    "Monthly report".clone_into(&mut page.title);
    for table in [&tables.users, &tables.days] {
        let more = usage::picture::report(context, table, &[])?;
        let sections = more.parts.into_iter().flat_map(|part| part.sections);
        if let Some(part) = page.parts.first_mut() {
            part.sections.extend(sections);
        }
    }
    page.remarks.push(format!(
        "Days begin at midnight in time zone {}. Charges are net of refunds and are counted in the period in which \
         the job ran. Dates of payments are in the statement (bank statement).",
        tables.days.tz
    ));
    Ok(page)
}

/// For scripts: the rows of all three below each other, each with what it is of.
fn sheet(tables: &Tables, in_seconds: bool) -> Sheet {
    let mut rows: Vec<Value> = Vec::new();
    for (by, table) in tables.all() {
        for row in &table.rows {
            let name = match (&row.bucket, row.keys.get(by)) {
                _ if row.others => OTHERS.to_owned(),
                (_, Some(Some(name))) if name.is_empty() => NOBODY.to_owned(),
                (_, Some(Some(name))) => name.clone(),
                (_, Some(None)) => HIDDEN.to_owned(),
                (bucket, None) => bucket.clone().unwrap_or_default(),
            };
            rows.push(json!({"by": by, "name": name, "jobs": row.figures.jobs,
                "core_hours": row.figures.core_hours,
                "core_seconds": row.figures.core_seconds, "charged": row.figures.charged,
                "shadow_charged": row.figures.shadow_charged,
                "share": row.figures.share}));
        }
    }
    let used = if in_seconds {
        column("core_seconds", "Core-seconds", Kind::Amount)
    } else {
        column("core_hours", "Core-hours", Kind::Amount)
    };
    let columns = vec![
        column("by", "By", Kind::Text),
        column("name", "Name", Kind::Text),
        column("jobs", "Jobs", Kind::Number),
        used,
        column("charged", "Charged", Kind::Amount),
        column("shadow_charged", "Shadow", Kind::Amount).if_machine(),
        column("share", "Share", Kind::Number),
    ];
    Sheet::new(columns, &rows, "no usage in this period").unit(&tables.projects.unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ZoneArgs;
    use bank_api::v1::{UsageFigures, UsageLine};

    fn context(now: &str) -> Context {
        Context {
            now_us: crate::when::read(now).unwrap(),
            ..crate::context::test_context()
        }
    }

    fn month(month: Option<&str>) -> MonthlyArgs {
        MonthlyArgs {
            zone: ZoneArgs::default(),
            month: month.map(str::to_owned),
            named: None,
            from: None,
            to: None,
            project: None,
            top: 10,
            chart: false,
        }
    }

    #[test]
    fn the_month_is_the_last_one_that_is_over() {
        // One hour east of Greenwich it is March already.
        let context = context("2026-02-28T23:30:00Z");
        let dates = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let last = times(&context, &month(None)).unwrap();
        assert_eq!(last, dates("2026-02-01", "2026-03-01"));
        let named = times(&context, &month(Some("2025-12"))).unwrap();
        assert_eq!(named, dates("2025-12-01", "2026-01-01"));
        assert_eq!(times(&context, &month(Some("2026Q1"))).unwrap_err().exit, 2);
        assert_eq!(times(&context, &month(Some("2026"))).unwrap_err().exit, 2);
    }

    #[test]
    fn rows_of_all_tables_name_their_table() {
        let row = |by: &str, name: Option<&str>| UsageLine {
            keys: [(by.to_owned(), name.map(str::to_owned))].into(),
            ..UsageLine::default()
        };
        let mut day = UsageLine {
            bucket: Some("2026-10-01".to_owned()),
            ..UsageLine::default()
        };
        day.figures = UsageFigures {
            jobs: "3".to_owned(),
            ..UsageFigures::default()
        };
        let table = |rows: Vec<UsageLine>| UsageTable {
            rows,
            ..UsageTable::default()
        };
        let mut others = row("user", Some("x"));
        others.others = true;
        let tables = Tables {
            projects: table(vec![row("project", Some("chem")), row("project", Some(""))]),
            users: table(vec![row("user", None), others]),
            days: table(vec![day]),
        };
        let rows = sheet(&tables, false).rows;
        let names: Vec<String> = rows
            .iter()
            .map(|row| {
                format!(
                    "{} {}",
                    row["by"].as_str().unwrap(),
                    row["name"].as_str().unwrap()
                )
            })
            .collect();
        let expected = [
            "project chem",
            "project (none)",
            "user (not shown)",
            "user (all others)",
            "day 2026-10-01",
        ];
        assert_eq!(names, expected);
    }
}
