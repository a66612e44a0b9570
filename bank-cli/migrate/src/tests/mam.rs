//! Lists of Moab Accounting Manager.

use super::{expected, folder, history, items, plan_of, skipped};
use crate::Source;

const LISTS: [(&str, &str); 7] = [
    (
        "mam-list-users.csv",
        "Name,Active,Common Name,Phone Number,Email Address,Default Account,Description\namy,True,Amy,,a@x.example,chemistry,\nbob,False,,,,,\n",
    ),
    (
        "accounts.csv",
        "Name,Active,Users,Organization,Description\nchemistry,True,\"^amy,-bob\",Sciences,\nbiology,True,amy,,\n",
    ),
    (
        "funds.csv",
        "Id,Name,Priority,Constraints,Allocated,Balance,Reserved,Effective,CreditLimit,Available,DefaultDeposit,Colour\n\
        1,chemistry,5,Account=chemistry,1000,875.5,100,775.5,50,825.5,500,blue\n\
        2,,,\"Account=biology,User=!bob,Class=long\",10,10,0,10,0,10,0,red\n",
    ),
    (
        "allocations.csv",
        "Id,Fund,StartTime,EndTime,InitialDeposit,Allocated,CreditLimit,Remaining,PercentUsed\n\
        1,1,2026-01-01,2027-01-01,900,1000,50,875.5,12.45\n\
        2,2,-infinity,infinity,10,10,0,10,0\n",
    ),
    (
        "liens.csv",
        "Id,Instance,Amount,Start Time,End Time,UsageRecord,Funds,Description\n\
        3,moab.7,100,2026-11-24 00:00:00,2026-11-24 06:00:00,9,1,\n\
        4,moab.8,5,2026-11-24 00:00:00,2026-11-24 06:00:00,9,\"1,2\",\n",
    ),
    (
        "usagerecords.csv",
        "Id,Type,Instance,Charge,Stage,User,Account,Machine,Class,QualityOfService,Nodes,Processors,Memory,Duration,StartTime,EndTime\n\
        8,Job,moab.6,124.5,Charge,amy,chemistry,colony,long,high,1,4,2048,3600,2026-11-23 10:00:00,2026-11-23 11:00:00\n\
        9,Job,moab.7,0,Reserve,amy,chemistry,colony,long,,2,8,,3600,,\n",
    ),
    (
        "MAM_List_ChargeRates.csv",
        "Name,Value,Amount,Description\nProcessors,,1/s,\nNodes,,24/h,\nQualityOfService,high,*2,\nLicense,Matlab,5/s,\nPower,,0.001,\nFeature,GPU,200,\nOdd,,1/fortnight,\n",
    ),
];

#[test]
fn lists_become_items() {
    let files = folder(&LISTS);
    let plan = plan_of(&Source::Mam(files.path().to_owned()), "mam", None).unwrap();
    let found = items(&plan);
    for line in [
        "machine colony {active:true,name:colony}",
        "project chemistry {active:true,name:chemistry,no_account:true,organization:Sciences}",
        "member chemistry amy {active:true,project:chemistry,role:manager,user:amy}",
        "member chemistry bob {active:false,project:chemistry,user:bob}",
        "account 1 {machines:[],name:chemistry,priority:5,projects:[{allow:true,subtree:false,value:chemistry}],users:[]}",
        "account 2 {constraints:{class:[{allow:true,subtree:false,value:long}]},machines:[],name:biology,\
         projects:[{allow:true,subtree:false,value:biology}],\
         users:[{allow:false,subtree:false,value:bob},{allow:true,subtree:false,value:ANY}]}",
        "rate Processors {kind:VBR,name:Processors,per:second,rate:1,instance:}",
        "rate Nodes {kind:VBR,name:Nodes,per:hour,rate:24,instance:}",
        "rate QualityOfService high {instance:high,kind:NBM,name:QualityOfService,rate:2}",
        "rate License Matlab {instance:Matlab,kind:NBR,name:License,per:second,rate:5}",
        "rate Power {kind:VBU,name:Power,rate:0.001,instance:}",
        "rate Feature GPU {instance:GPU,kind:NBU,name:Feature,rate:200}",
        "allocation 1 {account:chemistry,amount:875.5,credit_limit:50,deposited:1000,end:2027-01-01T00:00:00Z,start:2026-01-01T00:00:00Z}",
        "lien 3 {amount:100,class:long,end:2026-11-24T06:00:00Z,job:moab.7,machine:colony,nodes:2,processors:8,\
         project:chemistry,start:2026-11-24T00:00:00Z,user:amy}",
    ] {
        let sorted = |text: &str| {
            let mut letters: Vec<char> = text.chars().filter(|c| *c != ',').collect();
            letters.sort_unstable();
            letters
        };
        assert!(
            found.iter().any(|own| sorted(own) == sorted(line)),
            "{line} in {found:#?}"
        );
    }
    assert_eq!(
        expected(&plan),
        ["chemistry 875.5 100 50", "biology 10 0 0"]
    );
    assert_eq!(plan.compared(), 10);
    assert_eq!(
        history(&plan),
        ["moab.6 chemistry amy colony 2026-11-23T10:00:00Z 2026-11-23T11:00:00Z 124.5"]
    );
    assert_eq!(
        skipped(&plan),
        [
            "default deposits: `bank cycle add` makes recurring deposits: 500 of fund 1",
            "liens on several funds or none: the list has no amount of each: lien 4 of 5",
            "rates in a form that is not read: `bank rate set` makes them: rate Odd 1/fortnight",
        ]
    );
    assert!(
        plan.notes()
            .contains(&"funds.csv: columns that are not read: Colour".to_owned()),
        "{:?}",
        plan.notes()
    );
}

#[test]
fn a_user_who_is_listed_twice_is_one_member() {
    let mut lists = LISTS;
    lists[1].1 = "Name,Active,Users,Organization,Description\nchemistry,True,\"-amy,^amy,-bob\",Sciences,\nbiology,True,amy,,\n";
    let files = folder(&lists);
    let plan = plan_of(&Source::Mam(files.path().to_owned()), "mam", None).unwrap();
    let found = items(&plan);
    let members = found
        .iter()
        .filter(|own| own.starts_with("member chemistry amy "));
    let members: Vec<&String> = members.collect();
    assert_eq!(
        members,
        ["member chemistry amy {active:true,project:chemistry,role:manager,user:amy}"]
    );
}

#[test]
fn a_fund_that_differs_from_its_allocations_stops_the_migration() {
    let mut lists = LISTS;
    lists[2].1 = "Id,Name,Constraints,Balance\n1,chemistry,Account=chemistry,877\n2,bio,Account=biology,10\n";
    let files = folder(&lists);
    let fault = plan_of(&Source::Mam(files.path().to_owned()), "mam", None).unwrap_err();
    assert_eq!(
        fault.what,
        "the list differs from the old bank: funds.csv:2: account 1 chemistry: Balance is 877 in the list, 875.5 in the tables"
    );
    let fewer = folder(&LISTS[..2]);
    let fault = plan_of(&Source::Mam(fewer.path().to_owned()), "mam", None).unwrap_err();
    assert_eq!(
        fault.hint,
        "make it with: mam-list-funds --format csv > funds.csv"
    );
}
