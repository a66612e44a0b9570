//! Answers to requests that fail (`gold-wire.md` 4), and invalid messages.

use bank_core::command::Command;
use bankd_config::NoFundsWord;

use super::bench::{Bench, T1, job, shown};
use super::changes::{administrators, send};

/// A reserve by eve of broke, which has no money.
const BROKE: &str =
    "JobId=j/1 UserId=eve ProjectId=broke MachineName=cluster1 Processors=2 WallDuration=300";

#[tokio::test]
async fn a_shortage_has_a_form_for_each_kind_of_peer() {
    use NoFundsWord::{Auto, Gold, Maui};
    let mut bench = Bench::new().await;
    let (to_maui, to_others) = (
        "Failure 782 [] Not enough credits to reserve job j/1",
        "Failure 782 Insufficient balance to reserve job j/1",
    );
    for (is_maui, no_funds, expected) in [
        (true, Auto, to_maui),
        (false, Auto, to_others),
        (true, Gold, to_others),
        (false, Maui, to_maui),
    ] {
        bench.is_maui = is_maui;
        bench.peer.no_funds = no_funds;
        for action in ["Reserve", "Quote"] {
            let answer = bench.job(action, BROKE).await;
            assert_eq!(answer, expected, "{action} {is_maui} {no_funds:?}");
        }
    }
    assert_eq!(bench.journal().await, "");
}

#[tokio::test]
async fn unauthorized_peers_get_an_error_without_a_name() {
    let mut bench = Bench::new().await;
    bench.user("zed", None).await;
    bench.user("off", Some("chem")).await;
    bench.project("closed").await;
    bench.machine("down").await;
    bench.peer.scope.machines.clear();
    for command in [
        Command::set_record("user", "off", &[("active", false.into())]),
        Command::set_record("project", "closed", &[("active", false.into())]),
        Command::set_record("machine", "down", &[("active", false.into())]),
    ] {
        bench.admin(command).await;
    }
    for (who, cause) in [
        (
            "UserId=bob ProjectId=chem MachineName=cluster1",
            "not a member",
        ),
        ("ProjectId=chem MachineName=cluster1", "not a member"),
        (
            "UserId=amy ProjectId=nosuch MachineName=cluster1",
            "unknown account",
        ),
        (
            "UserId=nobody ProjectId=chem MachineName=cluster1",
            "unknown user",
        ),
        (
            "UserId=amy ProjectId=chem MachineName=nosuch",
            "unknown machine",
        ),
        (
            "UserId=off ProjectId=chem MachineName=cluster1",
            "user inactive",
        ),
        (
            "UserId=amy ProjectId=closed MachineName=cluster1",
            "project inactive",
        ),
        (
            "UserId=amy ProjectId=chem MachineName=down",
            "machine inactive",
        ),
        ("UserId=zed MachineName=cluster1", "no default project"),
    ] {
        let fields = format!("JobId=j {who} Processors=2 WallDuration=300");
        bench.is_maui = true;
        for action in ["Reserve", "Quote"] {
            let answer = bench.job(action, &fields).await;
            assert_eq!(
                answer, "Failure 740 [] Not allowed to reserve job j",
                "{action} {who}"
            );
        }
        bench.is_maui = false;
        let answer = bench.job("Reserve", &fields).await;
        let expected = format!("Failure 740 Not allowed to reserve job j: {cause}");
        assert_eq!(answer, expected, "{who}");
    }
    assert_eq!(bench.journal().await, "");
}

#[tokio::test]
async fn what_is_not_there_or_only_read_is_refused() {
    let bench = administrators().await;
    for (action, object, parts, expected) in [
        (
            "Delete",
            "AccountAccount",
            "Where Account=2",
            "Failure 315 Delete of AccountAccount is not supported",
        ),
        (
            "Refund",
            "Job",
            "Option Id=99",
            "Failure 740 There are no jobs matching the specified job id",
        ),
    ] {
        let answer = send(&bench, action, object, parts).await;
        assert_eq!(answer, expected, "{action} {object} {parts}");
    }
}

#[tokio::test]
async fn a_machine_outside_of_the_scope_is_444() {
    let mut bench = Bench::new().await;
    bench.machine("cluster2").await;
    let times = format!("StartTime=1 EndTime={T1}");
    for machine in ["cluster2", "nosuch"] {
        for (action, does) in [
            ("Reserve", "reserve"),
            ("Quote", "reserve"),
            ("Charge", "charge"),
        ] {
            let fields = format!(
                "JobId=j UserId=amy ProjectId=chem MachineName={machine} Processors=2 \
                 WallDuration=300 {times}"
            );
            let answer = bench.job(action, &fields).await;
            let expected =
                format!("Failure 444 Not allowed to {does} job j: not in this peer's scope");
            assert_eq!(answer, expected, "{action} {machine}");
        }
    }
    assert_eq!(bench.journal().await, "");
    assert_eq!(bench.account("chem").await, "1000000/0");
}

