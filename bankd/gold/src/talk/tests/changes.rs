//! Create, Modify, Delete and money of accounts, by the roles of the peer's key.

use std::fmt::Write as _;
use std::sync::Arc;

use bank_core::command::{Command, SetRate};
use bank_core::rate::{Per, RateKind, RateValue};
use bank_core::role::Who;
use bankd_ledger::access::{Role, Roles};

use super::bench::{Bench, T1, shown};

/// Sends a request with these parts, each `Set Name=value`, `Where Name=value` or `Option Name=value`.
pub(super) async fn send(bench: &Bench, action: &str, object: &str, parts: &str) -> String {
    let mut inside = String::new();
    for part in parts.split("; ").filter(|part| !part.is_empty()) {
        let (element, rest) = part.split_once(' ').unwrap();
        let (name, value) = rest.split_once('=').unwrap();
        let _ = write!(inside, "<{element} name=\"{name}\">{value}</{element}>");
    }
    let body = format!(
        "<Body><Request action=\"{action}\" actor=\"x\"><Object>{object}</Object>{inside}</Request></Body>"
    );
    shown(&bench.send(body.as_bytes()).await)
}

pub(super) async fn administrators() -> Bench {
    let mut bench = Bench::new().await;
    bench.as_other();
    bench.peer.roles = Roles::of(&[Role::Admin]);
    bench.peer.scope.machines.clear();
    bench
}

#[tokio::test]
async fn objects_are_made_changed_and_removed() {
    let bench = administrators().await;
    for (action, object, parts, expected) in [
        (
            "Create",
            "User",
            "Set Name=zed; Set CommonName=Zed; Set EmailAddress=z@x; Set DefaultProject=chem",
            "Success 000 #1 [<User><Name>zed</Name><Active>True</Active><CommonName>Zed</CommonName>\
             <PhoneNumber></PhoneNumber><EmailAddress>z@x</EmailAddress><DefaultProject>chem\
             </DefaultProject><Organization></Organization><Description></Description></User>] \
             Successfully created 1 User",
        ),
        (
            "Create",
            "User",
            "Set Name=zed",
            "Failure 740 User already exists",
        ),
        (
            "Create",
            "User",
            "Set CommonName=a",
            "Failure 314 Name is missing",
        ),
        (
            "Create",
            "User",
            "Set Name=a; Set Odd=1",
            "Failure 710 User has no attribute Odd",
        ),
        (
            "Create",
            "User",
            "Set Name=a; Set Active=maybe",
            "Failure 314 Set active: not True or False",
        ),
        (
            "Create",
            "ProjectUser",
            "Set Project=bio; Set Name=zed",
            "Failure 740 no project bio",
        ),
        (
            "Create",
            "ProjectUser",
            "Set Project=chem; Set Name=zed; Set Admin=True",
            "Success 000 #1 [<ProjectUser><Project>chem</Project><Name>zed</Name><Active>True</Active>\
             <Admin>True</Admin></ProjectUser>] Successfully created 1 ProjectUser",
        ),
        (
            "Create",
            "ProjectUser",
            "Set Project=chem; Set Name=zed",
            "Failure 740 ProjectUser already exists",
        ),
        (
            "Modify",
            "ProjectUser",
            "Set Active=False; Where Project=chem; Where Name=zed",
            "Success 000 #1 [<ProjectUser><Project>chem</Project><Name>zed</Name><Active>False</Active>\
             <Admin>True</Admin></ProjectUser>] Successfully modified 1 ProjectUsers",
        ),
        (
            "Modify",
            "User",
            "Set Active=False",
            "Failure 314 Where is missing",
        ),
        (
            "Modify",
            "User",
            "Where Name=zed",
            "Failure 314 Set is missing",
        ),
        (
            "Modify",
            "User",
            "Set Description=x; Set Description=y; Where Name=zed",
            "Failure 314 Set Description given twice",
        ),
        (
            "Modify",
            "Allocation",
            "Set StartTime=99999999999999999; Where Id=2",
            "Failure 314 Set StartTime is not seconds since 1970: 99999999999999999",
        ),
        (
            "Modify",
            "User",
            "Set Description=x; Where Active=True",
            "Failure 740 Where selects several Users; select one",
        ),
        (
            "Modify",
            "User",
            "Set Description=x; Where Name=nobody",
            "Success 000 #0 Successfully modified 0 Users",
        ),
        ("Delete", "User", "", "Failure 314 Where is missing"),
        (
            "Delete",
            "User",
            "Where Name=zed",
            "Success 000 #1 [<User><Name>zed</Name><Active>True</Active><CommonName>Zed</CommonName>\
             <PhoneNumber></PhoneNumber><EmailAddress>z@x</EmailAddress><DefaultProject>chem\
             </DefaultProject><Organization></Organization><Description></Description></User>] \
             Successfully deleted 1 Users and 1 associations",
        ),
        (
            "Create",
            "Account",
            "Set Name=more; Option Project=chem; Option User=amy,-bob",
            "Success 000 #1 [<Account><Id>7</Id><Name>more</Name><Description></Description></Account>] \
             Successfully created 1 Account and 4 account members",
        ),
        (
            "Create",
            "AccountMachine",
            "Set Account=7; Set Name=cluster1",
            "Success 000 #1 [<AccountMachine><Account>7</Account><Name>cluster1</Name><Access>True</Access>\
             </AccountMachine>] Successfully created 1 AccountMachine",
        ),
        (
            "Query",
            "AccountMachine",
            "Where Account=7",
            "Success 000 #2 [<AccountMachine><Account>7</Account><Name>ANY</Name><Access>True</Access>\
             </AccountMachine><AccountMachine><Account>7</Account><Name>cluster1</Name><Access>True</Access>\
             </AccountMachine>]",
        ),
        (
            "Delete",
            "AccountProject",
            "Where Account=7; Where Name=chem",
            "Failure 740 the last entry of a list cannot be deleted: without it every name may spend",
        ),
        (
            "Create",
            "ChargeRate",
            "Set Type=VBR; Set Name=Processors; Set Rate=2",
            "Failure 740 ChargeRate already exists",
        ),
        (
            "Create",
            "ChargeRate",
            "Set Type=VBR; Set Name=Memory; Set Rate=0.5",
            "Success 000 #1 [<ChargeRate><Type>VBR</Type><Name>Memory</Name><Instance></Instance>\
             <Rate>0.5</Rate><Description></Description></ChargeRate>] Successfully created 1 ChargeRate",
        ),
        (
            "Delete",
            "Job",
            "Where JobId=none",
            "Success 000 #0 Successfully deleted 0 Jobs",
        ),
        (
            "Create",
            "Role",
            "Set Name=a",
            "Failure 315 Create of Role is not supported",
        ),
    ] {
        let answer = send(&bench, action, object, parts).await;
        assert_eq!(answer, expected, "{action} {object} {parts}");
    }
}

