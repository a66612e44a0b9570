//! Gold's tables.

use std::path::Path;

use super::tables::TABLES;
use super::{expected, folder, history, items, plan_of, shared, skipped};
use crate::{Plan, Source};

fn plan(listed: Option<&Path>) -> Plan {
    let files = folder(&TABLES);
    plan_of(&Source::Gold(files.path().to_owned()), "gold", listed).unwrap()
}

#[test]
fn tables_become_items_in_order() {
    let plan = plan(None);
    let found = items(&plan);
    let wanted = [
        "machine colony {active:true,architecture:x86,name:colony}",
        "machine gold {active:false,description:only finished jobs of the old bank name it,name:gold}",
        "project chem {active:true,description:chemistry,machines:[colony],name:chem,no_account:true}",
        "project bio {active:false,name:bio,no_account:true}",
        "user amy {active:true,common_name:Amy Ng,default_project:chem,name:amy}",
        "user bob {active:false,name:bob}",
        "member chem amy {active:true,project:chem,role:manager,user:amy}",
        "member chem bob {active:false,project:chem,user:bob}",
    ];
    // A job without a machine goes to the only one.
    let wanted: Vec<&str> = wanted
        .into_iter()
        .filter(|line| !line.contains("machine gold"))
        .collect();
    assert_eq!(found[..wanted.len()], wanted[..], "{found:#?}");
    let of = |id: &str| {
        let own = found
            .iter()
            .find(|line| line.starts_with(&format!("{id} {{")));
        own.unwrap_or_else(|| panic!("{id} in {found:#?}")).clone()
    };
    let any = "{allow:false,subtree:false,value:ANY}";
    assert_eq!(
        of("account 1"),
        "account 1 {description:first,machines:[],name:chem,projects:[{allow:true,subtree:false,value:chem}],\
         users:[{allow:true,subtree:false,value:MEMBERS},{allow:false,subtree:false,value:bob}]}"
    );
    assert_eq!(
        of("account 2"),
        "account 2 {machines:[{allow:true,subtree:false,value:colony}],name:chem-2,overflow:any,parent:chem,\
         projects:[{allow:true,subtree:false,value:chem}],share:30,users:[]}"
    );
    // A list whose only name does not exist, and a list without a row, exclude everybody.
    assert!(
        of("account 3").contains(&format!("users:[{any}]")),
        "{}",
        of("account 3")
    );
    assert!(of("account 3").contains("name:bio"), "{}", of("account 3"));
    assert!(
        of("account 5").contains(&format!("projects:[{any}]")),
        "{}",
        of("account 5")
    );
    assert_eq!(
        of("allocation 2"),
        "allocation 2 {account:chem-2,amount:-50.5,credit_limit:20,deposited:200}"
    );
    assert_eq!(
        of("allocation 3"),
        "allocation 3 {account:bio,amount:1000,credit_limit:0,deposited:1000,end:2026-01-01T00:00:00Z,start:2025-01-01T00:00:00Z}"
    );
    assert_eq!(
        of("allocation 7"),
        "allocation 7 {account:closed,amount:0.3,credit_limit:0,deposited:0.3}"
    );
    assert_eq!(
        of("rate QualityOfService low"),
        "rate QualityOfService low {instance:low,kind:NBM,name:QualityOfService,rate:0.5}"
    );
    assert_eq!(
        of("rate Disk User amy"),
        "rate Disk User amy {instance:amy,kind:Disk,name:User,rate:0.001}"
    );
    assert_eq!(
        of("lien 1"),
        "lien 1 {amount:120.5,class:batch,end:2026-11-24T03:30:00Z,job:j1,machine:colony,nodes:2,processors:8,\
         project:chem,start:2026-11-24T00:26:40Z,user:amy}"
    );
    assert_eq!(
        expected(&plan),
        [
            "chem 97550 120.5 100",
            "chem-2 -50.5 0 20",
            "bio 0 0 0",
            "closed 0.3 0 0"
        ]
    );
}

