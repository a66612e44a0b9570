//! The contribution report as a page: for each period who used what, beside who contributed what, and
//! how much of the machines was used (reports.md 1.3 to 1.7).

use bank_api::v1::{ContributionPeriod, ContributionReport, EfficiencyReport, EfficiencyRow};
use bank_picture::reports::contribution::{self, bars, periods, sections, utilisation};
use bank_picture::{Bars, Cell, Chart, NOBODY, Number, Part, Report, Section, Span, Table};

use crate::{context::Context, when};

/// The page of who used and who paid; two periods stand beside each other.
pub(in crate::cmd) fn report(context: &Context, answer: &ContributionReport) -> Report {
    let remarks = vec![
        format!("Usage in {}, by {}.", answer.unit, answer.by),
        format!("{}.", periods(answer)),
        "Subscription is the share of usage divided by the share of contributions, without exempt groups. Over: \
         usage without a contribution. Under: a contribution without usage."
            .to_owned(),
    ];
    page(
        context,
        answer,
        "Contributions and usage",
        remarks,
        sections,
    )
}

/// The page of what of the capacity was used.
pub(in crate::cmd) fn utilization(context: &Context, answer: &ContributionReport) -> Report {
    let remarks = vec![
        format!("Usage in {}.", answer.unit),
        format!("{}.", periods(answer)),
        "Capacity is that of the hardware in service, without recorded downtime.".to_owned(),
    ];
    let sections = |answer: &ContributionReport, period: &ContributionPeriod| {
        utilisation(answer, period).into_iter().collect()
    };
    page(context, answer, "Utilization", remarks, sections)
}

fn page(
    context: &Context,
    answer: &ContributionReport,
    title: &str,
    remarks: Vec<String>,
    sections: impl Fn(&ContributionReport, &ContributionPeriod) -> Vec<Section>,
) -> Report {
    let several = answer.periods.len() > 1;
    let part = |period: &ContributionPeriod| {
        let span = contribution::period(period);
        let heading = format!("{} to {}", period.shown_from, period.shown_to);
        Part {
            heading: several.then_some(heading),
            period: span.filter(|_| several),
            sections: sections(answer, period),
        }
    };
    let parts = answer.periods.iter().map(part).collect();
    let first = answer.periods.first();
    let mut made = context.report(title, remarks, Vec::new());
    made.parts = parts;
    made.period = first.and_then(contribution::period).filter(|_| !several);
    made
}

/// `bank report top`: bars of those who used the most.
pub(in crate::cmd) fn top(
    context: &Context,
    answer: &ContributionReport,
    period: &ContributionPeriod,
) -> Report {
    let section = Section::chart("Usage", Chart::Bars(bars(answer, period, |row| &row.usage)));
    let remarks = vec![format!("Usage in {}, by {}.", answer.unit, answer.by)];
    let mut made = context.report("Largest users", remarks, vec![section]);
    made.period = contribution::period(period);
    made
}

/// `bank report efficiency`: what was held, and of what was asked for how much ran.
pub(in crate::cmd) fn efficiency(context: &Context, answer: &EfficiencyReport) -> Report {
    let bars = |unit: &str, of: fn(&EfficiencyRow) -> Option<&str>| {
        let rows = answer.items.iter().filter_map(|row| {
            let amount = Number::read(of(row)?)?;
            Some((named(&row.group), amount))
        });
        Chart::Bars(Bars {
            what: answer.by.clone(),
            unit: unit.to_owned(),
            rows: rows.collect(),
        })
    };
    let in_seconds = context.form.in_seconds();
    let held = if in_seconds {
        bars("processor-seconds", |row| Some(&row.seconds))
    } else {
        bars("processor-hours", |row| Some(&row.hours))
    };
    let mut sections = vec![
        Section::chart("Held", held).with_table(efficiency_table(answer, in_seconds)),
        Section::chart(
            "Run time relative to requested time",
            bars("%", |row| row.time_efficiency.as_deref()),
        )
        .with_table(percentages(answer, |row| row.time_efficiency.as_deref())),
        Section::chart(
            "CPU time relative to reserved processor time",
            bars("%", |row| row.cpu_efficiency.as_deref()),
        )
        .with_table(percentages(answer, |row| row.cpu_efficiency.as_deref())),
    ];
    if answer.total.co2_kg.is_some() {
        let carbon = bars("kg of CO2", |row| row.co2_kg.as_deref());
        sections.push(Section::chart("CO2", carbon));
    }
    let mut remarks = vec![format!(
        "By {}. Percentages include only jobs for which both values are recorded.",
        answer.by
    )];
    if answer.total.energy_kwh.is_some() && answer.without_watts > 0 {
        remarks.push(format!(
            "{} of {} jobs ran on machines without a power value (watts per processor). Their energy is counted as \
             zero.",
            answer.without_watts, answer.total.uses
        ));
    }
    let mut made = context.report("Efficiency", remarks, sections);
    made.period = when::read(&answer.from)
        .zip(when::read(&answer.to))
        .map(|(from, to)| Span { from, to });
    made
}

fn named(group: &str) -> String {
    if group.is_empty() { NOBODY } else { group }.to_owned()
}

/// Percentages are never added up: below them stands that of all.
fn percentages(answer: &EfficiencyReport, of: fn(&EfficiencyRow) -> Option<&str>) -> Table {
    let cells = |row: &EfficiencyRow| {
        let percent = of(row).and_then(Number::read);
        let percent = percent.map_or(Cell::None, Cell::Percent);
        vec![Cell::Text(named(&row.group)), percent]
    };
    Table {
        caption: String::new(),
        columns: vec![(answer.by.clone(), false), ("percent".to_owned(), true)],
        rows: answer.items.iter().map(cells).collect(),
        foot: vec![cells(&answer.total)],
    }
}

