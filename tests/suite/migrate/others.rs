//! Moab Accounting Manager, Slurm and the plain set.

use super::{NOW, balances, folder, moved, new_bank};
use crate::harness::Bank;

/// Lists of Moab Accounting Manager.
pub(super) fn mam_lists(bank: &Bank) -> String {
    let files = [
        (
            "users.csv",
            "Name,Active,CommonName,DefaultAccount\namy,True,Amy,chemistry\nbob,False,,\n",
        ),
        (
            "accounts.csv",
            "Name,Active,Users,Organization,Description\nchemistry,True,\"amy,bob\",,\n",
        ),
        (
            "funds.csv",
            "Id,Name,Constraints,Balance,Reserved,Effective,CreditLimit,Available\n7,grant,Account=chemistry,875.5,100,775.5,50,825.5\n",
        ),
        (
            "allocations.csv",
            "Id,Fund,StartTime,EndTime,InitialDeposit,Allocated,CreditLimit,Remaining\n1,7,2026-01-01,2027-01-01,1000,1000,50,875.5\n",
        ),
        (
            "liens.csv",
            "Id,Instance,Amount,StartTime,EndTime,UsageRecord,Funds\n3,moab.7,100,2026-11-24 00:00:00,2026-11-24 06:00:00,9,7\n",
        ),
        (
            "usagerecords.csv",
            "Id,Instance,Charge,Stage,User,Account,Machine,Processors,StartTime,EndTime\n\
            8,moab.6,124.5,Charge,amy,chemistry,colony,4,2026-11-23 10:00:00,2026-11-23 11:00:00\n\
            9,moab.7,0,Reserve,amy,chemistry,colony,8,,\n",
        ),
        (
            "chargerates.csv",
            "Name,Value,Amount\nProcessors,,1/s\nQualityOfService,high,*2\n",
        ),
    ];
    folder(bank, "mam", &files)
}

/// A dump of associations, and their usage.
pub(super) fn slurm_files(bank: &Bank) -> [String; 2] {
    let dump = "Cluster - 'colony':Fairshare=1\nParent - 'root'\n\
        Account - 'science':Description='sciences':Organization='uni':GrpTRESMins=cpu=100000\n\
        Parent - 'science'\nAccount - 'chem':GrpTRESMins=cpu=1000\nAccount - 'bio':Description='biology'\n\
        Parent - 'chem'\nUser - 'amy':DefaultAccount='chem':Coordinator='chem'\n\
        Parent - 'bio'\nUser - 'bob':DefaultAccount='bio'\n";
    let usage = "ClusterName=colony Account=science UserName= ID=2 GrpTRESMins=cpu=100000(1500)\n\
        ClusterName=colony Account=chem UserName= ID=3 GrpTRESMins=cpu=1000(253)\n";
    let files = folder(bank, "slurm", &[("dump.cfg", dump), ("assoc.txt", usage)]);
    [format!("{files}/dump.cfg"), format!("{files}/assoc.txt")]
}

#[test]
fn lists_of_moab_accounting_manager_move_in() {
    let mut bank = new_bank();
    let lists = mam_lists(&bank);
    let done = moved(&bank.bank(&["migrate", "mam", &lists, "--tz", "UTC", "--yes"]));
    assert!(done.contains("charged 124.5 (1 charged)"), "{done}");
    assert_eq!(balances(&bank), ["grant 875.500 100.000 50.000"]);
    let rates = bank.bank_ok(&[
        "rate",
        "ls",
        "-P",
        "--columns",
        "kind,name,instance,rate,per",
    ]);
    assert!(
        rates.contains("NBM|QualityOfService|high|2|none"),
        "{rates}"
    );
    assert_eq!(rates.matches("VBR|Processors").count(), 1, "{rates}");
    let again = moved(&bank.bank(&["migrate", "mam", &lists, "--tz", "UTC", "--yes"]));
    assert!(again.contains(": 0 objects added, "), "{again}");
    bank.verify();
}

