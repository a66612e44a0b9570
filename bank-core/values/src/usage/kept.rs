//! Facts kept with a finished use beside those that decide its price, for reports and exports: the speed of
//! processors of a deployment (collectors.md g), the requests of a pod (collectors.md h.3), and further
//! statements of its source about a job (collectors.md 0.1, usage-records.md 6.3).

use super::{ATTRIBUTE_VALUE_MAX, ATTRIBUTES_MAX};

/// The name of a pod; its presence marks a run of samples of a pod.
pub const POD: &str = "pod";
/// Requested processors of a pod, an exact decimal.
pub const CPU_REQUEST: &str = "cpu_request";
/// Its requested memory, an exact decimal of bytes.
pub const MEMORY_REQUEST: &str = "memory_request";
/// Its requested GPUs, an exact decimal.
pub const GPU_REQUEST: &str = "gpu_request";
/// The product of the GPU.
pub const GPU_TYPE: &str = "gpu_type";
/// The resource that it is, such as `nvidia.com/gpu`.
pub const GPU_RESOURCE: &str = "gpu_resource";
/// The node that it ran on.
pub const NODE: &str = "node";
/// The model of that node.
pub const NODE_MODEL: &str = "node_model";
/// The class of a notebook, by which some sites bill: a label of the pod.
pub const POD_CLASS: &str = "label_nerc_mghpcc_org_class";
/// The speed of its processors together, in MHz.
pub const CPU_MHZ: &str = "cpu_mhz";

/// The principal investigator of a namespace, by its annotation; without one the namespace.
pub const CF_PI: &str = "cf_pi";
/// The project that a namespace belongs to, likewise.
pub const CF_PROJECT: &str = "cf_project_id";
/// The most processors that a pod may use, an exact decimal.
pub const CPU_LIMIT: &str = "cpu_limit";
/// The most memory that it may use, an exact decimal of bytes.
pub const MEMORY_LIMIT: &str = "memory_limit";
/// The replicas of its deployment.
pub const REPLICAS: &str = "replicas";
/// The seconds of each sample that a run of samples consists of.
pub const SAMPLE_S: &str = "sample_s";

/// Processors of a use with all their places; the first of its facts, only if thousandths do not have all of them.
pub const PROCESSORS: &str = "Processors";
/// The name of a job.
pub const JOB_NAME: &str = "JobName";
/// Its hosts, as its source lists them.
pub const HOSTS: &str = "HostList";
/// The host that it was submitted from.
pub const SUBMIT_HOST: &str = "SubmitHost";
/// The number of its user.
pub const UID: &str = "UID";
/// The number of its group.
pub const GID: &str = "GID";
/// Seconds of its processors in user mode, an exact decimal.
pub const CPU_USER: &str = "CpuUserDuration";
/// The same in system mode.
pub const CPU_SYSTEM: &str = "CpuSystemDuration";
/// Requested processors of a job, an exact decimal.
pub const REQUESTED_PROCESSORS: &str = "RequestedProcessors";
/// Its requested memory on each node, in bytes.
pub const REQUESTED_MEMORY: &str = "RequestedMemoryPerNode";
/// Seconds of its processors in all, an exact decimal.
pub const CPU_TOTAL: &str = "CpuDuration";
/// Bytes of memory of the whole job.
pub const MEMORY_TOTAL: &str = "MemoryTotal";
/// Seconds that it ran, an exact decimal, where they are others than from its start to its end.
pub const WALL: &str = "RunTime";
/// How it ended, where its source's word for the state means nothing or another state.
pub const END_STATE: &str = "EndState";
/// The collector that reported it.
pub const SOURCE: &str = "Collector";
/// The principal investigator, from a mapping.
pub const PI: &str = "PrincipalInvestigator";
/// The reservation that a job ran in.
pub const RESERVATION: &str = "Reservation";

