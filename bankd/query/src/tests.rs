//! What queries mean, what they refuse, and that no text whatever gets further than its values.

use std::fmt::Write as _;

use bank_core::amount::Precision;
use bank_core::ids::AccountId;
use bank_core::kind::{Readers, Records};
use bank_core::time::Timestamp;
use rusqlite::Connection;

mod hostile;

use super::catalogue::Seen;
use super::*;
use bank_core::directory::Policy;
use bankd_store::bank::NewBank;
use bankd_store::{SqliteStore, open_reader};

/// A bank whose rows are written as they are wanted: what a query says of them is what is tested.
struct Bank {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
}

const ROWS: &str = "
    DELETE FROM allocation;
    DELETE FROM account_constraint;
    DELETE FROM account;
    INSERT INTO project (id, name, parent, active, deleted, mode, description, organization) VALUES
        (1, 'chem', NULL, 1, 0, NULL, 'two words', ''), (2, 'chem/gpu', 1, 1, 0, NULL, '', ''),
        (3, 'bio', NULL, 0, 0, 'track', 'it''s [odd]', ''), (4, 'gone', NULL, 1, 1, NULL, '', '');
    INSERT INTO account (id, name, priority, fallback, blocked, deleted, description, parent) VALUES
        (11, 'chem', 0, 'bio', 0, 0, '', NULL), (12, 'bio', 0, NULL, 0, 0, '', 11);
    INSERT INTO allocation (id, account, start_at, end_at, phase, amount, held, credit_limit,
        deposited, shadow, shadow_held) VALUES
        (1, 11, NULL, NULL, 'active', 9000000000000000000, 1000, 0, 0, 0, 0),
        (2, 12, 1000000, 2000000, 'active', 1500, 500, 250, 0, 0, 0),
        (3, 12, NULL, NULL, 'active', -2500, 0, 0, 0, 0, 0),
        (4, 12, NULL, NULL, 'future', 9000000000000000000, 0, 0, 0, 0, 0);
    INSERT INTO tx (id, req_id, at_effective, at_recorded, actor, client, origin, op, reason,
        prev_hash, hash) VALUES
        (1, 'r', 1000000, 1000000, 'root', 'c', 'cli', 'deposit', '', x'00', x'00'),
        (2, 'r', 5000000, 5000000, 'amy', 'c', 'nami', 'charge', '', x'00', x'00');
    INSERT INTO entry (id, tx, n, kind, account, allocation, delta_amount, delta_held,
        delta_active, delta_shadow, delta_shadow_held, amount_after, held_after, project, user,
        machine) VALUES
        (1, 1, 0, 'deposit', 12, 2, 2000, 0, 2000, 0, 0, 2000, 0, '', '', ''),
        (2, 2, 0, 'charge', 12, 2, -100, 0, -100, 0, 0, 1900, 0, 'bio', 'bob', 'ia64'),
        (3, 2, 1, 'charge', 11, 1, -400, 0, -400, 0, 0, 0, 0, 'chem', 'amy', 'ia64');
    INSERT INTO instance (id, machine, object_type, object_id, number, opened_at, exact_whole,
        exact_part, once_whole, once_part, billed, shadow_billed, charged_s, processor_s, absorbed,
        lien_expired, project, user, group_name, processors, gres, attributes, state, other) VALUES
        (1, 'ia64', 'job', '100', 1, 1, 0, 0, 0, 0, 100, 0, 5, '0', 0, 0, 'bio', 'bob', '', '4',
            '', '', '', ''),
        (2, 'ia64', 'job', '101', 1, 1, 0, 0, 0, 0, 401, 0, 5, '0', 0, 0, 'chem', 'amy', '',
            '0.25', '', '', '', ''),
        (3, 'ia64', 'job', '102', 1, 1, 0, 0, 0, 0, 0, 0, 5, '0', 0, 0, 'chem', 'amy', '', NULL,
            '', '', '', '');
";