fn efficiency_table(answer: &EfficiencyReport, in_seconds: bool) -> Table {
    let number = |text: &str| Cell::maybe(Number::read(text));
    let known = |text: Option<&String>| text.map_or(Cell::None, |text| number(text));
    let percent = |text: Option<&String>| {
        let read = text.and_then(|text| Number::read(text));
        read.map_or(Cell::None, Cell::Percent)
    };
    let energy = answer.total.energy_kwh.is_some();
    let carbon = answer.total.co2_kg.is_some();
    let cells = |row: &EfficiencyRow| {
        let [held, requested, busy] = if in_seconds {
            [&row.seconds, &row.requested_seconds, &row.cpu_seconds]
        } else {
            [&row.hours, &row.requested_hours, &row.cpu_hours]
        };
        let mut cells = vec![
            Cell::Text(named(&row.group)),
            number(&row.uses.to_string()),
            number(held),
            number(requested),
            percent(row.time_efficiency.as_ref()),
            number(busy),
            percent(row.cpu_efficiency.as_ref()),
        ];
        cells.extend(energy.then(|| known(row.energy_kwh.as_ref())));
        cells.extend(carbon.then(|| known(row.co2_kg.as_ref())));
        cells
    };
    let head = |text: &str| (text.to_owned(), true);
    let mut columns = vec![
        (answer.by.clone(), false),
        head("uses"),
        head("held"),
        head("requested"),
        head("ran"),
        head("busy"),
        head("CPU"),
    ];
    columns.extend(energy.then(|| head("kWh")));
    columns.extend(carbon.then(|| head("kg of CO2")));
    Table {
        caption: if in_seconds {
            "Processor-seconds"
        } else {
            "Processor-hours"
        }
        .to_owned(),
        columns,
        rows: answer.items.iter().map(cells).collect(),
        foot: vec![cells(&answer.total)],
    }
}

#[cfg(test)]
mod tests {
    use bank_api::v1::{Utilisation, UtilisationBucket};
    use bank_picture as picture;

    use super::*;

    fn of(name: &str, percent: Option<&str>) -> Utilisation {
        let bucket = |from: &str, to: &str| UtilisationBucket {
            from: from.to_owned(),
            to: to.to_owned(),
            used: "12.50".to_owned(),
            capacity: "0.00".to_owned(),
            percent: percent.map(str::to_owned),
            ..UtilisationBucket::default()
        };
        Utilisation {
            machine: Some(name.to_owned()),
            whole: bucket("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"),
            buckets: vec![
                bucket("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
                bucket("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"),
            ],
        }
    }

    fn page(all: Vec<Utilisation>) -> String {
        let period = ContributionPeriod {
            from: "2026-01-01T00:00:00Z".to_owned(),
            to: "2026-01-03T00:00:00Z".to_owned(),
            utilisation: all,
            ..ContributionPeriod::default()
        };
        let answer = ContributionReport {
            by: "project".to_owned(),
            periods: vec![period],
            ..ContributionReport::default()
        };
        picture::report(&report(&crate::context::test_context(), &answer)).unwrap()
    }

    #[test]
    fn the_page_of_utilisation_is_of_nothing_else() {
        let period = ContributionPeriod {
            shown_from: "2026-01-01 09:00:00".to_owned(),
            shown_to: "2026-01-03 09:00:00".to_owned(),
            utilisation: vec![of("colony", Some("50.00"))],
            ..ContributionPeriod::default()
        };
        let answer = ContributionReport {
            zone: "Asia/Tokyo".to_owned(),
            periods: vec![period],
            ..ContributionReport::default()
        };
        let context = crate::context::test_context();
        let own = picture::report(&utilization(&context, &answer)).unwrap();
        assert!(own.contains("<title>Utilization"), "{own}");
        assert!(
            own.contains("<h2>Utilization</h2>") && own.contains("<svg"),
            "{own}"
        );
        assert!(
            !own.contains("Shares of usage") && !own.contains("Subscription"),
            "{own}"
        );
        let when =
            "from 2026-01-01 09:00:00 to 2026-01-03 09:00:00 (exclusive), times of Asia/Tokyo";
        assert!(own.contains(when), "{own}");
        let whole = picture::report(&report(&context, &answer)).unwrap();
        assert!(
            whole.contains("Shares of usage") && whole.contains(when),
            "{whole}"
        );
    }

    #[test]
    fn utilisation_without_hardware_is_a_sentence_and_a_table() {
        let empty = page(vec![of("colony", None)]);
        let section = empty.split("<h2>Utilization</h2>").nth(1).unwrap();
        assert!(!section.contains("<svg"), "{section}");
        assert!(
            section.contains("No capacity is declared for this period"),
            "{section}"
        );
        assert!(
            section.contains("12.50") && section.contains("none declared"),
            "{section}"
        );
        let both = page(vec![of("colony", Some("50.00")), of("moon", None)]);
        let section = both.split("<h2>Utilization</h2>").nth(1).unwrap();
        assert!(section.contains("<svg"), "{section}");
        assert!(
            section.contains("No capacity is declared for moon, or all"),
            "{section}"
        );
        let known = page(vec![of("colony", Some("50.00"))]);
        assert!(!known.contains("o capacity is declared"), "{known}");
    }
}
