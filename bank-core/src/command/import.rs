//! Finished usage of one source that goes into the ledger together.

use super::UsageReport;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// A chunk of a source's records (decision 20). What of it moves no money is one transaction; what
/// must be a command of its own is told back and left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The collector's name, 1 to 256 bytes: that of each report.
    pub source: String,
    /// SHA-256 over the lines that they came from, in order and each behind its length, in hex; empty
    /// where there are no lines.
    pub digest: String,
    /// How many lines that are.
    pub lines: u64,
    /// The uses, in the order in which they came.
    pub reports: Reports,
    /// The shell's digests of what the reports say, in their order, where it has them already.
    pub said: Vec<[u8; 16]>,
    /// Which of the lines each is from, counted from 0; empty where no lines are kept.
    pub places: Vec<u32>,
}

/// Finished uses in the order in which they came, and how they lie to each other: found once, where
/// they are put together, so that whoever decides about them need not look again.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    all: Vec<Arc<UsageReport>>,
    /// Their places in the order of their ids.
    by_id: Vec<usize>,
    /// Whether the id of each stands in another one too.
    again: Vec<bool>,
    /// The number of each one's names, and the first that has them.
    names: Vec<usize>,
    firsts: Vec<usize>,
}

impl Reports {
    /// Their places in the order of their ids.
    pub fn by_id(&self) -> &[usize] {
        &self.by_id
    }

    /// Whether another one has the id of this one.
    pub fn comes_again(&self, place: usize) -> bool {
        self.again.get(place).copied().unwrap_or(true)
    }

    /// The number of its project, user and machine as they are named: equal for equal names, from 0
    /// without a gap.
    pub fn names(&self, place: usize) -> Option<usize> {
        self.names.get(place).copied()
    }

    /// The first report of each names, in the order of their numbers.
    pub fn firsts(&self) -> impl Iterator<Item = &Arc<UsageReport>> {
        self.firsts.iter().filter_map(|place| self.all.get(*place))
    }
}

impl From<Vec<Arc<UsageReport>>> for Reports {
    fn from(all: Vec<Arc<UsageReport>>) -> Reports {
        let mut known: HashMap<[&str; 3], usize> = HashMap::new();
        let (mut names, mut firsts) = (Vec::with_capacity(all.len()), Vec::new());
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
        }
        let id = |place: usize| {
            all.get(place)
                .map(|report| report.request.object_id.as_str())
        };
        let mut by_id: Vec<usize> = (0..all.len()).collect();
        by_id.sort_by_key(|place| id(*place));
        let mut again = vec![false; all.len()];
        for pair in by_id.windows(2) {
            if let [one, other] = pair
                && id(*one) == id(*other)
            {
                for place in [one, other] {
                    again
                        .get_mut(*place)
                        .into_iter()
                        .for_each(|own| *own = true);
                }
            }
        }
        Reports {
            all,
            by_id,
            again,
            names,
            firsts,
        }
    }
}

impl FromIterator<Arc<UsageReport>> for Reports {
    fn from_iter<T: IntoIterator<Item = Arc<UsageReport>>>(all: T) -> Reports {
        all.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Reports {
    type Target = [Arc<UsageReport>];

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

/// How they lie follows from what they are.
impl PartialEq for Reports {
    fn eq(&self, other: &Reports) -> bool {
        self.all == other.all
    }
}

impl Eq for Reports {}
