//! The scripts look for ids and times in documents without interpreting them. Their list of names is compared with the
//! daemon's vocabulary here, over every name of the manual.

use bankd_nami::{Document, ReadOptions, read};
use serde_json::Value;

use super::conf;
use crate::harness::{Bank, T0, text};

/// The names in the table of the manual.
fn names() -> Vec<String> {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/nami.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let (_, table) = manual.split_once("| field | names").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let cells = table
        .lines()
        .skip(2)
        .map(|row| row.split('|').nth(2).unwrap());
    // Between backticks is every second part.
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let names: Vec<String> = quoted.map(str::to_owned).collect();
    assert!(names.len() > 70, "{names:?}");
    names
}

/// The object of a document that the daemon can read.
fn object(xml: &str) -> Option<Document> {
    let mut read = read(xml.as_bytes(), &ReadOptions::default()).ok()?;
    assert_eq!(read.len(), 1, "{xml}");
    read.pop()
}

fn waiting(bank: &Bank) -> Vec<Value> {
    let conf = conf(bank, "");
    let words = ["nami", "spool", "ls", "--limit", "5000", "--json", "--conf"];
    let list = bank.bank_ok(&[&words[..], &[conf.to_str().unwrap()]].concat());
    let list: Value = serde_json::from_str(&list).unwrap();
    list["items"].as_array().unwrap().clone()
}

/// Every name as an element and as an attribute, with and without another id, of which the daemon takes the document.
fn documents() -> Vec<(String, Option<String>)> {
    let mut documents = Vec::new();
    for name in names() {
        for (root, more) in [
            ("Job", ""),
            ("Rsv", ""),
            ("Object", "<ObjectType>Job</ObjectType>"),
            ("Object", "<Type>reservation</Type>"),
        ] {
            for other in ["", "ObjectID", "JobID", "RsvID", "Id", "Name"] {
                let number = documents.len();
                let other = match other {
                    "" => String::new(),
                    other => format!("<{other}>o.{number}</{other}>"),
                };
                for xml in [
                    format!("<{root}>{more}{other}<{name}>e.{number}</{name}></{root}>"),
                    format!("<{root} {name}='a.{number}'>{other}{more}</{root}>"),
                ] {
                    documents.extend(object(&xml).map(|read| (xml, read.object_id)));
                }
            }
        }
    }
    documents
}

#[test]
fn the_scripts_and_the_daemon_find_the_same_ids() {
    let mut bank = Bank::new();
    bank.stop();
    let documents = documents();
    assert!(documents.len() > 1000, "{}", documents.len());
    // The scripts look at 2,000 objects of a document.
    for (part, after) in documents.chunks(500).zip(1..) {
        bank.set_clock(T0 + after);
        let body: String = part.iter().map(|(xml, _)| xml.as_str()).collect();
        bank.script("charge", body.as_bytes()).expect(0, "");
    }
    for (row, part) in waiting(&bank).iter().zip(documents.chunks(500)) {
        let found = row["objects"].as_array().unwrap().iter();
        let found: Vec<&str> = found.map(|id| id.as_str().unwrap()).collect();
        let mut expected: Vec<&str> = Vec::new();
        for id in part.iter().filter_map(|(_, id)| id.as_deref()) {
            if !expected.contains(&id) {
                expected.push(id);
            }
        }
        assert_eq!(found, expected);
    }
}

/// A document that states a time is a repeat, which the scripts send with the same key.
#[test]
fn the_scripts_and_the_daemon_find_the_same_times() {
    let mut bank = Bank::new();
    bank.stop();
    let start = format!("<StartTime>{T0}</StartTime>");
    let charge = "<ChargeDuration>600</ChargeDuration>";
    let mut expected = Vec::new();
    for (number, name) in names().iter().enumerate() {
        for (value, more) in [(T0.to_string(), charge), ("600".to_owned(), &start)] {
            let id = format!("t.{number}.{value}");
            let xml = format!("<Job><JobID>{id}</JobID>{more}<{name}>{value}</{name}></Job>");
            let Some(read) = object(&xml).filter(|read| read.charge_duration_s.is_some()) else {
                continue;
            };
            let times = [read.start_time_s, read.end_time_s, read.submit_time_s];
            expected.push((id, times.iter().any(Option::is_some)));
            bank.script("charge", xml.as_bytes()).expect(0, "");
            bank.script("charge", xml.as_bytes()).expect(0, "");
        }
    }
    let rows = waiting(&bank);
    let found: Vec<(String, bool)> = rows
        .chunks(2)
        .map(|pair| {
            let id = pair[0]["objects"][0].as_str().unwrap().to_owned();
            (id, text(&pair[0], "key") == text(&pair[1], "key"))
        })
        .collect();
    assert_eq!(found, expected);
    assert!(found.len() > 70 && found.iter().any(|(_, is_repeat)| *is_repeat));
}
