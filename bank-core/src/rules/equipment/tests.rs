use super::*;
use crate::amount::Precision;
use crate::book::Book;
use crate::command::{AddProject, Command, Scope, SetContributor, SetDowntime, SetMachine};
use crate::directory::{Bank, Policy};
use crate::ids::DowntimeId;
use crate::ledger;

fn book() -> Book {
    let bank = Bank {
        uuid: "u".into(),
        precision: Precision::new(0).unwrap(),
        unit: "credits".into(),
    };
    let mut book = Book::new(bank, Policy::default());
    for (name, parent) in [
        ("chem", None),
        ("chem/gpu", Some("chem".into())),
        ("bio", None),
    ] {
        let add = AddProject {
            name: name.into(),
            parent,
            ..AddProject::default()
        };
        run(&mut book, &Command::AddProject(add)).unwrap();
    }
    let machine = SetMachine {
        name: "colony".into(),
        ..SetMachine::default()
    };
    run(&mut book, &Command::AddMachine(machine)).unwrap();
    book
}

fn run(book: &mut Book, command: &Command) -> Result<Outcome, Refusal> {
    let Ok(decision) = ledger::execute(book, command, &Scope::default(), Timestamp(5), false);
    decision
}

fn ask(book: &mut Book, equipment: Equipment) -> Result<Outcome, Refusal> {
    run(book, &Command::Equipment(Box::new(equipment)))
}

fn number(text: &str) -> Option<Decimal> {
    Decimal::parse(text)
}

fn contributor(name: &str, projects: &[&str]) -> SetContributor {
    SetContributor {
        name: name.into(),
        projects: Some(projects.iter().map(ToString::to_string).collect()),
        ..SetContributor::default()
    }
}

#[test]
fn a_project_belongs_to_the_nearest_contributor_above_it() {
    let mut book = book();
    ask(
        &mut book,
        Equipment::AddContributor(contributor("amy", &["chem"])),
    )
    .unwrap();
    let whose = |book: &Book, project: &str| {
        let own = book.reference().contributor_of(project);
        own.map(|own| own.name.clone())
    };
    assert_eq!(whose(&book, "chem/gpu").as_deref(), Some("amy"));
    let taken = ask(
        &mut book,
        Equipment::AddContributor(contributor("bob", &["chem"])),
    );
    assert_eq!(taken.unwrap_err().code(), "in_use");
    let bob = contributor("bob", &["chem/gpu"]);
    ask(&mut book, Equipment::AddContributor(bob.clone())).unwrap();
    assert_eq!(whose(&book, "chem/gpu").as_deref(), Some("bob"));
    assert_eq!(whose(&book, "chem").as_deref(), Some("amy"));
    assert_eq!(whose(&book, "bio"), None);
    assert_eq!(whose(&book, "nowhere"), None);
    let twice = ask(&mut book, Equipment::AddContributor(bob));
    assert_eq!(twice.unwrap_err().code(), "already_exists");
    let unknown = ask(
        &mut book,
        Equipment::SetContributor(contributor("bob", &["math"])),
    );
    assert_eq!(unknown.unwrap_err().code(), "not_found");
    let kept = ask(
        &mut book,
        Equipment::AddContributor(contributor("unassigned", &[])),
    );
    assert_eq!(kept.unwrap_err().code(), "bad_name");
}

