//! Usage totals by owner and by time bucket (reports.md 3 and 7).
//!
//! If rollups cover all requested values, they give the answer for the full UTC hours, and the
//! records of the remaining time give the rest: [`from_rollups`]. Else [`from_records`] reads all
//! usage. Both have the same result, to the last unit. Nothing is rounded here.

mod edges;
mod keys;
mod reader;
mod records;
mod rollups;
mod sampled;
mod summing;

pub use bank_core_figures::rollup::bins::{size_bin, wall_bin};
pub use keys::{each_owner, first_day};
pub use records::from_records;
pub use rollups::from_rollups;
pub use sampled::{
    Held, Looks, Part, Placed, Sampled, Sampling, Whose, each_counted, first_snapshot, sampled,
};

use super::super::Error;
use bank_core_figures::rollup::{Measure, Sign, Sums, grid::Grid};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// Dimensions of usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Project as named.
    Project,
    /// The account that paid.
    Account,
    /// User as named.
    User,
    /// Machine as named.
    Machine,
    /// Queue or class.
    Queue,
    /// Quality of service.
    Qos,
    /// The PI of the use, else the project's current one.
    Pi,
    /// Group as its source names it.
    Group,
    /// How the job ended.
    State,
    /// How many processors the job had: 1, 2, 3-4, 5-8, …
    Size,
    /// How long the job ran.
    Wall,
}

/// Every dimension with its word.
pub const DIMENSIONS: [(Dimension, &str); 11] = [
    (Dimension::Project, "project"),
    (Dimension::Account, "account"),
    (Dimension::User, "user"),
    (Dimension::Machine, "machine"),
    (Dimension::Queue, "queue"),
    (Dimension::Qos, "qos"),
    (Dimension::Pi, "pi"),
    (Dimension::Group, "group"),
    (Dimension::State, "state"),
    (Dimension::Size, "size"),
    (Dimension::Wall, "wall"),
];

bank_core::words!(Dimension, DIMENSIONS, "project");

impl Dimension {
    /// Whether rollups contain it.
    pub fn is_rolled_up(self) -> bool {
        !matches!(
            self,
            Dimension::Group | Dimension::State | Dimension::Size | Dimension::Wall
        )
    }
}

/// The owner of a figure, as in the rows.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// As named; empty where none was.
    pub project: &'a str,
    /// The number of the account that paid; 0 for none.
    pub account: i64,
    /// As named.
    pub user: &'a str,
    /// As named.
    pub machine: &'a str,
    /// Queue or class.
    pub queue: &'a str,
    /// Quality of service.
    pub qos: &'a str,
    /// The principal investigator that the use has itself; empty for none.
    pub pi: &'a str,
}

/// Row values of a job other than its owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// Group as named.
    pub group: &'a str,
    /// How it ended.
    pub state: &'a str,
    /// Thousandths of processors.
    pub millis: i64,
    /// Wall time in microseconds.
    pub wall: i64,
}

/// Returns the values under which a figure counts, one for each requested dimension; none if it is
/// hidden. Without a job only rollups are read.
pub type Place<'p> =
    dyn Fn(&Owner<'_>, Option<&About<'_>>) -> Option<(Vec<String>, String)> + Send + 'p;

/// The request.
pub struct ReportRequest<'p> {
    /// The period and its buckets.
    pub grid: Grid,
    /// Gives the values of the dimensions, and the user for the count of users.
    pub place: Box<Place<'p>>,
    /// All of a job counts when it ended, as older programs did it.
    pub at_end: bool,
    /// Whether users are counted.
    pub users: bool,
    /// If only the largest are asked for: the rest becomes one row for each bucket.
    pub top: Option<Top>,
    /// The measure that hardware factors weigh: processor time, or another one for a report from
    /// records.
    pub weighed: Measure,
}

/// The largest rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Top {
    /// The measure that ranks them, over all buckets.
    pub measure: Measure,
    /// How many.
    pub most: usize,
}

impl Top {
    /// The values of the largest; of equal ones, the first by their values.
    fn of(self, sizes: BTreeMap<&Vec<String>, i128>) -> BTreeSet<Vec<String>> {
        let mut sizes: Vec<(&Vec<String>, i128)> = sizes.into_iter().collect();
        sizes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let kept = sizes.into_iter().take(self.most);
        kept.map(|(values, _)| values.clone()).collect()
    }
}