#[tokio::test]
async fn money_moves_between_accounts() {
    let bench = administrators().await;
    for (action, parts, expected) in [
        (
            "Deposit",
            "Option Id=2; Option Amount=50",
            "Success 000 #50 Successfully deposited 50 credits into account 2",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=3600; Option ShowHours=True",
            "Success 000 #3600 Successfully deposited 3600 credits into account 2",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=1; Option Amount=2",
            "Failure 314 option Amount is not given once only",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=1; Option CreditLimt=2",
            "Failure 315 option CreditLimt of Deposit is not supported",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=-5",
            "Failure 740 the amount must be above zero",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=1.5",
            "Failure 740 this bank keeps 0 decimals",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=1; Option EndTime=soon",
            "Failure 314 option EndTime is not seconds since 1970: soon",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=1; Option StartTime=253402300800",
            "Failure 314 option StartTime is not seconds since 1970: 253402300800",
        ),
        (
            "Deposit",
            "Option Id=2; Option Amount=1; Option EndTime=-1",
            "Failure 314 option EndTime is not seconds since 1970: -1",
        ),
        ("Deposit", "Option Id=2", "Failure 314 Amount is missing"),
        (
            "Deposit",
            "Option Id=99; Option Amount=5",
            "Failure 740 The specified account id (99) does not exist.",
        ),
        ("Deposit", "Option Amount=5", "Failure 314 Id is missing"),
        (
            "Withdraw",
            "Option Id=2; Option Amount=100",
            "Success 000 #100 Successfully withdrew 100 credits from account 2",
        ),
        (
            "Withdraw",
            "Option Id=2; Option Amount=9999999999",
            "Failure 782 Insufficient balance to perform requested withdrawal",
        ),
        (
            "Transfer",
            "Option FromId=2; Option ToId=3; Option Amount=50",
            "Success 000 #50 Successfully transferred 50 credits from account 2 to account 3",
        ),
        (
            "Balance",
            "Option Id=2",
            "Success 000 #1003500 [<Account><Balance>1003500</Balance></Account>] The account balance is 1003500 credits",
        ),
        (
            "Balance",
            "Option User=bob",
            "Success 000 #1000050 [<Account><Balance>1000050</Balance></Account>] The account balance is 1000050 credits",
        ),
        (
            "Balance",
            "Option User=nobody",
            "Success 000 #0 [<Account><Balance>0</Balance></Account>] The account balance is 0 credits",
        ),
    ] {
        let answer = send(&bench, action, "Account", parts).await;
        assert_eq!(answer, expected, "{action} {parts}");
    }
    assert_eq!(bench.account("chem").await, "1003500/0");
    assert_eq!(bench.account("physics").await, "1000050/0");
}

