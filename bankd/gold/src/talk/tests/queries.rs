//! Queries (`gold-wire.md` 3.1, 3.7).

use bank_core::command::Command;
use bank_core::model::Account;

use super::bench::{Bench, T0, T1};

/// The values of one element in an answer, joined by blanks.
fn values(answer: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = answer.split(&open).skip(1);
    let value = |part: &str| part.split(&close).next().unwrap().to_owned();
    parts.map(value).collect::<Vec<_>>().join(" ")
}

/// A bank in which each kind of job has been seen.
async fn worked() -> Bench {
    let bench = Bench::new().await;
    let amy = "UserId=amy ProjectId=chem MachineName=cluster1 Processors=2 QualityOfService=high \
        Queue=batch Nodes=1 WallDuration=100";
    bench.job("Reserve", &format!("JobId=open {amy}")).await;
    let bob = "UserId=bob MachineName=cluster1 Processors=3";
    bench
        .job("Reserve", &format!("JobId=done {bob} WallDuration=100"))
        .await;
    bench.at(T1);
    let times = format!("StartTime={} EndTime={T1}", T1 - 40);
    bench
        .job(
            "Charge",
            &format!("JobId=done {bob} WallDuration=40 {times} Type=job"),
        )
        .await;
    let maint = "JobId=maint ProjectId=chem MachineName=cluster1 Processors=1 WallDuration=10 \
        Type=Reservation";
    bench.job("Charge", maint).await;
    bench
}

#[tokio::test]
async fn a_job_shows_all_that_is_known_of_it() {
    let bench = worked().await;
    let open = bench
        .query("Job", "<Where name=\"JobId\">open</Where>")
        .await;
    assert_eq!(
        open,
        "Success 000 #1 [<Job><Id>1</Id><JobId>open</JobId><User>amy</User>\
         <Project>chem</Project><Machine>cluster1</Machine><Queue>batch</Queue>\
         <QualityOfService>high</QualityOfService><Type>job</Type><Stage>Reserve</Stage>\
         <Charge>0</Charge><Nodes>1</Nodes><Processors>2</Processors><StartTime></StartTime>\
         <EndTime></EndTime><WallDuration>100</WallDuration><Description></Description></Job>]"
    );
    let done = bench
        .query("Job", "<Where name=\"JobId\">done</Where>")
        .await;
    for (name, value) in [
        ("Project", "physics"),
        ("Stage", "Charge"),
        ("Charge", "120"),
        ("StartTime", &(T1 - 40).to_string()),
        ("EndTime", &T1.to_string()),
        ("WallDuration", "40"),
        ("QualityOfService", ""),
    ] {
        assert_eq!(values(&done, name), value, "{done}");
    }
    let all = bench
        .query("Job", "<Get name=\"Type\"/><Get name=\"JobId\"/>")
        .await;
    assert_eq!(
        all,
        "Success 000 #3 [<Job><Type>job</Type><JobId>open</JobId></Job>\
         <Job><Type>job</Type><JobId>done</JobId></Job>\
         <Job><Type>Reservation</Type><JobId>maint</JobId></Job>]"
    );
}

#[tokio::test]
async fn conditions_on_jobs_are_all_met() {
    let bench = worked().await;
    let after = format!("<Where name=\"StartTime\" op=\"GE\">{T0}</Where>");
    let before = format!("<Where name=\"EndTime\" op=\"L\">{T1}</Where>");
    for (conditions, jobs) in [
        ("<Where name=\"User\">amy</Where>", "open"),
        ("<Where name=\"User\" op=\"NE\">amy</Where>", "done maint"),
        ("<Where name=\"Stage\">Charge</Where>", "done maint"),
        (
            "<Where name=\"Stage\">Reserve</Where><Where name=\"User\">bob</Where>",
            "",
        ),
        ("<Where name=\"Project\">chem</Where>", "open maint"),
        ("<Where name=\"JobId\" op=\"G\">done</Where>", "open maint"),
        ("<Where name=\"JobId\" op=\"LE\">done</Where>", "done"),
        (
            "<Where name=\"JobId\">done</Where><Where name=\"Machine\">other</Where>",
            "",
        ),
        (&after, "done"),
        (&before, ""),
        (
            "<Where name=\"EndTime\" op=\"NE\">7</Where>",
            "open done maint",
        ),
    ] {
        let answer = bench
            .query("Job", &format!("{conditions}<Get name=\"JobId\"/>"))
            .await;
        assert_eq!(values(&answer, "JobId"), jobs, "{conditions}: {answer}");
    }
}

