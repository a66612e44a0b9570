//! The contribution report as a page: for each period who used what, beside who contributed what, and
//! how much of the machines was used (reports.md 1.3 to 1.7).

use bank_api::v1::{
    ContributionPeriod, ContributionReport, ContributionRow, EfficiencyReport, EfficiencyRow,
    Utilisation,
};
use bank_picture::{
    Bars, Beside, Cell, Chart, Number, Part, Report, Section, Series, Span, Table, Timed,
};

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
    page(context, answer, "Utilisation", remarks, sections)
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
        let span = span(&period.from, &period.to);
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
    made.period = first
        .and_then(|period| span(&period.from, &period.to))
        .filter(|_| !several);
    made
}

/// When it is told of, in the zone that was asked for.
pub(in crate::cmd) fn periods(answer: &ContributionReport) -> String {
    let of = |period: &ContributionPeriod| {
        let (from, to) = (&period.shown_from, &period.shown_to);
        format!("from {from} to {to} (exclusive)")
    };
    let all: Vec<String> = answer.periods.iter().map(of).collect();
    format!(
        "Usage {}, times of {}",
        all.join("; beside it "),
        answer.zone
    )
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
    made.period = span(&period.from, &period.to);
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
    made.period = span(&answer.from, &answer.to);
    made
}

