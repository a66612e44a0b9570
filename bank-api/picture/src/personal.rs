//! Pages of one person: what the daemon answered to that person, as sections of tables.

use bank_api::text::{counted, parse_rfc3339};
use bank_api::v1::{
    ContributionReport, EfficiencyLetter, EfficiencyRow, ExpiringRow, ForecastRow, PersonalReport,
    Statement, StatementGroup, UsageLine, UsageTable,
};

use super::data::{Cell, HIDDEN, NOBODY, OTHERS, Span, Table};
use super::number::Number;
use super::page::{Part, Report};
use super::section::Section;
use crate::figure;
use crate::zone::Zone;

/// Explanation of a subscription.
const SUBSCRIPTION: &str = "Subscription: share of usage divided by share of contributions. Over: \
    usage without a contribution. Under: a contribution without usage.";
/// Explanation of forecasts.
const FORECAST: &str = "As of the creation of this page, at the rate of the last 30 days.";
/// Explanation of an efficiency letter.
const EFFICIENCY: &str = "Requested: processors × requested time. Held: processors × run time. Busy: \
    processor time that programs used. Jobs without a value for a column do not count in it.";
/// Explanation of savings.
const SAVINGS: &str = "Idle: held but not busy, of jobs that report busy time. Fewer processors, or \
    programs that keep them busy, save this time. Energy: watts of a processor × held time; CO2: energy \
    × grams of CO2 per kilowatt-hour.";

/// Whether a page has nothing to report.
pub fn is_empty(page: &PersonalReport) -> bool {
    page.statements.is_empty()
        && page.usage.rows.is_empty()
        && page.contribution.is_none()
        && page.forecast.is_empty()
}

/// The page of a person.
pub fn page(own: &PersonalReport, zone: Zone, generated: i64) -> Report {
    let mut remarks = vec![format!("Amounts in {}.", own.unit)];
    if own.projects > own.statements.len() {
        remarks.push(format!(
            "Statements of the first {} of {} projects: bank statement -A PROJECT shows the others.",
            own.statements.len(),
            own.projects
        ));
    }
    let statements = own.statements.iter().map(statement);
    let mut sections: Vec<Section> = statements.collect();
    sections.push(Section::table("Usage of members", usage(&own.usage)));
    sections.extend(own.contribution.as_ref().map(contribution));
    let table = forecast(&own.forecast, &own.unit);
    sections.push(Section::table("Forecast", table).note(FORECAST));
    let note = format!(
        "Allocations that end within {}.",
        counted(own.within_days, "day")
    );
    let table = expiring(&own.expiring, &own.unit);
    sections.push(Section::table("Expiring allocations", table).note(note));
    report(
        &titled("Personal report", own.user.as_deref()),
        (&own.from, &own.until),
        (zone, generated),
        (remarks, sections),
    )
}

/// The letter to a person about requested and used resources.
pub fn letter(own: &EfficiencyLetter, zone: Zone, generated: i64) -> Report {
    let found = &own.report;
    let total = &found.total;
    let efficiency = total.cpu_efficiency.as_ref();
    let busy = efficiency.map(|percent| format!(", and were busy {percent} % of it"));
    let mut remarks = vec![format!(
        "{} held processors for {} processor-hours{}.",
        figure::counted(&total.uses.to_string(), "job"),
        figure::grouped(&total.hours),
        busy.unwrap_or_default()
    )];
    if !figure::is_zero(&total.idle_hours) {
        let energy = total.idle_energy_kwh.as_ref();
        let energy = energy.map(|kwh| format!(", {} kWh", figure::grouped(kwh)));
        let carbon = total.idle_co2_kg.as_ref();
        let carbon = carbon.map(|kg| format!(", {} kg of CO2", figure::grouped(kg)));
        remarks.push(format!(
            "Possible savings: {} processor-hours{}{}.",
            figure::grouped(&total.idle_hours),
            energy.unwrap_or_default(),
            carbon.unwrap_or_default()
        ));
    }
    let sections = vec![
        Section::table("Requested and used", requested(own)).note(EFFICIENCY),
        Section::table("Energy and possible savings", savings(own)).note(SAVINGS),
    ];
    report(
        &titled("Efficiency letter", own.user.as_deref()),
        (&found.from, &found.to),
        (zone, generated),
        (remarks, sections),
    )
}