#[test]
fn a_contribution_is_somebodys_and_keeps_them() {
    let mut book = book();
    let nobody = SetContribution {
        contributor: Some("amy".into()),
        ..SetContribution::default()
    };
    let refused = ask(&mut book, Equipment::AddContribution(nobody.clone()));
    assert_eq!(refused.unwrap_err().code(), "not_found");
    ask(
        &mut book,
        Equipment::AddContributor(contributor("amy", &[])),
    )
    .unwrap();
    let full = SetContribution {
        processors: Some(12),
        split: number("25.5"),
        factor: number("1.9"),
        from: Some(Some(Timestamp(10))),
        ..nobody
    };
    let Ok(Outcome::Contribution(own)) = ask(&mut book, Equipment::AddContribution(full.clone()))
    else {
        panic!("not added");
    };
    assert_eq!((own.split, own.factor), (2_550, 1_900_000_000));
    let gone = ask(&mut book, Equipment::RemoveContributor("amy".into()));
    assert_eq!(gone.unwrap_err().code(), "in_use");
    for (set, code) in [
        (
            SetContribution {
                split: number("100.01"),
                ..full.clone()
            },
            "bad_value",
        ),
        (
            SetContribution {
                split: number("0.001"),
                ..full.clone()
            },
            "bad_value",
        ),
        (
            SetContribution {
                split: number("-1"),
                ..full.clone()
            },
            "bad_value",
        ),
        (
            SetContribution {
                factor: number("0"),
                ..full.clone()
            },
            "bad_value",
        ),
        (
            SetContribution {
                factor: number("1000.1"),
                ..full.clone()
            },
            "bad_value",
        ),
        (
            SetContribution {
                processors: Some(-1),
                ..full.clone()
            },
            "bad_value",
        ),
        (
            SetContribution {
                processors: Some(10_000_001),
                ..full.clone()
            },
            "bad_value",
        ),
        (
            SetContribution {
                until: Some(Some(Timestamp(10))),
                ..full.clone()
            },
            "bad_window",
        ),
        (
            SetContribution {
                what: Some("a\nb".into()),
                ..full.clone()
            },
            "bad_value",
        ),
    ] {
        let refused = ask(&mut book, Equipment::SetContribution(own.id, set.clone()));
        assert_eq!(refused.unwrap_err().code(), code, "{set:?}");
    }
    assert_eq!(book.reference().equipment.contribution(own.id), Some(&*own));
    ask(&mut book, Equipment::RemoveContribution(own.id)).unwrap();
    let again = ask(&mut book, Equipment::RemoveContribution(own.id));
    assert_eq!(again.unwrap_err().code(), "not_found");
    ask(&mut book, Equipment::RemoveContributor("amy".into())).unwrap();
    assert!(book.findings().is_empty());
}

#[test]
fn hardware_is_asked_in_its_order() {
    let mut book = book();
    let set = |name: &str, priority| SetHardware {
        name: Some(name.into()),
        machine: Some(Some("colony".into())),
        hosts: Some(vec![Pattern::parse("old*").unwrap()]),
        processors: Some(8),
        nodes: Some(4),
        priority,
        ..SetHardware::default()
    };
    ask(&mut book, Equipment::AddHardware(set("xeon", None))).unwrap();
    ask(&mut book, Equipment::AddHardware(set("epyc", Some(1)))).unwrap();
    let names = |book: &Book| {
        let all = book.reference().equipment.all_hardware();
        let names: Vec<String> = all.iter().map(|own| own.name.clone()).collect();
        names
    };
    assert_eq!(names(&book), ["epyc", "xeon"]);
    let kinds = book.reference().equipment.kinds();
    assert_eq!((kinds[0].processors, kinds[0].nodes), (8, 4));
    for (change, code) in [
        (
            SetHardware {
                machine: Some(Some("moon".into())),
                ..SetHardware::default()
            },
            "not_found",
        ),
        (
            SetHardware {
                name: Some(String::new()),
                ..SetHardware::default()
            },
            "bad_name",
        ),
        (
            SetHardware {
                nodes: Some(-1),
                ..SetHardware::default()
            },
            "bad_value",
        ),
        (
            SetHardware {
                nodes: Some(0),
                ..SetHardware::default()
            },
            "bad_value",
        ),
        (
            SetHardware {
                processors: Some(0),
                ..SetHardware::default()
            },
            "bad_value",
        ),
        (
            SetHardware {
                priority: Some(-1),
                ..SetHardware::default()
            },
            "bad_value",
        ),
        (
            SetHardware {
                hosts: Some(vec![Pattern::parse("a").unwrap(); 65]),
                ..SetHardware::default()
            },
            "bad_value",
        ),
    ] {
        let refused = ask(
            &mut book,
            Equipment::SetHardware(HardwareId(1), change.clone()),
        );
        assert_eq!(refused.unwrap_err().code(), code, "{change:?}");
    }
    ask(&mut book, Equipment::RemoveHardware(HardwareId(2))).unwrap();
    assert_eq!(names(&book), ["xeon"]);
    let unknown = ask(
        &mut book,
        Equipment::SetHardware(HardwareId(2), SetHardware::default()),
    );
    assert_eq!(unknown.unwrap_err().code(), "not_found");
    let last = book.journal.last().unwrap();
    assert_eq!(last.op, "hardware_rm");
    assert!(last.entries.is_empty() && last.reason.contains("name=epyc"));
}

