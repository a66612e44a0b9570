//! Mappings and their records, as text.

use super::*;
use crate::{Job, formats};

/// The smallest sufficient mapping; a test prepends its own keys.
const FIELDS: &str = r#"
[fields]
id = "id"
start = { column = "start", format = "epoch_s" }
end = { column = "end", format = "epoch_s" }
"#;

fn options(mapping: &str) -> Options {
    Options {
        mapping: Some(mapping.to_owned()),
        ..Options::default()
    }
}

fn read(mapping: &str, input: &[u8]) -> Result<Vec<Record>, String> {
    read_with(&options(mapping), input)
}

fn read_with(options: &Options, input: &[u8]) -> Result<Vec<Record>, String> {
    let mut reader = (formats::named("csv").unwrap().reader)(options)?;
    let mut records = Vec::new();
    let mut input = input;
    let mut sink = |record| {
        records.push(record);
        Ok(())
    };
    let read = reader.file("jobs.csv", &mut input, &mut sink);
    read.map_err(|e| e.to_string())?;
    Ok(records)
}

fn job(record: &Record) -> &Job {
    match &record.found {
        Found::Jobs(jobs) => &jobs[0],
        other => panic!("line {}: {other:?}", record.line),
    }
}

/// Line with its result: id and seconds of a job, the label, or the error.
fn results(records: &[Record]) -> Vec<String> {
    let one = |record: &Record| match &record.found {
        Found::Jobs(jobs) => format!("{} {} {}", record.line, jobs[0].id, jobs[0].wall),
        Found::Skipped(label) => format!("{} {label}", record.line),
        Found::Malformed(why) => format!("{} !{why}", record.line),
        Found::Counts(counts) => format!("{counts:?}"),
    };
    records.iter().map(one).collect()
}

#[test]
fn unknown_keys_are_refused_with_the_nearest() {
    for (mapping, text) in [
        (
            "delimeter = \",\"",
            "mapping: delimeter: no such key; did you mean \"delimiter\"?",
        ),
        (
            "[fields]\nusr = \"u\"",
            "mapping: fields.usr: no such key; did you mean \"user\"?",
        ),
        (
            "[fields]\nid = { colum = \"u\" }",
            "mapping: fields.id.colum: no such key; did you mean \"column\"?",
        ),
        (
            "[fields]\nid = 1",
            "mapping: fields.id: the name of a column, or a table",
        ),
        (
            "[fields]\nid = { column = \"a\", const = \"b\" }",
            "mapping: fields.id: one of column, const and template must be there",
        ),
        (
            "[fields]\nid = { column = \"a\", format = \"epoch_s\" }",
            "mapping: fields.id.format: has no meaning for this field",
        ),
        (
            "[fields]\nstart = { column = \"a\", format = \"iso860\" }",
            "mapping: fields.start.format: \"iso860\"; did you mean \"iso8601\"?",
        ),
        (
            "[fields]\ncpu = { column = \"a\", unit = \"G\" }",
            "mapping: fields.cpu.unit: \"G\"; one of d, h, min, s, ms, us, ns, hms",
        ),
        (
            "header = false",
            "mapping: columns: missing where header = false",
        ),
        (
            "timezone = \"Mars\"",
            "mapping: timezone: no zone \"Mars\"; the format is Area/City",
        ),
        (
            "quote = \",\"",
            "mapping: quote: one character, not the delimiter; \"\" where nothing quotes",
        ),
        (
            "skip_lines = -1",
            "mapping: skip_lines: a whole number from 0 to 1000000",
        ),
        (
            "charge_if = \"x\"",
            "mapping: charge_if: a comparison begins with state, as state in (\"DONE\", \"EXIT\")",
        ),
        (
            "[fields]\nuser = \"u\"",
            "mapping: fields.id: missing; it must identify a job",
        ),
        (
            "[fields]\nid = \"u\"\nend = \"e\"",
            "mapping: two of fields.start (or submit and wait), fields.end and fields.wall must be there",
        ),
        ("a = ", "mapping: line 1: "),
    ] {
        let refused = read(mapping, b"").unwrap_err();
        assert!(refused.starts_with(text), "{mapping}: {refused}");
        assert!(!refused.contains('\n'), "{refused}");
    }
    let refused = read(&format!("header = true\n{FIELDS}"), b"id,strt,end\n").unwrap_err();
    assert_eq!(refused, "jobs.csv: no column \"start\"; is it \"strt\"?");
}

