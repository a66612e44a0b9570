//! `bank-slurm-submit`: the bank's answer about a job that is being submitted, for `job_submit.lua`.
//!
//! Its arguments are `key=value`. It prints one line: `ok PRICE` (without the price for a job that has an id),
//! `fallback ACCOUNT TEXT`, `refuse TEXT`, or `down TEXT`, and ends with 0. It runs while slurmctld holds its lock, so the whole call is bounded.

use std::path::PathBuf;
use std::time::Duration;

use super::facts::Facts;
use super::job::{Times, document};
use crate::call::{self, Ending};
use crate::clock::Deadline;
use crate::event::Event;
use crate::outcome::{Condition, Outcome};
use crate::settings::{Loaded, Settings, variable};

/// Longest argument, in bytes.
const MAX_WORD: usize = 4096;
const USAGE: &str = "arguments are key=value; keys are job, account, user, partition, qos, cluster, name, \
                     reservation, minutes, cpus, nodes, tasks, mem_per_node, mem_per_cpu, tres_per_node, \
                     tres_per_job, tres_per_task, billing";
/// Values of Slurm for "not set": of 16, 32 and 64 bits, and "infinite".
const UNSET: [u64; 6] = [
    65_534,
    65_535,
    4_294_967_294,
    4_294_967_295,
    u64::MAX - 1,
    u64::MAX,
];

/// Runs one call.
pub(super) fn run(words: &[Vec<u8>], loaded: Loaded) -> Ending {
    let mut settings = loaded.settings;
    // A price is enough: no quote is stored.
    settings.print_tid = false;
    let deadline = Deadline::after(Duration::from_millis(settings.slurm.submit_ms));
    let line = match (loaded.mistake, asked(words)) {
        (_, Err(why)) => format!("down {why}"),
        (Some(mistake), _) => format!("down {mistake}"),
        (None, Ok(asked)) => answer(&settings, asked, deadline),
    };
    let mut text: String = line
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.push('\n');
    Ending {
        stdout: text,
        ..Ending::new(0, "")
    }
}

/// The job as it is submitted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    facts: Facts,
    minutes: Option<i64>,
}

fn answer(settings: &Settings, mut asked: Asked, deadline: Deadline) -> String {
    if asked.facts.cluster.is_empty() && settings.machine.is_none() {
        asked.facts.cluster = cluster(settings).unwrap_or_default();
    }
    let wall_s = asked.minutes.map_or(settings.slurm.unlimited_s, |minutes| {
        minutes.saturating_mul(60)
    });
    let times = Times {
        wall_s,
        ..Times::default()
    };
    // A running job has a lien, which a reserve would replace: a quote would count the lien against the job.
    let event = if asked.facts.id.is_empty() {
        Event::Quote
    } else {
        Event::Reserve
    };
    let ask =
        |facts: &Facts| call::ask(settings, event, &document(settings, facts, times), deadline);
    let outcome = ask(&asked.facts);
    if outcome.condition == Condition::Funds
        && let Some(fallback) = settings
            .slurm
            .fallback
            .as_ref()
            .filter(|name| **name != asked.facts.account)
    {
        fallback.clone_into(&mut asked.facts.account);
        let second = ask(&asked.facts);
        if second.is_done() {
            return format!("fallback {fallback} {}", outcome.text);
        }
    }
    verdict(&outcome)
}

/// `ClusterName` of `slurm.conf`: slurmctld gives it to the prolog and the epilog, but not to this program.
fn cluster(settings: &Settings) -> Option<String> {
    let named = || variable("SLURM_CONF").map(PathBuf::from);
    let path = settings.slurm.conf.clone().or_else(named);
    let path = path.unwrap_or_else(|| PathBuf::from("/etc/slurm/slurm.conf"));
    cluster_in(&std::fs::read_to_string(path).ok()?)
}

fn cluster_in(conf: &str) -> Option<String> {
    let mut values = conf.lines().filter_map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let (key, value) = line.split_once('=')?;
        let is_its = key.trim().eq_ignore_ascii_case("ClusterName");
        is_its.then(|| value.trim().trim_matches('"').to_lowercase())
    });
    values.next()
}

fn verdict(outcome: &Outcome) -> String {
    match outcome.condition {
        Condition::Done => format!("ok {}", outcome.stdout.trim())
            .trim_end()
            .to_owned(),
        Condition::Funds | Condition::Refused => format!("refuse {}", outcome.text),
        _ => format!("down {}", outcome.text),
    }
}