fn titled(title: &str, user: Option<&str>) -> String {
    match user {
        Some(user) => format!("{title}: {user}"),
        None => title.to_owned(),
    }
}

fn report(
    title: &str,
    (from, until): (&str, &str),
    (zone, generated): (Zone, i64),
    (remarks, sections): (Vec<String>, Vec<Section>),
) -> Report {
    let period = parse_rfc3339(from).zip(parse_rfc3339(until));
    Report {
        title: title.to_owned(),
        period: period.map(|(from, to)| Span { from, to }),
        zone,
        generated,
        remarks,
        parts: vec![Part {
            sections,
            ..Part::default()
        }],
    }
}

fn head(text: &str, is_number: bool) -> (String, bool) {
    (text.to_owned(), is_number)
}

fn amount(text: &str) -> Cell {
    Cell::maybe(Number::read(text))
}

fn optional(text: Option<&String>) -> Cell {
    text.map_or(Cell::None, |text| amount(text))
}

fn time(text: Option<&String>) -> Cell {
    let us = text.and_then(|text| parse_rfc3339(text));
    us.map_or(Cell::None, Cell::Time)
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

/// Opening, every heading, closing.
fn statement(own: &Statement) -> Section {
    let count = |count: i64| Cell::Number(Number::whole(count));
    let end = |name: &str, sum: Option<&String>| {
        let row = sum.map(|sum| vec![text(name), amount(sum), Cell::None]);
        row.into_iter()
    };
    let of = |groups: &[StatementGroup]| -> Vec<Vec<Cell>> {
        let row = |group: &StatementGroup| {
            let late = if group.adjustment {
                ", adjusting a closed period"
            } else {
                ""
            };
            let jobs = (group.jobs > 0).then(|| count(group.jobs));
            vec![
                Cell::Text(group.label() + late),
                amount(&group.amount),
                jobs.unwrap_or(Cell::None),
            ]
        };
        groups.iter().map(row).collect()
    };
    let mut rows: Vec<Vec<Cell>> = end("Opening amount", own.opening.as_ref()).collect();
    rows.extend(of(&own.credits));
    rows.extend(of(&own.debits));
    rows.extend(end("Closing amount", own.closing.as_ref()));
    rows.extend(end("Held", own.held.as_ref()));
    rows.extend(end("Available", own.available.as_ref()));
    let table = Table {
        columns: vec![head("", false), head(&own.unit, true), head("jobs", true)],
        rows,
        ..Table::default()
    };
    let section = Section::table(&format!("Statement of {}", own.name), table);
    let accounts = own.accounts.join(", ");
    if own.accounts.len() == 1 && accounts == own.name {
        return section;
    }
    section.note(format!("Accounts: {accounts}."))
}

/// By project and user. Other members of a project without a visible name are one row.
fn usage(own: &UsageTable) -> Table {
    let name = |line: &UsageLine, key: &str| match line.keys.get(key) {
        _ if line.others => text(OTHERS),
        Some(Some(name)) if name.is_empty() => text(NOBODY),
        Some(Some(name)) => text(name),
        _ => text(HIDDEN),
    };
    let has_shadow = Number::read(&own.total.shadow_charged).is_some_and(|sum| !sum.is_zero());
    let figures = |figures: &bank_api::v1::UsageFigures| {
        let mut cells = vec![
            amount(&figures.jobs),
            amount(&figures.core_hours),
            amount(&figures.charged),
        ];
        cells.extend(has_shadow.then(|| amount(&figures.shadow_charged)));
        cells
    };
    let row = |line: &UsageLine| {
        let mut row = vec![name(line, "project"), name(line, "user")];
        row.extend(figures(&line.figures));
        row
    };
    let mut total = vec![text("total"), Cell::None];
    total.extend(figures(&own.total));
    let mut columns = vec![
        head("project", false),
        head("user", false),
        head("jobs", true),
        head("core-hours", true),
        head(&format!("charged, {}", own.unit), true),
    ];
    columns.extend(has_shadow.then(|| head(&format!("shadow, {}", own.unit), true)));
    Table {
        columns,
        rows: own.rows.iter().map(row).collect(),
        foot: vec![total],
        ..Table::default()
    }
}

fn contribution(own: &ContributionReport) -> Section {
    let percent = |text: &str| Number::read(text).map_or(Cell::None, Cell::Percent);
    let rows = own.periods.iter().flat_map(|period| &period.rows);
    let rows = rows.map(|row| {
        vec![
            text(&row.group),
            amount(&row.usage),
            percent(&row.usage_share),
            amount(&row.contribution),
            percent(&row.contribution_share),
            text(&row.subscription),
        ]
    });
    let table = Table {
        columns: vec![
            head("contributor", false),
            head("usage", true),
            head("share", true),
            head("contribution", true),
            head("share", true),
            head("subscription", true),
        ],
        rows: rows.collect(),
        ..Table::default()
    };
    let section = Section::table("Subscription and contribution", table);
    section.note(format!("Usage in {}. {SUBSCRIPTION}", own.unit))
}

fn forecast(rows: &[ForecastRow], unit: &str) -> Table {
    let row = |row: &ForecastRow| {
        let days = row.days_left;
        vec![
            text(&row.account),
            amount(&row.available),
            optional(row.burn_per_day.as_ref()),
            time(row.empty_at.as_ref()),
            days.map_or(Cell::None, |days| Cell::Number(Number::whole(days))),
            optional(row.unused.as_ref()),
        ]
    };
    Table {
        columns: vec![
            head("account", false),
            head(&format!("available, {unit}"), true),
            head("a day", true),
            head("empty", false),
            head("days left", true),
            head("unused at end", true),
        ],
        rows: rows.iter().map(row).collect(),
        ..Table::default()
    }
}

fn expiring(rows: &[ExpiringRow], unit: &str) -> Table {
    let row = |row: &ExpiringRow| {
        vec![
            text(&row.account),
            time(Some(&row.until)),
            Cell::Number(Number::whole(row.days_left)),
            Cell::Number(Number::whole(row.allocation)),
            amount(&row.amount),
            amount(&row.unused),
        ]
    };
    Table {
        columns: vec![
            head("account", false),
            head("until", false),
            head("days to end", true),
            head("allocation", true),
            head(&format!("amount, {unit}"), true),
            head("unused at end", true),
        ],
        rows: rows.iter().map(row).collect(),
        ..Table::default()
    }
}

/// A row of each group, and of all of them where there are several.
fn grouped(own: &EfficiencyLetter, row: impl Fn(&EfficiencyRow) -> Vec<Cell>) -> Table {
    let found = &own.report;
    let several = found.items.len() > 1;
    Table {
        rows: found.items.iter().map(&row).collect(),
        foot: several.then(|| row(&found.total)).into_iter().collect(),
        ..Table::default()
    }
}

fn group(row: &EfficiencyRow) -> Cell {
    text(if row.group.is_empty() {
        NOBODY
    } else {
        &row.group
    })
}

fn requested(own: &EfficiencyLetter) -> Table {
    let percent = |text: Option<&String>| {
        let number = text.and_then(|text| Number::read(text));
        number.map_or(Cell::None, Cell::Percent)
    };
    let table = grouped(own, |row| {
        vec![
            group(row),
            amount(&row.uses.to_string()),
            amount(&row.requested_hours),
            amount(&row.hours),
            percent(row.time_efficiency.as_ref()),
            amount(&row.cpu_hours),
            percent(row.cpu_efficiency.as_ref()),
        ]
    });
    Table {
        columns: vec![
            head(&own.report.by, false),
            head("jobs", true),
            head("requested, h", true),
            head("held, h", true),
            head("of requested", true),
            head("busy, h", true),
            head("of held", true),
        ],
        ..table
    }
}

fn savings(own: &EfficiencyLetter) -> Table {
    let table = grouped(own, |row| {
        vec![
            group(row),
            optional(row.energy_kwh.as_ref()),
            optional(row.co2_kg.as_ref()),
            amount(&row.idle_hours),
            optional(row.idle_energy_kwh.as_ref()),
            optional(row.idle_co2_kg.as_ref()),
        ]
    });
    Table {
        columns: vec![
            head(&own.report.by, false),
            head("kWh", true),
            head("CO2, kg", true),
            head("idle, h", true),
            head("idle, kWh", true),
            head("idle, CO2, kg", true),
        ],
        ..table
    }
}
