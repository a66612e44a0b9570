//! Every name of the table of `nami.md` 3.1, in every form that a scheduler may write it in.

use super::shown;
use crate::{ReadOptions, read};

/// The shown form of a field, a value, and the names that mean it.
const NAMES: &[(&str, &str, &str)] = &[
    ("id=7", "7", "ObjectID JobID Id Name"),
    (
        "rsv=r.7",
        "r.7",
        "ReservationID RsvID Reservation Rsv ReservationName RsvName AdvRes AdvRsv AdvReservation \
         ReqReservation ReqRsv ReqRsvID",
    ),
    ("user=u", "u", "User UserId UserName Owner ChargeUser"),
    ("requestor=u", "u", "Requestor Requester"),
    ("group=g", "g", "Group GroupName"),
    (
        "account=a",
        "a",
        "Account Project ProjectId AccountName ChargeAccount",
    ),
    ("qos=q", "q", "QualityOfService QOS QoSReq"),
    ("class=c", "c", "Class Queue Partition"),
    ("machine=m", "m", "Machine MachineName Cluster System Host"),
    ("procs=8", "8", "Processors ProcCount Procs PC TaskCount"),
    ("nodes=2", "2", "Nodes NodeCount"),
    ("mem=5", "5", "Memory"),
    ("disk=6", "6", "Disk"),
    (
        "wall=60",
        "60",
        "WallDuration WallTime WallClockTime Duration WCLimit",
    ),
    ("wall=3661", "1:01:01", "WallDuration WallTime"),
    ("charge=9", "9", "ChargeDuration ChargeTime"),
    ("start=12", "12", "StartTime"),
    ("end=12", "12", "EndTime CompletionTime Completion"),
    ("submit=12", "12", "SubmitTime"),
    ("state=Done", "Done", "State Status CompletionState"),
    ("code=1", "1", "CompletionCode ExitCode"),
    ("tid=q", "q", "TID QuoteId TransactionId"),
    ("amount=1.5", "1.5", "Charge Amount"),
];

fn outline(xml: &str) -> String {
    let documents = read(xml.as_bytes(), &ReadOptions::default());
    let documents = documents.unwrap_or_else(|error| panic!("{xml}: {error}"));
    assert_eq!(documents.len(), 1, "{xml}");
    shown(&documents[0])
}

/// `ChargeDuration` as `charge_duration`.
fn snake(name: &str) -> String {
    let letter = |c: char| match c {
        'A'..='Z' => format!("_{}", c.to_ascii_lowercase()),
        _ => c.to_string(),
    };
    let snake: String = name.chars().map(letter).collect();
    snake.trim_start_matches('_').to_owned()
}

#[test]
fn every_alias_in_every_spelling() {
    for (shown, value, names) in NAMES {
        let expected = format!("job {shown}");
        for name in names.split(' ') {
            let (lower, upper) = (name.to_lowercase(), name.to_uppercase());
            let (snake, kebab) = (snake(name), snake(name).replace('_', "-"));
            for spelt in [name, &lower, &upper, &snake, &kebab] {
                let element = format!("<Job><{spelt}>{value}</{spelt}></Job>");
                assert_eq!(outline(&element), expected, "{element}");
                let attribute = format!("<Job {spelt}=\"{value}\"/>");
                assert_eq!(outline(&attribute), expected, "{attribute}");
            }
        }
    }
}

#[test]
fn attributes_of_known_elements_change_nothing() {
    for (shown, value, names) in NAMES {
        for name in names.split(' ') {
            let xml = format!("<Job><{name} context=\"hard\" units='MB'>{value}</{name}></Job>");
            let text = outline(&xml);
            let expected = format!("job {shown} ");
            assert!(text.starts_with(&expected), "{xml}: {text}");
        }
    }
    let req =
        "<Job><Req id='0'><Memory context='total'>5</Memory><Procs x='1'>4</Procs></Req></Job>";
    assert!(
        outline(req).starts_with("job procs=4 mem=5"),
        "{}",
        outline(req)
    );
}

#[test]
fn every_null_is_absent_under_every_name() {
    for (_, _, names) in NAMES {
        for name in names.split(' ') {
            for null in ["", "[NONE]", "NONE", "[DEFAULT]", "  "] {
                let xml = format!("<Job><{name}>{null}</{name}></Job>");
                assert_eq!(outline(&xml), "job", "{xml}");
            }
        }
    }
}