impl Bank {
    fn new() -> Bank {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        let new = NewBank {
            uuid: "00000000-0000-4000-8000-000000000000".into(),
            precision: Precision::DEFAULT,
            unit: "SU".into(),
            test: true,
            init_uid: 0,
            created_at: Timestamp(0),
        };
        drop(SqliteStore::create(&path, &new, Policy::default()).unwrap());
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "foreign_keys", false).unwrap();
        writer.execute_batch(ROWS).unwrap();
        Bank {
            _folder: folder,
            path,
        }
    }

    fn reader(&self) -> Connection {
        open_reader(&self.path).unwrap()
    }

    fn ask_as(&self, text: &str, sight: &Sight) -> Result<Found, Mistake> {
        let plan = read(text, sight)?;
        plan.run(&self.reader()).unwrap()
    }

    /// Rows as text, cells with `|` between them.
    fn lines_as(&self, text: &str, sight: &Sight) -> Vec<String> {
        let found = self.ask_as(text, sight);
        let found = found.unwrap_or_else(|m| panic!("{text}: {} {:?}", m.what, m.hint));
        let row = |cells: &Vec<Cell>| {
            let cells: Vec<String> = cells.iter().map(word).collect();
            cells.join("|")
        };
        found.rows.iter().map(row).collect()
    }

    fn lines(&self, text: &str) -> Vec<String> {
        self.lines_as(text, &all())
    }
}

fn all() -> Sight {
    Sight {
        sources: true,
        readers: Readers::Administrators,
        ..Sight::default()
    }
}

fn read(text: &str, sight: &Sight) -> Result<Plan, Mistake> {
    let now = Timestamp::from_seconds(3);
    Plan::read(
        text,
        Precision::DEFAULT,
        now,
        sight.clone(),
        &Records::default(),
    )
}

fn word(cell: &Cell) -> String {
    match cell {
        Cell::None => "-".into(),
        Cell::Number(number) => number.to_string(),
        Cell::Sum(sum) => sum.to_string(),
        Cell::Average(average) => average.with_decimals(6).to_string(),
        Cell::Text(text) => text.clone(),
    }
}

#[test]
fn conditions_bind_as_in_gold_and_in_sql() {
    let bank = Bank::new();
    let names = |condition: &str| {
        let lines = bank.lines(&format!("Project Query {condition} Show:=Sort(Name)"));
        lines.join(" ")
    };
    for (condition, expected) in [
        ("", "bio chem chem/gpu"),
        ("Name==chem", "chem"),
        ("Name!=chem", "bio chem/gpu"),
        ("Name~chem*", "chem chem/gpu"),
        ("Name~?io", "bio"),
        ("Name==chem || Name==bio && Active==False", "bio chem"),
        ("(Name==chem || Name==bio) && Active==True", "chem"),
        ("Active==True &! Name==chem", "chem/gpu"),
        ("&! Name==chem", "bio chem/gpu"),
        ("Name==bio |! Parent==''", "bio chem/gpu"),
        ("&!(Name==chem || Name==bio)", "chem/gpu"),
        ("Name>=chem Name<chem/gpu", "chem"),
        ("Parent==chem", "chem/gpu"),
        ("Description=='two words'", "chem"),
        ("Description==\"it's [odd]\"", "bio"),
        ("Description~\"*[odd]\"", "bio"),
        ("project.name==CHEM", ""),
        ("ShowHidden:=True Deleted==True", "gone"),
        ("ShowHidden:!False", "bio chem chem/gpu gone"),
    ] {
        assert_eq!(names(condition), expected, "{condition}");
    }
}

