//! Records of the program's kinds, with a member that the site added.

use bank_client::Client;
use bank_client::records::{NewHardware, NewProject, PatchHardware, PatchProject};
use bank_client::v1::{PastPageQuery, PastQuery};

use crate::harness::Bank;

/// Input: new and changed records with types. Expected: the daemon has them, with the member of the site.
#[test]
fn records_have_types_and_the_members_of_the_site() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "kind",
        "add",
        "project",
        "--field",
        "cost_centre:text Cost centre",
    ]);
    let client = Client::builder()
        .servers([format!("unix:{}", bank.socket().display())])
        .build()
        .unwrap();
    let mut project = NewProject {
        name: "lasers".into(),
        members: Some(vec!["amy".into()]),
        ..NewProject::default()
    };
    project.more.insert("cost_centre".into(), "4711".into());
    let added = client.add_project(&project, "p1").unwrap();
    assert!(added.transaction.is_some());
    assert_eq!(added.object.members[0].user, "amy");
    assert_eq!(added.object.more["cost_centre"], "4711");
    assert_eq!(added.object.more.len(), 1, "{:?}", added.object.more);
    let again = client.add_project(&project, "p1").unwrap();
    assert_eq!(again.transaction, added.transaction);

    let mut change = PatchProject {
        description: Some("cold atoms".into()),
        ..PatchProject::default()
    };
    change.more.insert("cost_centre".into(), "4712".into());
    client.change_project("lasers", &change, "p2").unwrap();
    let shown = client.project("lasers", &PastQuery::default()).unwrap();
    assert_eq!(shown.description.as_deref(), Some("cold atoms"));
    assert_eq!(shown.more["cost_centre"], "4712");
    assert!(shown.active, "what a change leaves out stays");

    let hardware = NewHardware {
        name: "epyc".into(),
        processors: 128,
        nodes: 10,
        machine: Some("colony".into()),
        ..NewHardware::default()
    };
    let id = client.add_hardware(&hardware, "h1").unwrap().object.id;
    let change = PatchHardware {
        nodes: Some(12),
        ..PatchHardware::default()
    };
    client
        .change_hardware(&id.to_string(), &change, "h2")
        .unwrap();
    let list = client.hardware_list(&PastPageQuery::default()).unwrap();
    let own = list.items.iter().find(|row| row.id == id).unwrap();
    assert_eq!((own.nodes, own.processors, own.counts), (12, 128, true));
    assert_eq!(own.factor, "1");
    bank.verify();
}
