//! What a refusal does: with the default, nothing (`nami.md` 2.1).

use super::config::Config;
use super::read::Attribute;
use super::{Report, Scheduler};

/// The setting of one event that may say no.
struct Action {
    /// Its attribute.
    name: &'static str,
    /// The URL whose call it is about.
    url: &'static str,
    /// What goes wrong without it.
    without: &'static str,
}

/// Moab 9: each event has its own.
const NINE: [Action; 4] = [
    Action {
        name: "CREATEFAILUREACTION",
        url: "CREATEURL",
        without: "a job that the bank refuses at submission is queued nevertheless",
    },
    Action {
        name: "STARTFAILUREACTION",
        url: "STARTURL",
        without: "a job that the bank refuses starts nevertheless",
    },
    Action {
        name: "CONTINUEFAILUREACTION",
        url: "CONTINUEURL",
        without: "a job continues when its funds are used up",
    },
    Action {
        name: "RESUMEFAILUREACTION",
        url: "RESUMEURL",
        without: "a suspended job resumes although the bank refuses",
    },
];

/// Moab 5 to 7: any of these makes a refused start count.
const EARLIER: [&str; 4] = [
    "JOBFAILUREACTION",
    "JFACTION",
    "BILLINGRESERVEFAILURE",
    "STARTFAILUREACTION",
];

/// What only Moab 7 asks at submission.
const AT_SUBMISSION: [&str; 2] = ["BILLINGCREATEFAILURE", "CREATEFAILUREACTION"];

pub(super) fn check(config: &Config<'_>, report: &mut Report) {
    if config.scheduler == Scheduler::Maui {
        maui(config, report);
    } else if config.get(&["STARTURL"]).is_some() {
        nine(config, report);
    } else {
        earlier(config, report);
    }
}

/// Whether a refusal without effect is among the actions of a value: `HOLD,IGNORE`.
fn ignores(attribute: &Attribute<'_>) -> bool {
    let mut words = attribute.value.split([',', ':', ';', '|']).map(str::trim);
    attribute.value.is_empty()
        || words.any(|word| {
            ["IGNORE", "NONE", "NOTHING"]
                .iter()
                .any(|w| word.eq_ignore_ascii_case(w))
        })
}

fn ignored(config: &Config<'_>, attribute: &Attribute<'_>, report: &mut Report) {
    report.add(
        "failure_ignored",
        attribute.at,
        format!(
            "{}={}: a refusal is logged and the job continues",
            attribute.name, attribute.value
        ),
        config.line(&format!("{}=HOLD", attribute.name)),
    );
}

/// What a refusal may do in some version of Moab.
const ACTIONS: [&str; 5] = ["HOLD", "CANCEL", "DEFER", "RETRY", "REQUEUE"];

/// A word that no version is known to have may be taken for the default, which does nothing.
fn not_known(config: &Config<'_>, attribute: &Attribute<'_>, report: &mut Report) {
    let words = attribute.value.split([',', ':', ';', '|']).map(str::trim);
    let known = |word: &str| ACTIONS.iter().any(|known| word.eq_ignore_ascii_case(known));
    for word in words.filter(|word| !known(word)) {
        report.add(
            "not_understood",
            attribute.at,
            format!(
                "{}={}: {word:?} is not a known action; the scheduler may ignore it",
                attribute.name, attribute.value
            ),
            config.line(&format!("{}=HOLD", attribute.name)),
        );
    }
}

fn judged(config: &Config<'_>, attribute: &Attribute<'_>, report: &mut Report) {
    if ignores(attribute) {
        ignored(config, attribute, report);
    } else {
        not_known(config, attribute, report);
    }
}

fn nine(config: &Config<'_>, report: &mut Report) {
    for action in NINE {
        let Some(url) = config.get(&[action.url]) else {
            continue;
        };
        match config.get(&[action.name]) {
            Some(given) => judged(config, given, report),
            None => report.add(
                "failure_action_missing",
                url.at,
                format!("{} is not set: {}", action.name, action.without),
                config.line(&format!("{}=HOLD", action.name)),
            ),
        }
    }
}

fn earlier(config: &Config<'_>, report: &mut Report) {
    let given: Vec<_> = EARLIER
        .iter()
        .chain(&AT_SUBMISSION)
        .filter_map(|name| config.get(&[name]))
        .collect();
    for attribute in &given {
        judged(config, attribute, report);
    }
    let at_start = |a: &&&Attribute<'_>| EARLIER.contains(&a.name.as_str());
    if given.iter().find(at_start).is_none() {
        report.add(
            "failure_action_missing",
            config.place(),
            "no failure action is set: a job that the bank refuses starts nevertheless",
            if config.is_native() {
                format!(
                    "{} (Moab 7), or {} (Moab 5 and 6)",
                    config.line("BillingReserveFailure=HOLD"),
                    config.line("JOBFAILUREACTION=HOLD")
                )
            } else {
                config.line("JOBFAILUREACTION=HOLD")
            },
        );
    }
}

/// Maui knows NONE, CANCEL and DEFER, and one spelling of the attribute.
fn maui(config: &Config<'_>, report: &mut Report) {
    let Some(given) = config.get(&["JFACTION"]) else {
        report.add(
            "failure_action_missing",
            config.place(),
            "JFACTION is not set: while the bank is unreachable, jobs start without a charge",
            config.line("JFACTION=DEFER"),
        );
        return;
    };
    let known = ["CANCEL", "DEFER"]
        .iter()
        .any(|word| given.value.eq_ignore_ascii_case(word));
    if !known {
        report.add(
            "failure_ignored",
            given.at,
            format!(
                "JFACTION={}: while the bank is out jobs start and nobody pays; Maui knows \
                 DEFER and CANCEL",
                given.value
            ),
            config.line("JFACTION=DEFER"),
        );
    }
}
