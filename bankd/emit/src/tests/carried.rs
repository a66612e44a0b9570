//! The data of any record in each export is read back unchanged, and every text is valid by its rules
//! (`usage-records.md` 3, 5 and 8, items 2 and 6).

use std::collections::BTreeMap;

use bank_api::v1::UsedLine;
use bankd_ingest::{Found, Job, Options, formats};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use quick_xml::events::Event;

use super::exports::{NOW, site};
use super::goldens;
use super::round::record;
use crate::export::{Site, Written};
use crate::{Record, apel, lines, sacct, swf, text, ur2};

fn full() -> Site {
    Site {
        full_cpu: true,
        ..site("0a1b2c3d")
    }
}

fn written(written: Written) -> Option<String> {
    match written {
        Written::Text(text) => Some(text),
        Written::Skipped(_) | Written::Nothing => None,
    }
}

/// Whether the bank keeps the counts of a record times its run time: readers refuse others.
fn fits(record: &Record) -> bool {
    let wall = i128::from(record.end().unwrap_or(0)) - i128::from(record.start().unwrap_or(0));
    let count = |shown: String| shown.parse::<i128>().unwrap();
    let processors = count(text::ceiling(record.usage.processors()).to_string());
    let gpus = count(record.gpus.unwrap_or(0).to_string());
    processors.max(gpus) * wall < i128::from(i64::MAX)
}

/// The one job that our own reader of a format finds in a text.
fn imported(format: &str, text: &str) -> Job {
    let options = Options::default();
    let mut reader = (formats::named(format).unwrap().reader)(&options).unwrap();
    let mut jobs = Vec::new();
    let mut sink = |record: bankd_ingest::Record| {
        match record.found {
            Found::Jobs(found) => jobs.extend(found),
            other => panic!("{text}: {other:?}"),
        }
        Ok(())
    };
    reader.file("it", &mut text.as_bytes(), &mut sink).unwrap();
    reader.finish(&mut sink).unwrap();
    assert_eq!(jobs.len(), 1, "{text}");
    jobs.remove(0)
}

