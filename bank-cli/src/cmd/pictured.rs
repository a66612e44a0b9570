//! Reports as pictures: which form is asked for, and what the daemon's rows are as charts.

use bank_api::text::counted;
use bank_api::v1::{ExpiringRow, FallbackReport, ForecastRow, NegativeRow};
use bank_picture::reports::money;
use bank_picture::{
    self as picture, Bars, Cell, Chart, Number, Part, Report, Section, Span, Table, Timed,
};

use super::burn;
use crate::{cli::Format, config, context::Context, fail::Failure, when};

/// Accounts whose burn-down a page shows; each asks the daemon for its statement.
const BURNS: usize = 12;

impl Context {
    /// What is answered where a picture is asked for: by `-O` a page or a drawing, by `--chart` the
    /// charts in plain characters. None where something else is asked for; then `make` is not called.
    pub(super) fn pictured(
        &self,
        chart: bool,
        make: impl FnOnce() -> Result<Report, Failure>,
    ) -> Option<Result<String, Failure>> {
        match self.form.format {
            Format::Html => Some(make().and_then(|report| Ok(picture::report(&report)?))),
            Format::Svg => Some(make().map(|report| picture::drawing(&report))),
            Format::Table if chart => {
                Some(make().map(|report| picture::screen(&report, config::terminal())))
            }
            _ if chart => Some(Err(Failure::usage(
                "--chart cannot be combined with a machine-readable format",
            )
            .hint("omit --chart or the format; -O svg draws a picture"))),
            _ => None,
        }
    }

    /// Whether a page, a drawing or a chart is requested.
    pub(super) fn is_pictured(&self, chart: bool) -> bool {
        chart || matches!(self.form.format, Format::Html | Format::Svg)
    }

    /// What is answered to `--chart` alone, where `-O` has pages of its own: none for those.
    pub(super) fn charted(
        &self,
        make: impl FnOnce() -> Result<Report, Failure>,
    ) -> Option<Result<String, Failure>> {
        match self.form.format {
            Format::Html | Format::Svg => None,
            _ => self.pictured(true, make),
        }
    }

    /// A report of one part, made now.
    pub(super) fn report(
        &self,
        title: &str,
        remarks: Vec<String>,
        sections: Vec<Section>,
    ) -> Report {
        Report {
            title: title.to_owned(),
            period: None,
            zone: self.zone,
            generated: self.now_us,
            remarks,
            parts: vec![Part {
                sections,
                ..Part::default()
            }],
        }
    }
}

/// `bank report forecast`: a burn-down for each account, where they are few enough.
pub(super) fn forecast(context: &Context, requested: &[ForecastRow]) -> Result<Report, Failure> {
    let answer = context.form.in_units(requested.to_vec())?;
    let rows = answer.as_slice();
    let unit = rows.first().map_or("", |row| row.unit.as_str());
    let available = Bars {
        what: "account".to_owned(),
        unit: unit.to_owned(),
        rows: rows
            .iter()
            .map(|row| (row.account.clone(), Number::or_zero(&row.available)))
            .collect(),
    };
    let mut sections = Vec::new();
    // One picture of several accounts, or of one account: nothing is asked for that is not shown.
    let is_one = context.form.format == Format::Svg;
    let several = rows.len() != 1;
    if several || !is_one {
        let section = Section::chart("Available", Chart::Bars(available));
        sections.push(section.with_table(forecast_table(rows, unit)));
    }
    if !(several && is_one) {
        for row in requested.iter().take(BURNS) {
            let mut chart = burn::of_account(context, row)?;
            if let Some(scale) = context.form.report_scale {
                chart = chart.in_units(scale);
            }
            let title = format!("Burn-down of {}", row.account);
            let section = Section::chart(&title, Chart::Burn(Box::new(chart)));
            sections.push(section.note(money::EXPLAINED).note(money::COMING));
        }
    }
    let mut remarks = vec![format!(
        "Amounts in {unit}. Forecast at the rate of the last 30 days. Allocations that end first are spent first."
    )];
    if rows.len() > BURNS && !is_one {
        remarks.push(format!(
            "Burn-downs of the first {BURNS} of {} accounts. Select others with -A PROJECT.",
            rows.len()
        ));
    }
    Ok(context.report("Forecast", remarks, sections))
}

