//! Slurm's strings of trackable resources and its sizes of memory (`collectors.md` a.2, a.3).

use crate::number::Number;

/// The bit that leaked from a flag into the number, in megabytes.
const PER_CPU_FLAG: i128 = 1 << 31;

/// `name=value` pairs of `billing=36,cpu=36,gres/gpu:a100=4`.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(',').filter_map(|pair| pair.split_once('='))
}

/// Values of a resource string, read in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Resources {
    cpus: Option<i64>,
    nodes: Option<i64>,
    /// Memory in bytes.
    pub(super) memory_bytes: Option<Number>,
    /// GPUs: the untyped count where it is given, else the sum of the typed ones.
    pub(super) gpus: i64,
}

impl Resources {
    /// Parses them. Of a repeated name the first value is used.
    pub(super) fn read(text: &str) -> Self {
        let (mut found, mut typed, mut untyped) = (Self::default(), 0_i64, None);
        let (mut has_cpus, mut has_nodes, mut has_memory) = (false, false, false);
        for (name, value) in pairs(text) {
            match name {
                "cpu" if !has_cpus => (found.cpus, has_cpus) = (count(value), true),
                "node" if !has_nodes => (found.nodes, has_nodes) = (count(value), true),
                "mem" if !has_memory => (found.memory_bytes, has_memory) = (bytes(value), true),
                "gres/gpu" if untyped.is_none() => untyped = Some(number(value)),
                name if name.starts_with("gres/gpu:") => {
                    typed = typed.saturating_add(number(value));
                }
                _ => {}
            }
        }
        found.gpus = untyped.unwrap_or(typed);
        found
    }

    /// The processors and nodes of the job's columns; those of the resources where a column is missing or empty. A
    /// negative count is none.
    pub(super) fn complete(&self, [cpus, nodes]: [Option<i64>; 2]) -> [Option<i64>; 2] {
        let [own_cpus, own_nodes] = [self.cpus, self.nodes].map(|own| own.filter(|n| *n >= 0));
        [cpus.or(own_cpus), nodes.or(own_nodes)]
    }

    /// Whether they name other counts of processors or nodes than the columns of the job.
    pub(super) fn disputes(&self, cpus: Option<i64>, nodes: Option<i64>) -> bool {
        [(self.cpus, cpus), (self.nodes, nodes)]
            .into_iter()
            .filter_map(|(stated, count)| stated.zip(count))
            .any(|(stated, count)| stated != count)
    }
}

/// Longest name of a resource, in bytes.
const NAME_MAX: usize = 64;
/// Most further resources of a job.
const OTHERS_MAX: usize = 32;
/// Resources with fields of their own, and those that measure use rather than an allocation.
const OWN: [&str; 8] = [
    "cpu", "node", "mem", "gres/gpu", "energy", "pages", "vmem", "fs/disk",
];

/// The further resources of a job under Slurm's own names, such as `billing` and `gres/gpu:a100`. Of a repeated
/// name the first value is used.
pub(super) fn others(text: &str) -> Vec<(String, Number)> {
    let mut found: Vec<(String, Number)> = Vec::new();
    for (name, value) in pairs(text) {
        let is_known = OWN.contains(&name) || found.iter().any(|(other, _)| other == name);
        let fits = (1..=NAME_MAX).contains(&name.len()) && found.len() < OTHERS_MAX;
        let count = amount(value).filter(|count| count.is_above_zero());
        if let Some(count) = count.filter(|_| !is_known && fits) {
            found.push((name.to_owned(), count));
        }
    }
    found
}

