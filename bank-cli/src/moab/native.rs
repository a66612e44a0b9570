//! A Moab that calls a program for each event: which events have one, and whether it can run.

use std::os::unix::fs::PermissionsExt as _;

use super::config::Config;
use super::read::Attribute;
use super::{Facts, Report, Scripts};

/// What a scheduler waits for an answer if it is not told, in seconds: the lesser of its manual's
/// word and its code's.
const TIMEOUT_S: i64 = 9;

/// An event: its URL, the programs that serve it, and what is lost without it; empty where it may
/// be missing.
struct Event {
    url: &'static str,
    scripts: &'static [&'static str],
    without: &'static str,
}

const fn event(
    url: &'static str,
    scripts: &'static [&'static str],
    without: &'static str,
) -> Event {
    Event {
        url,
        scripts,
        without,
    }
}

/// What all versions have.
const COMMON: [Event; 5] = [
    event("QUOTEURL", &["quote"], ""),
    event("CREATEURL", &["create"], ""),
    event(
        "DELETEURL",
        &["delete"],
        "liens of ended jobs stay until they expire",
    ),
    event("MODIFYURL", &["modify"], ""),
    event("QUERYURL", &[], ""),
];

/// Moab 5 to 7.
const EARLIER: [Event; 2] = [
    event(
        "RESERVEURL",
        &["reserve", "start"],
        "jobs start without asking the bank",
    ),
    event("CHARGEURL", &["charge", "update"], "no job is ever charged"),
];

/// Moab 9.
const NINE: [Event; 6] = [
    event(
        "STARTURL",
        &["start", "reserve"],
        "jobs start without asking the bank",
    ),
    event(
        "UPDATEURL",
        &["update", "charge"],
        "running jobs are not charged before their end",
    ),
    event(
        "CONTINUEURL",
        &["continue", "reserve"],
        "nothing is held for a running job's next interval",
    ),
    event("PAUSEURL", &["pause"], ""),
    event("RESUMEURL", &["resume", "reserve"], ""),
    event(
        "ENDURL",
        &["end", "charge"],
        "the last part of a job is never charged",
    ),
];

pub(super) fn check(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    let is_native = |kind: &Attribute<'_>| kind.value.eq_ignore_ascii_case("NATIVE");
    if config.get(&["TYPE"]).is_none() {
        report.add(
            "type_missing",
            config.place(),
            "programs are named without TYPE=NATIVE: they may never be called",
            config.line("TYPE=NATIVE"),
        );
    } else if let Some(kind) = config.get(&["TYPE"]).filter(|kind| !is_native(kind)) {
        report.add(
            "type_missing",
            kind.at,
            format!("TYPE={} calls none of the programs below", kind.value),
            config.line("TYPE=NATIVE"),
        );
    }
    urls(config, facts, report);
    switched_off(config, report);
    waiting(config, facts, report);
    tid(config, facts, report);
    queue(config, report);
}

fn urls(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    let given = |event: &&Event| config.get(&[event.url]).is_some();
    let is_nine = NINE.iter().any(|event| given(&event));
    // A site on Moab 9 may have begun with the lines of Moab 7: what is there is what counts.
    let family: Vec<&Event> = if is_nine {
        COMMON.iter().chain(&NINE).collect()
    } else {
        COMMON.iter().chain(&EARLIER).collect()
    };
    for event in &family {
        if !given(event) && !event.without.is_empty() && !stood_in(config, event.url) {
            report.add(
                "url_missing",
                config.place(),
                format!("no {}: {}", event.url, event.without),
                config.line(&format!(
                    "{}=exec:///usr/libexec/bank/nami/bank.{}",
                    event.url,
                    event.scripts.first().unwrap_or(&"")
                )),
            );
        }
    }
    if config.get(&["PAUSEURL"]).is_some() && config.get(&["RESUMEURL"]).is_none() {
        report.add(
            "url_missing",
            config.place(),
            "PAUSEURL without RESUMEURL: a resumed job has no lien",
            config.line("RESUMEURL=exec:///usr/libexec/bank/nami/bank.resume"),
        );
    }
    for event in COMMON.iter().chain(&EARLIER).chain(&NINE) {
        if let Some(url) = config.get(&[event.url]) {
            one_url(config, event, url, facts, report);
        }
    }
}

/// Whether the earlier family's URL does the work of one of Moab 9.
fn stood_in(config: &Config<'_>, url: &str) -> bool {
    let other = match url {
        "STARTURL" | "CONTINUEURL" => "RESERVEURL",
        "UPDATEURL" | "ENDURL" => "CHARGEURL",
        _ => return false,
    };
    config.get(&[other]).is_some()
}

fn one_url(
    config: &Config<'_>,
    event: &Event,
    url: &Attribute<'_>,
    facts: &Facts,
    report: &mut Report,
) {
    if event.url == "QUERYURL" {
        report.add(
            "url_not_served",
            url.at,
            "the bank does not serve QUERYURL: every call of it fails (71)",
            "take QUERYURL out",
        );
        return;
    }
    let script = event.scripts.first().unwrap_or(&"");
    let example = config.line(&format!(
        "{}=exec:///usr/libexec/bank/nami/bank.{script}",
        event.url
    ));
    let Some(path) = program(&url.value) else {
        report.add(
            "url_scheme",
            url.at,
            format!("{}={} starts no program", event.url, url.value),
            example,
        );
        return;
    };
    let name = path.rsplit('/').next().unwrap_or_default();
    let base = name
        .strip_suffix(".pl")
        .or_else(|| name.strip_suffix(".sh"))
        .unwrap_or(name);
    if let Some(called) = base.strip_prefix("bank.")
        && !event.scripts.contains(&called)
    {
        report.add(
            "url_other_event",
            url.at,
            format!(
                "{} calls bank.{called}, which does something else",
                event.url
            ),
            example,
        );
    }
    runs(event.url, &path, url, facts, report);
}

