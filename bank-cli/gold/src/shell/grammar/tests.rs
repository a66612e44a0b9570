use bank_picture::Zone;

use super::*;
use crate::Clock;

fn xml(command: &str) -> String {
    let clock = Clock {
        now_us: 5_000_000,
        zone: Zone::Named(chrono_tz::UTC),
    };
    let xml = parse(command).unwrap().xml("amy", &clock);
    let start = xml.find('>').unwrap() + 1;
    xml[start..].strip_suffix("</Request>").unwrap().to_owned()
}

#[test]
fn a_command_becomes_a_request() {
    for (command, expected) in [
        ("Project Query", "<Object>Project</Object>"),
        (
            "User Query Name==amy Active!=True Show:=\"Sort(Name),Max(User.Id)\" Unique:=True",
            "<Object>User</Object><Get name=\"Name\" op=\"Sort\"></Get><Get object=\"User\" name=\"Id\" op=\"Max\"></Get>\
             <Where name=\"Name\" op=\"EQ\">amy</Where><Where name=\"Active\" op=\"NE\">True</Where>\
             <Option name=\"Unique\">True</Option>",
        ),
        (
            "User Modify Name==amy CommonName=\"Amy (Miller)\" Left=-2",
            "<Object>User</Object><Set name=\"CommonName\">Amy (Miller)</Set><Set name=\"Left\">-2</Set>\
             <Where name=\"Name\" op=\"EQ\">amy</Where>",
        ),
        (
            "Job Query (User==amy || User==bob) && Charge>=-5 &! Stage~\"%e\"",
            "<Object>Job</Object><Where group=\"+1\" name=\"User\" op=\"EQ\">amy</Where>\
             <Where conj=\"Or\" group=\"-1\" name=\"User\" op=\"EQ\">bob</Where>\
             <Where conj=\"And\" name=\"Charge\" op=\"GE\">-5</Where>\
             <Where conj=\"AndNot\" name=\"Stage\" op=\"Match\">%e</Where>",
        ),
        (
            "Reservation,ReservationAllocation Query Reservation.Id==ReservationAllocation.Reservation",
            "<Object>Reservation</Object><Object>ReservationAllocation</Object>\
             <Where object=\"Reservation\" name=\"Id\" op=\"EQ\" subject=\"ReservationAllocation\">Reservation</Where>",
        ),
        (
            "Account:A Query Name==R.D StartTime<now Not:!x",
            "<Object alias=\"A\">Account</Object><Where name=\"Name\" op=\"EQ\">R.D</Where>\
             <Where name=\"StartTime\" op=\"LT\">5</Where><Option name=\"Not\" op=\"Not\">x</Option>",
        ),
        (
            "Job Charge Data:=\"<Job><Id>1</Id></Job>\"",
            "<Object>Job</Object><Data><Job><Id>1</Id></Job></Data>",
        ),
    ] {
        assert_eq!(xml(command), expected, "{command}");
    }
}

#[test]
fn what_cannot_be_read_has_a_message_and_an_exit_code() {
    for (command, exit, line) in [
        ("", 77, "An object must be specified."),
        ("project Query", 77, "The object is malformed (project)."),
        ("Project", 78, "An action must be specified."),
        ("Project query", 78, "The action is malformed (query)."),
        (
            "User Query Sort(Name)",
            77,
            "An operator was expected ((Name)).",
        ),
        (
            "Job Query Show:=Sum(Charge)",
            77,
            "An operator was expected ()).",
        ),
        (
            "Allocation Modify Id==2 CreditLimit+=5",
            77,
            "The operator is malformed (+=).",
        ),
        ("User Query Name", 77, "An operator was expected ()."),
        ("User Query Name==", 77, "A value was expected ()."),
        (
            "User Query Name==\"amy",
            77,
            "A value was expected (\"amy).",
        ),
        (
            "User Query Name<>amy",
            77,
            "The operator is malformed (<>).",
        ),
        (
            "User Query Name==amy &| Name==b",
            77,
            "The conjunction is malformed (&|).",
        ),
        (
            "User Query )Name==amy",
            77,
            "The open grouping is malformed ()).",
        ),
        (
            "User Query ==amy",
            77,
            "An option name was expected (==amy).",
        ),
        ("User Query 1a==amy", 77, "The name is malformed (1a)."),
        (
            "User Query Show:=\"Sum(x\"",
            77,
            "The selection is malformed (Sum(x).",
        ),
    ] {
        let fault = parse(command).unwrap_err();
        assert_eq!(
            (fault.exit(), fault.line.as_str()),
            (exit, line),
            "{command}"
        );
    }
}
