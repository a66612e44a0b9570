//! What holds for every manager: labels, modes, the flush interval, the fallback account.

use super::config::Config;
use super::read::Attribute;
use super::{Facts, Report, Scheduler};

/// Longest interval, in seconds: a flush comes at least once a day.
const DAY: i64 = 86_400;

pub(super) fn check(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    for (file, at) in &config.includes {
        report.note(format!(
            "{}:{}: includes {file}: name that file too if it concerns the bank",
            at.file.name, at.line
        ));
    }
    server_mode(config, report);
    if config.managers.is_empty() {
        report.add(
            "no_manager",
            config.start,
            format!(
                "no AMCFG line: {} asks no bank at all",
                config.scheduler.name()
            ),
            match config.scheduler {
                Scheduler::Moab => "AMCFG[bank]  TYPE=NATIVE",
                Scheduler::Maui => "AMCFG[bank]  SERVER=gold://HOST:7112 JFACTION=DEFER",
            },
        );
        return;
    }
    labels(config, report);
    twice(config, report);
    interface(config, report);
    flush(config, facts, report);
    charge_policy(config, report);
    fallback(config, facts, report);
    machine(config, facts, report);
}

/// Outside of mode NORMAL every call succeeds without the bank (`nami.md` 7).
fn server_mode(config: &Config<'_>, report: &mut Report) {
    let modes = config
        .lines("SERVERMODE")
        .filter_map(|block| block.attributes.first())
        .chain(
            config
                .lines("SCHEDCFG")
                .flat_map(|block| &block.attributes)
                .filter(|attribute| attribute.name == "MODE"),
        );
    for mode in modes {
        if !mode.value.eq_ignore_ascii_case("NORMAL") {
            let change = if mode.name == "MODE" {
                "SCHEDCFG[…]  MODE=NORMAL"
            } else {
                "SERVERMODE  NORMAL"
            };
            report.add(
                "server_mode",
                mode.at,
                format!(
                    "in mode {} the scheduler never asks the bank and every call succeeds",
                    mode.value
                ),
                change,
            );
        }
    }
}

fn labels(config: &Config<'_>, report: &mut Report) {
    let first = config.label().to_owned();
    for block in &config.managers {
        match &block.label {
            None => report.add(
                "label_missing",
                block.at,
                "this line belongs to no manager",
                format!("AMCFG[{first}]  …"),
            ),
            Some(label) if *label != first => report.add(
                "label_differs",
                block.at,
                format!("[{label}] is another manager than [{first}]: only one is asked"),
                format!("AMCFG[{first}]  …"),
            ),
            Some(_) => {}
        }
    }
}

/// Which of two values counts is documented nowhere.
fn twice(config: &Config<'_>, report: &mut Report) {
    let mut seen: Vec<&Attribute<'_>> = Vec::new();
    for attribute in config.attributes().filter(|a| !a.name.is_empty()) {
        let known = seen.iter().find(|known| known.name == attribute.name);
        match known {
            Some(known) if known.value != attribute.value => report.add(
                "given_twice",
                attribute.at,
                format!(
                    "{} is {} here and {} in line {} of {}",
                    attribute.name, attribute.value, known.value, known.at.line, known.at.file.name
                ),
                "keep one of the two",
            ),
            Some(_) => {}
            None => seen.push(attribute),
        }
    }
}

fn interface(config: &Config<'_>, report: &mut Report) {
    let (native, gold) = (config.is_native(), config.is_gold());
    if native && gold {
        let at = config.get(&["SERVER"]).map_or(config.place(), |a| a.at);
        report.add(
            "two_interfaces",
            at,
            "both programs (TYPE=NATIVE, …URL) and the Gold protocol are configured: \
             one of them is not used, or every job pays twice",
            "keep TYPE=NATIVE with its URLs, or SERVER=gold://, not both",
        );
    }
    if config.scheduler == Scheduler::Maui && native {
        report.add(
            "native_in_maui",
            config.place(),
            "Maui has no native interface: it calls none of these programs",
            config.line("SERVER=gold://HOST:7112"),
        );
    }
    if native || gold {
        return;
    }
    let scheme = config.server_scheme().unwrap_or_default();
    if matches!(scheme.as_str(), "file" | "ggf") {
        let at = config.get(&["SERVER"]).map_or(config.place(), |a| a.at);
        report.add(
            "bank_not_asked",
            at,
            format!("SERVER={scheme}:// writes records and never asks the bank"),
            config.line("TYPE=NATIVE"),
        );
        return;
    }
    report.add(
        "interface_missing",
        config.place(),
        "neither programs (TYPE=NATIVE) nor a server (SERVER=gold://) are named",
        match config.scheduler {
            Scheduler::Moab => config.line("TYPE=NATIVE"),
            Scheduler::Maui => config.line("SERVER=gold://HOST:7112"),
        },
    );
}

fn flush(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    let Some(given) = config.get(&["FLUSHINTERVAL"]) else {
        report.add(
            "flush_interval_missing",
            config.place(),
            "FLUSHINTERVAL is not set, and manuals and programs differ in what it then is: \
             the bank cannot know how long a lien must outlive its job",
            config.line("FLUSHINTERVAL=1:00:00"),
        );
        return;
    };
    let Some(seconds) = seconds(&given.value) else {
        report.add(
            "flush_interval_unreadable",
            given.at,
            format!("FLUSHINTERVAL={} is not a time", given.value),
            config.line("FLUSHINTERVAL=1:00:00"),
        );
        return;
    };
    let real = effective(seconds);
    let Some(machine) = &facts.machine else {
        return;
    };
    if real != machine.flush_interval_s {
        let why = if real == seconds {
            String::new()
        } else {
            format!(" ({seconds} does not divide a day, so {real} is used)")
        };
        report.add(
            "flush_interval_differs",
            given.at,
            format!(
                "the scheduler flushes every {real} s{why}, the bank expects {} s on {}: liens \
                 end too early, or charges look too long",
                machine.flush_interval_s, machine.name
            ),
            format!("bank machine set {} --flush-interval {real}", machine.name),
        );
    }
}

