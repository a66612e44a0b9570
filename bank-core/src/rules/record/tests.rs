//! Records of every kind: a change as text, and the record as the journal shows it, or the refusal.

use super::*;
use crate::amount::Precision;
use crate::book::Book;
use crate::command::{After, Command, Reverse, Scope};
use crate::decimal::Decimal;
use crate::directory::{Bank, Policy};
use crate::kind::{Field, Type, units};
use crate::ledger;
use crate::time::Timestamp;

/// A bank with projects chem, chem/gpu and bio, and the machine colony.
fn book() -> Book {
    let bank = Bank {
        uuid: "u".into(),
        precision: Precision::new(0).unwrap(),
        unit: "credits".into(),
    };
    let mut book = Book::new(bank, Policy::default());
    for (name, parent) in [("chem", None), ("chem/gpu", Some("chem")), ("bio", None)] {
        let add = Command::add_record(
            "project",
            name,
            &[("parent", parent.into()), ("no_account", true.into())],
        );
        run(&mut book, &add).unwrap();
    }
    run(&mut book, &Command::add_record("machine", "colony", &[])).unwrap();
    book
}

fn run(book: &mut Book, command: &Command) -> Result<Outcome, Refusal> {
    let Ok(decision) = ledger::execute(book, command, &Scope::default(), Timestamp(5), false);
    decision
}

/// A value of a field as text; `-` for none.
fn value(field: &Field, text: &str) -> Value {
    match &field.of {
        _ if text == "-" => Value::None,
        Type::Decimal(places, ..) => {
            units(Decimal::parse(text).unwrap(), *places).map_or(Value::Flag(true), Value::Whole)
        }
        Type::Whole(..) | Type::Amount(..) => Value::Whole(text.parse().unwrap()),
        Type::Reference(_) if field.is_number_of_record() => Value::Whole(text.parse().unwrap()),
        Type::Flag => Value::Flag(text == "yes"),
        Type::Time => Value::Time(Timestamp(text.parse().unwrap())),
        Type::Texts(..) | Type::References(..) => {
            Value::List(text.split(',').map(str::to_owned).collect())
        }
        _ => Value::Text(text.replace('~', " ")),
    }
}

/// Runs `add KIND [NAME] FIELD=VALUE …`, `set KIND KEY FIELD=VALUE …` or `rm KIND KEY`.
fn ask(book: &mut Book, line: &str) -> String {
    let mut words = line.split(' ');
    let (verb, word) = (words.next().unwrap(), words.next().unwrap());
    let kind = book.reference().records.kind(word).unwrap().clone();
    let mut key = None;
    let mut set = Vec::new();
    for word in words {
        match word.split_once('=') {
            None => key = kind.read_key(word),
            Some((name, text)) => {
                let field = kind.field(name).unwrap_or_else(|| panic!("{name}"));
                set.push((name.to_owned(), value(field, text)));
            }
        }
    }
    let action = match verb {
        "add" => RecordAction::Add(key, set),
        "set" => RecordAction::Set(key.unwrap(), set),
        _ => RecordAction::Remove(key.unwrap()),
    };
    let change = Command::Record(Box::new(RecordChange::new(&kind, action)));
    if let Err(refusal) = run(book, &change) {
        return refusal.code().to_owned();
    }
    let last = book.journal.last().unwrap();
    assert!(last.entries.is_empty(), "no money moves");
    format!("{}: {}", last.op, last.reason)
}

/// Each line, and what comes of it: a text that begins with the expected one.
fn check(book: &mut Book, steps: &[(&str, &str)]) {
    for (line, expected) in steps {
        let got = ask(book, line);
        assert!(got.starts_with(expected), "{line}: {got}, not {expected}");
    }
    assert!(book.findings().is_empty());
}

