//! The facts of one job: those of the environment of a Slurm script, and those of `scontrol show job ID -o`.
//!
//! Slurm prints texts of users in that line unquoted. The name of the job is known from the environment and is cut
//! out first; nothing from the first other such text on is read. So no user can state the facts of the own job.

use std::collections::BTreeMap;

/// Largest number of seconds that is read: a thousand years.
const MAX_SECONDS: i64 = 31_536_000_000;

/// The facts of one job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Slurm's own number of the job or of the task.
    pub(super) raw_id: String,
    /// Its name in `sacct`: `17`, `17_3` for a task, `17+1` for a part.
    pub(super) id: String,
    /// The id that `scontrol hold` takes: that of the whole job, if it has parts.
    pub(super) held_id: String,
    /// How often it was requeued.
    pub(super) restarts: u64,
    pub(super) user: String,
    pub(super) group: String,
    pub(super) account: String,
    pub(super) cluster: String,
    pub(super) partition: String,
    pub(super) qos: String,
    pub(super) name: String,
    pub(super) reservation: String,
    pub(super) state: String,
    pub(super) exit: String,
    /// Seconds; none if it has no limit.
    pub(super) limit_s: Option<i64>,
    /// Seconds since 1970.
    pub(super) submit: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    /// When it got the size that it has now; none if it never had another one.
    pub(super) resized: Option<i64>,
    /// Seconds that it ran, without those in which it was suspended.
    pub(super) ran_s: Option<i64>,
    /// `cpu=4,mem=8G,node=1,billing=6,gres/gpu:a100=2`.
    pub(super) tres: String,
    /// Whether the user wrote a comment.
    pub(super) has_comment: bool,
}

/// A variable of the environment.
pub(super) type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl Facts {
    /// The facts of the environment.
    ///
    /// # Errors
    /// If it names no job.
    pub(super) fn of_environment(environment: &Environment<'_>) -> Result<Self, String> {
        let get = |name: &str| environment(name).unwrap_or_default();
        let raw_id = get("SLURM_JOB_ID");
        let is_number =
            (1..=20).contains(&raw_id.len()) && raw_id.bytes().all(|b| b.is_ascii_digit());
        if !is_number {
            return Err(format!(
                "SLURM_JOB_ID is {raw_id:?}, not a number: set this program as PrologSlurmctld or EpilogSlurmctld"
            ));
        }
        let array = environment("SLURM_ARRAY_JOB_ID").zip(environment("SLURM_ARRAY_TASK_ID"));
        let parts = environment("SLURM_HET_JOB_ID").zip(environment("SLURM_HET_JOB_OFFSET"));
        let (id, held_id) = match (array, parts) {
            (Some((job, task)), _) => {
                let id = format!("{job}_{task}");
                (id.clone(), id)
            }
            (None, Some((job, offset))) => (format!("{job}+{offset}"), job),
            (None, None) => (raw_id.clone(), raw_id.clone()),
        };
        let mut tres = String::new();
        if let Some(cpus) = cpus_per_node(&get("SLURM_JOB_CPUS_PER_NODE")) {
            tres = format!("cpu={cpus}");
            if let Ok(nodes) = get("SLURM_JOB_NUM_NODES").parse::<u32>() {
                tres = format!("{tres},node={nodes}");
            }
        }
        Ok(Self {
            raw_id,
            id,
            held_id,
            restarts: get("SLURM_JOB_RESTART_COUNT").parse().unwrap_or(0),
            user: get("SLURM_JOB_USER"),
            group: get("SLURM_JOB_GROUP"),
            account: get("SLURM_JOB_ACCOUNT"),
            cluster: get("SLURM_CLUSTER_NAME"),
            partition: get("SLURM_JOB_PARTITION"),
            name: get("SLURM_JOB_NAME"),
            reservation: get("SLURM_JOB_RESERVATION"),
            exit: get("SLURM_JOB_EXIT_CODE2"),
            tres,
            ..Self::default()
        })
    }

    /// Adds the facts of `scontrol show job ID -o`.
    ///
    /// # Errors
    /// If the line is not that of this job.
    pub(super) fn add(&mut self, output: &str) -> Result<(), String> {
        let named = format!(" JobName={} ", self.name);
        let (before, after) = output
            .split_once(&named)
            .ok_or_else(|| format!("scontrol printed no line of job {}", self.id))?;
        let after = after.lines().next().unwrap_or_default();
        let pairs = pairs(before, after);
        let get = |key: &str| pairs.get(key).copied().unwrap_or_default();
        if get("JobId") != self.raw_id {
            return Err(format!("scontrol printed no line of job {}", self.id));
        }
        let (array, task) = (get("ArrayJobId"), get("ArrayTaskId"));
        let (parts, offset) = (get("HetJobId"), get("HetJobOffset"));
        if !array.is_empty() && task.bytes().all(|b| b.is_ascii_digit()) && !task.is_empty() {
            self.id = format!("{array}_{task}");
            self.held_id = self.id.clone();
        } else if !parts.is_empty() && !offset.is_empty() {
            self.id = format!("{parts}+{offset}");
            parts.clone_into(&mut self.held_id);
        }
        for (place, key) in [
            (&mut self.partition, "Partition"),
            (&mut self.account, "Account"),
            (&mut self.qos, "QOS"),
            (&mut self.state, "JobState"),
        ] {
            if let Some(value) = known(get(key)) {
                value.clone_into(place);
            }
        }
        // Jobs that wait, and versions before 23, have no allocated resources.
        let tres = [get("AllocTRES"), get("TRES"), get("ReqTRES")];
        if let Some(tres) = tres.into_iter().find_map(known) {
            tres.clone_into(&mut self.tres);
        }
        self.has_comment = after.contains(" Comment=") && !after.contains(" Comment=bank: ");
        // The environment of the epilog was made before a failed node requeued the job.
        let restarts = get("Restarts").parse().unwrap_or(0);
        self.restarts = self.restarts.max(restarts);
        self.limit_s = span(get("TimeLimit"));
        self.submit = moment(get("SubmitTime"));
        self.start = moment(get("StartTime"));
        self.end = moment(get("EndTime"));
        self.resized = moment(get("ResizeTime"));
        self.ran_s = span(get("RunTime"));
        Ok(())
    }
}