/// GPUs of the older columns. `gpu:2`, `gpu:tesla:2`, `PER_NODE:gpu:2`, and `gpu` or `gpu:tesla` for one, are those of
/// each node, `PER_JOB:gpu:2` those of the job. A name can have the prefix `gres:`.
///
/// # Errors
/// A part whose number of GPUs cannot be read: its count is no number, or it is one of each task or socket.
pub(super) fn old_gpus(text: &str, nodes: i64) -> Result<i64, &str> {
    let mut sum = 0_i64;
    for part in text.split(',') {
        // `gpu:a100:2(S:0-1)` contains the sockets.
        let bare = part.split('(').next().unwrap_or(part);
        let (per, name) = bare.split_once(':').unwrap_or(("", bare));
        let (per, name) = if per.starts_with("PER_") {
            (per, name)
        } else {
            ("", bare)
        };
        let name = name
            .strip_prefix("gres")
            .map_or(name, |rest| rest.strip_prefix([':', '/']).unwrap_or(name));
        let words: Vec<&str> = name.split(':').collect();
        let is_type = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
        let gpus = match words[..] {
            ["gpu"] => Some(1),
            ["gpu", word] if is_type(word) => Some(1),
            ["gpu", .., word] => count(word),
            _ => continue,
        };
        let gpus = gpus.ok_or(part)?.max(0);
        let times = match per {
            "" | "PER_NODE" => nodes,
            "PER_JOB" => 1,
            _ => return Err(part),
        };
        sum = sum.saturating_add(gpus.saturating_mul(times));
    }
    Ok(sum)
}

/// A size in bytes.
fn bytes(size: &str) -> Option<Number> {
    let bytes = megabytes(size)?.times(Number::whole(1 << 20))?;
    Some(bytes.cut(0))
}

/// Memory in bytes of a `ReqMem`: `3000Mc` for each processor, `48000Mn` for each node, `4G` for
/// the job; a value with the flag of 2^31 is for each processor.
pub(super) fn requested_memory(
    text: &str,
    cpus: Option<i64>,
    nodes: Option<i64>,
) -> Option<Number> {
    let (size, times) = match text.chars().last()? {
        'c' => (text.strip_suffix('c')?, cpus),
        'n' => (text.strip_suffix('n')?, nodes),
        _ => (text, Some(1)),
    };
    let mut size = megabytes(size)?;
    let mut times = times.unwrap_or(1);
    let flag = Number::whole(PER_CPU_FLAG);
    let without = size.minus(flag)?;
    if !without.is_negative() {
        size = without;
        times = cpus.unwrap_or(1);
    }
    let bytes = size.times(Number::whole(times))?;
    bytes
        .times(Number::whole(1 << 20))
        .map(|bytes| bytes.cut(0))
}

/// A size in megabytes: `144000M`, `62.50G`; a bare number counts megabytes.
fn megabytes(text: &str) -> Option<Number> {
    if text.starts_with('-') {
        return None;
    }
    Number::parse(text).or_else(|| suffixed(text))
}

/// A number with a suffix of 1024s, in units of 2^20.
fn suffixed(text: &str) -> Option<Number> {
    let unit = text.chars().last()?;
    let number = Number::parse(text.strip_suffix(unit)?)?;
    let thousandth = Number::scaled(9_765_625, 10);
    match unit.to_ascii_uppercase() {
        'K' => number.times(thousandth),
        'M' => Some(number),
        'G' => number.times(Number::whole(1 << 10)),
        'T' => number.times(Number::whole(1 << 20)),
        'P' => number.times(Number::whole(1 << 30)),
        _ => None,
    }
}

/// A count of GPUs; an invalid or negative one is zero.
fn number(text: &str) -> i64 {
    count(text).unwrap_or(0).max(0)
}

/// A whole count: `4`, `4.0`, `2K`. A part of a processor, node or GPU is none.
fn count(text: &str) -> Option<i64> {
    let whole = || i64::try_from(amount(text)?.as_whole()?).ok();
    text.parse().ok().or_else(whole)
}

/// A number that counts, perhaps with a suffix of 1024s: `36.50`, `1.5K`.
fn amount(text: &str) -> Option<Number> {
    let scaled = || suffixed(text)?.times(Number::whole(1 << 20));
    Number::parse(text).or_else(scaled)
}

