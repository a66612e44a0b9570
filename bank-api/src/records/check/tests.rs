use super::*;

/// The findings of a text, line by line, and the summary.
fn checked(text: &str) -> (Vec<String>, Summary) {
    let mut texts = Vec::new();
    let summary = check(text.as_bytes(), |_, findings| {
        let word = |f: &Finding| if f.is_error { "error" } else { "warning" };
        texts.extend(
            findings
                .iter()
                .map(|f| format!("{} {}: {}", f.line, word(f), f.text)),
        );
        Ok(())
    });
    (texts, summary.unwrap())
}

const SPACE: &str = "xmlns=\"http://schema.ogf.org/urf/2003/09/urf\" \
                     xmlns:u=\"http://schema.ogf.org/urf/2003/09/urf\"";

fn record(inner: &str) -> String {
    format!("<JobUsageRecord {SPACE}><RecordIdentity u:recordId=\"r\"/>{inner}</JobUsageRecord>\n")
}

#[test]
fn file_lines_of_both_forms_add_up() {
    let text = "AMSTART\n\
        RESERVE         TYPE=job ACCOUNT=c SUBACCOUNT=a RESOURCE=4 RESOURCETYPE=DEFAULT DURATION=600 REQUESTID=j NODES=1\n\
        WITHDRAWAL      TYPE=job MACHINE=m ACCOUNT=c SUBACCOUNT=a RESOURCE=4 PROCCRATE=1.00 RESOURCETYPE= DURATION=4 REQUESTID=j NODES=1\r\n\
        \n\
        WITHDRAWAL TYPE=job MACHINE=m ACCOUNT=c USER=a PROCS=2 PROCCRATE=0.25 RESOURCETYPE=x DURATION=3 REQUESTID=k AMOUNT=1.5\n\
        WITHDRAWAL TYPE=job MACH";
    let (texts, summary) = checked(text);
    assert_eq!(
        texts,
        ["6 warning: no line feed at the end: not complete, not counted"]
    );
    assert_eq!((summary.records, summary.others, summary.bad), (2, 2, 0));
    assert_eq!(summary.processor_seconds(), "17.5");
    assert_eq!(summary.amount().as_deref(), Some("1.5"));
    assert!(summary.is_torn && !summary.is_ur1);
}

#[test]
fn a_line_without_end_is_bounded() {
    let text = format!("{}\nAMSTART\n", "x".repeat(3 * file::LINE_MAX));
    let (texts, summary) = checked(&text);
    assert_eq!(texts, ["1 error: longer than 65536 bytes"]);
    assert_eq!((summary.bad, summary.others), (1, 1));
}

#[test]
fn nothing_is_no_error() {
    for text in ["", "\n\n", "\u{feff}"] {
        let (texts, summary) = checked(text);
        assert_eq!((texts, summary.records), (vec![], 0), "{text:?}");
    }
}

#[test]
fn rules_of_usage_records() {
    for (inner, expected) in [
        ("<Status>Completed</Status>", ""),
        ("", "Status: missing"),
        (
            "<Status>C</Status><Charge>1</Charge>",
            "Charge: must come before Status",
        ),
        (
            "<Status>C</Status><WallDuration>PT1S</WallDuration><Memory>1</Memory>",
            "Memory: must come before WallDuration",
        ),
        (
            "<Status>C</Status><Memory>0</Memory>",
            "Memory: \"0\" is not a whole number above zero",
        ),
        (
            "<Status>C</Status><WallDuration>60</WallDuration>",
            "WallDuration: \"60\" is not a duration such as PT60S",
        ),
        (
            "<Status>C</Status><WallDuration>PT1S</WallDuration><WallDuration>PT2S</WallDuration>",
            "WallDuration: given twice",
        ),
        (
            "<Status>C</Status><CpuDuration u:usageType=\"user\">PT1S</CpuDuration>\
             <CpuDuration u:usageType=\"system\">PT1S</CpuDuration>",
            "",
        ),
        (
            "<Status>C</Status><CpuDuration u:usageType=\"all\">PT1S</CpuDuration>",
            "CpuDuration@usageType: \"all\" is not valid",
        ),
        (
            "<Status>C</Status><MachineName>node_1</MachineName>",
            "MachineName: \"node_1\" is not a domain name",
        ),
        ("<Status>C</Status><vo>x</vo>", "\"vo\": a foreign element"),
        (
            "<Status description=\"x\">C</Status>",
            "Status@description: needs the prefix of the namespace",
        ),
        ("<Status u:odd=\"x\">C</Status>", "Status@odd: unknown"),
        (
            "<Status>C</Status><Memory u:storageUnit=\"TB\">1</Memory>",
            "Memory@storageUnit: \"TB\" is not valid",
        ),
        (
            "<Status>C</Status><StartTime>1768910400</StartTime>",
            "StartTime: \"1768910400\" is not a time such as 2026-01-20T12:00:00Z",
        ),
        (
            "<Charge>a lot</Charge><Status>C</Status>",
            "Charge: \"a lot\" is not a number",
        ),
    ] {
        let (texts, _) = checked(&record(inner));
        let expected: Vec<_> = Some(format!("1 error: {expected}"))
            .filter(|_| !expected.is_empty())
            .into_iter()
            .collect();
        assert_eq!(texts, expected, "{inner}");
    }
}

#[test]
fn documents_and_lines_are_read_alike() {
    let one = "<Charge>2.5</Charge><Status>Completed</Status><WallDuration>PT10S</WallDuration>\
               <Processors u:consumptionRate=\"0.5\">4</Processors>\
               <Resource u:description=\"bank.charge\">2.25</Resource>";
    let lines = record(one).repeat(2);
    let document =
        format!("<?xml version=\"1.0\"?>\n<UsageRecords {SPACE}>\n{lines}</UsageRecords>\n");
    for text in [lines, document] {
        let (texts, summary) = checked(&text);
        assert_eq!((texts, summary.records), (vec![], 2));
        assert_eq!(summary.processor_seconds(), "40");
        assert_eq!(summary.amount().as_deref(), Some("4.5"));
    }
}

#[test]
fn a_line_that_is_no_record_is_reported_with_its_number() {
    let good = record("<Status>C</Status>");
    for (text, expected) in [
        (
            format!("{good}<Status/>\n{good}"),
            "2 error: \"Status\" is not a usage record",
        ),
        (
            format!("{good}\n<JobUsageRecord/>"),
            "3 error: \"JobUsageRecord\" is of another namespace",
        ),
        (
            format!("{good}<JobUsageRecord {SPACE}>"),
            "2 error: cut off inside of a record; the rest is not read",
        ),
        (
            format!("<!DOCTYPE a [<!ENTITY b \"c\">]>\n{good}"),
            "1 error: a DOCTYPE is not taken; the rest is not read",
        ),
    ] {
        let (texts, _) = checked(&text);
        assert_eq!(texts, [expected], "{text}");
    }
}

#[test]
fn drafts_and_years_are_taken_with_a_warning() {
    let text = record("<Status>C</Status><WallDuration>P1Y</WallDuration>").replace(
        "http://schema.ogf.org/urf/2003/09/urf",
        "http://www.gridforum.org/2003/ur-wg",
    );
    let (texts, summary) = checked(&text);
    assert_eq!(
        texts,
        [
            "1 warning: the namespace is that of the draft of 2003",
            "1 warning: WallDuration: years as 365 days, months as 2628000 seconds",
        ]
    );
    assert_eq!((summary.records, summary.bad, summary.warnings), (1, 0, 2));
}