fn forecast_table(rows: &[ForecastRow], unit: &str) -> Table {
    let head = |text: &str, is_number| (text.to_owned(), is_number);
    let amount = |text: Option<&String>| Cell::maybe(text.and_then(|text| Number::read(text)));
    let time = |text: Option<&String>| {
        let us = text.and_then(|text| when::read(text));
        us.map_or(Cell::None, Cell::Time)
    };
    let row = |row: &ForecastRow| {
        vec![
            Cell::Text(row.account.clone()),
            amount(Some(&row.available)),
            amount(row.burn_per_day.as_ref()),
            time(row.empty_at.as_ref()),
            row.days_left
                .map_or(Cell::None, |days| Cell::Number(Number::whole(days))),
            time(row.unused_at.as_ref()),
            amount(row.unused.as_ref()),
        ]
    };
    Table {
        caption: format!("Forecast, {unit}"),
        columns: vec![
            head("account", false),
            head("available", true),
            head("a day", true),
            head("empty", false),
            head("days left", true),
            head("ends", false),
            head("unused at end", true),
        ],
        rows: rows.iter().map(row).collect(),
        foot: Vec::new(),
    }
}

/// `bank report expiring`: what will be left over of each allocation.
pub(super) fn expiring(context: &Context, rows: &[ExpiringRow], days: u32) -> Report {
    let unit = rows.first().map_or("", |row| row.unit.as_str());
    let named = |row: &ExpiringRow| {
        let until = when::date(&row.until, context.zone);
        format!("{}, {until}", row.account)
    };
    let chart = |amount: fn(&ExpiringRow) -> &str| {
        let bars = rows
            .iter()
            .map(|row| (named(row), Number::or_zero(amount(row))));
        Chart::Bars(Bars {
            what: "account and end".to_owned(),
            unit: unit.to_owned(),
            rows: bars.collect(),
        })
    };
    let remarks = vec![format!(
        "Amounts in {unit}. Allocations that end within {}. Unused amounts are forecast at the rate of \
         the last 30 days.",
        counted(days, "day")
    )];
    let sections = vec![
        Section::chart("Unused at the end", chart(|row| &row.unused)),
        Section::chart("Current amount", chart(|row| &row.amount)),
    ];
    context.report("Expiring allocations", remarks, sections)
}

/// `bank report negative`: how far accounts are below zero.
pub(super) fn negative(context: &Context, rows: &[NegativeRow]) -> Report {
    let unit = rows.first().map_or("", |row| row.unit.as_str());
    let bars = Bars {
        what: "account".to_owned(),
        unit: unit.to_owned(),
        rows: rows
            .iter()
            .map(|row| (row.account.clone(), Number::or_zero(&row.amount)))
            .collect(),
    };
    let section = Section::chart("Amount", Chart::Bars(bars));
    context.report("Accounts below zero", Vec::new(), vec![section])
}

/// `bank report fallback`: what ran on a fallback account, by project and by day.
pub(super) fn fallback(context: &Context, report: &FallbackReport) -> Result<Report, Failure> {
    let period = when::read(&report.from).zip(when::read(&report.until));
    let period = period.map(|(from, to)| Span { from, to });
    let spans = period.map_or_else(Vec::new, |period| picture::spans(period, context.zone));
    let rows = report.items.iter().filter_map(|item| {
        let at = picture::span_of(&spans, when::read(&item.at)?)?;
        Some((at, item.project.clone(), Number::or_zero(&item.charged)))
    });
    let timed = Timed::gathered("project", &report.unit, spans.clone(), rows)?;
    let bars = timed.bars();
    let mut made = context.report(
        "Jobs on fallback accounts",
        vec![format!(
            "Amounts in {}. Held {}, charged {}.",
            report.unit,
            Number::or_zero(&report.held).shown(),
            Number::or_zero(&report.charged).shown()
        )],
        vec![
            Section::chart("Charged by project", Chart::Bars(bars)),
            Section::chart("Charged by day of the shortage", Chart::Columns(timed)),
        ],
    );
    made.period = period;
    Ok(made)
}