fn named(group: &str) -> String {
    if group.is_empty() { "(none)" } else { group }.to_owned()
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

fn bars(
    answer: &ContributionReport,
    period: &ContributionPeriod,
    of: fn(&ContributionRow) -> &str,
) -> Bars {
    let rows = period.rows.iter();
    Bars {
        what: answer.by.clone(),
        unit: answer.unit.clone(),
        rows: rows
            .map(|row| (row.group.clone(), Number::or_zero(of(row))))
            .collect(),
    }
}

fn span(from: &str, to: &str) -> Option<Span> {
    let (from, to) = (when::read(from)?, when::read(to)?);
    Some(Span { from, to })
}

fn sections(answer: &ContributionReport, period: &ContributionPeriod) -> Vec<Section> {
    let usage = Section::chart(
        "Shares of usage",
        Chart::Pie(bars(answer, period, |row| &row.usage)),
    );
    let mut sections = vec![usage.with_table(table(answer, period))];
    if answer.by == "contributor" {
        let given = Bars {
            unit: "processors × factor".to_owned(),
            ..bars(answer, period, |row| &row.contribution)
        };
        sections.push(Section::chart("Contributions", Chart::Bars(given)));
        sections.push(subscription(period));
    }
    sections.extend(utilisation(answer, period));
    sections
}

/// The share of usage beside the share of contributions of each group.
fn subscription(period: &ContributionPeriod) -> Section {
    let row = |row: &ContributionRow| {
        let shares = [&row.usage_share, &row.contribution_share].map(|share| Number::read(share));
        (row.group.clone(), shares.to_vec())
    };
    let beside = Beside {
        what: "contributor".to_owned(),
        unit: "%".to_owned(),
        series: vec!["usage".to_owned(), "contribution".to_owned()],
        rows: period.rows.iter().map(row).collect(),
    };
    Section::chart("Usage beside contribution", Chart::Beside(beside))
        .note("Shares of the whole without exempt groups.")
}

/// The lines of machines whose hardware is known; of the others it is said in words.
fn utilisation(answer: &ContributionReport, period: &ContributionPeriod) -> Option<Section> {
    let spans = period.utilisation.iter().find_map(spans)?;
    let has_capacity = |of: &&Utilisation| of.buckets.iter().any(|b| b.percent.is_some());
    let (known, unknown): (Vec<_>, Vec<_>) = period.utilisation.iter().partition(has_capacity);
    if known.is_empty() {
        let words = "No utilisation: no hardware is recorded for this period, or all of it was down. Record \
            hardware with `bank hardware add`.";
        return Some(Section::table("Utilisation", used(answer, &unknown)).note(words));
    }
    let lines = Timed {
        what: "machine".to_owned(),
        unit: "%".to_owned(),
        series: known.iter().map(|of| series(of)).collect(),
        limit: Some(("capacity".to_owned(), Number::whole(100))),
        spans,
    };
    let section = Section::chart("Utilisation", Chart::Lines(lines))
        .note("Usage as a percentage of the capacity of the hardware in service.");
    if unknown.is_empty() {
        return Some(section);
    }
    let names: Vec<&str> = unknown.iter().map(|of| machine(of)).collect();
    Some(section.note(format!(
        "No hardware is recorded for {}, or all of it was down.",
        names.join(", ")
    )))
}

fn machine(of: &Utilisation) -> &str {
    of.machine.as_deref().unwrap_or("all")
}

/// What was used where there is no capacity to compare it with.
fn used(answer: &ContributionReport, all: &[&Utilisation]) -> Table {
    let rows = all.iter().flat_map(|of| {
        of.buckets.iter().map(|bucket| {
            let from = when::read(&bucket.from).map_or(Cell::None, Cell::Time);
            vec![
                from,
                Cell::Text(machine(of).to_owned()),
                Cell::maybe(Number::read(&bucket.used)),
                Cell::Text("not known".to_owned()),
            ]
        })
    });
    let head = |text: &str, is_number| (text.to_owned(), is_number);
    Table {
        caption: format!("Usage in {}, without capacity", answer.unit),
        columns: vec![
            head("from", false),
            head("machine", false),
            head("used", true),
            head("capacity", false),
        ],
        rows: rows.collect(),
        foot: Vec::new(),
    }
}

/// The buckets of a machine; none where it has none.
fn spans(of: &Utilisation) -> Option<Vec<Span>> {
    let spans = of.buckets.iter();
    let spans: Option<Vec<Span>> = spans.map(|bucket| span(&bucket.from, &bucket.to)).collect();
    spans.filter(|spans| !spans.is_empty())
}

fn series(of: &Utilisation) -> Series {
    let percent = of.buckets.iter().map(|bucket| bucket.percent.as_deref());
    let percent = percent.map(|percent| percent.and_then(Number::read));
    Series {
        name: machine(of).to_owned(),
        values: percent.collect(),
    }
}

fn table(answer: &ContributionReport, period: &ContributionPeriod) -> Table {
    let head = |text: &str, is_number| (text.to_owned(), is_number);
    let number = |text: &str| Cell::maybe(Number::read(text));
    let percent = |text: &str| Number::read(text).map_or(Cell::None, Cell::Percent);
    let row = |row: &ContributionRow| {
        vec![
            Cell::Text(row.group.clone()),
            number(&row.usage),
            percent(&row.usage_share),
            number(&row.contribution),
            percent(&row.contribution_share),
            Cell::Text(row.subscription.clone()),
            row.cpu_efficiency.as_deref().map_or(Cell::None, percent),
        ]
    };
    let total = |name: &str, usage: &str, contribution: &str| {
        vec![
            Cell::Text(name.to_owned()),
            number(usage),
            Cell::None,
            number(contribution),
            Cell::None,
            Cell::None,
            Cell::None,
        ]
    };
    let (counted, all) = (&period.counted, &period.all);
    Table {
        caption: format!("Usage in {}", answer.unit),
        columns: vec![
            head(&answer.by, false),
            head("usage", true),
            head("share", true),
            head("contribution", true),
            head("share", true),
            head("subscription", true),
            head("CPU", true),
        ],
        rows: period.rows.iter().map(row).collect(),
        foot: vec![
            total(
                "total without exempt",
                &counted.usage,
                &counted.contribution,
            ),
            total("total", &all.usage, &all.contribution),
        ],
    }
}

#[cfg(test)]
mod tests {
    use bank_api::v1::UtilisationBucket;
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
        assert!(own.contains("<title>Utilisation"), "{own}");
        assert!(
            own.contains("<h2>Utilisation</h2>") && own.contains("<svg"),
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
        let section = empty.split("<h2>Utilisation</h2>").nth(1).unwrap();
        assert!(!section.contains("<svg"), "{section}");
        assert!(
            section.contains("No utilisation: no hardware is recorded for this period"),
            "{section}"
        );
        assert!(
            section.contains("12.50") && section.contains("not known"),
            "{section}"
        );
        let both = page(vec![of("colony", Some("50.00")), of("moon", None)]);
        let section = both.split("<h2>Utilisation</h2>").nth(1).unwrap();
        assert!(section.contains("<svg"), "{section}");
        assert!(
            section.contains("No hardware is recorded for moon, or all"),
            "{section}"
        );
        let known = page(vec![of("colony", Some("50.00"))]);
        assert!(!known.contains("o hardware is recorded"), "{known}");
    }
}