#[test]
fn limits_of_slurm_move_in() {
    let mut bank = new_bank();
    let [dump, usage] = slurm_files(&bank);
    moved(&bank.bank(&["migrate", "slurm", &dump, "--usage", &usage, "--yes"]));
    assert_eq!(
        balances(&bank),
        [
            "bio 0.000 0.000 0.000",
            "chem 44820.000 0.000 0.000",
            "science 5910000.000 0.000 0.000"
        ]
    );
    // A project without a limit pays from the account above.
    let job = [
        "reserve", "j1", "--procs", "1", "--wall", "100", "-u", "bob", "-A", "bio", "-m", "colony",
    ];
    bank.bank_ok(&job);
    assert!(
        balances(&bank)[2].starts_with("science 5910000.000 100.000"),
        "{:?}",
        balances(&bank)
    );
    // One with a limit does not.
    let large = [
        "quote", "--procs", "1", "--wall", "50000", "-u", "amy", "-A", "chem", "-m", "colony",
    ];
    assert_eq!(bank.bank(&large).exit, 3);
    let tree = bank.bank_ok(&["project", "tree"]);
    assert!(tree.contains("chem") && tree.contains("science"), "{tree}");
    bank.verify();
}

/// A reservation that is open at the opening did not begin after it. A repeat at a later time changes nothing.
#[test]
fn a_lien_without_a_start_begins_at_the_opening() {
    let mut bank = new_bank();
    let files = [
        ("users.csv", "name\namy\n"),
        ("machines.csv", "name\ncolony\n"),
        ("projects.csv", "name,machines\nchem,colony\n"),
        ("members.csv", "project,user\nchem,amy\n"),
        ("accounts.csv", "name,projects,users\nchem,chem,MEMBERS\n"),
        ("allocations.csv", "account,amount\nchem,100000\n"),
        (
            "liens.csv",
            "job,project,machine,amount,end,user,processors\nL1,chem,colony,10000,2030-01-01,amy,1\n",
        ),
    ];
    let set = folder(&bank, "set", &files);
    let words = ["migrate", "csv", &set, "--source", "old", "--yes"];
    moved(&bank.bank(&words));
    let listed = bank.bank_ok(&["lien", "ls", "--csv"]);
    let line = "1,L1,colony,chem,amy,10000.000,chem,2026-11-24T01:00:00Z,2030-01-01T00:00:00Z";
    assert!(listed.contains(line), "{listed}");
    bank.set_clock(NOW + 3600);
    moved(&bank.bank(&words));
    assert_eq!(bank.bank_ok(&["lien", "ls", "--csv"]), listed);
    bank.verify();
}