#[test]
fn cells_hold_whatever_is_quoted() {
    let input = b"id,name,start,end\r\n\
        1,\"a, \"\"b\"\"\r\nc\",0,10\r\n\
        2,plain \"x\",0,20\n\n\
        3,,0,30";
    let mapping = format!("{FIELDS}name = \"name\"\n");
    let records = read(&mapping, input).unwrap();
    assert_eq!(results(&records), ["2 1 10", "4 2 20", "6 3 30"]);
    let name = |at: usize| job(&records[at]).name.as_deref();
    assert_eq!(
        (name(0), name(1), name(2)),
        (Some("a, \"b\"c"), Some("plain \"x\""), None)
    );
    assert_eq!(records[0].raw, b"1,\"a, \"\"b\"\"\nc\",0,10");
}

#[test]
fn a_quote_without_an_end_costs_its_own_line_only() {
    let mut input = b"id,start,end\n1,0,1\n\"2,0,2\n".to_vec();
    for line in 0..3_000 {
        input.extend_from_slice(format!("{line},5,8\n").as_bytes());
    }
    let records = read(FIELDS, &input).unwrap();
    assert_eq!(records.len(), 3_002);
    assert_eq!(
        results(&records)[..3],
        ["2 1 1", "3 !a quoted cell has no end", "4 0 3"]
    );
    assert_eq!(results(&records[3_001..]), ["3003 2999 3"]);
}

#[test]
fn delimiters_are_bytes_texts_or_blanks() {
    for (delimiter, line) in [
        (",", "7,0,9"),
        ("\\t", "7\t0\t9"),
        ("|", "7|0|9"),
        ("::", "7::0::9"),
        ("☃", "7☃0☃9"),
        ("whitespace", "  7 \t 0   9 "),
    ] {
        let mapping = format!(
            "delimiter = \"{delimiter}\"\ncolumns = [\"id\", \"start\", \"end\"]\n{FIELDS}"
        );
        let records = read(&mapping, line.as_bytes()).unwrap();
        assert_eq!(results(&records), ["1 7 9"], "{delimiter}");
    }
    let mapping = format!("delimiter = \"☃\"\n{FIELDS}name = \"name\"\n");
    let input = "id☃start☃end☃name\n1☃0☃1☃\"a☃\u{1f}b\"\n";
    let records = read(&mapping, input.as_bytes()).unwrap();
    assert_eq!(job(&records[0]).name.as_deref(), Some("a☃b"));
}

#[test]
fn comments_and_lines_at_the_top_are_no_records() {
    let mapping = format!("comment = \"##\"\nskip_lines = 2\n{FIELDS}");
    let input = b"report of May\n\"open\n## c\nid,start,end\n1,0,1\n##2,0,1\n#3,0,1\n";
    assert_eq!(
        results(&read(&mapping, input).unwrap()),
        ["5 1 1", "7 #3 1"]
    );
}

