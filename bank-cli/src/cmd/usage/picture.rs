//! `bank usage` as pictures: bars of each owner, and over time where there are buckets.

use bank_api::v1::UsageTable;
use bank_picture::{
    Report,
    reports::usage::{self, Measure},
};

use super::Resource;
use super::figures::{has_shadow, unit, used};
use crate::{context::Context, fail::Failure, out::Form};

/// The page of a table of usage: a section for each figure, and each way to look at it.
pub(in crate::cmd) fn report(
    context: &Context,
    table: &UsageTable,
    resources: &[Resource],
) -> Result<Report, Failure> {
    let sections = usage::sections(table, &measures(&context.form, table, resources))?;
    let mut made = context.report("Usage", usage::remarks(table), sections);
    made.period = usage::period(table);
    Ok(made)
}

/// Which figures: those of the resources that were asked for, else processors and what they cost.
fn measures(form: &Form, table: &UsageTable, resources: &[Resource]) -> Vec<Measure> {
    let of = |resource: &Resource| {
        let (stem, seconds) = used(*resource);
        let title = format!("{stem}{}", unit(form));
        if form.in_seconds() {
            Measure::plain(title, seconds)
        } else {
            Measure::hours(title, seconds)
        }
    };
    if resources.is_empty() {
        let mut all = vec![of(&Resource::Cpu), Measure::charged(&table.unit)];
        if has_shadow(table) {
            let title = format!("{} shadow charges", table.unit);
            all.push(Measure::plain(title, |f| Some(&f.shadow_charged)));
        }
        return all;
    }
    resources.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use bank_api::v1::{UsageFigures, UsageLine};

    use super::*;

    fn row(user: &str, day: u32, hours: &str) -> UsageLine {
        UsageLine {
            keys: [("user".to_owned(), Some(user.to_owned()))].into(),
            bucket: Some(format!("2026-10-{day:02}")),
            bucket_from: format!("2026-10-{day:02}T00:00:00Z"),
            bucket_until: format!("2026-10-{:02}T00:00:00Z", day + 1),
            figures: UsageFigures {
                core_seconds: hours.to_owned(),
                ..UsageFigures::default()
            },
            ..UsageLine::default()
        }
    }

    /// A year of days of many people is refused with numbers, in every form that draws.
    #[test]
    fn a_picture_of_too_much_is_refused_before_it_is_drawn() {
        let one = |n: u32| {
            let mut own = row(&format!("user{n}"), 1 + n % 20, "1.5");
            own.bucket_until = format!("2026-10-{:02}T00:00:00Z", 2 + n % 20);
            own
        };
        let table = |names: u32| UsageTable {
            from: "2026-10-01T00:00:00Z".to_owned(),
            until: "2026-10-21T00:00:00Z".to_owned(),
            every: "day".to_owned(),
            by: vec!["user".to_owned()],
            rows: (0..names).map(one).collect(),
            ..UsageTable::default()
        };
        let context = crate::context::test_context();
        assert!(report(&context, &table(5_000), &[]).is_ok());
        let failure = report(&context, &table(5_001), &[]).unwrap_err();
        assert_eq!(failure.exit, 2);
        let message = "5,001 names in 20 time intervals are 100,020 values";
        assert!(failure.what.contains(message), "{failure:?}");
    }
}