/// The pairs of the parts before and behind the name, up to the first other text of a user.
fn pairs<'t>(before: &'t str, after: &'t str) -> BTreeMap<&'t str, &'t str> {
    let mut pairs = BTreeMap::new();
    for word in before.split_whitespace().chain(after.split(' ')) {
        let Some((key, value)) = word.split_once('=') else {
            continue;
        };
        if matches!(
            key,
            "Features"
                | "Licenses"
                | "Network"
                | "Command"
                | "WorkDir"
                | "AdminComment"
                | "Comment"
        ) {
            break;
        }
        pairs.entry(key).or_insert(value);
    }
    pairs
}

/// A value that is one.
pub(super) fn known(text: &str) -> Option<&str> {
    let is_none = matches!(text, "" | "(null)" | "N/A" | "None" | "Unknown");
    (!is_none).then_some(text)
}

/// Seconds since 1970, from 1970-01-02 on.
fn moment(text: &str) -> Option<i64> {
    text.parse()
        .ok()
        .filter(|at| (86_400..=MAX_SECONDS).contains(at))
}

/// Seconds of `[DAYS-]HH:MM:SS`, `MM:SS`; none of a word such as `UNLIMITED`.
fn span(text: &str) -> Option<i64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<i64>().ok()?, clock),
        None => (0, text),
    };
    let mut seconds = 0_i64;
    for part in clock.split(':') {
        let part = part
            .parse::<i64>()
            .ok()
            .filter(|part| (0..=MAX_SECONDS).contains(part))?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
    }
    let seconds = days.checked_mul(86_400)?.checked_add(seconds)?;
    (0..=MAX_SECONDS).contains(&seconds).then_some(seconds)
}