/// The program of an `exec` URL, without what follows its path.
fn program(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_exec = scheme.eq_ignore_ascii_case("exec");
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    // `exec:///$HOME/x` is written for `exec://$HOME/x` in the manual's own example.
    let path = path
        .strip_prefix('/')
        .filter(|rest| rest.starts_with('$'))
        .unwrap_or(path);
    (is_exec && !path.is_empty()).then(|| path.to_owned())
}

fn runs(event: &str, path: &str, url: &Attribute<'_>, facts: &Facts, report: &mut Report) {
    let path = match (path.strip_prefix("$HOME"), &facts.home) {
        (None, _) => path.to_owned(),
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        (Some(_), None) => {
            report.note(format!(
                "{event}: {path} was not checked; --home sets $HOME"
            ));
            return;
        }
    };
    let missing = match std::fs::metadata(&path) {
        Err(error) => format!("{path}: {error}"),
        Ok(meta) if !meta.is_file() => format!("{path} is not a program"),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => {
            format!("{path} is not executable")
        }
        Ok(_) => return,
    };
    report.add(
        "program_missing",
        url.at,
        format!("{event} calls what cannot run: {missing}"),
        "install the scripts (nami-scripts/README.md), or put the path right",
    );
}

fn switched_off(config: &Config<'_>, report: &mut Report) {
    if let Some(off) = config.get(&["DISABLEDACTIONS"]) {
        let words = off
            .value
            .split([',', ':', '|'])
            .map(str::to_ascii_uppercase);
        let needed = [
            "RESERVE", "START", "CHARGE", "UPDATE", "END", "DELETE", "CONTINUE", "ALL",
        ];
        for word in words.filter(|word| needed.contains(&word.trim())) {
            report.add(
                "action_disabled",
                off.at,
                format!("{word} is switched off: the bank does not hear of it"),
                format!("take {word} out of DISABLEDACTIONS"),
            );
        }
    }
    let event_names = ["CREATE", "START", "RESERVE", "CONTINUE", "RESUME"];
    for name in event_names.map(|event| format!("{event}ISBLOCKING")) {
        let no = ["FALSE", "NO", "0", "OFF"];
        let Some(given) = config.get(&[&name]) else {
            continue;
        };
        if no.iter().any(|word| given.value.eq_ignore_ascii_case(word)) {
            report.add(
                "not_waited_for",
                given.at,
                format!(
                    "{name}={}: the scheduler does not wait for the answer",
                    given.value
                ),
                config.line(&format!("{name}=TRUE")),
            );
        }
    }
}

/// The scheduler must wait longer than a script takes, or it counts every slow answer as a failure.
fn waiting(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    let Some(Scripts {
        timeout_s,
        fail_open,
        ..
    }) = facts.scripts
    else {
        return;
    };
    if fail_open {
        report.note("fail_open=yes in nami.conf: jobs start while the bank is out");
    }
    let budget = i64::try_from(timeout_s).unwrap_or(i64::MAX);
    let given = config.get(&["TIMEOUT"]);
    let seconds = given.map_or(Some(TIMEOUT_S), |given| {
        super::common::seconds(&given.value)
    });
    if seconds.is_some_and(|seconds| seconds > budget) {
        return;
    }
    let (at, what) = match (given, seconds) {
        (Some(given), None) => (given.at, format!("TIMEOUT={} is not a time", given.value)),
        (Some(given), Some(seconds)) => (
            given.at,
            format!("the scheduler waits {seconds} s, a script takes up to {budget} s (timeout_s)"),
        ),
        (None, _) => (
            config.place(),
            format!(
                "TIMEOUT is not set and may be {TIMEOUT_S} s, a script takes up to {budget} s \
                 (timeout_s)"
            ),
        ),
    };
    let enough = budget.saturating_add(2);
    report.add(
        "timeout_too_short",
        at,
        what,
        config.line(&format!("TIMEOUT={enough}")),
    );
}

fn tid(config: &Config<'_>, facts: &Facts, report: &mut Report) {
    let prints = facts.scripts.map(|scripts| scripts.print_tid);
    let Some(variable) = config.parameter("NAMITRANSVARNAME") else {
        if prints == Some(true) {
            report.add(
                "tid_not_kept",
                config.start,
                "quotes print cost:TID (print_tid=yes), and without NAMITransVarName nothing keeps \
                 the TID",
                format!("NAMITransVarName  {}", facts.tid_variable),
            );
        }
        return;
    };
    if variable.word() != facts.tid_variable {
        report.add(
            "tid_variable_differs",
            variable.at,
            format!(
                "the scheduler keeps a quote's TID in {:?}, the bank looks for it in {:?}: quoted \
                 prices are not honoured",
                variable.word(),
                facts.tid_variable
            ),
            format!("NAMITransVarName  {}", facts.tid_variable),
        );
    }
    if prints == Some(false) {
        report.add(
            "tid_not_printed",
            variable.at,
            "NAMITransVarName is set, and quotes print no TID (print_tid=no in nami.conf)",
            "print_tid=yes in nami.conf",
        );
    }
}

fn queue(config: &Config<'_>, report: &mut Report) {
    let Some(queue) = config.parameter("QUEUENAMIACTIONS") else {
        return;
    };
    let on = ["TRUE", "YES", "1", "ON"];
    if on
        .iter()
        .any(|word| queue.word().eq_ignore_ascii_case(word))
    {
        report.note(format!(
            "{}:{}: QueueNAMIActions: charges and deletes wait for the next flush, and what they \
             answer is only logged; money stays held until then",
            queue.at.file.name, queue.at.line
        ));
    }
}