/// Every action demands a right, and nobody sees more over this protocol than over the HTTP API.
#[tokio::test]
async fn roles_decide() {
    let mut bench = administrators().await;
    let denied = "Failure 444 the role of this key does not allow this";
    let changes = [
        ("Create", "User", "Set Name=a"),
        ("Create", "Project", "Set Name=a"),
        ("Create", "Machine", "Set Name=a"),
        (
            "Create",
            "ChargeRate",
            "Set Type=VBR; Set Name=Memory; Set Rate=1",
        ),
        ("Modify", "User", "Set Active=False; Where Name=amy"),
        ("Delete", "User", "Where Name=amy"),
        (
            "Create",
            "ProjectMachine",
            "Set Project=chem; Set Name=cluster1",
        ),
        ("Modify", "Allocation", "Set CreditLimit=5; Where Id=2"),
        ("Delete", "Allocation", "Where Id=2"),
        ("Refund", "Job", "Option JobId=j"),
    ];
    let money = [
        ("Deposit", "Account", "Option Id=2; Option Amount=5"),
        ("Withdraw", "Account", "Option Id=2; Option Amount=5"),
        ("Create", "Account", "Set Name=a"),
        ("Create", "ProjectUser", "Set Project=chem; Set Name=bob"),
    ];
    for role in [Role::Scheduler, Role::Auditor, Role::Pi, Role::User] {
        bench.peer.roles = Roles::of(&[role]);
        for (action, object, parts) in changes.iter().chain(&money) {
            let answer = send(&bench, action, object, parts).await;
            assert_eq!(answer, denied, "{role:?} {action} {object}");
        }
    }
    bench.peer.roles = Roles::of(&[Role::Operator]);
    for (action, object, parts) in changes {
        let answer = send(&bench, action, object, parts).await;
        assert_eq!(answer, denied, "operator {action} {object}");
    }
    for (action, object, parts) in money {
        let answer = send(&bench, action, object, parts).await;
        assert!(answer.starts_with("Success 000 "), "{answer}");
    }
}

/// Acts as a person or program with this role.
fn act_as(bench: &mut Bench, role: Role, client: &str) {
    let roles = Roles::of(&[role]);
    bench.peer.roles = roles;
    bench.peer.user = (role == Role::User).then(|| client.to_owned());
    bench.peer.scope.who = Some(Arc::new(Who {
        actor: client.to_owned(),
        client: client.to_owned(),
        roles,
        person: None,
    }));
}

