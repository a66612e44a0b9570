//! How many deployments of a snapshot run, and how many wait.

use std::collections::{BTreeMap, BTreeSet};

use super::super::job::{Counted, Counts};
use super::super::json::Object;

/// Counts the deployments of one snapshot, each once.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// Namespace, job and allocation.
    seen: BTreeSet<[String; 3]>,
    /// Running and queued by namespace, owner and datacenter.
    groups: BTreeMap<Whose, [u64; 2]>,
}

type Whose = (String, Option<String>, Option<String>);

impl Census {
    /// Counts a running or waiting deployment. One in state running that never began counts as
    /// waiting. Failed, stopped, dead or unreachable ones do not count.
    pub(super) fn count(&mut self, namespace: &str, seen: &Object<'_>) {
        let text_of = |name: &str| seen.text(name).unwrap_or_default();
        let has_begun = !text_of("alloc_start").is_empty();
        let (running, queued) = match text_of("status").as_str() {
            "running" if has_begun => (1, 0),
            "running" | "queued" | "starting" => (0, 1),
            _ => return,
        };
        let which = [namespace.to_owned(), text_of("job_ID"), text_of("alloc_ID")];
        if !self.seen.insert(which) {
            return;
        }
        let (owner, datacenter) = (seen.text("owner"), seen.text("datacenter"));
        let whose = (namespace.to_owned(), owner, datacenter);
        let [ran, waited] = self.groups.entry(whose).or_default();
        *ran = ran.saturating_add(running);
        *waited = waited.saturating_add(queued);
    }

    /// The counts as a snapshot of that moment: microseconds since 1970 UTC.
    pub(super) fn at(self, at_us: i64) -> Counts {
        let counted = |((account, user, queue), [running, queued]): (Whose, [u64; 2])| Counted {
            account: Some(account),
            user,
            queue,
            running,
            queued,
        };
        Counts {
            at_us,
            groups: self.groups.into_iter().map(counted).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(job: &str, allocation: &str, status: &str, start: &str) -> String {
        format!(
            r#"{{"job_ID":"{job}","alloc_ID":"{allocation}","status":"{status}","owner":"amy",
                "datacenter":"here","alloc_start":{start}}}"#
        )
    }

    /// Expected by hand: two run (one of them appears twice, and each allocation of a job is one),
    /// three wait; dead, stopped, broken or unreachable ones do not count.
    #[test]
    fn what_runs_and_what_waits_is_counted_once() {
        let begun = r#""2024-03-01T01:00:00Z""#;
        let all = [
            deployment("one", "a", "running", begun),
            deployment("one", "a", "running", begun),
            deployment("one", "b", "running", begun),
            deployment("two", "c", "running", "null"),
            deployment("three", "", "queued", "null"),
            deployment("four", "d", "starting", "null"),
            deployment("five", "e", "dead", begun),
            deployment("six", "f", "down", begun),
            deployment("seven", "g", "failed", begun),
            deployment("eight", "", "error", "null"),
            deployment("nine", "h", "complete", begun),
        ];
        let mut census = Census::default();
        for text in &all {
            census.count("space", &Object::parse(text).unwrap());
        }
        let counts = census.at(7);
        assert_eq!(counts.at_us, 7);
        let [group] = counts.groups.as_slice() else {
            panic!("{counts:?}");
        };
        assert_eq!((group.running, group.queued), (2, 3));
        assert_eq!(group.account.as_deref(), Some("space"));
        assert_eq!(group.user.as_deref(), Some("amy"));
        assert_eq!(group.queue.as_deref(), Some("here"));
    }

    #[test]
    fn a_snapshot_without_anything_is_one_all_the_same() {
        let counts = Census::default().at(9);
        assert_eq!((counts.at_us, counts.groups.len()), (9, 0));
    }
}