#[tokio::test]
async fn a_peer_sees_the_jobs_of_its_machines_and_what_its_key_is_for() {
    let mut bench = worked().await;
    bench.machine("cluster2").await;
    bench.peer.scope.machines = vec!["cluster2".to_owned()];
    assert_eq!(bench.query("Job", "").await, "Success 000 #0 []");
    bench.peer.scope.machines.clear();
    bench.peer.scope.projects = vec!["physics".to_owned()];
    bench.as_other();
    for (object, name, seen) in [
        ("Job", "JobId", "done"),
        ("Project", "Name", "physics"),
        ("Account", "Name", "physics"),
        ("User", "Name", "bob"),
    ] {
        let answer = bench
            .query(object, &format!("<Get name=\"{name}\"/>"))
            .await;
        assert_eq!(values(&answer, name), seen, "{answer}");
    }
}

#[tokio::test]
async fn users_are_listed_with_what_is_known_of_them() {
    let mut bench = Bench::new().await;
    bench.as_other();
    bench.user("zed", None).await;
    bench
        .admin(Command::set_record(
            "user",
            "zed",
            &[
                ("active", false.into()),
                ("common_name", "Zed \"Z\" <zed>".into()),
                ("email", "zed@example.org".into()),
                ("phone", "123".into()),
                ("organization", "R&D".into()),
                ("description", "a\nb".into()),
            ],
        ))
        .await;
    let zed = bench
        .query("User", "<Where name=\"Name\">zed</Where>")
        .await;
    assert_eq!(
        zed,
        "Success 000 #1 [<User><Name>zed</Name><Active>False</Active>\
         <CommonName>Zed &quot;Z&quot; &lt;zed&gt;</CommonName><PhoneNumber>123</PhoneNumber>\
         <EmailAddress>zed@example.org</EmailAddress><DefaultProject></DefaultProject>\
         <Organization>R&amp;D</Organization><Description>a b</Description></User>]"
    );
    let name = "<Get name=\"Name\"/>";
    for (conditions, users) in [
        ("", "amy bob eve zed"),
        ("<Where name=\"Special\">False</Where>", "amy bob eve zed"),
        ("<Where name=\"Special\">True</Where>", ""),
        ("<Where name=\"Active\">True</Where>", "amy bob eve"),
        ("<Where name=\"Active\" op=\"NE\">True</Where>", "zed"),
        ("<Where name=\"DefaultProject\">chem</Where>", "amy"),
        ("<Where name=\"DefaultProject\"></Where>", "zed"),
        ("<Where name=\"Name\" op=\"G\">bob</Where>", "eve zed"),
        // A look-up of default projects has no use for who has none.
        ("<Get name=\"DefaultProject\"/>", "amy bob eve"),
    ] {
        let answer = bench.query("User", &format!("{conditions}{name}")).await;
        assert_eq!(values(&answer, "Name"), users, "{conditions}: {answer}");
    }
}

#[tokio::test]
async fn maui_does_not_receive_what_it_cannot_read() {
    let mut bench = Bench::new().await;
    let long = "x".repeat(64);
    bench.user("ann", Some("R&D")).await;
    bench.user(&long, Some("chem")).await;
    bench.user("dan<x", Some("chem")).await;
    bench.user("zed", None).await;
    let lookup = "<Where name=\"Special\">False</Where><Get name=\"Name\"></Get>\
        <Get name=\"DefaultProject\"></Get>";
    let answer = bench.query("User", lookup).await;
    assert_eq!(values(&answer, "Name"), "amy bob eve");
    bench.as_other();
    let answer = bench.query("User", lookup).await;
    assert_eq!(
        values(&answer, "Name"),
        format!("amy ann bob dan&lt;x eve {long}")
    );
    assert!(
        answer.contains("<DefaultProject>R&amp;D</DefaultProject>"),
        "{answer}"
    );
}

