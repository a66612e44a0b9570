//! Finished usage that comes without a scheduler's decision.

use super::Request;
use crate::need::Identity;
use crate::policy::{Figures, Finished, Share};
use crate::time::Timestamp;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Between two facts of the canonical text; no record holds it.
const BETWEEN: char = '\u{1e}';

/// One finished use (collectors.md 0.1). Its identity is source, id and start: the same record
/// twice changes nothing, other figures replace the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// The collector's name, such as `slurm:colony`: 1 to 256 bytes.
    pub source: String,
    /// About what; its facts have times, processors, nodes, state and exit code, and as wall
    /// duration what was asked for.
    pub request: Request,
    /// What else is known of the use.
    pub figures: Figures,
    /// The account and the user as the source names them, where a mapping rule made others of them;
    /// none where the request has them as they came.
    pub named: AsNamed,
    /// What its reader says of it, such as `repaired sampled`.
    pub flags: String,
    /// It came where nobody is known: it is priced, and no money moves, whatever the mode is
    /// (decision 30). Says nothing of the use itself.
    pub track: bool,
}

/// Names as a source has them (collectors.md 0.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsNamed {
    /// What selects the project.
    pub account: Option<String>,
    /// Who ran it.
    pub user: Option<String>,
}

impl UsageReport {
    /// Which incarnation of its id it is: its start, 0 where it never started.
    pub fn incarnation(&self) -> Timestamp {
        self.request.facts.start.unwrap_or(Timestamp(0))
    }

    /// What a charge policy looks at.
    pub fn finished(&self) -> Finished<'_> {
        let facts = &self.request.facts;
        Finished {
            start: facts.start,
            end: facts.end,
            requested: facts.wall,
            processors: facts.usage.processors,
            nodes: facts.usage.nodes,
            exit_code: facts.exit_code,
            figures: Cow::Borrowed(&self.figures),
        }
    }

    /// The account as the source names it; empty where it names none.
    pub fn account(&self) -> &str {
        let own = self.request.whose.project.as_deref();
        self.named.account.as_deref().or(own).unwrap_or_default()
    }

    /// The user as the source names them; empty where it names none.
    pub fn login(&self) -> &str {
        let own = self.request.whose.user.as_deref();
        self.named.user.as_deref().or(own).unwrap_or_default()
    }

    /// Its identity, with what it says.
    pub fn identity(&self) -> Identity {
        Identity {
            source: self.source.clone(),
            id: self.request.object_id.clone(),
            start: self.incarnation(),
            record: self.canonical(),
        }
    }

    /// Everything that its source says, as one text: two records are equal if theirs are. What mapping
    /// rules make of its names is not in it: another rule does not make another record of it.
    pub fn canonical(&self) -> String {
        let (request, figures) = (&self.request, &self.figures);
        let facts = &request.facts;
        let mut text = String::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                // Writing to a string cannot fail.
                let _ = write!(text, "{name}={value}{BETWEEN}");
            }
        };
        let time = |at: Option<Timestamp>| at.map(|at| at.0.to_string());
        add("machine", Some(request.whose.machine.clone()));
        add("type", Some(request.object_type.word().to_owned()));
        add("project", Some(self.account().to_owned()));
        add("user", Some(self.login().to_owned()));
        add("group", Some(facts.group.clone()));
        add("submit", time(facts.submit));
        add("start", time(facts.start));
        add("end", time(facts.end));
        add("requested", facts.wall.map(|s| s.0.to_string()));
        add("processors", facts.usage.processors.map(|p| p.to_string()));
        add("usage", Some(crate::usage::text::write(&facts.usage)));
        add("exit", facts.exit_code.map(|code| code.to_string()));
        add("state", Some(figures.ended.word().to_owned()));
        add("wall", figures.wall_us.map(|us| us.to_string()));
        add("cpu", figures.cpu_s.map(|s| s.to_string()));
        add("blocked", figures.blocked_processors.map(|p| p.to_string()));
        add("dedicated", figures.dedicated.then(|| "yes".to_owned()));
        add("backwards", figures.backwards.then(|| "yes".to_owned()));
        if let Some(equivalents) = &figures.equivalents {
            add("partition", Some(share(&equivalents.partition)));
            for (tasks, each) in &equivalents.tasks {
                add("tasks", Some(format!("{tasks}:{}", share(each))));
            }
        }
        text
    }
}

fn share(share: &Share) -> String {
    let Share {
        processors,
        memory_mb,
        disk_mb,
        swap_mb,
    } = share;
    format!("{processors},{memory_mb},{disk_mb},{swap_mb}")
}