/// What a caller may not see is unknown to them, in queries, quotes and sums.
#[tokio::test]
async fn nobody_sees_more_than_their_view() {
    let mut bench = administrators().await;
    let bob =
        "JobId=j UserId=bob ProjectId=physics MachineName=cluster1 Processors=1 WallDuration=100";
    bench.job("Reserve", bob).await;
    let amy =
        "JobId=k UserId=eve ProjectId=freebie MachineName=cluster1 Processors=1 WallDuration=50";
    bench.job("Reserve", amy).await;
    act_as(&mut bench, Role::User, "amy");
    for (object, parts, expected) in [
        ("Project", "", "#2 [<Project><Name>R&amp;D</Name>"),
        ("Job", "", "#0 []"),
        ("Reservation", "", "#0 []"),
        ("Account", "Option Project=physics", "#0 []"),
        ("Account", "Option Project=nosuch", "#0 []"),
        ("AccountProject", "Where Name=physics", "#0 []"),
        ("Transaction", "Where Object=User", "#0 []"),
    ] {
        let answer = send(&bench, "Query", object, parts).await;
        assert!(
            answer.starts_with(&format!("Success 000 {expected}")),
            "{object} {parts}: {answer}"
        );
    }
    for (fields, expected) in [
        (
            "UserId=bob ProjectId=physics",
            "Failure 740 User bob does not exist",
        ),
        (
            "UserId=amy ProjectId=physics",
            "Failure 740 Project physics does not exist",
        ),
        (
            "UserId=amy ProjectId=nosuch",
            "Failure 740 Project nosuch does not exist",
        ),
        ("UserId=amy ProjectId=chem", "Success 000 "),
    ] {
        let fields = format!("{fields} MachineName=cluster1 Processors=1 WallDuration=9");
        let answer = bench.job("Quote", &fields).await;
        assert!(answer.starts_with(expected), "{fields}: {answer}");
    }
    // A member sees what is held on the account of the project, and not for whom.
    act_as(&mut bench, Role::User, "eve");
    let own = send(&bench, "Query", "Reservation", "").await;
    assert!(
        own.contains("<Name>k</Name>") && !own.contains("<Name>j</Name>"),
        "{own}"
    );
    act_as(&mut bench, Role::Scheduler, "moab");
    bench.peer.scope.machines = vec!["other".to_owned()];
    let journal = send(&bench, "Query", "Transaction", "Where Object=User").await;
    assert_eq!(journal, "Success 000 #0 []");
    let held = send(&bench, "Query", "ReservationAllocation", "").await;
    assert_eq!(held, "Success 000 #0 []");
    assert_eq!(
        send(&bench, "Query", "Reservation", "").await,
        "Success 000 #0 []"
    );
}

/// A change of a rate keeps its unit, and a number of digits is that of an account.
#[tokio::test]
async fn units_and_numbers_keep_their_meaning() {
    let mut bench = administrators().await;
    bench
        .admin(Command::SetRate(SetRate {
            kind: RateKind::Vbr,
            name: "Memory".to_owned(),
            instance: String::new(),
            value: RateValue::parse("1").unwrap(),
            per: Per::Hour,
            machine: Some("cluster1".to_owned()),
            from: None,
            until: None,
            when: None,
            description: "memory".to_owned(),
        }))
        .await;
    bench.at(T1);
    let changed = send(
        &bench,
        "Modify",
        "ChargeRate",
        "Set Rate=2; Where Name=Memory",
    )
    .await;
    assert!(changed.starts_with("Success 000 #1 "), "{changed}");
    let directory = bench.services.writer.directory();
    let mut rates = directory.rates.iter();
    let rate = rates
        .find(|own| own.name == "Memory" && own.window.end.is_none())
        .unwrap();
    assert_eq!((rate.per, rate.machine.is_some()), (Per::Hour, true));
    assert_eq!(
        (rate.value, rate.description.as_str()),
        (RateValue::parse("2").unwrap(), "memory")
    );
    let made = send(
        &bench,
        "Create",
        "Account",
        "Set Name=2; Option Project=physics",
    )
    .await;
    assert!(made.starts_with("Success 000 #1 "), "{made}");
    let paid = send(&bench, "Deposit", "Account", "Option Id=2; Option Amount=5").await;
    assert!(paid.starts_with("Success 000 #5 "), "{paid}");
    assert_eq!(bench.account("chem").await, "1000005/0");
    let typo = send(
        &bench,
        "Create",
        "Account",
        "Set Name=b; Option Projects=chem",
    )
    .await;
    assert_eq!(
        typo,
        "Failure 315 option Projects of Create Account is not supported"
    );
    let either = "<Where name=\"User\">amy</Where><Where conj=\"Or\" name=\"Name\">chem</Where>";
    assert_eq!(
        bench.query("Account", either).await,
        "Failure 315 Where User with Or or groups is not supported"
    );
}
