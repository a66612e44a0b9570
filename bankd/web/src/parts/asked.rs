//! What a page of usage is asked for by its address: a period in buckets, a grouping, and filters.

use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::UsageTable;
use bankd_ledger::access::right::Right;
use maud::{Markup, html};

use super::period::{self, Choice};
use super::project::is_project;
use super::sentence::capital;
use super::share::codes;
use super::table::link;
use crate::failed::Failed;
use crate::target::Target;
use crate::visit::Visit;

/// One hour, µs.
const HOUR: i64 = 3_600_000_000;
/// One day, µs.
const DAY: i64 = 86_400_000_000;
/// The period without a start in the address.
const DAYS: i64 = 30;
/// Filters, which are parameters of the route too.
const FILTERS: [(&str, &str); 4] = [
    ("project", "Project"),
    ("user", "User"),
    ("queue", "Queue"),
    ("machine", "Machine"),
];
/// Lengths of buckets. Without one it depends on the length of the period.
const EVERY: [(&str, &str); 5] = [
    ("", "automatic"),
    ("hour", "hours"),
    ("day", "days"),
    ("week", "weeks"),
    ("month", "months"),
];

/// Words of a parameter with their labels; the first is the usual one.
pub(crate) type Words = &'static [(&'static str, &'static str)];

/// The parameters of a page of usage.
pub(crate) fn takes() -> impl Iterator<Item = &'static str> {
    let filters = FILTERS.iter().map(|(name, _)| *name);
    ["from", "to", "every", "by"].into_iter().chain(filters)
}

/// The question of an address.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The start of the period, for the API.
    pub(crate) from: String,
    /// Its end; none for the present.
    pub(crate) to: Option<String>,
    /// The length of buckets.
    pub(crate) every: &'static str,
    /// The grouping.
    pub(crate) by: &'static str,
    groupings: Words,
}

impl Asked {
    /// Reads the address; `groupings` are those of the page.
    pub(crate) fn of(visit: &Visit, groupings: Words) -> Result<Self, Failed> {
        let (from, to) = visit.period_of(DAYS)?;
        let end = to.as_deref().and_then(parse_rfc3339);
        let end = end.unwrap_or_else(|| visit.present());
        let length = end.saturating_sub(parse_rfc3339(&from).unwrap_or(end));
        let every = match word(visit, "every", &EVERY)? {
            "" => fitting(length),
            every => every,
        };
        Ok(Self {
            from,
            to,
            every,
            by: word(visit, "by", groupings)?,
            groupings,
        })
    }

    /// The grouping as the head of a column.
    pub(crate) fn label(&self) -> &'static str {
        match self.by {
            "project" => "Project",
            "user" => "User",
            "queue" => "Queue",
            "machine" => "Machine",
            "contributor" => "Contributor",
            other => other,
        }
    }

    /// The period as the caption of a table.
    pub(crate) fn caption(&self, visit: &Visit) -> String {
        capital(&period::words(visit, Some(&self.from), self.to.as_deref()))
    }

    /// The route of usage with the period, the grouping and the filters.
    pub(crate) fn route(&self, visit: &Visit, root: fn(&[&str]) -> Target) -> Target {
        let target = root(&["report", "usage"])
            .with("by", self.by)
            .with("tz", visit.zone().name())
            .with("from", &self.from)
            .maybe("until", self.to.as_deref());
        filtered(visit, target, None)
    }

    /// A page without a period, with the zone and the filters but one.
    pub(crate) fn page(visit: &Visit, path: &str, but: Option<&str>) -> Target {
        let target = Target::page(&[path]).maybe("zone", visit.parameter("zone"));
        filtered(visit, target, but)
    }

    /// A target with the period.
    pub(crate) fn over(&self, target: Target) -> Target {
        let target = target.with("from", &self.from);
        target.maybe("to", self.to.as_deref())
    }

    /// The jobs that the figures of a page count, before their period.
    pub(crate) fn jobs(visit: &Visit, but: Option<&str>) -> Target {
        Self::page(visit, "jobs", but).with("period", "running")
    }

    /// The page of the jobs of a user, before their name and their period. None if that page cannot list what the
    /// figures count: it has no queues, and no names that no project has.
    pub(crate) async fn jobs_of_users(visit: &Visit) -> Result<Option<Target>, Failed> {
        if visit.parameter("queue").is_some() {
            return Ok(None);
        }
        let has_jobs = match visit.parameter("project") {
            Some(project) => is_project(visit, project).await?,
            None => true,
        };
        Ok(has_jobs.then(|| Self::jobs(visit, Some("user"))))
    }

    /// The choices of the picker.
    pub(crate) fn choices<'v>(&self, visit: &'v Visit) -> [Choice<'v>; 2] {
        [
            Choice {
                name: "by",
                label: "By",
                words: self.groupings,
                chosen: self.by,
            },
            Choice {
                name: "every",
                label: "Buckets",
                words: &EVERY,
                chosen: visit.parameter("every").unwrap_or_default(),
            },
        ]
    }
}

