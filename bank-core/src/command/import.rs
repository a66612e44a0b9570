//! Finished usage of one source that goes into the ledger together.

use super::UsageReport;
use crate::refusal::Refusal;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::sync::Arc;

/// A chunk of a source's records (decisions.md 20). The records that move no money become one transaction.
/// The others need commands of their own; the result lists them and leaves them alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The collector's name, 1 to 256 bytes: that of each report.
    pub source: String,
    /// SHA-256 over the lines that they came from, in order and each behind its length, in hex; empty
    /// where there are no lines.
    pub digest: String,
    /// The number of lines.
    pub lines: u64,
    /// The uses, in the order in which they came.
    pub reports: Reports,
    /// The shell's digests of the reports, in their order, if the shell has computed them already.
    pub digests: Vec<[u8; 16]>,
    /// Which of the lines each is from, counted from 0; empty where no lines are kept.
    pub places: Vec<u32>,
}

/// Finished uses in the order of arrival, with their order by id and their faults. Both are computed once,
/// where the list is built, so that later steps need not check again. A clone is cheap.
#[derive(Clone, Debug, Default)]
pub struct Reports(Arc<Arranged>);

#[derive(Debug, Default)]
struct Arranged {
    /// Their places in the order of their ids.
    by_id: Vec<usize>,
    /// Whether the id of each also occurs in another report.
    again: Vec<bool>,
    /// The number of each one's names, and the first that has them.
    names: Vec<usize>,
    firsts: Vec<usize>,
    /// Of those that are none.
    faults: BTreeMap<usize, Refusal>,
    all: Vec<Arc<UsageReport>>,
}

impl Reports {
    /// Puts them together; equal names are found by hashes of `S`.
    pub fn new<S: BuildHasher + Default>(all: Vec<Arc<UsageReport>>) -> Reports {
        let mut known: HashMap<[&str; 3], usize, S> = HashMap::default();
        let (mut names, mut firsts) = (Vec::with_capacity(all.len()), Vec::new());
        let mut faults = BTreeMap::new();
        for (place, report) in all.iter().enumerate() {
            let whose = &report.request.whose;
            let own = [
                whose.project.as_deref().unwrap_or_default(),
                whose.user.as_deref().unwrap_or_default(),
                whose.machine.as_str(),
            ];
            let next = firsts.len();
            let number = *known.entry(own).or_insert(next);
            if number == next {
                firsts.push(place);
            }
            names.push(number);
            if let Err(fault) = report.check() {
                faults.insert(place, fault);
            }
        }
        let (by_id, again) = by_id(&all);
        Reports(Arc::new(Arranged {
            by_id,
            again,
            names,
            firsts,
            faults,
            all,
        }))
    }

    /// Their places in the order of their ids.
    pub fn by_id(&self) -> &[usize] {
        &self.0.by_id
    }

    /// Whether another one has the id of this one.
    pub fn comes_again(&self, place: usize) -> bool {
        self.0.again.get(place).copied().unwrap_or(true)
    }

    /// The number of its project, user and machine as they are named: equal for equal names, from 0
    /// without a gap.
    pub fn names(&self, place: usize) -> Option<usize> {
        self.0.names.get(place).copied()
    }

    /// The fault of a report by itself ([`UsageReport::check`]); none if it is valid.
    pub fn fault(&self, place: usize) -> Option<&Refusal> {
        self.0.faults.get(&place)
    }

    /// The first report of each names, in the order of their numbers.
    pub fn firsts(&self) -> impl Iterator<Item = &Arc<UsageReport>> {
        self.0
            .firsts
            .iter()
            .filter_map(|place| self.0.all.get(*place))
    }
}

/// The places of reports in the order of their ids, and whether each id occurs in another report too. Most
/// ids differ in their first bytes; these are compared as numbers, without a look at the texts.
fn by_id(all: &[Arc<UsageReport>]) -> (Vec<usize>, Vec<bool>) {
    let begin = |report: &Arc<UsageReport>| {
        let mut begin = [0; 8];
        let id = report.request.object_id.bytes();
        begin.iter_mut().zip(id).for_each(|(to, from)| *to = from);
        u64::from_be_bytes(begin)
    };
    let id = |place: usize| {
        let report = all.get(place);
        report.map(|report| report.request.object_id.as_str())
    };
    let mut order: Vec<(u64, usize)> = all.iter().map(begin).zip(0..).collect();
    order.sort_by(|(one, left), (other, right)| {
        let by_begin = one.cmp(other);
        by_begin.then_with(|| id(*left).cmp(&id(*right)))
    });
    let mut again = vec![false; all.len()];
    for pair in order.windows(2) {
        if let [(one, left), (other, right)] = pair
            && one == other
            && id(*left) == id(*right)
        {
            for place in [left, right] {
                again
                    .get_mut(*place)
                    .into_iter()
                    .for_each(|own| *own = true);
            }
        }
    }
    (order.into_iter().map(|(_, place)| place).collect(), again)
}

impl FromIterator<Arc<UsageReport>> for Reports {
    fn from_iter<T: IntoIterator<Item = Arc<UsageReport>>>(all: T) -> Reports {
        Reports::new::<RandomState>(all.into_iter().collect())
    }
}

impl Deref for Reports {
    type Target = [Arc<UsageReport>];

    fn deref(&self) -> &Self::Target {
        &self.0.all
    }
}

/// Order and faults follow from the reports.
impl PartialEq for Reports {
    fn eq(&self, other: &Reports) -> bool {
        self.0.all == other.0.all
    }
}

impl Eq for Reports {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Request, Whose};

    fn report(id: &str, user: &str) -> Arc<UsageReport> {
        Arc::new(UsageReport {
            source: "slurm:big".to_owned(),
            request: Request {
                object_id: id.to_owned(),
                whose: Whose {
                    user: Some(user.to_owned()),
                    ..Whose::default()
                },
                ..Request::default()
            },
            ..UsageReport::default()
        })
    }

    /// Ids that are equal in their first eight bytes, shorter ones, and those that come again.
    #[test]
    fn reports_know_how_they_lie() {
        let ids = [
            "10000000.b",
            "9",
            "10000000",
            "",
            "10000000.a",
            "9",
            "é",
            "10000000.b",
            "99",
        ];
        let reports: Reports = ids.map(|id| report(id, "alice")).into_iter().collect();
        let ordered: Vec<&str> = reports.by_id().iter().map(|place| ids[*place]).collect();
        let mut expected = ids.to_vec();
        expected.sort_unstable();
        assert_eq!(ordered, expected);
        for (place, id) in ids.iter().enumerate() {
            let times = ids.iter().filter(|other| *other == id).count();
            assert_eq!(reports.comes_again(place), times > 1, "{id}");
        }
    }

    #[test]
    fn reports_know_their_names_and_faults() {
        let who = ["alice", "bob", "al\nice", "alice"];
        let reports: Reports = who.map(|user| report("1", user)).into_iter().collect();
        let names: Vec<_> = (0..who.len()).map(|place| reports.names(place)).collect();
        assert_eq!(names, [Some(0), Some(1), Some(2), Some(0)]);
        let firsts = reports.firsts().map(|report| report.login());
        assert_eq!(firsts.collect::<Vec<_>>(), ["alice", "bob", "al\nice"]);
        let faults = (0..who.len()).filter(|place| reports.fault(*place).is_some());
        assert_eq!(faults.collect::<Vec<_>>(), [2]);
    }
}