/// The first count that cannot be read: of processors and nodes that no column states, of GPUs, and of the
/// further resources.
pub(super) fn unreadable(text: &str, columns: [Option<i64>; 2]) -> Option<(&str, &str)> {
    let [has_cpus, has_nodes] = columns.map(|count| count.is_some());
    let is_readable = |name: &str, value: &str| match name {
        "cpu" => has_cpus || count(value).is_some(),
        "node" => has_nodes || count(value).is_some(),
        name if name == "gres/gpu" || name.starts_with("gres/gpu:") => count(value).is_some(),
        name => OWN.contains(&name) || amount(value).is_some(),
    };
    pairs(text).find(|(name, value)| !is_readable(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_not_counted_twice() {
        for (text, count) in [
            ("billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=16G", 4),
            ("gres/gpu:a100=1,gres/gpu:v100=2", 3),
            ("gres/gpu=2K", 2048),
            ("gres/gpu=2.0", 2),
            ("gres/gpu=1e1", 10),
            ("gres/gpu:a100=1.00,gres/gpu:v100=2", 3),
            ("gres/gpu=-4", 0),
            ("gres/gpu:a100=2,gres/gpu:v100=-1", 2),
            ("cpu=1", 0),
            ("", 0),
        ] {
            assert_eq!(Resources::read(text).gpus, count, "{text}");
        }
    }

    #[test]
    fn gpus_of_older_columns_are_those_of_each_node() {
        for (text, gpus) in [
            ("gpu:2", Ok(6)),
            ("gpu:tesla:3,x:1", Ok(9)),
            ("gpu", Ok(3)),
            ("gpu:a100:2(S:0-1)", Ok(6)),
            ("gpu:2(IDX:0,3)", Ok(6)),
            ("gpu:-2", Ok(0)),
            ("PER_NODE:gpu:2", Ok(6)),
            ("PER_NODE:gpu:tesla:2", Ok(6)),
            ("gres:gpu:2", Ok(6)),
            ("PER_NODE:gres:gpu:2,PER_JOB:gpu:1", Ok(7)),
            ("PER_TASK:craynetwork:1", Ok(0)),
            ("gres_x:2,gpux:2", Ok(0)),
            ("", Ok(0)),
            ("gpu:tesla", Ok(3)),
            ("gpu:tesla:two", Err("gpu:tesla:two")),
            ("x:1,gpu:2x", Err("gpu:2x")),
            ("gpu:1.5", Err("gpu:1.5")),
            ("PER_TASK:gpu:1", Err("PER_TASK:gpu:1")),
        ] {
            assert_eq!(old_gpus(text, 3), gpus, "{text}");
        }
    }

    #[test]
    fn further_resources_have_their_own_names() {
        let text =
            "billing=7,cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=16G,billing=9,license/x=0,energy=5";
        let named = |name: &str, count| (name.to_owned(), Number::whole(count));
        assert_eq!(
            others(text),
            [named("billing", 7), named("gres/gpu:a100", 4)]
        );
        assert_eq!(others(""), []);
        let text = "billing=36.50,license/x=1.5K,a=0.0,b=-1,c=x";
        let found = others(text).into_iter();
        let found: Vec<_> = found
            .map(|(name, count)| format!("{name}={count}"))
            .collect();
        assert_eq!(found, ["billing=36.5", "license/x=1536"]);
    }

    #[test]
    fn columns_and_resources_may_disagree() {
        for (text, disputed) in [
            ("cpu=100,node=1", true),
            ("cpu=108,node=9", false),
            ("cpu=108", false),
            ("", false),
        ] {
            let found = Resources::read(text).disputes(Some(108), Some(9));
            assert_eq!(found, disputed, "{text}");
        }
    }

    #[test]
    fn memory_has_many_spellings() {
        let mib = |n: i128| Some(n << 20);
        for (text, bytes) in [
            ("3000Mc", mib(24_000)),
            ("48000Mn", mib(96_000)),
            ("4G", mib(4096)),
            ("2147486648Mn", mib(24_000)),
            ("125Gn", mib(256_000)),
            ("0n", Some(0)),
            ("512K", Some(524_288)),
            ("-512K", None),
            ("", None),
            ("x", None),
        ] {
            let found = requested_memory(text, Some(8), Some(2));
            assert_eq!(found.and_then(Number::as_whole), bytes, "{text}");
        }
        assert_eq!(
            Resources::read("cpu=1,mem=62.50G,mem=1M").memory_bytes,
            mib(64_000).map(Number::whole)
        );
    }
}