#[test]
fn a_contribution_is_credited_to_a_contributor_who_stays() {
    let mut book = book();
    let full = "set contribution 1 contributor=amy processors=12 split=25.5 factor=1.9 from=10";
    let but = |change: &str| format!("{full} {change}");
    check(
        &mut book,
        &[
            (
                "add contribution contributor=amy processors=12",
                "not_found",
            ),
            ("add contributor unassigned", "bad_name"),
            ("add contributor #amy", "bad_name"),
            ("add contributor", "missing_field"),
            ("add contributor amy", "contributor_add: contributor=amy"),
            ("add contributor amy", "already_exists"),
            ("add contribution contributor=amy", "missing_field"),
            (
                "add contribution contributor=amy processors=12",
                "contribution_add: contribution=1 fields=contributor,processors",
            ),
            (
                full,
                "contribution_set: contribution=1 fields=split,factor,from",
            ),
            (&but("split=100.01"), "bad_value"),
            (&but("split=0.001"), "bad_value"),
            (&but("split=-1"), "bad_value"),
            (&but("factor=0"), "bad_value"),
            (&but("factor=1000.1"), "bad_value"),
            (&but("processors=-1"), "bad_value"),
            (&but("processors=10000001"), "bad_value"),
            (&but("until=10"), "bad_window"),
            (&but("what=a\nb"), "bad_value"),
            (&but("contributor=-"), "bad_value"),
            ("rm contributor amy", "in_use"),
            ("rm contribution 1", "contribution_rm: contribution=1"),
            ("rm contribution 1", "not_found"),
            ("rm contributor amy", "contributor_rm"),
            // A removed one comes back with its new values only.
            (
                "add contributor amy user=z1",
                "contributor_add: contributor=amy fields=user",
            ),
            ("set contributor bob user=x", "not_found"),
        ],
    );
}

#[test]
fn a_project_belongs_to_the_nearest_contributor_above_it() {
    let mut book = book();
    check(
        &mut book,
        &[
            (
                "add contributor amy projects=chem,chem",
                "contributor_add: contributor=amy fields=projects",
            ),
            ("add contributor bob projects=chem", "in_use"),
            ("add contributor bob projects=math", "not_found"),
            ("add contributor bob projects=chem/gpu", "contributor_add"),
            ("set contributor bob projects=chem/gpu,chem", "in_use"),
        ],
    );
    for (project, expected) in [
        ("chem/gpu", "bob"),
        ("chem", "amy"),
        ("bio", ""),
        ("nosuch", ""),
    ] {
        let own = book.reference().contributor_of(project);
        assert_eq!(own.map_or("", Record::name), expected, "{project}");
    }
}

#[test]
fn hardware_is_listed_by_priority() {
    let mut book = book();
    check(
        &mut book,
        &[
            (
                "add hardware name=xeon machine=colony hosts=old* processors=8 nodes=4",
                "hardware_add: hardware=1 name=xeon",
            ),
            (
                "add hardware name=epyc priority=1 processors=8 nodes=4",
                "hardware_add: hardware=2",
            ),
            ("add hardware name=epyc processors=8", "missing_field"),
            ("set hardware 1 machine=moon", "not_found"),
            ("set hardware 1 name=-", "bad_value"),
            ("set hardware 1 name=#x", "bad_name"),
            ("set hardware 1 nodes=-1", "bad_value"),
            ("set hardware 1 nodes=0", "bad_value"),
            ("set hardware 1 nodes=1000001", "bad_value"),
            ("set hardware 1 processors=0", "bad_value"),
            ("set hardware 1 priority=-1", "bad_value"),
            ("set hardware 1 hosts=[", "bad_value"),
            (
                &format!("set hardware 1 hosts={}", ["a"; 65].join(",")),
                "bad_value",
            ),
        ],
    );
    let names = |book: &Book| {
        let records = &book.reference().records;
        let all = records.listed(records.kind("hardware").unwrap());
        all.iter()
            .map(|own| own.text("name").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&book), ["epyc", "xeon"]);
    let xeon = book.reference().records.get("hardware", &Key::Number(1));
    let size = ["processors", "nodes"].map(|field| xeon.and_then(|own| own.whole(field)));
    assert_eq!(size, [Some(8), Some(4)]);
    check(
        &mut book,
        &[
            ("rm hardware 2", "hardware_rm"),
            ("set hardware 2 nodes=1", "not_found"),
        ],
    );
    assert_eq!(names(&book), ["xeon"]);
}