#[tokio::test]
async fn no_users_are_no_rows_and_data_all_the_same() {
    let bench = Bench::new().await;
    let answer = bench
        .query("User", "<Where name=\"Name\">nobody</Where>")
        .await;
    assert_eq!(answer, "Success 000 #0 []");
}

#[tokio::test]
async fn maui_has_room_for_so_many_users_and_hears_of_those_at_work() {
    let mut bench = Bench::new().await;
    for number in 0..1030 {
        bench.user(&format!("u{number:04}"), Some("chem")).await;
    }
    // The last in the order of names has work.
    let fields = "JobId=j UserId=u1029 MachineName=cluster1 Processors=1 WallDuration=1";
    bench.job("Charge", fields).await;
    let get = "<Get name=\"Name\"/>";
    let names = values(&bench.query("User", get).await, "Name");
    let names: Vec<&str> = names.split(' ').collect();
    assert_eq!(names.len(), 1023);
    assert!(names.is_sorted());
    assert_eq!(
        (names[0], names[1021], names[1022]),
        ("amy", "u1018", "u1029")
    );
    bench.as_other();
    assert!(
        bench
            .query("User", get)
            .await
            .starts_with("Success 000 #1033 ")
    );
}

#[tokio::test]
async fn projects_by_their_members() {
    let mut bench = Bench::new().await;
    bench.as_other();
    let answer = bench
        .query("Project", "<Where name=\"Name\">R&D</Where>")
        .await;
    assert_eq!(
        answer,
        "Success 000 #1 [<Project><Name>R&amp;D</Name><Active>True</Active>\
         <Organization></Organization><Description></Description></Project>]"
    );
    for (conditions, projects) in [
        ("", "R&amp;D broke chem freebie physics"),
        ("<Where name=\"User\">amy</Where>", "R&amp;D chem"),
        (
            "<Where name=\"User\" op=\"NE\">amy</Where>",
            "broke freebie physics",
        ),
        ("<Where name=\"User\">nobody</Where>", ""),
        ("<Where name=\"Special\">True</Where>", ""),
        ("<Where name=\"Active\">False</Where>", ""),
    ] {
        let answer = bench
            .query("Project", &format!("{conditions}<Get name=\"Name\"/>"))
            .await;
        assert_eq!(values(&answer, "Name"), projects, "{conditions}: {answer}");
    }
}

#[tokio::test]
async fn accounts_by_who_may_spend_from_them() {
    let mut bench = Bench::new().await;
    bench.as_other();
    for (conditions, accounts) in [
        ("", "2 3 4 5 6"),
        ("<Where name=\"Project\">chem</Where>", "2"),
        ("<Where name=\"User\">amy</Where>", "2 5"),
        ("<Where name=\"User\" op=\"NE\">amy</Where>", "3 4 6"),
        (
            "<Where name=\"Project\">chem</Where><Where name=\"User\">bob</Where>",
            "",
        ),
        (
            "<Where name=\"Project\">chem</Where><Where name=\"Project\">physics</Where>",
            "",
        ),
        ("<Where name=\"Machine\">cluster1</Where>", "2 3 4 5 6"),
        ("<Where name=\"Machine\">nosuch</Where>", ""),
        ("<Where name=\"Id\" op=\"LE\">3</Where>", "2 3"),
        (
            "<Where name=\"Id\" op=\"G\">3</Where><Where name=\"Name\">broke</Where>",
            "6",
        ),
        ("<Where name=\"Name\">#unbilled</Where>", ""),
    ] {
        let answer = bench
            .query("Account", &format!("{conditions}<Get name=\"Id\"/>"))
            .await;
        assert_eq!(values(&answer, "Id"), accounts, "{conditions}: {answer}");
    }
    let fields = "JobId=j UserId=amy ProjectId=chem MachineName=cluster1 Processors=1 \
        WallDuration=100";
    bench.job("Reserve", fields).await;
    let figures: String = ["Available", "Amount", "Reserved", "Balance", "CreditLimit"]
        .map(|name| format!("<Get name=\"{name}\"/>"))
        .concat();
    let answer = bench
        .query("Account", &format!("<Where name=\"Id\">2</Where>{figures}"))
        .await;
    assert_eq!(
        answer,
        "Success 000 #1 [<Account><Available>999900</Available><Amount>1000000</Amount>\
         <Reserved>100</Reserved><Balance>999900</Balance><CreditLimit>0</CreditLimit></Account>]"
    );
}