#[test]
fn values_are_read_by_their_kind() {
    let bank = Bank::new();
    for (query, expected) in [
        ("Allocation Query Amount<=-2.5 Show:=Id", "3"),
        ("Allocation Query Amount>1.499 Amount<1.501 Show:=Id", "2"),
        ("Allocation Query End==infinity Active==yes Show:=Id", "1 3"),
        ("Allocation Query Start>=1970-01-01T00:00:01Z Show:=Id", "2"),
        ("Job Query Processors==0.25 Show:=Job", "101"),
        ("Job Query Processors>3.999 Show:=Processors", "4000000000"),
        ("Job Query Processors==none Show:=Job", "102"),
        ("Job Query Processors!=none Show:=Job", "100 101"),
        ("Job Query Processors!=4 Show:=Job", "101 102"),
        ("Job Query &! Processors<1 Show:=Job", "100 102"),
        ("Job Query Closed==none Show:=Count(*)", "3"),
        ("Entry Query Time:=1970-01-01T00:00:01Z Show:=Id", "1"),
        ("Entry Query Time<now Show:=Id", "1"),
        ("Account Query Name==bio Show:=Balance", "-1500"),
        (
            "Account Query Balance<0 Show:=Available,Parent",
            "-1250|chem",
        ),
    ] {
        assert_eq!(bank.lines(query).join(" "), expected, "{query}");
    }
}

#[test]
fn sums_are_exact_beyond_64_bits_and_averages_are_rounded_half_to_even() {
    let bank = Bank::new();
    let sum = bank.lines("Allocation Query Show:=Sum(Amount),Count(Id),Max(Amount),Min(Amount)");
    assert_eq!(sum, ["17999999999999999000|4|9000000000000000000|-2500"]);
    let average = bank.lines("Job Query Show:=Average(Billed),Sum(Charged)");
    assert_eq!(average, ["167000000|15"]);
    let third = bank.lines("Job Query Billed>0 Show:=Average(Billed)");
    assert_eq!(third, ["250500000"]);
    let by = "Job Query Show:=GroupBy(Project),Tros(Sum(Billed)),Count(*),Average(Processors)";
    assert_eq!(
        bank.lines(by),
        ["chem|401|2|250000000000000", "bio|100|1|4000000000000000"]
    );
    let plan = read(
        "Job Query Show:='GroupBy(Project)=Group, Tros(Sum(Billed)) = Total,Sum(Billed)'",
        &all(),
    );
    let names: Vec<String> = plan
        .unwrap()
        .columns()
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["Group", "Total", "Sum(Billed)"]);
    assert_eq!(
        bank.lines("Job Query Show:='GroupBy(Project)=Group,Tros(Sum(Billed))=Total'"),
        ["chem|401", "bio|100"]
    );
    let none = "Job Query Job==x Show:=Count(Id),Sum(Billed),Max(Job),Average(Billed)";
    assert_eq!(bank.lines(none), ["0|0|-|-"]);
    assert!(
        bank.lines("Job Query Job==x Show:=GroupBy(Job),Count(Id)")
            .is_empty()
    );
}

#[test]
fn pages_fit_together_and_say_whether_there_is_more() {
    let bank = Bank::new();
    let ask = |text: &str| bank.ask_as(text, &all()).unwrap();
    let first = ask("Entry Query Show:=Id Limit:=2");
    assert_eq!((first.rows.len(), first.next), (2, Some(2)));
    let second = ask("Entry Query Show:=Id Limit:=2 Offset:=2");
    assert_eq!((second.rows.len(), second.next), (1, None));
    let groups = ask("Entry Query Show:=GroupBy(Project),Count(*) Limit:=1 Offset:=1");
    assert_eq!((groups.rows.len(), groups.next), (1, Some(2)));
    assert_eq!(
        bank.lines("Job Query Show:=Project Unique:=True Limit:=9")
            .len(),
        2
    );
    assert_eq!(bank.lines("Job Query Show:=Tros(Job) Limit:=1"), ["102"]);
}

#[test]
fn objects_are_joined_by_what_they_say_of_each_other() {
    let bank = Bank::new();
    let joined = "Account,Allocation Query Allocation.Account==Account.Name Account.Name==bio
        Show:=Account.Name,Allocation.Id";
    assert_eq!(bank.lines(joined), ["bio|2", "bio|3", "bio|4"]);
    let columns = read(joined, &all()).unwrap().columns();
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["Account.Name", "Allocation.Id"]);
}