/// A usage table up to the moment of the page. The API counts whole hours, so that its last one is not over.
pub(crate) fn until_now(visit: &Visit, mut table: UsageTable) -> UsageTable {
    let now = visit.present();
    let is_ahead = |time: &str| parse_rfc3339(time).is_some_and(|time| time > now);
    let hour = now.saturating_add(HOUR);
    if !parse_rfc3339(&table.until).is_some_and(|until| until > now && until <= hour) {
        return table;
    }
    let shown = format_rfc3339(now);
    let all = table.rows.iter_mut().chain(&mut table.sums);
    for row in all.filter(|row| is_ahead(&row.bucket_until)) {
        row.bucket_until.clone_from(&shown);
    }
    table.until = shown;
    table
}

/// The word of a parameter.
pub(crate) fn word(visit: &Visit, name: &str, words: Words) -> Result<&'static str, Failed> {
    let Some(text) = visit.parameter(name) else {
        return Ok(words.first().map_or("", |(word, _)| word));
    };
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(word, _)| *word).ok_or_else(|| {
        let known = words.iter().map(|(word, _)| *word);
        let known: Vec<&str> = known.filter(|word| !word.is_empty()).collect();
        let detail = format!("{name}: {text:?} is none of {}", known.join(", "));
        Failed::new("bad_value", detail).field(name)
    })
}

/// The length of buckets of which a picture has some tens.
fn fitting(length: i64) -> &'static str {
    match length.div_euclid(DAY) {
        ..=2 => "hour",
        3..=62 => "day",
        63..=400 => "week",
        _ => "month",
    }
}

fn filtered(visit: &Visit, target: Target, but: Option<&str>) -> Target {
    let names = FILTERS.iter().map(|(name, _)| *name);
    let names = names.filter(|name| but != Some(*name));
    names.fold(target, |target, name| {
        target.maybe(name, visit.parameter(name))
    })
}

/// The filters in force, each with the way to drop it.
pub(crate) async fn filters(visit: &Visit, asked: &Asked, path: &str) -> Result<Markup, Failed> {
    let project = visit.parameter("project");
    let is_known = match project {
        Some(project) => is_project(visit, project).await?,
        None => false,
    };
    let own = FILTERS.iter().filter_map(|(name, label)| {
        let value = visit.parameter(name)?;
        Some((*name, *label, value))
    });
    let own: Vec<_> = own.collect();
    Ok(html! {
        @if !own.is_empty() {
            ul .filters {
                @for (name, label, value) in own {
                    @let wider = asked.over(Asked::page(visit, path, Some(name)).with("by", asked.by));
                    li {
                        (label) " "
                        @if name == "project" && is_known {
                            (link(&visit.link(&["projects", value]), value))
                        } @else {
                            strong .name title=(value) { (value) }
                        }
                        " · " a href=(wider) { "All " (label.to_lowercase()) "s" }
                    }
                }
            }
        }
        @if let Some(project) = project.filter(|_| !is_known) { (unmapped(visit, project)) }
    })
}

/// Usage of a name that is no project.
fn unmapped(visit: &Visit, name: &str) -> Markup {
    let may = visit.may(Right::SeeIntake) && visit.may(Right::DecideProposals);
    html! {
        p .small {
            strong { (name) } " is not a project of this bank: a source reports usage with this name, and nobody has mapped it."
            @if may {
                " " a href=(visit.link(&["today"]).as_str().to_owned() + "#unmapped") { "Usage without a project" }
                " lists what can be assigned."
            }
        }
    }
}

/// The other pictures of the same period.
pub(crate) fn views(visit: &Visit, asked: &Asked, here: &str) -> Markup {
    let sees_all = visit.may(Right::SeeShares);
    let all = [
        ("usage", "Usage", visit.may(Right::SeeLedger)),
        ("waiting", "Waiting time", visit.may(Right::SeeLedger)),
        ("utilization", "Utilization", sees_all),
        (
            "contribution",
            "Contribution",
            sees_all || visit.is_contributor(),
        ),
    ];
    let all = all
        .into_iter()
        .filter(|(path, _, is_seen)| *path != here && *is_seen);
    html! {
        p .actions {
            @for (path, label, _) in all {
                @let page = Target::page(&[path]).maybe("zone", visit.parameter("zone"));
                a .button href=(asked.over(page)) { (label) } " "
            }
        }
        (codes(visit))
    }
}