impl ReportRequest<'_> {
    /// Answers from rollups if they contain all requested values; records give the partial hours of
    /// a bucket.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn answer(&self, connection: &Connection) -> Result<Answer, Error> {
        if self.at_end || self.weighed != Measure::Core {
            return from_records(connection, self);
        }
        from_rollups(connection, self)
    }
}

/// Figures of one row of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Sums; those of time in microseconds.
    pub sums: Sums,
    /// Active users, if requested.
    pub users: BTreeSet<String>,
    /// Speed of processors × wall time, in thousandths of MHz × microseconds; of records that were looked
    /// at one by one.
    pub mhz: i128,
    /// Jobs without the weighed measure, each in its first bucket.
    pub unmeasured: u64,
}

impl Figures {
    /// Adds other figures.
    pub fn add(&mut self, other: &Figures) {
        self.sums.add(&other.sums, Sign::Plus);
        self.mhz = self.mhz.saturating_add(other.mhz);
        self.users.extend(other.users.iter().cloned());
        self.unmeasured = self.unmeasured.saturating_add(other.unmeasured);
    }

    /// Whether nothing was used, charged or counted.
    pub fn is_nothing(&self) -> bool {
        self.sums.is_zero()
    }
}

/// An answer: figures by bucket and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The place of the bucket in the grid, and one value for each dimension.
    pub rows: BTreeMap<(usize, Vec<String>), Figures>,
    /// The figures of all other values by bucket, if only the largest were asked for.
    pub others: BTreeMap<usize, Figures>,
    /// Whether it is from rollups, apart from partial hours.
    pub from_rollups: bool,
}

impl Answer {
    /// The figures of a bucket and values; without values those of all others.
    fn at(&mut self, bucket: usize, values: Option<&Vec<String>>) -> &mut Figures {
        match values {
            Some(values) => self.rows.entry((bucket, values.clone())).or_default(),
            None => self.others.entry(bucket).or_default(),
        }
    }

    /// Only the largest, and the others together.
    fn cut(&mut self, top: Top) {
        let mut sizes: BTreeMap<&Vec<String>, i128> = BTreeMap::new();
        for ((_, values), figures) in &self.rows {
            let size = sizes.entry(values).or_default();
            *size = size.saturating_add(figures.sums.get(top.measure));
        }
        let kept = top.of(sizes);
        for ((bucket, values), figures) in std::mem::take(&mut self.rows) {
            let is_kept = kept.contains(&values);
            self.at(bucket, is_kept.then_some(&values)).add(&figures);
        }
    }

    /// Leaves out rows in which nothing is.
    fn trimmed(mut self) -> Answer {
        self.rows.retain(|_, figures| !figures.is_nothing());
        self.others.retain(|_, figures| !figures.is_nothing());
        self
    }

    /// Everything by bucket: all rows and all others.
    pub fn all(&self) -> impl Iterator<Item = (usize, &Figures)> {
        let rows = self
            .rows
            .iter()
            .map(|((bucket, _), figures)| (*bucket, figures));
        rows.chain(
            self.others
                .iter()
                .map(|(bucket, figures)| (*bucket, figures)),
        )
    }
}

/// How long jobs of users ran, by bucket, values and user: 0 of a user whose charges are all undone.
#[derive(Default)]
struct Active(BTreeMap<(usize, Vec<String>, String), i128>);

impl Active {
    fn note(
        &mut self,
        (bucket, values): (usize, &[String]),
        user: &str,
        (sums, sign): (&Sums, Sign),
    ) {
        let ran = sums
            .get(Measure::Wall)
            .saturating_add(sums.get(Measure::Running));
        let key = (bucket, values.to_vec(), user.to_owned());
        let own = self.0.entry(key).or_default();
        *own = sign.added(*own, ran);
    }

    /// Counts those who ran something as active users.
    fn count_in(self, answer: &mut Answer) {
        for ((bucket, values, user), _) in self.0.into_iter().filter(|(_, ran)| *ran != 0) {
            answer.at(bucket, Some(&values)).users.insert(user);
        }
    }
}
