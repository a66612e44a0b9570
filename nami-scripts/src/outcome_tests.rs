use super::*;

/// (event, status, body) -> (exit, standard output, standard error).
#[test]
fn answers_become_exits() {
    let unauthorized = "not authenticated: the key, the time or the signature is wrong";
    let busy =
        r#"{"type":"urn:bank:problem:busy","title":"busy, try again","status":503,"code":"busy"}"#;
    for (event, status, body, exit, stdout, stderr) in [
        (Event::Quote, 200, "57600\n", 0, "57600\n", ""),
        (Event::Quote, 200, "3571.2:q1\n", 0, "3571.2:q1\n", ""),
        (Event::Charge, 200, "ok charged 28800 credits\n", 0, "", ""),
        (Event::Create, 200, "ok created\n", 0, "", ""),
        (Event::Create, 200, "tid q-1\nok created\n", 0, "q-1\n", ""),
        (
            Event::Charge,
            200,
            "tid q-1\n",
            99,
            "",
            "the bank's answer is not readable",
        ),
        (
            Event::Charge,
            200,
            "ok a\nwarning unbilled: no project \"x\"\n",
            0,
            "",
            "warning: unbilled: no project \"x\"",
        ),
        (
            Event::Reserve,
            402,
            "refused insufficient_funds: need 57600, have 42400 credits\n",
            78,
            "",
            "insufficient funds: need 57600, have 42400 credits",
        ),
        (
            Event::Reserve,
            403,
            "refused not_a_member: bob in chem\n",
            74,
            "",
            "not a member: bob in chem",
        ),
        (
            Event::Reserve,
            404,
            "refused project_unknown: nosuch\n",
            74,
            "",
            "unknown account: nosuch",
        ),
        (
            Event::Reserve,
            403,
            "refused not_allowed: colony\n",
            44,
            "",
            "not allowed: colony",
        ),
        (
            Event::Charge,
            409,
            "refused key_reused: k\n",
            99,
            "",
            "key used for another request: k",
        ),
        (
            Event::Charge,
            400,
            "error bad_number: Processors\n",
            31,
            "",
            "bad document: Processors",
        ),
        (
            Event::Charge,
            404,
            "ok a\nrefused user_unknown: \n",
            74,
            "",
            "unknown user",
        ),
        (Event::Charge, 401, "ok charged\n", 42, "", unauthorized),
        (Event::Charge, 503, busy, 70, "", "busy, try again"),
        (
            Event::Charge,
            500,
            "<html>",
            70,
            "",
            "the bank answered with status 500",
        ),
        (
            Event::Charge,
            413,
            "",
            31,
            "",
            "the bank answered with status 413",
        ),
        (
            Event::Charge,
            404,
            "not found",
            99,
            "",
            "the bank answered with status 404",
        ),
        (
            Event::Charge,
            405,
            "",
            71,
            "",
            "the bank answered with status 405",
        ),
        (
            Event::Charge,
            200,
            "",
            99,
            "",
            "the bank's answer is not readable",
        ),
        (
            Event::Charge,
            200,
            "welcome to another server\n",
            99,
            "",
            "the bank's answer is not readable",
        ),
        (
            Event::Charge,
            200,
            "57600\n",
            99,
            "",
            "the bank's answer is not readable",
        ),
        (
            Event::Quote,
            200,
            "ok created\n",
            99,
            "",
            "the bank's answer is not readable",
        ),
        (
            Event::Charge,
            500,
            "ok charged\n",
            99,
            "",
            "the bank's answer is not readable",
        ),
    ] {
        let outcome = Outcome::of_answer(event, status, body.as_bytes());
        let found = (
            outcome.condition.exit(),
            outcome.stdout.as_str(),
            outcome.text.as_str(),
        );
        assert_eq!(found, (exit, stdout, stderr), "{status} {body}");
    }
}

#[test]
fn what_ends_a_drain_and_what_is_final() {
    for (condition, outage, last) in [
        (Condition::Connect, true, false),
        (Condition::Timeout, true, false),
        (Condition::Auth, true, false),
        (Condition::Internal, false, false),
        (Condition::Denied, false, false),
        (Condition::Other, false, false),
        (Condition::Unsupported, false, false),
        (Condition::Document, false, true),
        (Condition::Refused, false, true),
        (Condition::Funds, false, true),
    ] {
        let outcome = Outcome::new(condition, "");
        assert_eq!(
            (outcome.is_outage(), outcome.is_final()),
            (outage, last),
            "{condition:?}"
        );
        assert_eq!(Condition::of_exit(condition.exit()), condition);
    }
    assert!(Outcome::of_answer(Event::Charge, 503, b"refused busy: \n").is_outage());
    let full = Outcome::of_answer(Event::Charge, 507, b"error disk_full: \n");
    assert!(full.is_outage() && !full.is_final());
    assert!(Outcome::of_answer(Event::Charge, 409, b"refused key_reused: k\n").is_final());
}

/// The exit code is that of the worst object; whether the document may rest is asked of all.
#[test]
fn of_several_objects_one_that_may_be_taken_later_keeps_the_document() {
    for (body, exit, last) in [
        ("refused user_unknown: x\nok charged\n", 74, true),
        (
            "refused user_unknown: x\nrefused insufficient_funds: y\n",
            74,
            true,
        ),
        (
            "refused user_unknown: x\nrefused not_allowed: y\n",
            74,
            false,
        ),
        (
            "refused insufficient_funds: x\nrefused not_allowed: y\n",
            44,
            false,
        ),
        ("refused user_unknown: x\nerror internal: y\n", 70, false),
    ] {
        let outcome = Outcome::of_answer(Event::Charge, 404, body.as_bytes());
        let found = (outcome.condition.exit(), outcome.is_final());
        assert_eq!(found, (exit, last), "{body}");
    }
    for (status, body, last) in [
        (422, "refused implausible_duration: a\nok b\n", true),
        (
            422,
            "refused implausible_duration: a\nrefused not_allowed: b\n",
            false,
        ),
        (
            422,
            "refused implausible_duration: a\nerror missing_field: b\n",
            true,
        ),
        (
            403,
            "refused not_a_member: a\nrefused not_allowed: b\n",
            false,
        ),
        (409, "refused key_reused: a\nrefused key_reused: b\n", true),
        (
            409,
            "refused key_reused: a\nrefused not_allowed: b\n",
            false,
        ),
        (503, "refused busy: a\nrefused user_unknown: b\n", false),
    ] {
        let outcome = Outcome::of_answer(Event::Charge, status, body.as_bytes());
        assert_eq!(outcome.is_final(), last, "{body}");
    }
}

#[test]
fn one_bounded_line() {
    assert_eq!(stderr_line("bank.charge", "a\nb"), "bank.charge: a b\n");
    let long = stderr_line("bank.charge", &"é".repeat(300));
    assert!(long.len() <= 200 && long.ends_with("é\n"));
}
