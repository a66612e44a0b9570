//! Associations of Slurm.

use std::fs;

use super::{expected, folder, items, plan_of, skipped};
use crate::{Fault, Plan, Slurm, Source};

const DUMP: &str = "\
# To edit this file start with a cluster line for the new cluster
Cluster - 'colony':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'science':Description='all: sciences':Organization='uni':Fairshare=1:GrpTRESMins=cpu=100000
Account - 'guest':Description='guest':Organization='guest':GrpTRESMins=cpu=-1
Parent - 'science'
Account - 'chem':Description='chemistry':Organization='uni':GrpTRESMins=cpu=1000,gres/gpu=50:GrpJobs=10
Account - 'bio':Description='biology':Organization='uni'
Parent - 'chem'
User - 'amy':DefaultAccount='chem':Fairshare=1:AdminLevel='Operator':Coordinator='chem,bio'
User - 'bob':DefaultAccount='chem':GrpTRESMins=cpu=5
Parent - 'bio'
User - 'bob':DefaultAccount='chem':Fairshare=1
";

const ASSOC: &str = "\
ClusterName=colony Account=root UserName= Partition= ID=1 GrpTRESMins=cpu=N(1500),mem=N(0)
ClusterName=colony Account=science UserName= Partition= ID=2 GrpJobs=N(0) GrpTRESMins=cpu=100000(1500),mem=N(1)
ClusterName=colony Account=chem UserName= Partition= ID=3 GrpTRESMins=cpu=1000(253),gres/gpu=50(2)
ClusterName=colony Account=chem UserName=amy(1000) Partition= ID=4 GrpTRESMins=cpu=N(200)
ClusterName=other Account=chem UserName= Partition= ID=3 GrpTRESMins=cpu=1000(999)
";

const SHARES: &str = "\
Account|User|RawShares|GrpTRESMins|GrpTRESRaw|
root|||cpu=0|cpu=1500,mem=1|
 science||1|cpu=100000|cpu=1500,mem=1|
  chem||1|cpu=1000,gres/gpu=50|cpu=253,gres/gpu=2|
  chem|amy|1||cpu=200|
";

fn plan(dump: &str, usage: Option<&str>, tres: &str, per_minute: &str) -> Result<Plan, Fault> {
    let files = folder(&[("dump.cfg", dump)]);
    let path = files.path().join("usage.txt");
    if let Some(usage) = usage {
        fs::write(&path, usage).unwrap();
    }
    let slurm = Slurm {
        dump: files.path().join("dump.cfg"),
        usage: usage.map(|_| path),
        tres: tres.to_owned(),
        per_minute: per_minute.to_owned(),
    };
    plan_of(&Source::Slurm(slurm), "slurm", None)
}

#[test]
fn limits_become_allocations() {
    for usage in [ASSOC, SHARES] {
        let plan = plan(DUMP, Some(usage), "cpu", "60").unwrap();
        // 1000 minutes, of which 253 are used; a minute is 60 credits.
        assert_eq!(
            expected(&plan),
            [
                "science 5910000 0 0",
                "guest 0 0 0",
                "chem 44820 0 0",
                "bio 0 0 0"
            ]
        );
        let found = items(&plan);
        for line in [
            "project chem {active:true,description:chemistry,machines:[colony],name:chem,no_account:true,organization:uni,parent:science}",
            "user amy {active:true,default_project:chem,name:amy}",
            "member chem amy {active:true,project:chem,role:manager,user:amy}",
            "member bio bob {active:true,project:bio,user:bob}",
            // Projects below it without a limit pay from it.
            "account science {description:all: sciences,machines:[],name:science,\
             projects:[{allow:true,subtree:true,value:science},{allow:false,subtree:true,value:chem}],users:[{allow:true,subtree:false,value:MEMBERS}]}",
            "account bio {description:biology,machines:[],name:bio,projects:[{allow:true,subtree:false,value:bio}],\
             users:[{allow:true,subtree:false,value:MEMBERS}]}",
            "allocation chem {account:chem,amount:44820,credit_limit:0,deposited:60000,note:GrpTRESMins cpu=1000, 253 used}",
        ] {
            assert!(found.iter().any(|own| own == line), "{line} in {found:#?}");
        }
        assert_eq!(
            skipped(&plan),
            [
                "Slurm accounts without a limit of cpu: no allocation: guest, bio",
                "coordinators who are not members: amy of bio",
                "levels of administrators: `bank role grant` gives a role: Operator of amy",
                "limits of Slurm: GrpJobs: 10 of account chem",
                "limits of Slurm: GrpTRESMins: gres/gpu=50 of account chem",
                "limits of Slurm: users of the account root: root",
                "limits of single users: user bob of chem: GrpTRESMins=cpu=5",
            ]
        );
    }
}