#[test]
fn what_is_not_moved_is_listed_with_its_reason() {
    let plan = plan(None);
    assert_eq!(
        skipped(&plan),
        [
            "allocations of call types Back and Forward: money of peers: allocation 5 of account 1: 7 (Back)",
            "default projects that do not exist: gone of user bob",
            "inactive machines of projects: colony of bio",
            "links of accounts that form a circle: account 2 above account 1",
            "names in lists of accounts that do not exist: user gone of account 3",
            "open reservations: their user does not exist or is inactive: reservation 4 of job j3: 7 until 2026-11-24T03:13:20Z",
            "quotations: ask for a new quote: quotation 1 of 2400 for amy of chem",
            "reservations that are over: reservation 3 of job j2: 5 until 2026-11-24T00:26:40Z",
        ]
    );
    let renamed: Vec<String> = plan
        .renamed()
        .iter()
        .map(|(kind, old, new)| format!("{kind} {old}: {new}"))
        .collect();
    assert_eq!(renamed, ["account 2 chem: chem-2", "account 3: bio"]);
    let text = plan.text();
    for part in [
        "gold closes and this bank opens at 2026-11-24T01:00:00Z.",
        "       5 allocations",
        "       4 finished jobs, charged 2306",
        "chem      97550  120.5           100",
        "account \"2 chem\" becomes chem-2",
        "reservation 2 is of the same job as 1: one lien holds both",
        "2 finished jobs have no start or end in the old bank",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn every_charge_is_in_the_history() {
    assert_eq!(
        history(&plan(None)),
        [
            "j9 chem amy colony 2026-11-23T21:40:00Z 2026-11-23T22:40:00Z 1",
            "j9#13 chem amy colony 2026-11-23T21:40:00Z 2026-11-23T22:40:00Z 2",
            "j9 chem amy colony 2026-11-24T00:20:25Z 2026-11-24T00:30:00Z 2300",
            "gold.14 gone amy colony 2026-11-24T00:32:20Z 2026-11-24T00:33:20Z 3",
        ]
    );
}

#[test]
fn the_list_of_the_old_bank_is_compared() {
    let list = "Id Name Amount Reserved Balance CreditLimit Available \n\
                -- ---- ------ -------- ------- ----------- --------- \n\
                1  chem  97550    127.5 97422.5         100   97522.5 \n\
                2  chem  -50.5      0.0   -50.5          20     -30.5 \n";
    let files = folder(&[
        ("listed.txt", list),
        ("other.txt", &list.replace("97550", "97551")),
    ]);
    let same = plan(Some(&files.path().join("listed.txt")));
    assert_eq!(same.compared(), 10);
    let tables = folder(&TABLES);
    let source = Source::Gold(tables.path().to_owned());
    let other = files.path().join("other.txt");
    let fault = plan_of(&source, "gold", Some(&other)).unwrap_err();
    assert!(
        fault.what.ends_with(
            "other.txt:3: account 1 chem: Amount is 97551 in the list, 97550 in the tables"
        ),
        "{}",
        fault.what
    );
}

#[test]
fn the_shared_bank_equals_its_list() {
    let Some(path) = shared("data/gold") else {
        return;
    };
    let listed = path.join("listed.txt");
    let plan = plan_of(&Source::Gold(path), "gold", Some(&listed)).unwrap();
    assert_eq!(plan.compared(), 25 + 6 + 27 + 1, "{}", plan.text());
    assert_eq!(
        expected(&plan),
        [
            "chem 97550 0 100",
            "acct 0 0 0",
            "phys 312998.125 288000 1000",
            "bio 121795 0 0",
            "old 0 0 0",
            "dan-only 0 0 0"
        ]
    );
    assert_eq!(plan.history().len(), 36);
    let notes = plan.notes().join("\n");
    assert!(!notes.contains("differs"), "{notes}");
}