#[test]
fn times_are_read_by_their_format() {
    for (format, zone, text, at) in [
        ("epoch_s", "UTC", "1.5", Some(1_500_000)),
        ("epoch_ms", "UTC", "1500", Some(1_500_000)),
        ("epoch_us", "UTC", "1500000", Some(1_500_000)),
        ("epoch_ns", "UTC", "1500000000", Some(1_500_000)),
        ("iso8601", "UTC", "1970-01-01T00:00:01", Some(1_000_000)),
        ("iso8601", "UTC", "1970-01-01 00:00:01.25", Some(1_250_000)),
        (
            "iso8601",
            "UTC",
            "1970-01-01T01:00:01+01:00",
            Some(1_000_000),
        ),
        (
            "iso8601",
            "Europe/Berlin",
            "1970-01-01T01:00:01",
            Some(1_000_000),
        ),
        (
            "%d.%m.%Y %H:%M",
            "UTC",
            "01.01.1970 00:01",
            Some(60_000_000),
        ),
        ("%d.%m.%Y", "UTC", "02.01.1970", Some(86_400_000_000)),
        (
            "%Y-%m-%d %H:%M:%S %z UTC",
            "UTC",
            "1970-01-01 00:00:01 +0000 UTC",
            Some(1_000_000),
        ),
        ("epoch_s", "UTC", "1970-01-01", None),
        ("iso8601", "UTC", "1970-13-01T00:00:00", None),
    ] {
        let mapping = format!(
            "timezone = \"{zone}\"\n[fields]\nid = {{ const = \"x\" }}\n\
             start = {{ column = \"t\", format = \"{format}\" }}\nwall = {{ const = 1 }}\n"
        );
        let records = read(&mapping, format!("t\n{text}\n").as_bytes()).unwrap();
        match at {
            Some(at) => assert_eq!(job(&records[0]).start_us, at, "{format} {text}"),
            None => assert!(
                results(&records)[0].contains("is not a time of its format"),
                "{text}"
            ),
        }
    }
}

#[test]
fn numbers_have_units() {
    for (field, unit, text, expected) in [
        ("cpu", "s", "1.5", Some("1.5")),
        ("cpu", "min", "2", Some("120")),
        ("cpu", "h", "0.5", Some("1800")),
        ("cpu", "ms", "1500", Some("1.5")),
        ("cpu", "hms", "1 day, 2:03:04.5", Some("93784.5")),
        ("cpu", "hms", "0:00:03", Some("3")),
        ("cpu", "hms", "2-00:00:01", Some("172801")),
        ("memory", "B", "7", Some("7")),
        ("memory", "k", "7", Some("7000")),
        ("memory", "K", "7", Some("7168")),
        ("memory", "G", "0.001953125", Some("2097152")),
        ("memory", "Gi", "1", Some("1073741824")),
        ("cpu", "s", "-1", None),
        ("cpu", "s", "five", None),
    ] {
        let mapping = format!("{FIELDS}{field} = {{ column = \"v\", unit = \"{unit}\" }}\n");
        let input = format!("id,start,end,v\n1,0,1,\"{text}\"\n");
        let records = read(&mapping, input.as_bytes()).unwrap();
        let Some(expected) = expected else {
            assert!(
                results(&records)[0].contains("is not a number of its unit"),
                "{text}"
            );
            continue;
        };
        let value = match field {
            "cpu" => job(&records[0]).cpu,
            _ => job(&records[0]).memory_bytes,
        };
        assert_eq!(
            value.map(|v| v.to_string()).as_deref(),
            Some(expected),
            "{unit} {text}"
        );
    }
}

#[test]
fn values_come_from_columns_constants_and_templates() {
    let mapping = r#"
[fields]
id = { template = "{cluster}/{{{job}}}" }
start = { column = "start", format = "epoch_s" }
end = { column = "end", format = "epoch_s" }
cluster = { const = "big" }
user = { column = "user", null = ["nobody"], map = { al = "alice" } }
account = { column = ["grant", "team"] }
procs = "cores"
[attributes]
site = { const = "here" }
[quantities]
energy_j = { column = "energy" }
"#;
    let input = b"cluster,job,start,end,user,grant,team,cores,energy\n\
        c,1,0,10,al,N/A,phys,4,2.5\nc,2,0,10,nobody,chem,phys,,\n";
    let records = read(mapping, input).unwrap();
    let (one, two) = (job(&records[0]), job(&records[1]));
    assert_eq!((one.id.as_str(), two.id.as_str()), ("c/{1}", "c/{2}"));
    assert_eq!(
        (one.user.as_deref(), two.user.as_deref()),
        (Some("alice"), None)
    );
    assert_eq!(
        (one.account.as_deref(), two.account.as_deref()),
        (Some("phys"), Some("chem"))
    );
    assert_eq!(one.cluster.as_deref(), Some("big"));
    assert_eq!(one.attributes.get("site").map(String::as_str), Some("here"));
    let sums = |job: &Job| {
        let mut all: Vec<String> = job
            .quantities
            .iter()
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        all.sort();
        all.join(" ")
    };
    assert_eq!(sums(one), "core_s=40 energy_j=2.5 wall_s=10");
    assert_eq!(sums(two), "wall_s=10");
}