/// A name as a column of `sacct` can have it.
fn column(name: Option<&String>) -> Option<String> {
    let name: String = name?
        .replace('|', "")
        .chars()
        .map(|c| {
            if c.is_control() || "\u{2028}\u{2029}".contains(c) {
                ' '
            } else {
                c
            }
        })
        .collect();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Cells of one row of CSV (RFC 4180), read letter by letter.
fn cells(row: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = row.strip_suffix('\n').unwrap().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                cell.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    assert!(!quoted, "{row}");
    cells.push(cell);
    cells
}

/// The fields of one record of a message as APEL's loader cuts them.
fn fields(record: &str) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    for line in record.lines() {
        let (key, value) = line.split_once(':').expect(line);
        let value = value.trim();
        let nothing = ["", "none", "null"].contains(&value.to_ascii_lowercase().as_str());
        assert!(!nothing, "{line}");
        let old = fields.insert(key.trim().to_owned(), value.to_owned());
        assert_eq!(old, None, "{key} twice");
    }
    fields
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            let digits = std::str::from_utf8(&digits).unwrap().to_owned();
            bytes.push(u8::from_str_radix(&digits, 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Texts of elements by name, as an XML reader has them.
fn elements(xml: &str) -> BTreeMap<String, Vec<String>> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let (mut found, mut open, mut text) = (BTreeMap::new(), Vec::new(), String::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                open.push(start.local_name().as_ref().to_owned());
                text.clear();
            }
            Event::Text(part) => text.push_str(&part.into_inner()),
            Event::GeneralRef(part) => {
                let letter = match part.resolve_char_ref().unwrap() {
                    Some(letter) => letter.to_string(),
                    None => quick_xml::escape::resolve_predefined_entity(&part.into_inner())
                        .unwrap()
                        .to_owned(),
                };
                text.push_str(&letter);
            }
            Event::End(_) => {
                let name: String = open.pop().unwrap();
                let all: &mut Vec<String> = found.entry(name).or_default();
                all.push(std::mem::take(&mut text));
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// The text without characters that XML cannot hold.
fn in_xml(name: &str) -> String {
    let kept = |c: char| {
        let is_odd = (c < ' ' && !"\t\n\r".contains(c)) || matches!(c, '\u{fffe}' | '\u{ffff}');
        if is_odd { '\u{fffd}' } else { c }
    };
    name.chars().map(kept).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn json_lines_read_back(record in record()) {
        let Some(line) = written(lines::json(&record, &full())) else { return Ok(()) };
        prop_assert_eq!(line.matches('\n').count(), 1);
        let found: UsedLine = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(&found, &lines::line(&record, &full()));
        prop_assert_eq!(found.user, record.user);
        prop_assert_eq!(found.job_name, record.job_name);
        prop_assert_eq!(found.charge, text::decimal(record.amount.into(), 3));
    }

    #[test]
    fn csv_reads_back(record in record()) {
        for is_safe in [false, true] {
            let Some(row) = written(lines::csv(&record, &full(), is_safe)) else { return Ok(()) };
            let found = cells(&row);
            prop_assert_eq!(found.len(), UsedLine::COLUMNS.len());
            let line: BTreeMap<_, _> = lines::line(&record, &full()).cells().into_iter().collect();
            for (column, cell) in UsedLine::COLUMNS.iter().zip(found) {
                let expected = line.get(*column).cloned().unwrap_or_default();
                let bare = expected.strip_prefix(['+', '-']).unwrap_or(&expected);
                let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
                let is_plain = bare.is_empty() || (bare.split('.').count() < 3 && bare.split('.').all(all_digits));
                let is_number = is_plain || ["charge", "exit_code"].contains(column);
                let is_formula = !is_number && expected.starts_with(['=', '+', '-', '@', '\t', '\r']);
                let guard = if is_safe && is_formula { "'" } else { "" };
                prop_assert_eq!(cell, format!("{}{}", guard, expected), "{}", column);
            }
        }
    }

    #[test]
    fn xdmod_reads_back_by_our_own_reader(record in record()) {
        prop_assume!(fits(&record));
        let Some(line) = written(sacct::render(&record, &full())) else { return Ok(()) };
        prop_assert_eq!(line.matches('\n').count(), 1);
        prop_assert_eq!(line.split('|').count().min(26), 26);
        let job = imported("sacct", &line);
        let seconds = |at: i64| at.div_euclid(SECOND) * SECOND;
        prop_assert_eq!(job.start_us, seconds(record.start().unwrap()));
        prop_assert_eq!(job.end_us, seconds(record.end().unwrap()));
        prop_assert_eq!(job.user, column(record.user.as_ref()));
        prop_assert_eq!(job.account, column(record.project.as_ref()));
        prop_assert_eq!(job.queue, column(record.class.as_ref()));
        prop_assert_eq!(job.qos, column(record.qos.as_ref()));
        prop_assert_eq!(job.cluster, column(Some(&record.machine)));
        let processors = text::ceiling(record.usage.processors()).max(1);
        let found = job.procs.map(|n| n.to_string());
        prop_assert_eq!(found, Some(processors.to_string()));
        // An empty column means that there were none.
        let gpus = record.gpus.unwrap_or(0).to_string();
        prop_assert_eq!(job.gpus.map(|n| n.to_string()), Some(gpus));
    }

    #[test]
    fn workloads_read_back_by_our_own_reader(record in record()) {
        prop_assume!(fits(&record));
        let Ok(job) = swf::job(&record) else { return Ok(()) };
        let text = swf::render(&[job], |_| [7, 8, 9]);
        let row = text.lines().last().unwrap();
        let columns: Vec<i128> = row.split(' ').map(|column| column.parse().unwrap()).collect();
        prop_assert_eq!(columns.len(), 18);
        let found = imported("swf", &text);
        let seconds = |at: i64| at.div_euclid(SECOND) * SECOND;
        let (start, end) = (record.start().unwrap(), record.end().unwrap());
        let wall = record.wall.map_or(end - start, |wall| wall.max(0));
        prop_assert_eq!(found.start_us, seconds(start));
        prop_assert_eq!(found.end_us, found.start_us + (wall + SECOND / 2) / SECOND * SECOND);
        prop_assert_eq!(found.user, Some("7".to_owned()));
    }

    #[test]
    fn apel_messages_keep_the_rules_and_read_back(record in record()) {
        let Some(text) = written(apel::render(&record, &full(), NOW)) else { return Ok(()) };
        prop_assert!(text.is_ascii(), "{}", text);
        // The separator is looked for anywhere.
        let parts: Vec<&str> = text.split("%%").collect();
        prop_assert_eq!(parts.len(), 2, "{}", text);
        prop_assert_eq!(parts[1], "\n");
        let fields = fields(parts[0]);
        for (key, value) in &fields {
            prop_assert!(APEL_JOB.contains(&key.as_str()), "{}", key);
            prop_assert!(value.len() <= 255);
        }
        for number in ["WallDuration", "CpuDuration", "StartTime", "EndTime"] {
            let value: i64 = fields[number].parse().unwrap();
            prop_assert!(value >= 0);
        }
        prop_assert_eq!(decoded(&fields["LocalJobId"]), record.object_id);
        for (key, name) in [("LocalUserId", &record.user), ("Queue", &record.class)] {
            if let Some(found) = fields.get(key) {
                prop_assert_eq!(Some(decoded(found)), name.clone());
            }
        }
        if let Some(found) = fields.get("VO") {
            prop_assert_eq!(decoded(found), record.project.clone().unwrap_or_default());
        }
    }

    #[test]
    fn usage_records_2_read_back(record in record()) {
        let Some(text) = written(ur2::render(&record, &full())) else { return Ok(()) };
        let found = elements(&text);
        let one = |name: &str| found.get(name).and_then(|all| all.first()).cloned();
        prop_assert_eq!(one("RecordId"), Some(format!("bank2:0a1b2c3d:{}", record.record_id)));
        prop_assert_eq!(one("LocalJobId"), Some(in_xml(&record.object_id)));
        prop_assert_eq!(one("LocalUserId"), record.user.as_deref().map(in_xml));
        prop_assert_eq!(one("LocalGroupId"), record.group.as_deref().map(in_xml));
        prop_assert_eq!(one("GlobalGroupId"), record.project.as_deref().map(in_xml));
        prop_assert_eq!(one("JobName"), record.job_name.as_deref().map(in_xml));
        prop_assert_eq!(one("MachineName"), Some(in_xml(&record.machine)));
        prop_assert_eq!(one("Charge"), Some(text::decimal(record.amount.into(), 3)));
        prop_assert_eq!(one("StartTime"), record.start().and_then(text::time));
        prop_assert_eq!(one("WallDuration"), record.wall.map(text::duration));
        let exit = record.exit_code.map(|code| code.to_string());
        prop_assert_eq!(one("ExitStatus"), exit);
    }

    #[test]
    fn auditors_shape_reads_back(record in record()) {
        let Some(line) = written(lines::auditor(&record, &full())) else { return Ok(()) };
        let found: serde_json::Value = serde_json::from_str(&line).unwrap();
        let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
        let expected = ["components", "meta", "record_id", "runtime", "start_time", "stop_time"];
        let mut sorted = keys.clone();
        sorted.sort();
        prop_assert_eq!(sorted, expected.iter().collect::<Vec<_>>());
        let user = found["meta"]["user_id"][0].as_str();
        prop_assert_eq!(user, record.user.as_deref());
    }
}

const SECOND: i64 = super::SECOND;

/// The fields of `usage-records.md` 3.2 that are written; an unknown one has the message refused.
const APEL_JOB: [&str; 19] = [
    "Site",
    "SubmitHost",
    "MachineName",
    "Queue",
    "LocalJobId",
    "LocalUserId",
    "VO",
    "WallDuration",
    "CpuDuration",
    "Processors",
    "NodeCount",
    "StartTime",
    "EndTime",
    "InfrastructureDescription",
    "InfrastructureType",
    "MemoryReal",
    "MemoryVirtual",
    "ServiceLevelType",
    "ServiceLevel",
];

/// Hundreds of them in one document, by the restated schema.
#[test]
fn any_usage_record_2_is_valid_by_the_schema() {
    let Some(schemas) = goldens::schemas() else {
        return;
    };
    let mut runner = TestRunner::deterministic();
    let strategy = record();
    let mut any = || strategy.new_tree(&mut runner).unwrap().current();
    let records: Vec<String> = (0..1500)
        .filter_map(|_| written(ur2::render(&any(), &full())))
        .collect();
    assert!(records.len() > 100, "{}", records.len());
    let document = format!("{}{}{}", ur2::HEAD, records.concat(), ur2::TAIL);
    goldens::validate_by(&schemas, "ur-2.0-restated.xsd", &document);
}

/// Messages have 1000 records at most, and none is lost between them.
#[test]
fn messages_are_cut_after_a_thousand_records() {
    let records: Vec<String> = (0..2001)
        .map(|n| format!("LocalJobId: {n}\n%%\n"))
        .collect();
    let messages = apel::messages(apel::JOBS, &records);
    let counts = messages
        .iter()
        .map(|message| message.matches("%%\n").count());
    assert_eq!(counts.collect::<Vec<_>>(), [1000, 1000, 1]);
    assert!(
        messages
            .iter()
            .all(|message| message.starts_with(apel::JOBS))
    );
}

/// Ids that Moab, PBS and others make, as `XDMoD` can count by them.
#[test]
fn ids_for_xdmod_are_numbers() {
    for (id, expected) in [
        ("1024", "1024"),
        ("Moab.1024", "1024"),
        ("123[4].srv.example.org", "123_4"),
        ("123_4", "123_4"),
        ("77.srv", "77"),
        ("a-b", "7"),
        ("Moab.x", "7"),
    ] {
        let record = Record {
            object_id: id.to_owned(),
            job_name: Some("sim|1".to_owned()),
            ..super::job(super::CLOSE)
        };
        let line = written(sacct::render(&record, &full())).unwrap();
        let first = line.split('|').next().unwrap();
        assert_eq!(first, expected, "{id}");
        let name = line.trim_end().splitn(26, '|').last().unwrap();
        let with_id = format!("sim|1 ({id})");
        assert_eq!(name, if expected == "7" { &with_id } else { "sim|1" });
    }
}

#[test]
fn neighbours_are_grouped_in_a_list_of_nodes() {
    for (hosts, expected) in [
        (vec!["n1", "n2", "n3", "x"], "n[1-3],x"),
        (vec!["n08", "n09", "n10"], "n[08-10]"),
        (vec!["n1", "n3"], "n1,n3"),
        (vec!["n1", "m2"], "n1,m2"),
        (vec!["7", "8"], "[7-8]"),
    ] {
        let record = Record {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..super::job(super::CLOSE)
        };
        let line = written(sacct::render(&record, &full())).unwrap();
        assert_eq!(line.split('|').nth(24), Some(expected), "{hosts:?}");
    }
}