#[test]
fn a_downtime_has_hardware_a_start_and_a_reason_and_goes_with_its_hardware() {
    let mut book = book();
    check(
        &mut book,
        &[
            (
                "add hardware name=xeon processors=8 nodes=4",
                "hardware_add",
            ),
            (
                "add hardware name=epyc processors=8 nodes=4",
                "hardware_add",
            ),
            (
                "add downtime hardware=3 from=10 reason=cooling",
                "not_found",
            ),
            (
                "add downtime hardware=1 from=10 reason=cooling nodes=0",
                "bad_value",
            ),
            (
                "add downtime hardware=1 from=10 reason=cooling nodes=5",
                "bad_value",
            ),
            (
                "add downtime hardware=1 from=10 reason=cooling until=10",
                "bad_window",
            ),
            ("add downtime hardware=1 reason=cooling", "missing_field"),
            ("add downtime hardware=1 from=10 reason=~", "bad_value"),
            ("set downtime 1 nodes=2", "not_found"),
            (
                "add downtime hardware=1 from=10 until=20 reason=cooling nodes=4",
                "downtime_add: downtime=1 hardware=1 nodes=4 from=1970-01-01T00:00:00Z until=",
            ),
            (
                "set downtime 1 nodes=- until=-",
                "downtime_set: downtime=1 nodes=4>- until=1970-01-01T00:00:00Z>-",
            ),
            (
                "add downtime hardware=1 from=10 reason=cooling",
                "downtime_add: downtime=2",
            ),
            (
                "add downtime hardware=2 from=10 reason=cooling",
                "downtime_add: downtime=3",
            ),
        ],
    );
    let down = book.reference().records.all("downtime");
    let down = down.filter(|own| own.whole("hardware") == Some(1));
    let nodes: Vec<Option<i64>> = down.map(|own| own.whole("nodes")).collect();
    assert_eq!(nodes, [None, None]);
    check(
        &mut book,
        &[
            ("rm downtime 1", "downtime_rm"),
            ("rm downtime 1", "not_found"),
            ("rm hardware 1", "hardware_rm"),
            ("rm downtime 2", "not_found"),
        ],
    );
    let left = book.reference().records.all("downtime");
    assert_eq!(left.map(Record::number).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_site_adds_kinds_and_fields() {
    let mut book = book();
    check(
        &mut book,
        &[
            (
                "add kind Grant fields=title:text!,amount:amount,state:open|closed,lead:user,project:project",
                "kind_add: kind=grant",
            ),
            ("add kind grant", "already_exists"),
            ("add kind balance", "bad_name"),
            ("add kind kind", "bad_name"),
            ("add kind 9lives", "bad_name"),
            ("add kind x fields=title", "bad_value"),
            ("add kind x fields=title:colour", "bad_value"),
            ("add kind x fields=a:text,a:number", "bad_value"),
            ("add kind x fields=key:text", "bad_value"),
            ("add grant amount=5", "missing_field"),
            (
                "add grant title=Ribosomes amount=500 state=open project=chem",
                "record_add: grant=1 title=Ribosomes amount=500 state=open project=chem",
            ),
            ("set grant 1 state=lost", "bad_value"),
            ("set grant 1 project=math", "not_found"),
            (
                "set grant 1 state=closed amount=-",
                "record_set: grant=1 amount=500>- state=open>closed",
            ),
            // Fields with values keep their type; a field without one may go.
            ("set kind grant fields=title:number", "in_use"),
            (
                "set kind grant fields=title:text!,state:open|closed,project:project,ends:time!",
                "in_use",
            ),
            (
                "set kind grant fields=title:text!,state:open|closed,project:project,ends:time",
                "kind_set",
            ),
            ("set kind grant keys=name", "in_use"),
            (
                "set grant 1 ends=99",
                "record_set: grant=1 ends=->1970-01-01T00:00:00Z",
            ),
            ("rm kind grant", "in_use"),
            // A choice keeps the words in use, and gets more.
            (
                "set kind grant fields=title:text!,state:open|done,project:project,ends:time",
                "in_use",
            ),
            (
                "set kind grant fields=title:text!,state:closed|done,project:project,ends:time",
                "kind_set",
            ),
            ("rm grant 1", "record_rm"),
            ("rm kind grant", "kind_rm"),
        ],
    );
    let records = &book.reference().records;
    assert!(records.kind("grant").is_none() && records.declaration("grant").is_some());
    check(
        &mut book,
        &[
            // Removed records are still read: keys stay what they were.
            ("add kind grant keys=name", "in_use"),
            ("add kind grant fields=title:number", "kind_add"),
            ("add grant title=7", "record_add: grant=2 title=7"),
            (
                "add kind grants fields=who:text see=auditors change=operators",
                "bad_value",
            ),
            ("add kind account_rule", "bad_name"),
            ("add kind hardware fields=host:text", "bad_value"),
            ("add kind hardware fields=dele_ted:text", "bad_value"),
            ("add kind grants fields=a_b:text,ab:text", "bad_value"),
            ("add kind hardware fields=serial:text!", "bad_value"),
            ("add kind hardware fields=nodes:text", "bad_value"),
            (
                "add kind hardware fields=serial:text change=operators",
                "bad_value",
            ),
            ("add kind hardware fields=serial:text", "kind_add"),
            (
                "add hardware name=xeon processors=8 nodes=4 serial=A1",
                "hardware_add: hardware=1",
            ),
            ("rm kind hardware", "in_use"),
            ("set hardware 1 serial=-", "hardware_set"),
            ("rm kind hardware", "kind_rm"),
        ],
    );
}

/// Undoes the transaction so many back; the record as the journal shows it, or the refusal.
fn undo(book: &mut Book, back: usize) -> String {
    let reverse = Reverse {
        transaction: book.journal[book.journal.len() - back].id,
        allow_debt: false,
        note: String::new(),
    };
    if let Err(refusal) = run(book, &Command::After(After::Reverse(reverse))) {
        return refusal.code().to_owned();
    }
    book.journal.last().unwrap().reason.clone()
}

#[test]
fn a_tree_of_projects_has_a_limited_number_of_levels() {
    let mut book = book();
    let add = |name: &str, parent: &str| format!("add project {name} parent={parent}");
    assert!(ask(&mut book, &add("t2", "chem")).starts_with("project_add"));
    for level in 3..=64 {
        let line = add(&format!("t{level}"), &format!("t{}", level - 1));
        assert!(ask(&mut book, &line).starts_with("project_add"), "{line}");
    }
    check(
        &mut book,
        &[
            (&add("t65", "t64"), "bad_value"),
            // The top of the tree gets no project above it, and a part of the tree moves only where it fits.
            ("set project chem parent=bio", "bad_value"),
            ("set project t40 parent=t38", "project_set"),
            ("set project t39 parent=t64", "project_set"),
            ("set project t39 parent=bio", "project_set"),
            ("set project chem parent=t64", "cycle"),
            ("set project t10 parent=t20", "cycle"),
        ],
    );
}

#[test]
fn changes_of_records_are_undone_and_done_again() {
    let mut book = book();
    let is = |got: &str, expected: &str| assert!(got.starts_with(expected), "{got}");
    check(
        &mut book,
        &[
            (
                "add hardware name=xeon processors=8 nodes=4",
                "hardware_add",
            ),
            ("set hardware 1 nodes=6 machine=colony", "hardware_set"),
        ],
    );
    // The older change has a later one after it.
    assert_eq!(undo(&mut book, 2), "not_reversible");
    is(&undo(&mut book, 1), "hardware=1 machine=colony>- nodes=6>4");
    // An undo is undone.
    is(&undo(&mut book, 1), "hardware=1 machine=->colony nodes=4>6");
    check(
        &mut book,
        &[
            ("rm hardware 1", "hardware_rm"),
            ("set hardware 1 nodes=1", "not_found"),
        ],
    );
    is(&undo(&mut book, 1), "hardware=1 name=xeon");
    let downtime = "add downtime hardware=1 from=10 reason=cooling";
    check(&mut book, &[(downtime, "downtime_add")]);
    is(&undo(&mut book, 1), "downtime=1");
    check(&mut book, &[("set downtime 1 nodes=1", "not_found")]);
    let grant = ("add grant title=A", "record_add");
    check(
        &mut book,
        &[("add kind grant fields=title:text", "kind_add"), grant],
    );
    // Its records would be of no kind.
    assert_eq!(undo(&mut book, 2), "in_use");
    is(&undo(&mut book, 1), "grant=1");
    assert!(book.findings().is_empty());
}

mod named;