/// What the scheduler makes of an interval: at most a day, and a whole number of them in one.
fn effective(seconds: i64) -> i64 {
    let seconds = seconds.clamp(1, DAY);
    DAY / (DAY / seconds)
}

/// `[[[DD:]HH:]MM:]SS`, or a word.
pub(super) fn seconds(text: &str) -> Option<i64> {
    match text.to_ascii_uppercase().as_str() {
        "MINUTE" => return Some(60),
        "HOUR" => return Some(3600),
        "DAY" => return Some(DAY),
        _ => {}
    }
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > 4 {
        return None;
    }
    let mut total = 0_i64;
    for (part, unit) in parts.iter().rev().zip([1, 60, 3600, DAY]) {
        let digits = (1..=9).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        let number: i64 = digits.then(|| part.parse().ok())??;
        total = total.checked_add(number.checked_mul(unit)?)?;
    }
    (total > 0).then_some(total)
}

fn charge_policy(config: &Config<'_>, report: &mut Report) {
    let change = config.line("CHARGEPOLICY=DEBITALLWC");
    let Some(given) = config.get(&["CHARGEPOLICY"]) else {
        report.add(
            "charge_policy_missing",
            config.place(),
            "CHARGEPOLICY is not set: by default some versions charge successful jobs only, so a \
             job that is cancelled costs nothing and leaves its lien behind",
            change,
        );
        return;
    };
    if !is_charge_policy(&given.value) {
        report.add(
            "charge_policy_unknown",
            given.at,
            format!(
                "CHARGEPOLICY={} is none that a scheduler knows: it goes by its default, and a \
                 job that is cancelled may cost nothing",
                given.value
            ),
            change,
        );
    }
}

/// The words of `nami.md` 4.3, in any case.
fn is_charge_policy(word: &str) -> bool {
    let word = word.to_ascii_uppercase();
    let metric = ["DEBITALL", "DEBITSUCCESSFUL"]
        .iter()
        .find_map(|whose| word.strip_prefix(whose));
    metric.is_some_and(|m| ["WC", "CPU", "PE", "BLOCKED", "NODE"].contains(&m))
        || word == "DEBITREQUESTEDWC"
}

fn fallback(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    let (Some(given), Some(names)) = (config.get(&["FALLBACKACCOUNT"]), &facts.names) else {
        return;
    };
    let name = given.value.as_str();
    let account = |name: &str| names.accounts.iter().find(|(known, _)| known == name);
    let known = |name: &str| {
        names.projects.iter().any(|project| project == name) || account(name).is_some()
    };
    let targets: Vec<String> = match name.strip_prefix('+') {
        None => vec![name.to_owned()],
        Some(suffix) => {
            let bases = names
                .projects
                .iter()
                .filter(|project| !project.ends_with(suffix));
            bases.map(|project| format!("{project}{suffix}")).collect()
        }
    };
    let missing: Vec<&str> = targets
        .iter()
        .map(String::as_str)
        .filter(|target| !known(target))
        .collect();
    if let Some(first) = missing.first() {
        let more = match missing.len() {
            1 => String::new(),
            several => format!(" and {} more", several.saturating_sub(1)),
        };
        report.add(
            "fallback_unknown",
            given.at,
            format!("the bank has no project or account {first:?}{more}: the fallback is refused"),
            format!("bank project add {first}"),
        );
    }
    for target in &targets {
        if let Some((_, Some(next))) = account(target) {
            report.add(
                "fallback_chain",
                given.at,
                format!(
                    "the fallback account {target:?} falls back to {next:?} itself: the bank \
                     and the scheduler would both move the job"
                ),
                format!("bank account set {target} --fallback ''"),
            );
        }
    }
}

fn machine(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    if let Some(mode) = config.get(&["MODE"]) {
        let lax = ["notional-charging", "usage-tracking"];
        if lax.iter().any(|word| mode.value.eq_ignore_ascii_case(word)) {
            report.add(
                "manager_mode",
                mode.at,
                format!("in mode {} no job is refused", mode.value),
                config.line("MODE=strict-allocation"),
            );
        }
    }
    let Some(machine) = &facts.machine else {
        return;
    };
    if matches!(machine.mode.as_str(), "track" | "notional") {
        report.add(
            "machine_mode",
            config.place(),
            format!(
                "machine {} is in mode {}: the bank refuses nothing",
                machine.name, machine.mode
            ),
            format!("bank machine set {} --mode strict", machine.name),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        for (text, expected) in [
            ("hour", Some(3600)),
            ("DAY", Some(86_400)),
            ("3600", Some(3600)),
            ("1:00:00", Some(3600)),
            ("01:00:00:00", Some(86_400)),
            ("00:05:00", Some(300)),
            ("0", None),
            ("", None),
            ("1:2:3:4:5", None),
            ("-5", None),
            ("1h", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        for (seconds, real) in [(5000, 5082), (7000, 7200), (50_000, 86_400), (3600, 3600)] {
            assert_eq!(effective(seconds), real);
        }
    }
}