#[tokio::test]
async fn unsupported_queries_are_named() {
    let bench = Bench::new().await;
    for (object, inside, expected) in [
        (
            "User",
            "<Get name=\"Password\"/>",
            "710 User has no attribute Password",
        ),
        (
            "Job",
            "<Get name=\"GoldAccountId\"/>",
            "710 Job has no attribute GoldAccountId",
        ),
        (
            "Account",
            "<Where name=\"Odd&amp;\">1</Where>",
            "710 Account has no attribute Odd?",
        ),
        (
            "Job",
            "<Where name=\"User\" op=\"Like\">a*</Where>",
            "315 Where with this op is not supported",
        ),
        (
            "Job",
            "<Where name=\"Charge\" op=\"Match\">1*</Where>",
            "314 Where Charge: not a text with a pattern: 1*",
        ),
        (
            "Account",
            "<Where name=\"User\" op=\"G\">a</Where>",
            "315 Where User with this op is not supported",
        ),
        (
            "Account",
            "<Where name=\"Id\">1</Where><Where conj=\"Or\" name=\"User\">a</Where>",
            "315 Where User with Or or groups is not supported",
        ),
        (
            "Job",
            "<Get name=\"Charge\" op=\"Median\"/>",
            "315 Get with this op is not supported",
        ),
        (
            "Job",
            "<Get name=\"Charge\" op=\"Sum\"/><Get name=\"User\"/>",
            "315 Show: User is neither summed up nor grouped by",
        ),
        ("Nope", "", "740 Nope is not a valid object"),
        (
            "Job",
            "<Where name=\"User\">a</Where><Where name=\"User\" conj=\"Xor\">b</Where>",
            "315 Where with this conj is not supported",
        ),
        (
            "Job",
            "<Where name=\"User\" groups=\"-1\">a</Where>",
            "315 a parenthesis is closed and was never opened",
        ),
        (
            "Job",
            "<Where name=\"StartTime\">noon</Where>",
            "314 Where StartTime: not a whole number: noon",
        ),
        (
            "User",
            "<Where name=\"Active\">yes</Where>",
            "314 Where Active: not True or False: yes",
        ),
        (
            "User",
            "<Set name=\"Name\">x</Set>",
            "315 a Query with Data or Set is not supported",
        ),
    ] {
        let answer = bench.query(object, inside).await;
        assert_eq!(answer, format!("Failure {expected}"), "{object} {inside}");
    }
}

/// The queries print the attributes of `ledger.md` 1.2, if the bank has them.
#[tokio::test]
async fn an_account_shows_its_description() {
    use bank_core::command::SetAccount;
    let mut bench = Bench::new().await;
    bench
        .admin(Command::SetAccount(SetAccount {
            name: "chem".to_owned(),
            description: Some("all & sundry".to_owned()),
            ..SetAccount::default()
        }))
        .await;
    let directory = bench.services.writer.directory();
    let chem: &Account = directory.account_named("chem").unwrap();
    assert_eq!(chem.description, "all & sundry");
    let answer = bench
        .query("Account", "<Where name=\"Name\">chem</Where>")
        .await;
    assert_eq!(values(&answer, "Description"), "all &amp; sundry");
}
