//! Utilisation: what was used of the capacity of each machine, over time.

use bank_api::v1::{ContributionPeriod, ContributionReport, Utilisation, UtilisationBucket};
use bank_picture::Section;
use bank_picture::reports::contribution;
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use crate::embedded::embedded;
use crate::failed::Failed;
use crate::page::Page;
use crate::parts::amount::{amount, maybe};
use crate::parts::asked::{self, Asked, Words};
use crate::parts::period::{self, Choice};
use crate::parts::picture;
use crate::parts::table::{Table, link};
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The measures.
pub(crate) const BASIS: Words = &[
    ("slots", "held processors"),
    ("cpu", "busy processors"),
    ("gpu", "GPUs"),
];

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/utilization", show)
            .right(Right::SeeShares)
            .below(&["/usage"])
            .takes_period()
            .takes(["every", "by", "basis", "machine"])
            .picture(picture_alone),
    ]
}

/// The picture for other sites.
async fn picture_alone(visit: Visit) -> Shown {
    let (asked, basis) = question(&visit)?;
    let route = route(&visit, &asked, basis, Target::api, every(&asked));
    let report: ContributionReport = visit.get(route).await?;
    let period = report.periods.first();
    let section = period.and_then(|period| section(&report, period));
    embedded(&visit, "Utilization", section.as_ref())
}

/// What the address asks for, and of which measure.
fn question(visit: &Visit) -> Result<(Asked, &'static str), Failed> {
    let asked = Asked::of(visit, &[("machine", "machine")])?;
    asked::word(visit, "every", &EVERY)?;
    Ok((asked, asked::word(visit, "basis", BASIS)?))
}

/// Capacity is known for days, not for hours.
const EVERY: [(&str, &str); 4] = [
    ("", "automatic"),
    ("day", "days"),
    ("week", "weeks"),
    ("month", "months"),
];

fn route(
    visit: &Visit,
    asked: &Asked,
    basis: &str,
    root: fn(&[&str]) -> Target,
    buckets: &str,
) -> Target {
    root(&["report", "contribution"])
        .with("by", "contributor")
        .with("basis", basis)
        .with("buckets", buckets)
        .with("tz", visit.zone().name())
        .with("from", &asked.from)
        .maybe("to", asked.to.as_deref())
        .maybe("machine", visit.parameter("machine"))
}

/// Capacity is known by day.
fn every(asked: &Asked) -> &'static str {
    // The usual buckets of a short period.
    if asked.every == "hour" {
        "day"
    } else {
        asked.every
    }
}

async fn show(visit: Visit) -> Shown {
    let (asked, basis) = question(&visit)?;
    let every = every(&asked);
    let route = |root, buckets: &str| route(&visit, &asked, basis, root, buckets);
    let report: ContributionReport = visit.get(route(Target::api, every)).await?;
    let data = |buckets| route(Target::data, buckets).with("part", "periods.utilisation.buckets");
    let choice = Choice {
        name: "basis",
        label: "Measure",
        words: BASIS,
        chosen: basis,
    };
    let [_, length] = asked.choices(&visit);
    let length = Choice {
        words: &EVERY,
        ..length
    };
    let content = html! {
        (asked::filters(&visit, &asked, "utilization").await?)
        (period::with_choices(&visit, &[choice, length]))
        @for period in &report.periods { (drawing(&visit, &report, period, data(every))?) }
        @for period in report.periods.iter().filter(|period| !period.utilisation.is_empty()) { (listed(&visit, &asked, &report.unit, period, data("1"))) }
        p .small { "Capacity is that of the hardware in service, without recorded downtime." }
        (asked::views(&visit, &asked, "utilization"))
    };
    Ok(visit.pictured("Utilization", &[], &content))
}

/// The drawing, if any capacity is known.
fn section(report: &ContributionReport, period: &ContributionPeriod) -> Option<Section> {
    let has_capacity = |bucket: &UtilisationBucket| bucket.percent.is_some();
    let mut buckets = period.utilisation.iter().flat_map(|own| &own.buckets);
    contribution::utilisation(report, period).filter(|_| buckets.any(has_capacity))
}

fn drawing(
    visit: &Visit,
    report: &ContributionReport,
    period: &ContributionPeriod,
    data: Target,
) -> Result<Markup, Failed> {
    let Some(section) = section(report, period) else {
        return Ok(html! {
            div .absent {
                "No capacity is declared for this period, or all of it was down. "
                code { "bank hardware add" } " declares it."
            }
        });
    };
    let page = Target::page(&["usage"]).maybe("zone", visit.parameter("zone"));
    let page = page.with("by", "project");
    let link = format!(
        "{}&machine={{name}}&from={{from}}&to={{until}}",
        page.as_str()
    );
    // The line of all machines has no machine.
    let section = section.unlinked(["all".to_owned()]).linked(link);
    let section = section.zoomed("from", "to");
    Ok(picture::show(
        &section,
        "utilisation",
        picture::zone(visit)?,
        data,
    ))
}

fn listed(
    visit: &Visit,
    asked: &Asked,
    unit: &str,
    period: &ContributionPeriod,
    data: Target,
) -> Markup {
    // The line of all machines is a sum, as bold as those below other tables.
    let shown = |own: &Utilisation, figure: Markup| {
        html! { @if own.machine.is_none() { strong { (figure) } } @else { (figure) } }
    };
    let machine = |own: &Utilisation| {
        let Some(machine) = &own.machine else {
            return html! { "All machines" };
        };
        let page = Target::page(&["usage"]).maybe("zone", visit.parameter("zone"));
        let page = page.with("by", "project").with("machine", machine);
        link(&asked.over(page), machine)
    };
    Table::of(&asked.caption(visit), &period.utilisation)
        .words("Machine", |own| shown(own, machine(own)))
        .amounts("Used", unit, |own| shown(own, amount(&own.whole.used)))
        .amounts("Capacity", unit, |own| {
            shown(own, amount(&own.whole.capacity))
        })
        .figures("Used (%)", |own| {
            shown(own, maybe(own.whole.percent.as_deref()))
        })
        .empty(html! { p { "No usage and no hardware in this period." } })
        .data(data)
        .show()
}