#[test]
fn mistakes_say_what_is_wrong_and_what_there_is() {
    for (text, what, hint) in [
        ("", "object", ""),
        (
            "Acount Query",
            "no object \"Acount\"",
            "did you mean \"Account\"?",
        ),
        ("Account", "Query", "Account Query"),
        ("Account Delete Name==x", "changes nothing", "commands"),
        (
            "Account Query Nmae==x",
            "no attribute \"Nmae\"",
            "did you mean \"Name\"?",
        ),
        ("Account Query Job.Name==x", "none of the objects", ""),
        ("Account Query Name=x", "changes nothing", "Name=="),
        ("Account Query Amount+=1", "changes nothing", ""),
        ("Account Query Name", "after Name comes", ""),
        ("Account Query Name==", "a value of Name", "''"),
        ("Account Query Name=='x", "never closed", ""),
        ("Account Query (Name==x", "never closed", ""),
        ("Account Query Name==x)", "without its (", ""),
        ("Account Query Amount==x", "an amount with 3 decimals", ""),
        (
            "Account Query Amount==0.0001",
            "an amount with 3 decimals",
            "",
        ),
        ("Account Query Amount~1*", "only texts match", ""),
        ("Account Query Blocked==maybe", "neither True nor False", ""),
        ("Entry Query Time==soon", "not a time", "now"),
        ("Account Query Show:=Sum(Name)", "Name is a text", "numbers"),
        (
            "Account Query Show:=Total(Amount)",
            "no operator",
            "the operators are",
        ),
        (
            "Account Query Show:=Name,Sum(Amount)",
            "neither summed up nor grouped",
            "GroupBy(Name)",
        ),
        ("Account Query Show:=Sum(Amount", "is not a column", ""),
        ("Account Query Show:='Name=1st'", "is not a column", "Alias"),
        (
            "Account Query Show:='Name=A,Amount=A'",
            "two columns have the name A",
            "another alias",
        ),
        (
            "Account Query Limmit:=3",
            "no option",
            "did you mean \"Limit\"?",
        ),
        ("Account Query Limit:=0", "not a number from 1 to 10000", ""),
        ("Account Query Limit:=1 Limit:=2", "given twice", ""),
        ("Account Query Time:=now", "as it is now", "--at"),
        ("Account Query UseRules:=True", "no option", "AccountRule"),
        ("Account,Job Query", "the rows of Job", "as in"),
        ("Account,Job Query Id==1", "several objects", "Account.Id"),
        ("Account,Account Query", "twice", ""),
        (
            "Account,Job Query Account.Name==Job.Opened",
            "a text",
            "one kind",
        ),
        ("Account Query Name~**********x", "8 stars", ""),
        ("Account Query && Limit:=3", "no part of the condition", ""),
    ] {
        let mistake = read(text, &all()).err();
        let mistake = mistake.unwrap_or_else(|| panic!("{text} is taken"));
        assert!(mistake.what.contains(what), "{text}: {}", mistake.what);
        let help = mistake.hint.unwrap_or_default();
        assert!(help.contains(hint), "{text}: {help}");
    }
    let deep = format!("Job Query {}Id==1{}", "(".repeat(17), ")".repeat(17));
    assert!(read(&deep, &all()).unwrap_err().what.contains("16 deep"));
    let long = format!("Job Query {}", "Id==1 ".repeat(65));
    assert!(read(&long, &all()).unwrap_err().what.contains("64 terms"));
    let huge = format!("Job Query Job=='{}'", "x".repeat(TEXT_MAX));
    assert!(read(&huge, &all()).unwrap_err().what.contains("longer"));
}