/// The processors of `4`, `4(x2)`, `4(x2),2`.
fn cpus_per_node(text: &str) -> Option<u64> {
    let mut sum = 0_u64;
    for part in text.split(',') {
        let (cpus, times) = match part.split_once("(x") {
            Some((cpus, times)) => (cpus, times.strip_suffix(')')?.parse().ok()?),
            None => (part, 1_u64),
        };
        sum = sum.checked_add(cpus.parse::<u64>().ok()?.checked_mul(times)?)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_processors() {
        for (text, expected) in [
            ("00:10:00", Some(600)),
            ("1-00:00:02", Some(86_402)),
            ("05:03", Some(303)),
            ("UNLIMITED", None),
            ("Partition_Limit", None),
            ("", None),
            ("-1", None),
        ] {
            assert_eq!(span(text), expected, "{text}");
        }
        for (text, expected) in [
            ("4", Some(4)),
            ("4(x2),2", Some(10)),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(cpus_per_node(text), expected, "{text}");
        }
    }

    fn facts(name: &str) -> Facts {
        let environment = |variable: &str| match variable {
            "SLURM_JOB_ID" => Some("8".to_owned()),
            "SLURM_JOB_NAME" => Some(name.to_owned()),
            _ => None,
        };
        Facts::of_environment(&environment).unwrap()
    }

    const AFTER: &str = "UserId=amy(7) Account=chem QOS=(null) JobState=RUNNING RunTime=00:00:01 TimeLimit=UNLIMITED \
                         SubmitTime=1795917835 StartTime=1795917836 EndTime=Unknown Partition=batch \
                         TRES=cpu=1,node=1,billing=1 Features=x TRES=cpu=0 Network=AllocTRES=cpu=0 Command=a QOS=gold";

    #[test]
    fn no_text_of_a_user_is_a_fact() {
        for name in [
            "x",
            "two words",
            "x Account=other QOS=gold",
            "x\nJobId=8 JobName=y Account=other",
        ] {
            let mut facts = facts(name);
            facts
                .add(&format!(
                    "JobId=8 ArrayJobId=8 ArrayTaskId=3 JobName={name} {AFTER}\n"
                ))
                .unwrap();
            assert_eq!(
                (
                    facts.id.as_str(),
                    facts.account.as_str(),
                    facts.qos.as_str()
                ),
                ("8_3", "chem", ""),
                "{name}"
            );
            assert_eq!(
                (facts.start, facts.end, facts.limit_s),
                (Some(1_795_917_836), None, None)
            );
            assert_eq!(facts.tres, "cpu=1,node=1,billing=1");
        }
    }

    #[test]
    fn another_line_is_no_fact_of_this_job() {
        for line in [
            "JobId=9 JobName=x A=b",
            "JobId=8 JobName=y A=b",
            "",
            "slurm_load_jobs error",
        ] {
            assert!(facts("x").add(line).is_err(), "{line}");
        }
        let environment = |name: &str| (name == "SLURM_JOB_ID").then(|| "8; rm".to_owned());
        assert!(Facts::of_environment(&environment).is_err());
    }

    #[test]
    fn the_greater_number_of_restarts_counts() {
        for (stated, shown, expected) in [(0, "Restarts=1 ", 1), (1, "Restarts=0 ", 1), (1, "", 1)]
        {
            let mut facts = facts("x");
            facts.restarts = stated;
            facts
                .add(&format!("JobId=8 JobName=x Requeue=1 {shown}{AFTER}\n"))
                .unwrap();
            assert_eq!(facts.restarts, expected, "{stated} {shown}");
        }
    }

    #[test]
    fn parts_of_a_job_are_named_as_by_sacct() {
        let mut facts = facts("x");
        facts
            .add(&format!(
                "JobId=8 HetJobId=7 HetJobOffset=1 JobName=x HetJobIdSet=7-8 {AFTER}"
            ))
            .unwrap();
        assert_eq!((facts.id.as_str(), facts.held_id.as_str()), ("7+1", "7"));
    }
}