#[test]
fn records_are_filtered_required_and_judged_by_state() {
    let mapping = format!(
        "charge_if = 'state in (\"DONE\", \"EXIT\")'\n{FIELDS}\
         state = \"state\"\nuser = {{ column = \"user\", require = true, only_if = \"^[^_]\" }}\n"
    );
    let input = b"id,start,end,state,user\n\
        1,0,5,DONE,amy\n2,0,5,RUN,amy\n3,0,5,DONE,_svc\n4,0,5,EXIT,N/A\n\
        5,,5,DONE,amy\n6,0,,DONE,amy\n7,9,5,DONE,amy\n,0,5,DONE,amy\n8,0\n";
    assert_eq!(
        results(&read(&mapping, input).unwrap()),
        [
            "2 1 5",
            "3 not_charged",
            "4 filtered",
            "5 filtered",
            "6 never_started",
            "7 not_ended",
            "8 !end before start",
            "9 !id: nothing there",
            "10 !2 columns where the mapping needs 5",
        ]
    );
}

#[test]
fn times_are_repaired_from_the_run_time() {
    let mapping = format!("{FIELDS}wall = \"run\"\n");
    let input = b"id,start,end,run\n1,100,,7\n2,9,5,3\n3,0,5,99\n";
    let records = read(&mapping, input).unwrap();
    assert_eq!(results(&records), ["2 1 7", "3 2 3", "4 3 5"]);
    let flags = |at: usize| job(&records[at]).flags.clone();
    assert_eq!(
        (flags(0), flags(1), flags(2)),
        (vec!["repaired"], vec!["repaired"], vec![])
    );
    assert_eq!(job(&records[1]).start_us, 2_000_000);
}

#[test]
fn options_of_the_command_win_over_the_file() {
    let mut options = options(FIELDS);
    options.delimiter = Some(";".to_owned());
    options.columns = ["id", "start", "end"].map(str::to_owned).to_vec();
    let records = read_with(&options, b"1;0;4\n").unwrap();
    assert_eq!(results(&records), ["1 1 4"]);
    let none = Options::default();
    assert!(read_with(&none, b"").unwrap_err().contains("--mapping"));
}

/// A record by itself is not skipped, and is no header line if the columns are named.
#[test]
fn a_record_by_itself_has_no_lines_before_it() {
    let again = |head: &str, columns: &[&str], text: &str| {
        let mut options = options(&format!("{head}\n{FIELDS}"));
        options.columns = columns.iter().map(|name| (*name).to_owned()).collect();
        let mut reader = (formats::named("csv").unwrap().reader)(&options).unwrap();
        let mut records = Vec::new();
        let mut sink = |record| {
            records.push(record);
            Ok(())
        };
        let read = reader.again("jobs.csv", &mut text.as_bytes(), &mut sink);
        match read {
            Ok(()) => results(&records).join(" | "),
            Err(error) => error.to_string(),
        }
    };
    let columns = ["id", "start", "end"];
    for (head, columns, text, result) in [
        (
            "skip_lines = 1\ncolumns = [\"id\", \"start\", \"end\"]",
            &[][..],
            "7,100,160",
            "1 7 60",
        ),
        (
            "skip_lines = 1\nheader = true",
            &columns,
            "7,100,160",
            "1 7 60",
        ),
        (
            "skip_lines = 1\nheader = true",
            &columns,
            "\"7\n8\",100,160",
            "1 78 60",
        ),
        (
            "skip_lines = 1\nheader = true",
            &[],
            "id,start,end\n7,100,160",
            "2 7 60",
        ),
        (
            "header = true",
            &[],
            "7,100,160",
            "jobs.csv: no column \"end\"",
        ),
    ] {
        assert_eq!(again(head, columns, text), result, "{head} {text}");
    }
}