#[test]
fn what_is_hidden_is_in_no_answer() {
    let bank = Bank::new();
    let bob = Sight {
        own: Vec::new(),
        own_payers: Vec::new(),
        projects: Some(vec!["bio".into()]),
        payers: Some(vec!["bio".into()]),
        accounts: Some(vec![AccountId(12)]),
        users: Some(vec!["bob".into()]),
        machines: None,
        rates: Some(Vec::new()),
        sources: false,
        readers: Readers::Everyone,
    };
    for (query, expected) in [
        ("Project Query Show:=Name", "bio"),
        ("Account Query Show:=Name,Parent", "bio|"),
        ("Account Query Show:=Count(*)", "1"),
        ("Allocation Query Show:=Id", "2 3 4"),
        ("Allocation Query Id==1 || Id==2 || Id==1 Show:=Id", "2"),
        ("Job Query Show:=Job", "100"),
        ("Entry Query Show:=Id", "1 2"),
        ("Entry Query Project!=bio |! Project==bio Show:=Id", "1"),
        ("Entry Query Show:=Sum(Amount)", "1900"),
        (
            "Project,Job Query Job.Project==Project.Name Show:=Job.Job",
            "100",
        ),
    ] {
        assert_eq!(bank.lines_as(query, &bob).join(" "), expected, "{query}");
    }
    for query in ["Transaction Query", "Usage Query"] {
        assert!(bank.ask_as(query, &bob).unwrap_err().denied, "{query}");
        assert!(bank.ask_as(query, &all()).is_ok(), "{query}");
    }
    let elsewhere = Sight {
        machines: Some(vec!["power".into()]),
        ..Sight::default()
    };
    assert!(bank.lines_as("Job Query", &elsewhere).is_empty());
    assert!(bank.ask_as("Transaction Query", &elsewhere).is_err());
}

#[test]
fn every_view_can_be_queried_whole_by_everybody_who_may() {
    let bank = Bank::new();
    let nobody = Sight {
        own: Vec::new(),
        own_payers: Vec::new(),
        projects: Some(Vec::new()),
        payers: Some(Vec::new()),
        accounts: Some(Vec::new()),
        users: Some(Vec::new()),
        machines: Some(Vec::new()),
        rates: Some(Vec::new()),
        sources: true,
        readers: Readers::Everyone,
    };
    for object in objects(&Records::default()) {
        let query = format!("{} Query", object.name);
        bank.ask_as(&query, &all()).unwrap();
        let is_guarded =
            matches!(object.seen, Seen::Readers(readers) if readers != Readers::Everyone);
        if object.name != "Transaction" && !is_guarded {
            let found = bank.ask_as(&query, &nobody).unwrap();
            assert!(found.rows.is_empty(), "{query}");
        }
        for attribute in object.attributes {
            let name = attribute.name;
            let query = format!(
                "{} Query Show:=Sort({name}),Count(*),GroupBy({name})",
                object.name
            );
            bank.ask_as(&query, &all()).unwrap();
        }
    }
}

/// The tables of the reference are those of the catalogue. What they should be is written beside the
/// build, to be copied.
#[test]
fn the_reference_lists_every_view_and_attribute() {
    let mut expected = String::new();
    for object in objects(&Records::default()) {
        let _ = write!(
            expected,
            "\n### {}\n\n{}\n\n",
            object.name, object.description
        );
        expected.push_str("| attribute | kind | what |\n|---|---|---|\n");
        for a in object.attributes {
            let none = if a.optional { ", or none" } else { "" };
            let kind = a.kind.word();
            let _ = writeln!(
                expected,
                "| `{}` | {kind}{none} | {} |",
                a.name, a.description
            );
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/reference/query.md")).unwrap();
    let (_, tables) = page.split_once("## Objects\n").unwrap();
    if tables != expected {
        let made = root.join("target/query-objects.md");
        std::fs::write(&made, &expected).unwrap();
        panic!(
            "docs/reference/query.md: everything behind `## Objects` is to be {}",
            made.display()
        );
    }
}

/// A kind of the site cannot hide a view of the program.
#[test]
fn names_of_views_are_reserved() {
    use bank_core::kind::site::RESERVED;
    for object in catalogue::OBJECTS {
        let same = |word: &&&str| word.replace('_', "").eq_ignore_ascii_case(object.name);
        let found = RESERVED.iter().find(same);
        assert!(found.is_some(), "{} is not reserved", object.name);
    }
}