/// Names by which documents and attributes state such things of a job: lower case, without `_` and `-`
/// ([`is_named`]).
pub mod names {
    /// The name of a job.
    pub const JOB_NAME: [&str; 2] = ["jobname", "name"];
    /// The host that it was submitted from.
    pub const SUBMIT_HOST: [&str; 1] = ["submithost"];
    /// The type of its nodes.
    pub const HOST_TYPE: [&str; 3] = ["nodetype", "resourcetype", "hosttype"];
    /// Its hosts.
    pub const HOSTS: [&str; 3] = ["hostlist", "hosts", "allocnodelist"];
    /// Seconds of its processors in user mode.
    pub const CPU_USER: [&str; 2] = ["cpuuserduration", "usercputime"];
    /// The same in system mode.
    pub const CPU_SYSTEM: [&str; 2] = ["cpusystemduration", "systemcputime"];
    /// Seconds of its processors.
    pub const CPU_TOTAL: [&str; 2] = ["cpuduration", "cputime"];
    /// The number of its user.
    pub const UID: [&str; 2] = ["uid", "userid"];
    /// The number of its group.
    pub const GID: [&str; 2] = ["gid", "groupid"];
    /// Requested processors.
    pub const REQUESTED_PROCESSORS: [&str; 1] = ["requestedprocessors"];
    /// Requested bytes of memory on each node.
    pub const REQUESTED_MEMORY: [&str; 1] = ["requestedmemorypernode"];
    /// Bytes of memory of the whole job.
    pub const MEMORY_TOTAL: [&str; 1] = ["memorytotal"];
    /// Seconds that it ran.
    pub const WALL: [&str; 1] = ["runtime"];
    /// How it ended.
    pub const END_STATE: [&str; 1] = ["endstate"];
    /// The collector that reported it.
    pub const SOURCE: [&str; 1] = ["collector"];
    /// The principal investigator.
    pub const PI: [&str; 1] = ["principalinvestigator"];

    /// The facts with separate fields in a command.
    pub(super) const OF_COMMANDS: [&[&str]; 6] =
        [&CPU_TOTAL, &MEMORY_TOTAL, &WALL, &END_STATE, &SOURCE, &PI];

    /// Those that attributes of a finished use may have: what a command states in its own fields is in
    /// none of them.
    pub(super) const OF_JOBS: [&[&str]; 10] = [
        &JOB_NAME,
        &SUBMIT_HOST,
        &HOST_TYPE,
        &HOSTS,
        &CPU_USER,
        &CPU_SYSTEM,
        &UID,
        &GID,
        &REQUESTED_PROCESSORS,
        &REQUESTED_MEMORY,
    ];
}

/// Longest value of a separate field from a source, in bytes: a list of some thousand hosts.
pub const STATED_MAX: usize = 16 << 10;

/// Whether a name is one of `wanted`, in any case, and with `_` and `-` in it or without.
pub fn is_named(name: &str, wanted: &[&str]) -> bool {
    let is = |plain: &&str| {
        let mut letters = name.bytes().filter(|b| !matches!(b, b'_' | b'-'));
        let mut own = plain.bytes();
        let is_begun = own.all(|own| {
            letters
                .next()
                .is_some_and(|b| b.to_ascii_lowercase() == own)
        });
        is_begun && letters.next().is_none()
    };
    wanted.iter().any(is)
}

/// The names of attributes that are kept as they are.
const NAMES: [&str; 16] = [
    POD,
    CPU_REQUEST,
    MEMORY_REQUEST,
    GPU_REQUEST,
    GPU_TYPE,
    GPU_RESOURCE,
    NODE,
    NODE_MODEL,
    POD_CLASS,
    CPU_MHZ,
    CF_PI,
    CF_PROJECT,
    CPU_LIMIT,
    MEMORY_LIMIT,
    REPLICAS,
    SAMPLE_S,
];

/// The kept facts of a use, as text: a line `name=value` for each. First the separate fields of its source,
/// with values of at most [`STATED_MAX`] bytes; then the requested attributes, with values of at most 1024.
/// None if there is nothing.
pub fn kept<'a>(
    stated: impl IntoIterator<Item = (&'a str, &'a str)>,
    attributes: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Option<String> {
    let mut text = String::new();
    let stated = stated.into_iter();
    let stated = stated.filter(|(_, value)| value.len() <= STATED_MAX);
    stated.for_each(|(name, value)| add(&mut text, name, value));
    for (name, value) in attributes.into_iter().take(ATTRIBUTES_MAX) {
        let is_requested =
            NAMES.contains(&name.as_str()) || names::OF_JOBS.iter().any(|of| is_named(name, of));
        if value.len() <= ATTRIBUTE_VALUE_MAX && is_requested {
            add(&mut text, name, value);
        }
    }
    (!text.is_empty()).then_some(text)
}

fn add(text: &mut String, name: &str, value: &str) {
    let begin = text.len();
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(name);
    text.push('=');
    let value_at = text.len();
    text.extend(value.trim().chars().filter(|c| !c.is_control()));
    if text.len() == value_at {
        // Nothing is stated.
        text.truncate(begin);
    }
}

