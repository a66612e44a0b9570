//! Tables of the older program, taken in, and what of them was not.

use std::fs;

use crate::harness::Bank;

fn write(bank: &Bank, name: &str, text: &str) -> String {
    let path = bank.folder().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn hardware_is_imported_once_and_errors_are_reported() {
    let mut bank = Bank::new();
    let file = write(
        &bank,
        "processor_type.csv",
        "id,date_installed,regex,processor_type,processor_qty,node_qty,su_charge,cluster,disabled\n\
         1,2009-03-01,quad[0-9]+,Xeon 5160,4,12,1.9,scluster,0\n\
         2,2010-05-31,n(1|2)x,Opteron,8,2,1.0,scluster,1\n\
         3,2010-05-31,n\\d+-ib,Opteron,8,2,1.0,scluster,0\n\
         4,2010-05-31,z,Opteron,8,2,0,scluster,0\n\
         5,2010-05-31,y,Opteron,8,2,1,pcluster,0\n",
    );
    let import = ["hardware", "import", &file, "-m", "scluster=colony"];
    let dry = bank.bank_ok(&[&import[..], &["--dry-run"]].concat());
    assert!(dry.contains("dry run, nothing written"), "{dry}");
    let ran = bank.bank(&[&import[..], &["--strict"]].concat());
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(
        ran.stdout
            .contains("processor_type: 2 added, 0 changed, 0 unchanged, 3 rejected"),
        "{}",
        ran.stdout
    );
    for message in [
        ":4: bad_line: the regular expression",
        ":5: bad_value",
        ":6: not_found",
    ] {
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
    let list = bank.json(&["hardware", "ls"]);
    let first = &list["items"][0];
    assert_eq!(first["machine"], "colony");
    assert_eq!(first["hosts"][0], "quad[0-9]*");
    assert_eq!(
        (&first["factor"], &first["from"]),
        (&"1.9".into(), &"2009-03-01T00:00:00Z".into())
    );
    assert_eq!(list["items"][1]["hosts"].as_array().unwrap().len(), 2);
    assert_eq!(list["items"][1]["counts"], false);
    let before = bank.transactions();
    let again = bank.bank_ok(&import);
    assert!(
        again.contains("0 added, 0 changed, 2 unchanged, 3 rejected"),
        "{again}"
    );
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn contributions_come_in_with_their_people_and_projects() {
    let mut bank = Bank::new();
    bank.bank_ok(&["project", "add", "chem"]);
    let people = write(
        &bank,
        "pi.csv",
        "uid,userid,first_name,last_name,alias,email_address,exempt\n\
         1,z1,A,Smith,amy,a@x,0\n2,z2,G,Jones,grace,g@x,1\n3,z3,N,O,,n@x,0\n",
    );
    let projects = write(
        &bank,
        "project.csv",
        "gid,groupid,pi_owner_userid\n100,chem,z1\n101,geology,z1\n102,chem,z9\n",
    );
    let given = write(
        &bank,
        "contribution.csv",
        "id,date_contributed,contributor_userid,credited_to_userid,host_name,processor_type,\
         no_of_processors,split_percentage,su_charge\n\
         1,2012-01-01,z7,z1,quad1,Xeon,12,100,1.9\n2,2012-01-01,z7,z1,quad1,Xeon,12,101,1.9\n\
         3,2012-01-01,z7,z9,quad1,Xeon,12,100,1.9\n",
    );
    let import = [
        "contribution",
        "import",
        "--investigators",
        &people,
        "--projects",
        &projects,
        "--contributions",
        &given,
    ];
    let ran = bank.bank(&import);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    for message in [
        "principal_investigator: 2 added, 0 changed, 0 unchanged, 1 rejected",
        "project: 0 added, 0 changed, 0 unchanged, 2 rejected",
        "contribution: 1 added, 0 changed, 0 unchanged, 2 rejected",
    ] {
        assert!(ran.stdout.contains(message), "{}", ran.stdout);
    }
    for message in [
        "pi.csv:4: bad_line: alias is empty",
        "project.csv:3: not_found: no project \"geology\"",
        "contribution.csv:3: bad_value",
        "contribution.csv:4: bad_line",
    ] {
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
    let amy = bank.json(&["contributor", "show", "amy"]);
    assert_eq!(amy["projects"][0], "chem");
    assert_eq!(
        (&amy["user"], &amy["exempt"]),
        (&"z1".into(), &false.into())
    );
    let own = bank.json(&["contribution", "show", "1"]);
    assert_eq!(
        (&own["split"], &own["factor"]),
        (&"100.00".into(), &"1.9".into())
    );
    assert_eq!(
        (&own["paid_by"], &own["what"]),
        (&"z7".into(), &"quad1 Xeon".into())
    );
    let again = bank.bank_ok(&import);
    assert!(
        again.contains("principal_investigator: 0 added, 0 changed, 2 unchanged"),
        "{again}"
    );
    assert!(
        again.contains("contribution: 0 added, 0 changed, 1 unchanged"),
        "{again}"
    );
    let gone = bank.bank(&["contributor", "rm", "amy", "--yes"]);
    assert_eq!(gone.exit, 1, "{}", gone.stderr);
    bank.bank_ok(&[
        "contribution",
        "set",
        "1",
        "--until",
        "2026-01-01T00:00:00Z",
    ]);
    bank.bank_ok(&["contribution", "rm", "1", "--yes"]);
    bank.bank_ok(&["contributor", "rm", "amy", "--yes"]);
    // They were there, and are shown so.
    bank.verify();
}
