//! The attributes of `AMCFG`: which names a scheduler reads. It ignores every other name without a
//! message, and with it the effect of the line.

use bank_api::text::suggest;

use super::config::Config;
use super::{Report, Scheduler};

/// The attributes that Maui reads.
const MAUI: [&str; 12] = [
    "APPENDMACHINENAME",
    "CHARGEPOLICY",
    "FALLBACKACCOUNT",
    "FLUSHINTERVAL",
    "HOST",
    "JFACTION",
    "PORT",
    "SERVER",
    "SOCKETPROTOCOL",
    "TIMEOUT",
    "TYPE",
    "WIREPROTOCOL",
];

/// The attributes that any version of Moab from 5 to 9 reads.
const MOAB: [&str; 73] = [
    "ALWAYSCHARGERESERVATIONS",
    "APPENDMACHINENAME",
    "AUTHTYPE",
    "BACKUPHOST",
    "BILLINGCREATEFAILURE",
    "BILLINGRESERVEFAILURE",
    "BLOCKCREDLIST",
    "BLOCKINGACTIONS",
    "CHARGEOBJECTS",
    "CHARGEPOLICY",
    "CHARGERATE",
    "CHARGERETRYCOUNT",
    "CHARGEURL",
    "CONFIGFILE",
    "CONTINUEFAILUREACTION",
    "CONTINUEISBLOCKING",
    "CONTINUEURL",
    "CREATECRED",
    "CREATECREDURL",
    "CREATEFAILUREACTION",
    "CREATEISBLOCKING",
    "CREATEURL",
    "CSALGO",
    "CSKEY",
    "DEFERJOBONFAILURE",
    "DELETEISBLOCKING",
    "DELETEURL",
    "DESTROYCREDURL",
    "DISABLEDACTIONS",
    "ENDISBLOCKING",
    "ENDURL",
    "FALLBACKACCOUNT",
    "FALLBACKQOS",
    "FLAGS",
    "FLUSHINTERVAL",
    "HOST",
    "JFACTION",
    "JOBFAILUREACTION",
    "KEY",
    "LIENGRANULARITY",
    "MESSAGES",
    "MODE",
    "MODIFYURL",
    "NAME",
    "NODECHARGEPOLICY",
    "PAUSEISBLOCKING",
    "PAUSEURL",
    "PORT",
    "QUERYURL",
    "QUOTEURL",
    "REFRESHPERIOD",
    "RESERVEURL",
    "RESETCREDLIST",
    "RESETCREDURL",
    "RESUMEFAILUREACTION",
    "RESUMEISBLOCKING",
    "RESUMEURL",
    "RETRYFAILEDCHARGES",
    "SERVER",
    "SOCKETPROTOCOL",
    "STARTFAILUREACTION",
    "STARTISBLOCKING",
    "STARTURL",
    "STATE",
    "TIMEOUT",
    "TYPE",
    "UPDATEFAILUREACTION",
    "UPDATEISBLOCKING",
    "UPDATEREFRESHONFAILURE",
    "UPDATEURL",
    "VALIDATEJOBSUBMISSION",
    "VERSION",
    "WIREPROTOCOL",
];

/// Reports every attribute that the scheduler ignores, with the nearest known name.
pub(super) fn check(config: &Config<'_>, report: &mut Report) {
    let known: Vec<&str> = match config.scheduler {
        Scheduler::Maui => MAUI.to_vec(),
        Scheduler::Moab => MOAB.to_vec(),
    };
    let is_maui = config.scheduler == Scheduler::Maui;
    for attribute in config.attributes() {
        let name = attribute.name.as_str();
        // Programs in a Maui are a finding of their own.
        let is_program = is_maui && name.ends_with("URL") && MOAB.contains(&name);
        if name.is_empty() || known.contains(&name) || is_program {
            continue;
        }
        let change = match (name, suggest(name, &known)) {
            ("JOBFAILUREACTION" | "DEFERJOBONFAILURE", _) => config.line("JFACTION=DEFER"),
            (_, Some(near)) => config.line(&format!("{near}={}", attribute.value)),
            (_, None) => "take it out".to_owned(),
        };
        let scheduler = config.scheduler.name();
        report.add(
            "not_understood",
            attribute.at,
            format!("{scheduler} ignores the unknown attribute {name}"),
            change,
        );
    }
}