/// The facts of a job in the text of [`kept`], as documents state them: without those of pods and of figures.
pub fn of_job(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines.filter(|(name, _)| !NAMES.contains(name) && *name != PROCESSORS)
}

/// Of what is kept with an instance, that which no collector has stated.
pub fn of_documents(other: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    let is_collected = other.iter().any(|(name, _)| name == SOURCE);
    let of_collectors = names::OF_JOBS.iter().chain(&names::OF_COMMANDS);
    other.iter().filter(move |(name, _)| {
        !is_collected || !of_collectors.clone().any(|of| is_named(name, of))
    })
}

/// The reservation that a job names, in what is kept with its instance.
pub fn reservation(other: &[(String, String)]) -> Option<&str> {
    let own = other.iter().find(|(name, _)| name == RESERVATION);
    own.map(|(_, value)| value.as_str())
        .filter(|value| !value.is_empty())
}

/// The principal investigator that a collector stated, in what is kept with an instance; empty for none.
pub fn pi(other: &[(String, String)]) -> &str {
    let is_collected = other.iter().any(|(name, _)| name == SOURCE);
    let own = other.iter().find(|(name, _)| is_collected && name == PI);
    own.map_or("", |(_, value)| value.trim())
}

/// The same with another principal investigator, or without one.
#[must_use]
pub fn with_pi(other: &[(String, String)], pi: &str) -> Vec<(String, String)> {
    let stated = other.iter().filter(|(name, _)| name != PI).cloned();
    let pi = (!pi.is_empty()).then(|| (PI.to_owned(), pi.to_owned()));
    stated.chain(pi).collect()
}

/// The value of a name in what [`kept`] wrote.
pub fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut lines = text.lines().filter_map(|line| line.split_once('='));
    lines.find(|(own, _)| *own == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_kept_is_read_again() {
        let all: BTreeMap<String, String> = [
            ("cpu_mhz", "8400"),
            ("department", "x"),
            ("node", "wrk=1\nnode_model=forged"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let text = kept([], &all).unwrap();
        assert_eq!(text, "cpu_mhz=8400\nnode=wrk=1node_model=forged");
        assert_eq!(value(&text, CPU_MHZ), Some("8400"));
        assert_eq!(value(&text, NODE), Some("wrk=1node_model=forged"));
        assert_eq!(value(&text, NODE_MODEL), None);
        assert_eq!(value(&text, "department"), None);
        let none: BTreeMap<String, String> = [("department".to_owned(), "x".to_owned())].into();
        assert_eq!(kept([], &none), None);
    }

    #[test]
    fn what_is_too_long_is_left_out() {
        let all = [(NODE.to_owned(), "n".repeat(ATTRIBUTE_VALUE_MAX + 1))];
        let long = "n".repeat(STATED_MAX + 1);
        let stated = [(HOSTS, long.as_str()), (JOB_NAME, " \t")];
        assert_eq!(
            kept(stated, all.iter().map(|(name, value)| (name, value))),
            None
        );
    }

    /// Separate fields come before attributes, and no value begins a line.
    #[test]
    fn what_a_source_states_of_a_job_is_kept() {
        let all: BTreeMap<String, String> = [
            ("job_name", "other"),
            ("node", "n1"),
            ("Host-List", "n1,n2"),
            ("cpu_time", "1"),
            ("collector", "forged"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let text = kept([(JOB_NAME, "a=b\nUID=0"), (UID, "1001")], &all).unwrap();
        let found: Vec<_> = of_job(&text).collect();
        let expected = [
            (JOB_NAME, "a=bUID=0"),
            (UID, "1001"),
            ("Host-List", "n1,n2"),
            ("job_name", "other"),
        ];
        assert_eq!(found, expected);
        assert_eq!(value(&text, NODE), Some("n1"));
    }

    /// A scheduler's facts stay when a collector reports, and once when it reports again.
    #[test]
    fn documents_are_distinguished_from_collectors() {
        let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            let owned = all.iter();
            owned
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect()
        };
        let documents = pairs(&[("SubmitHost", "login"), ("Colour", "red")]);
        assert_eq!(of_documents(&documents).count(), 2);
        let mixed = pairs(&[(SOURCE, "slurm:a"), (JOB_NAME, "x"), ("Colour", "red")]);
        let left: Vec<_> = of_documents(&mixed).collect();
        assert_eq!(left, [&("Colour".to_owned(), "red".to_owned())]);
    }
}