fn nodes(name: &str, nodes: i64) -> Equipment {
    Equipment::AddHardware(SetHardware {
        name: Some(name.into()),
        processors: Some(8),
        nodes: Some(nodes),
        ..SetHardware::default()
    })
}

fn down(from: i64, until: Option<i64>) -> SetDowntime {
    SetDowntime {
        from: Some(Timestamp(from)),
        until: Some(until.map(Timestamp)),
        reason: Some("cooling".into()),
        ..SetDowntime::default()
    }
}

#[test]
fn a_downtime_is_of_hardware_has_a_start_and_a_reason() {
    let mut book = book();
    let (first, unknown) = (HardwareId(1), HardwareId(2));
    ask(&mut book, nodes("xeon", 4)).unwrap();
    let some = |nodes| SetDowntime {
        nodes: Some(Some(nodes)),
        ..down(10, Some(20))
    };
    let without = |set: SetDowntime| Equipment::AddDowntime(first, set);
    for (wrong, code) in [
        (Equipment::AddDowntime(unknown, down(10, None)), "not_found"),
        (without(some(0)), "bad_value"),
        (without(some(5)), "bad_value"),
        (without(down(10, Some(10))), "bad_window"),
        (
            without(SetDowntime {
                from: None,
                ..down(10, Some(20))
            }),
            "bad_value",
        ),
        (
            without(SetDowntime {
                reason: Some(" ".into()),
                ..down(10, Some(20))
            }),
            "bad_value",
        ),
        (
            without(SetDowntime {
                reason: Some("a\nb".into()),
                ..down(10, Some(20))
            }),
            "bad_value",
        ),
        (
            Equipment::SetDowntime(DowntimeId(1), SetDowntime::default()),
            "not_found",
        ),
        (Equipment::RemoveDowntime(DowntimeId(1)), "not_found"),
    ] {
        let refused = ask(&mut book, wrong.clone());
        assert_eq!(refused.unwrap_err().code(), code, "{wrong:?}");
    }
    let Ok(Outcome::Downtime(own)) = ask(&mut book, Equipment::AddDowntime(first, some(4))) else {
        panic!("not added");
    };
    assert_eq!(
        (own.id, own.hardware, own.nodes),
        (DowntimeId(1), first, Some(4))
    );
    let last = book.journal.last().unwrap();
    assert_eq!(last.op, "downtime_add");
    let told = "downtime=1 hardware=1 nodes=4 from=10 until=20 reason=cooling";
    assert!(
        last.entries.is_empty() && last.reason == told,
        "{}",
        last.reason
    );
    let open = SetDowntime {
        nodes: Some(None),
        until: Some(None),
        ..SetDowntime::default()
    };
    ask(&mut book, Equipment::SetDowntime(own.id, open)).unwrap();
    let kinds = book.reference().equipment.kinds();
    assert_eq!((kinds[0].down.len(), kinds[0].down[0].nodes), (1, None));
    assert_eq!(kinds[0].down[0].valid.end, None);
    assert!(book.findings().is_empty());
}

#[test]
fn a_downtime_goes_by_itself_or_with_its_hardware() {
    let mut book = book();
    for name in ["xeon", "epyc"] {
        ask(&mut book, nodes(name, 4)).unwrap();
    }
    for hardware in [1, 1, 2] {
        let add = Equipment::AddDowntime(HardwareId(hardware), down(10, None));
        ask(&mut book, add).unwrap();
    }
    let ids = |book: &Book| {
        let all = book.reference().equipment.all_downtimes();
        all.map(|own| own.id.0).collect::<Vec<_>>()
    };
    ask(&mut book, Equipment::RemoveDowntime(DowntimeId(1))).unwrap();
    assert_eq!(ids(&book), [2, 3]);
    ask(&mut book, Equipment::RemoveHardware(HardwareId(1))).unwrap();
    assert_eq!(ids(&book), [3]);
    for gone in [1, 2] {
        let again = ask(&mut book, Equipment::RemoveDowntime(DowntimeId(gone)));
        assert_eq!(again.unwrap_err().code(), "not_found");
    }
    let kinds = book.reference().equipment.kinds();
    assert_eq!((kinds.len(), kinds[0].down.len()), (1, 1));
}