#[test]
fn the_plain_set_moves_in_at_its_opening() {
    let mut bank = new_bank();
    let files = [
        ("users.csv", "name\namy\n"),
        ("machines.csv", "name\ncolony\n"),
        ("projects.csv", "name,machines\nchem,colony\n"),
        ("members.csv", "project,user,role\nchem,amy,manager\n"),
        ("accounts.csv", "name,projects,users\nchem,chem,MEMBERS\n"),
        (
            "allocations.csv",
            "account,amount,deposited,credit_limit,end\nchem,99.5,200,10,2027-01-01\n",
        ),
        (
            "liens.csv",
            "job,project,machine,user,amount,start,end\nj1,chem,colony,amy,9.5,2026-11-24T00:00:00Z,2026-11-24T12:00:00Z\n",
        ),
        (
            "usage.csv",
            "job,project,user,machine,start,end,charge\nj0,chem,amy,colony,2026-11-01,2026-11-02,100.5\n",
        ),
        (
            "balances.csv",
            "account,amount,held,credit_limit\nchem,99.5,9.5,10\n",
        ),
    ];
    let set = folder(&bank, "set", &files);
    let words = [
        "migrate",
        "csv",
        &set,
        "--opening",
        "2026-11-20",
        "--source",
        "old.bank",
        "--yes",
        "--json",
    ];
    let answer = moved(&bank.bank(&words));
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["migration"]["source"], "old.bank");
    assert_eq!(answer["migration"]["at"], "2026-11-20T00:00:00Z");
    assert_eq!(answer["migration"]["proof"][0]["equal"], true);
    assert_eq!(answer["history"]["outcomes"]["charged"], 1);
    assert_eq!(answer["compared"], 3);
    assert_eq!(balances(&bank), ["chem 99.500 9.500 10.000"]);
    // The statement of the days before the opening has nothing, then it adds up.
    let statement = bank.json(&[
        "statement",
        "-a",
        "chem",
        "--from",
        "2026-11-20",
        "--to",
        "2026-11-24",
    ]);
    assert!(statement.to_string().contains("99.5"), "{statement}");
    for (file, row, message) in [
        (
            "usage.csv",
            "job,project,user,machine,end,charge\nj9,chem,amy,colony,2099-01-01,5\n",
            "finished job j9 ends at 2099-01-01T00:00:00Z, which is later than now",
        ),
        (
            "liens.csv",
            "job,project,machine,user,amount,start,end\nj8,chem,colony,amy,1,2026-11-25,2026-11-24\n",
            "reservation 1 of job j8 ends before it starts",
        ),
    ] {
        let mut other = files.to_vec();
        other.retain(|(name, _)| *name != file);
        other.push((file, row));
        let wrong = folder(&bank, &format!("wrong-{file}"), &other);
        let ran = bank.bank(&["migrate", "csv", &wrong, "--yes"]);
        assert_eq!(ran.exit, 2);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let future = bank.bank(&["migrate", "csv", &set, "--opening", "2026-12-01", "--yes"]);
    assert_eq!(future.exit, 2);
    assert!(
        future.stderr.contains("--opening is later than now"),
        "{}",
        future.stderr
    );
    bank.verify();
}

#[test]
fn limits_of_other_resources_of_slurm_are_listed() {
    let bank = new_bank();
    let dump = "Cluster - 'colony'\nParent - 'root'\n\
        Account - 'chem':GrpTRESMins=cpu=1000,gres/gpu=5,mem=-1:GrpTRES=cpu=64\n\
        Account - 'bio':GrpTRESMins=cpu=7\n";
    let files = folder(&bank, "slurm-more", &[("dump.cfg", dump)]);
    let dump = format!("{files}/dump.cfg");
    let plan = bank.bank_ok(&["migrate", "slurm", &dump, "--dry-run"]);
    assert!(plan.contains("gres/gpu=5 of account chem"), "{plan}");
    assert!(plan.contains("cpu=64 of account chem"), "{plan}");
    assert!(!plan.contains("mem=-1"), "{plan}");
    let gpu = ["migrate", "slurm", &dump, "--tres", "gres/gpu", "--dry-run"];
    let plan = bank.bank_ok(&gpu);
    assert!(plan.contains("cpu=1000"), "{plan}");
    assert!(plan.contains("cpu=7 of account bio"), "{plan}");
}

#[test]
fn a_user_with_several_partitions_of_slurm_is_one_member() {
    let mut bank = new_bank();
    let dump = "Cluster - 'colony'\nParent - 'root'\nAccount - 'chem':GrpTRESMins=cpu=1000\nParent - 'chem'\n\
        User - 'bob':Partition='cpu':DefaultAccount='chem'\nUser - 'bob':Partition='gpu':DefaultAccount='chem'\n";
    let files = folder(&bank, "slurm-parts", &[("dump.cfg", dump)]);
    let dump = format!("{files}/dump.cfg");
    let plan = bank.bank_ok(&["migrate", "slurm", &dump, "--dry-run"]);
    for partition in ["cpu", "gpu"] {
        let line = format!("user bob of chem: Partition={partition}");
        assert!(plan.contains(&line), "{plan}");
    }
    moved(&bank.bank(&["migrate", "slurm", &dump, "--yes"]));
    let project = bank.bank_ok(&["project", "show", "chem"]);
    assert_eq!(project.matches("bob").count(), 1, "{project}");
    bank.verify();
}