#[test]
fn other_resources_and_prices_are_named() {
    let gpu = plan(DUMP, Some(ASSOC), "gres/gpu", "0.5").unwrap();
    assert_eq!(
        expected(&gpu),
        ["science 0 0 0", "guest 0 0 0", "chem 24 0 0", "bio 0 0 0"]
    );
    let none = plan(DUMP, None, "cpu", "60").unwrap();
    assert_eq!(expected(&none)[2], "chem 60000 0 0");
    assert!(
        none.notes()[0].starts_with("no --usage"),
        "{:?}",
        none.notes()
    );
}

#[test]
fn a_user_with_several_partitions_is_one_member() {
    let partitions = "\
User - 'bob':Partition='cpu':DefaultAccount='chem'
User - 'bob':Partition='gpu':DefaultAccount='chem':Coordinator='chem'
Parent - 'bio'
";
    let dump = DUMP.replace("Parent - 'bio'\n", partitions);
    let plan = plan(&dump, Some(ASSOC), "cpu", "60").unwrap();
    let found = items(&plan);
    let members: Vec<&String> = found
        .iter()
        .filter(|own| own.starts_with("member chem bob "))
        .collect();
    assert_eq!(
        members,
        ["member chem bob {active:true,project:chem,role:manager,user:bob}"]
    );
    let skipped = skipped(&plan).join("\n");
    for line in [
        "user bob of chem: Partition=cpu",
        "user bob of chem: Partition=gpu",
        "further lines of members that are moved once: bob of project chem, bob of project chem",
    ] {
        assert!(skipped.contains(line), "{line} in {skipped}");
    }
}

#[test]
fn broken_files_are_refused() {
    for (old, new, wanted) in [
        (
            "Cluster - 'colony'",
            "Cluste - 'colony'",
            ":2: Cluste before the line Cluster",
        ),
        (
            "Parent - 'bio'",
            "Parent - 'none'",
            ":13: the parent \"none\" is not an account above",
        ),
        (
            "cpu=1000,",
            "cpu=many,",
            ":8: GrpTRESMins cpu=\"many\" of chem is not a number of minutes",
        ),
        (
            "'biology'",
            "'biology",
            ":9: a quotation mark without its end",
        ),
        (
            "Account - 'bio'",
            "Account - 'chem'",
            ":9: the account \"chem\" is there twice",
        ),
    ] {
        assert!(DUMP.contains(old));
        let fault = plan(&DUMP.replacen(old, new, 1), Some(ASSOC), "cpu", "60").unwrap_err();
        assert!(fault.what.ends_with(wanted), "{}", fault.what);
    }
    let fault = plan(DUMP, Some("nothing\n1\n"), "cpu", "60").unwrap_err();
    assert!(fault.what.ends_with("no column Account"), "{}", fault.what);
    let fault = plan(DUMP, None, "cpu", "0").unwrap_err();
    assert_eq!(
        fault.what,
        "--per-minute \"0\" is not a number of credits above zero"
    );
}
