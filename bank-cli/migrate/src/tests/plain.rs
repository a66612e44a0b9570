//! The plain set of CSV files.

use super::{expected, folder, history, items, plan_of, skipped};
use crate::Source;

const FILES: [(&str, &str); 10] = [
    (
        "users.csv",
        "name,active,email\namy,yes,a@x.example\nbob,no,n/a\n",
    ),
    ("machines.csv", "name\ncolony\n"),
    (
        "projects.csv",
        "name,parent,machines,active\nchem,top,colony,yes\ntop,,,yes\n",
    ),
    ("members.csv", "project,user,role\nchem,amy,pi\nchem,bob,\n"),
    (
        "accounts.csv",
        "name,projects,users,parent,overflow,share\nchem,chem,\"MEMBERS,-bob\",top,yes,\ntop,top/*,-bob,,,\n",
    ),
    (
        "allocations.csv",
        "account,amount,deposited,credit_limit,start,end\nchem,99.5,200,10,2026-01-01,infinity\ntop,-5,,,,\n",
    ),
    (
        "liens.csv",
        "job,project,machine,user,amount,start,end\nj1,chem,colony,amy,9.5,2026-11-24T00:00:00Z,2026-11-24T12:00:00Z\n",
    ),
    ("rates.csv", "kind,name,rate,per\nVBR,Processors,1,hour\n"),
    (
        "usage.csv",
        "job,project,user,machine,start,end,charge,processors\nj0,chem,amy,colony,2026-11-01 00:00:00,2026-11-01 01:00:00,100.5,4\n",
    ),
    (
        "balances.csv",
        "account;amount;held\nchem;99.5;9.5\ntop;-5;0\n",
    ),
];

#[test]
fn files_become_items() {
    let files = folder(&FILES);
    let plan = plan_of(&Source::Csv(files.path().to_owned()), "csv", None).unwrap();
    assert_eq!(expected(&plan), ["chem 99.5 9.5 10", "top -5 0 0"]);
    assert_eq!(plan.compared(), 4);
    let left_out = skipped(&plan).join("\n");
    assert!(left_out.contains("n/a of user bob"), "{left_out}");
    let found = items(&plan);
    let ids: Vec<&str> = found
        .iter()
        .map(|line| line.split(" {").next().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "machine colony",
            "project top",
            "project chem",
            "user amy",
            "user bob",
            "member chem amy",
            "member chem bob",
            "account top",
            "account chem",
            "rate VBR Processors",
            "allocation 1",
            "allocation 2",
            "lien 1",
        ]
    );
    assert_eq!(
        found[7],
        "account top {machines:[],name:top,projects:[{allow:true,subtree:true,value:top}],\
         users:[{allow:false,subtree:false,value:bob},{allow:true,subtree:false,value:ANY}]}"
    );
    assert_eq!(
        history(&plan),
        ["j0 chem amy colony 2026-11-01T00:00:00Z 2026-11-01T01:00:00Z 100.5"]
    );
}

#[test]
fn broken_files_are_refused() {
    for (file, old, new, wanted) in [
        (
            "members.csv",
            "chem,bob",
            "chem,dan",
            "members.csv:3: user \"dan\" is not in users.csv",
        ),
        (
            "members.csv",
            "pi",
            "chief",
            "members.csv:2: role \"chief\" is none of member, manager and pi",
        ),
        (
            "accounts.csv",
            "top/*",
            "none",
            "accounts.csv:3: projects \"none\" is not a project",
        ),
        (
            "accounts.csv",
            ",top,yes",
            ",none,yes",
            "accounts.csv:2: parent \"none\" is not in accounts.csv",
        ),
        (
            "allocations.csv",
            "2026-01-01",
            "soon",
            "allocations.csv:2: start \"soon\" is not a time",
        ),
        (
            "allocations.csv",
            "deposited",
            "paid",
            "allocations.csv: unknown column \"paid\"",
        ),
        (
            "balances.csv",
            "99.5",
            "99.500001",
            "the list differs from the old bank: balances.csv:2: account chem: amount is 99.500001 in the list, 99.5 in the tables",
        ),
        (
            "usage.csv",
            "2026-11-01 01:00:00",
            "2026-10-01 01:00:00",
            "usage.csv:2: end is before start",
        ),
        (
            "liens.csv",
            "9.5",
            "-9.5",
            "liens.csv:2: amount is below zero",
        ),
    ] {
        let text = FILES.iter().find(|(name, _)| *name == file).unwrap().1;
        assert!(text.contains(old), "{old} in {file}");
        let files = folder(&FILES);
        std::fs::write(files.path().join(file), text.replacen(old, new, 1)).unwrap();
        let fault = plan_of(&Source::Csv(files.path().to_owned()), "csv", None).unwrap_err();
        assert_eq!(fault.what, wanted);
    }
}