fn asked(words: &[Vec<u8>]) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let (mut cpus, mut nodes, mut tasks) = (1_u64, None, None);
    let (mut per_node, mut per_cpu, mut billing) = (None, None, None);
    let mut resources = Vec::new();
    for word in words {
        let word = std::str::from_utf8(word)
            .ok()
            .filter(|word| word.len() <= MAX_WORD);
        let (key, value) = word.and_then(|word| word.split_once('=')).ok_or(USAGE)?;
        if value.is_empty() || value == "nil" {
            continue;
        }
        let count = || number(key, value);
        let facts = &mut asked.facts;
        match key {
            "job" => value.clone_into(&mut facts.id),
            "account" => value.clone_into(&mut facts.account),
            "user" => value.clone_into(&mut facts.user),
            "partition" => value.clone_into(&mut facts.partition),
            "qos" => value.clone_into(&mut facts.qos),
            "cluster" => value.clone_into(&mut facts.cluster),
            "name" => value.clone_into(&mut facts.name),
            "reservation" => value.clone_into(&mut facts.reservation),
            "minutes" => asked.minutes = count()?.and_then(|minutes| i64::try_from(minutes).ok()),
            "cpus" => cpus = count()?.unwrap_or(cpus),
            "nodes" => nodes = count()?,
            "tasks" => tasks = count()?,
            "mem_per_node" => per_node = count()?,
            "mem_per_cpu" => per_cpu = count()?,
            "billing" => billing = count()?,
            "tres_per_node" | "tres_per_job" | "tres_per_task" => {
                resources.push((key, value.to_owned()));
            }
            _ => return Err(format!("unknown key {key:?}: {USAGE}")),
        }
    }
    let mut tres = format!("cpu={cpus}");
    if let Some(nodes) = nodes {
        tres = format!("{tres},node={nodes}");
    }
    let memory = per_cpu
        .and_then(|mb| mb.checked_mul(cpus))
        .or_else(|| per_node.and_then(|mb| mb.checked_mul(nodes.unwrap_or(1))));
    if let Some(memory) = memory {
        tres = format!("{tres},mem={memory}M");
    }
    if let Some(billing) = billing {
        tres = format!("{tres},billing={billing}");
    }
    for (key, text) in resources {
        let times = match key {
            "tres_per_node" => nodes.unwrap_or(1),
            "tres_per_task" => tasks.unwrap_or(1),
            _ => 1,
        };
        for (name, count) in text.split(',').filter_map(requested) {
            if let Some(count) = count.checked_mul(times) {
                tres = format!("{tres},{name}={count}");
            }
        }
    }
    asked.facts.tres = tres;
    Ok(asked)
}

/// A whole number; none if Slurm's value is "not set". Lua may print `10.0` or `4.294967294e+09`.
fn number(key: &str, value: &str) -> Result<Option<u64>, String> {
    let plain = value.strip_suffix(".0").unwrap_or(value);
    match plain.parse::<u64>() {
        Ok(count) => Ok(Some(count).filter(|count| !UNSET.contains(count))),
        // Larger than any count; the form that Lua prints for the unset values of 64 bits.
        Err(_) if plain.contains("e+") => Ok(None),
        Err(_) => Err(format!("{key}={value:?} is not a whole number")),
    }
}

/// Name and count of `gres:gpu:a100:2`, `gres/gpu:a100:2`, `gpu:2` or `gpu`, as in `sbatch --gres` and `--gpus`.
fn requested(text: &str) -> Option<(String, u64)> {
    let text = text.split('(').next().unwrap_or(text);
    let text = text
        .strip_prefix("gres:")
        .or_else(|| text.strip_prefix("gres/"))
        .unwrap_or(text);
    let text = text.replace('=', ":");
    let (name, count) = match text.rsplit_once(':') {
        Some((name, count)) => match count.parse() {
            Ok(count) => (name.to_owned(), count),
            Err(_) => (text.clone(), 1),
        },
        None => (text.clone(), 1),
    };
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.:-/".contains(&b));
    is_name.then(|| (format!("gres/{name}"), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tres(words: &[&str]) -> Result<String, String> {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        asked(&words).map(|asked| asked.facts.tres)
    }

    #[test]
    fn the_cluster_is_that_of_slurm_conf() {
        for (conf, expected) in [
            (
                "# ClusterName=a\n clustername = Colony # b\n",
                Some("colony"),
            ),
            ("ClusterName=\"x\"\nClusterName=y", Some("x")),
            ("SlurmctldHost=a\n", None),
        ] {
            assert_eq!(cluster_in(conf).as_deref(), expected, "{conf}");
        }
    }

    #[test]
    fn requested_resources() {
        for (words, expected) in [
            (vec![], "cpu=1"),
            (
                vec!["cpus=4294967294", "nodes=4294967294", "mem_per_cpu=nil"],
                "cpu=1",
            ),
            (
                vec!["cpus=4.0", "nodes=2", "mem_per_cpu=100"],
                "cpu=4,node=2,mem=400M",
            ),
            (
                vec!["nodes=2", "mem_per_node=1000"],
                "cpu=1,node=2,mem=2000M",
            ),
            (vec!["mem_per_node=1.844674407371e+19"], "cpu=1"),
            (
                vec!["nodes=2", "tres_per_node=gres:gpu:a100:2"],
                "cpu=1,node=2,gres/gpu:a100=4",
            ),
            (
                vec!["tasks=3", "tres_per_task=gres:gpu:h100"],
                "cpu=1,gres/gpu:h100=3",
            ),
            (
                vec!["tres_per_job=gres/gpu=3,gres:fpga"],
                "cpu=1,gres/gpu=3,gres/fpga=1",
            ),
        ] {
            assert_eq!(tres(&words).as_deref(), Ok(expected), "{words:?}");
        }
        for words in [["cpus=x"], ["colour=red"], ["cpus"]] {
            assert!(tres(&words).is_err(), "{words:?}");
        }
    }
}