#[tokio::test]
async fn an_unusable_field_is_named() {
    let mut bench = Bench::new().await;
    let base = "UserId=amy ProjectId=chem MachineName=cluster1";
    let long = format!("JobId={} {base} WallDuration=1", "x".repeat(257));
    for (action, fields, expected) in [
        ("Reserve", "UserId=amy WallDuration=1", "JobId is missing"),
        ("Charge", "JobId= WallDuration=1", "JobId is missing"),
        ("Charge", "JobId=j", "WallDuration is missing"),
        ("Reserve", "JobId=j Processors=4", "WallDuration is missing"),
        ("Quote", "Processors=4", "WallDuration is missing"),
        (
            "Reserve",
            "JobId=j Processors=-4 WallDuration=1",
            "Processors -4 is not a whole number",
        ),
        (
            "Reserve",
            "JobId=j Processors=1.5 WallDuration=1",
            "Processors 1.5 is not a whole",
        ),
        (
            "Reserve",
            "JobId=j WallDuration=1e3",
            "WallDuration 1e3 is not a duration",
        ),
        (
            "Charge",
            "JobId=j WallDuration=99999999999",
            "is not a duration of at most 10 years",
        ),
        (
            "Charge",
            "JobId=j WallDuration=1 EndTime=99999999999999999999",
            "EndTime",
        ),
        (
            "Quote",
            "Processors=1234567890123456 WallDuration=1",
            "Processors",
        ),
        (
            "Reserve",
            "JobId=j JobId=k WallDuration=1",
            "JobId given twice",
        ),
        (
            "Reserve",
            "JobId=j ProjectId=a Project=b WallDuration=1",
            "disagree",
        ),
        ("Reserve", &long, "JobId is longer than 256 bytes"),
    ] {
        let answer = bench.job(action, fields).await;
        assert!(answer.starts_with("Failure 314 "), "{fields}: {answer}");
        assert!(answer.contains(expected), "{fields}: {answer}");
    }
    assert_eq!(bench.journal().await, "");
}

#[tokio::test]
async fn what_is_not_served_is_315() {
    let mut bench = Bench::new().await;
    for (action, object) in [
        ("Refund", "Account"),
        ("Deposit", "Job"),
        ("Reserve", "Account"),
        ("Query", "RoleUser"),
        ("Query", "EventLog"),
        ("reserve", "Job"),
    ] {
        let body = format!(
            "<Body><Request action=\"{action}\" actor=\"x\"><Object>{object}</Object>\
             <Set name=\"Name\">a</Set></Request></Body>"
        );
        let body = body.replace(
            "<Set name=\"Name\">a</Set>",
            match action {
                "Query" => "",
                _ => "<Set name=\"Name\">a</Set>",
            },
        );
        let answer = shown(&bench.send(body.as_bytes()).await);
        let expected = format!("Failure 315 {action} of {object} is not supported");
        assert_eq!(answer, expected);
    }
    let nested = job("Reserve", BROKE).replace("<Data>", "<Where name=\"A\">b</Where><Data>");
    let answer = shown(&bench.send(nested.as_bytes()).await);
    assert_eq!(
        answer,
        "Failure 315 Where or Get with a job is not supported"
    );
    assert_eq!(bench.journal().await, "");
}

#[tokio::test]
async fn what_is_no_xml_is_313() {
    let bench = Bench::new().await;
    let good = job("Reserve", BROKE);
    let deep = format!("{}{}", "<Body>".repeat(20), "</Body>".repeat(20));
    for body in [
        "",
        "<Body>",
        "<Body></Request></Body>",
        "<Other/>",
        &format!("<!DOCTYPE Body [<!ENTITY a 'b'>]>{good}"),
        &good.replace("j/1", "j&#0;"),
        &good.replace("j/1", "j\u{1}"),
        &deep,
    ] {
        let answer = shown(&bench.send(body.as_bytes()).await);
        assert!(answer.starts_with("Failure 313 "), "{body:.60}: {answer}");
    }
    let latin = [&good.as_bytes()[..40], b"\xe9", &good.as_bytes()[40..]].concat();
    assert_eq!(shown(&bench.send(&latin).await), "Failure 313 not UTF-8");
}

/// Maui's code for `<`, entities, and old spellings mean the same name.
#[tokio::test]
async fn a_name_is_read_in_every_spelling() {
    let mut bench = Bench::new().await;
    bench.project("a<b").await;
    bench.deposit("a<b", 1000).await;
    bench
        .admin(Command::SetMember(bank_core::command::SetMember {
            project: "a<b".to_owned(),
            user: "amy".to_owned(),
            active: Some(true),
            role: None,
        }))
        .await;
    for (number, project) in [
        "a\u{0e}b",
        "a&lt;b",
        "a&#60;b",
        "a&#x3C;b",
        "<![CDATA[a<b]]>",
    ]
    .into_iter()
    .enumerate()
    {
        let fields = format!(
            "JobId=j{number} UserId=amy ProjectId={project} MachineName=cluster1 \
            Processors=1 WallDuration=10"
        );
        let answer = bench.job("Reserve", &fields).await;
        assert!(answer.starts_with("Success 000"), "{project}: {answer}");
    }
    assert_eq!(bench.account("a<b").await, "1000/50");
    let old = "<Body><Request action='Reserve' object='Job'><Data><Job><JobId value='old'/>\
        <UserId value='amy'/><ProjectId value='R&D'/><MachineName value='cluster1'/>\
        <Processors value='1'/><WallDuration value='7'/></Job></Data></Request></Body>";
    let answer = shown(&bench.send(old.as_bytes()).await);
    assert!(answer.starts_with("Success 000"), "{answer}");
    assert_eq!(bench.account("R&D").await, "1000000/7");
}
