//! Goldens of both writers, made for this crate; `goldens.rs` compares with
//! the shared ones where they are.

use super::file::{Dialect, FileOptions, is_rate_raised};
use super::ggf::GgfOptions;
use super::*;

mod carried;
mod exports;
mod goldens;
mod round;
mod written;

const SECOND: i64 = 1_000_000;
/// 2026-03-01T10:00:00Z.
const NOON: i64 = 1_772_359_200 * SECOND;

const GGF: GgfOptions<'_> = GgfOptions {
    adjustments: true,
    bank: "0a1b2c3d",
    unit: "credits",
    precision: 3,
    whole: false,
};

/// 16 processors for an hour, charged in full.
fn job(occasion: Occasion) -> Record {
    Record {
        occasion,
        record_id: 7,
        created_at: NOON,
        kind: Kind::Job,
        object_id: "Moab.1".to_owned(),
        user: Some("amy".to_owned()),
        project: Some("chemistry".to_owned()),
        machine: "colony".to_owned(),
        start_time: Some(NOON - 3600 * SECOND),
        end_time: Some(NOON),
        wall: Some(3600 * SECOND),
        usage: Usage::one(16_000_000, Some(1_000_000), 3600 * SECOND),
        amount: 57_600_000,
        ..Record::default()
    }
}

const CLOSE: Occasion = Occasion::Close { charges: 1 };
const LATE: Occasion = Occasion::Adjustment {
    of: 3,
    why: Why::LateCharge,
};
const REFUND: Occasion = Occasion::Adjustment {
    of: 3,
    why: Why::Refund,
};

fn file(record: &Record, options: FileOptions<'_>) -> String {
    let line = file::render(record, &options).unwrap();
    line.unwrap_or_default()
}

#[test]
fn file_forms() {
    let record = job(Occasion::Charge);
    let extended = FileOptions {
        extended: true,
        ..FileOptions::default()
    };
    let maui = FileOptions {
        dialect: Dialect::Maui,
        ..FileOptions::default()
    };
    assert_eq!(
        file(&record, FileOptions::default()),
        "WITHDRAWAL TYPE=job MACHINE=colony ACCOUNT=chemistry USER=amy PROCS=16 PROCCRATE=1.00 \
         RESOURCETYPE=DEFAULT DURATION=3600 REQUESTID=Moab.1\n"
    );
    assert_eq!(
        file(&record, maui),
        "WITHDRAWAL      TYPE=job MACHINE=colony ACCOUNT=chemistry SUBACCOUNT=amy RESOURCE=16 \
         PROCCRATE=1.00 RESOURCETYPE=DEFAULT DURATION=3600 REQUESTID=Moab.1\n"
    );
    let full = Record {
        qos: Some("high".to_owned()),
        nodes: Some(4),
        host_type: Some("fat".to_owned()),
        amount: 57_600_500,
        ..record.clone()
    };
    let line = file(&full, extended);
    assert!(
        line.ends_with(
            " RESOURCETYPE=fat DURATION=3600 REQUESTID=Moab.1 QOS=high NODES=4 AMOUNT=57600.5\n"
        ),
        "{line}"
    );
    assert!(file(&record, extended).ends_with("REQUESTID=Moab.1 AMOUNT=57600\n"));

    let blank = Record {
        kind: Kind::Reservation,
        user: None,
        project: Some(String::new()),
        machine: String::new(),
        ..record
    };
    assert_eq!(
        file(
            &blank,
            FileOptions {
                blank_account: "nobody",
                ..FileOptions::default()
            }
        ),
        "WITHDRAWAL TYPE=res MACHINE=DEFAULT ACCOUNT=nobody USER=KITTY PROCS=16 PROCCRATE=1.00 \
         RESOURCETYPE=DEFAULT DURATION=3600 REQUESTID=Moab.1\n"
    );
    assert_eq!(
        file(&blank, maui),
        "WITHDRAWAL      TYPE=res MACHINE=DEFAULT ACCOUNT=[NONE] SUBACCOUNT=KITTY RESOURCE=16 \
         RESOURCETYPE=DEFAULT PROCCRATE=1.00 DURATION=3600 QOS=[DEFAULT] REQUESTID=Moab.1\n"
    );
}

#[test]
fn file_when() {
    for (occasion, amount, interim, close) in [
        (Occasion::Charge, 5, true, false),
        (Occasion::Charge, 0, true, false),
        (CLOSE, 5, false, true),
        (Occasion::Close { charges: 0 }, 0, false, false),
        (LATE, 5, true, true),
        (REFUND, -5, false, false),
        (
            Occasion::Adjustment {
                of: 3,
                why: Why::Adjust,
            },
            -5,
            false,
            false,
        ),
        (
            Occasion::Adjustment {
                of: 3,
                why: Why::Adjust,
            },
            5,
            false,
            false,
        ),
    ] {
        let record = Record {
            amount,
            ..job(occasion)
        };
        for (setting, expected) in [(true, interim), (false, close)] {
            let options = FileOptions {
                interim: setting,
                ..FileOptions::default()
            };
            let written = file::render(&record, &options).unwrap().is_some();
            assert_eq!(written, expected, "{occasion:?} {amount} interim={setting}");
        }
    }
}

#[test]
fn file_escapes_what_would_break_a_reader() {
    let record = Record {
        object_id: "a b=\"c\"%\n\u{7f}é[1]".to_owned(),
        project: Some("x\tREQUESTID=1".to_owned()),
        ..job(Occasion::Charge)
    };
    let line = file(&record, FileOptions::default());
    assert!(line.contains(" ACCOUNT=x%09REQUESTID%3D1 "), "{line}");
    assert!(
        line.ends_with(" REQUESTID=a%20b%3D%22c%22%25%0A%7Fé[1]\n"),
        "{line}"
    );
}

#[test]
fn file_rejects_what_it_must_not_escape() {
    let reject = FileOptions {
        escape: file::Escape::Reject,
        ..FileOptions::default()
    };
    let plain = job(Occasion::Charge);
    assert_eq!(
        file::render(&plain, &reject).unwrap(),
        file::render(&plain, &FileOptions::default()).unwrap()
    );
    let odd = Record {
        user: Some("a b".to_owned()),
        object_id: "x=1".to_owned(),
        ..plain
    };
    let rejected = file::Rejected { key: "USER" };
    assert_eq!(file::render(&odd, &reject), Err(rejected));
    // A record without a line is not rejected either.
    let refund = Record {
        occasion: REFUND,
        amount: -5,
        ..odd
    };
    assert_eq!(file::render(&refund, &reject), Ok(None));
}

#[test]
fn file_figures() {
    for (processors, rate, charged, expected) in [
        // Fractions of a processor: the product holds.
        (
            1_500_000,
            Some(1_000_000),
            60 * SECOND,
            "PROCS=2 PROCCRATE=0.75 DURATION=60",
        ),
        (
            250_000,
            Some(1_000_000),
            60 * SECOND,
            "PROCS=1 PROCCRATE=0.25 DURATION=60",
        ),
        (
            0,
            Some(1_000_000),
            60 * SECOND,
            "PROCS=1 PROCCRATE=0.01 DURATION=60",
        ),
        // A rate that rounds to nothing while something was charged.
        (
            1_000_000,
            Some(4_999),
            60 * SECOND,
            "PROCS=1 PROCCRATE=0.01 DURATION=60",
        ),
        (
            1_000_000,
            Some(5_000),
            60 * SECOND,
            "PROCS=1 PROCCRATE=0.01 DURATION=60",
        ),
        (
            1_000_000,
            Some(125_000),
            SECOND / 2,
            "PROCS=1 PROCCRATE=0.13 DURATION=1",
        ),
        (
            1_000_000,
            Some(2_500_000),
            0,
            "PROCS=1 PROCCRATE=2.50 DURATION=0",
        ),
        (
            1_000_000,
            None,
            10 * SECOND,
            "PROCS=1 PROCCRATE=1.00 DURATION=10",
        ),
        (
            i128::MAX / 4,
            Some(i64::MAX),
            i64::MAX,
            "PROCS=42535295865117307932921825928972 PROCCRATE=9223372036854.78 DURATION=9223372036855",
        ),
    ] {
        let usage = Usage::one(processors, rate, charged);
        let line = file(
            &Record {
                usage,
                ..job(Occasion::Charge)
            },
            FileOptions::default(),
        );
        assert_eq!(
            line.replace("RESOURCETYPE=DEFAULT ", ""),
            line_of(expected),
            "{processors}"
        );
    }
}

#[test]
fn file_limits_of_dialects() {
    let raised = |rate| {
        let usage = Usage::one(1_000_000, Some(rate), SECOND);
        is_rate_raised(&Record {
            usage,
            ..job(Occasion::Charge)
        })
    };
    assert_eq!([raised(4_999), raised(5_000)], [true, false]);

    let maui = FileOptions {
        dialect: Dialect::Maui,
        ..FileOptions::default()
    };
    let usage = Usage::one(1_000_000, Some(1_000_000), 0);
    let line = file(
        &Record {
            usage,
            ..job(Occasion::Charge)
        },
        maui,
    );
    assert!(line.contains(" DURATION=1 "), "{line}");
}

fn line_of(figures: &str) -> String {
    format!(
        "WITHDRAWAL TYPE=job MACHINE=colony ACCOUNT=chemistry USER=amy {figures} REQUESTID=Moab.1\n"
    )
}

#[test]
fn usages_sum_to_the_same_product() {
    let rate = |usage: Usage| {
        let line = file(
            &Record {
                usage,
                ..job(Occasion::Charge)
            },
            FileOptions::default(),
        );
        line.split(' ')
            .skip(5)
            .filter(|word| !word.starts_with("RES"))
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let first = Usage::one(64_000_000, Some(920_000), 45 * SECOND);
    let second = Usage::one(64_000_000, Some(960_000), 15 * SECOND);
    assert_eq!(
        rate(first.then(second)),
        "PROCS=64 PROCCRATE=0.93 DURATION=60"
    );
    // Half as many processors at the end: the rate carries the rest.
    let shrunk = Usage::one(32_000_000, Some(1_000_000), 60 * SECOND);
    let full = Usage::one(64_000_000, Some(1_000_000), 60 * SECOND);
    assert_eq!(
        rate(full.then(shrunk)),
        "PROCS=32 PROCCRATE=1.50 DURATION=120"
    );
    // Nothing charged yet: the last rate holds.
    let nothing = Usage::one(4_000_000, Some(500_000), 0);
    assert_eq!(
        rate(nothing.then(nothing)),
        "PROCS=4 PROCCRATE=0.50 DURATION=0"
    );
}

/// A GGF line without its root's declarations and without what all of these
/// tests share.
fn ggf(record: &Record) -> String {
    let line = ggf::render(record, &GGF).unwrap();
    assert_eq!(line.matches('\n').count(), 1);
    line.trim_end()
        .replace(" xmlns=\"http://schema.ogf.org/urf/2003/09/urf\"", "")
        .replace(" xmlns:urf=\"http://schema.ogf.org/urf/2003/09/urf\"", "")
}

#[test]
fn ggf_closed_job() {
    assert_eq!(
        ggf(&job(CLOSE)),
        "<JobUsageRecord><RecordIdentity urf:recordId=\"bank:0a1b2c3d:7\" \
         urf:createTime=\"2026-03-01T10:00:00Z\"/><JobIdentity><LocalJobId>Moab.1</LocalJobId>\
         </JobIdentity><UserIdentity><LocalUserId>amy</LocalUserId></UserIdentity>\
         <Charge urf:unit=\"credits\">57600</Charge><Status>Completed</Status>\
         <WallDuration>PT3600S</WallDuration><Processors urf:consumptionRate=\"1\">16</Processors>\
         <EndTime>2026-03-01T10:00:00Z</EndTime><StartTime>2026-03-01T09:00:00Z</StartTime>\
         <MachineName>colony</MachineName><ProjectName>chemistry</ProjectName>\
         <Resource urf:description=\"bank.charge\">57600</Resource></JobUsageRecord>"
    );
}

#[test]
fn ggf_names_that_the_schema_does_not_take() {
    let record = Record {
        user: None,
        project: None,
        machine: "ia;".to_owned(),
        submit_host: Some("login_1".to_owned()),
        hosts: vec!["n1".to_owned(), "gpu_2".to_owned(), "x".to_owned()],
        class: Some(String::new()),
        memory_per_node: Some(511),
        nodes: Some(0),
        cpu_total: Some(1_500_000),
        state: State::Preempted,
        exit_code: Some(271),
        usage: Usage::one(1_500_000, Some(1_000_000), SECOND),
        start_time: None,
        ..job(CLOSE)
    };
    let line = ggf(&record);
    let rest = line.split("</JobIdentity>").nth(1).unwrap();
    assert_eq!(
        rest,
        "<Charge urf:unit=\"credits\">57600</Charge>\
         <Status urf:description=\"preempted exit=271\">Aborted</Status>\
         <WallDuration>PT3600S</WallDuration><CpuDuration>PT1.5S</CpuDuration>\
         <Processors urf:consumptionRate=\"1\">2</Processors>\
         <EndTime>2026-03-01T10:00:00Z</EndTime><SubmitHost>login-1</SubmitHost>\
         <Host urf:primary=\"true\">n1</Host><Host>gpu-2</Host>\
         <ConsumableResource urf:description=\"processors\">1.5</ConsumableResource>\
         <Resource urf:description=\"bank.charge\">57600</Resource>\
         <Resource urf:description=\"bank.machine\">ia;</Resource>\
         <Resource urf:description=\"bank.submit_host\">login_1</Resource>\
         <Resource urf:description=\"bank.host\">gpu_2</Resource>\
         <Resource urf:description=\"bank.host\">x</Resource></JobUsageRecord>"
    );
    let fqdn = Record {
        machine_fqdn: Some("ia.example.org".to_owned()),
        ..record
    };
    assert!(ggf(&fqdn).contains("<MachineName>ia.example.org</MachineName>"));
    let dashed = Record {
        machine: "colony_2".to_owned(),
        ..job(CLOSE)
    };
    let dashed = ggf(&dashed);
    assert!(
        dashed.contains("<MachineName>colony-2</MachineName>"),
        "{dashed}"
    );
    assert!(
        dashed.contains("\"bank.machine\">colony_2</Resource>"),
        "{dashed}"
    );
}

#[test]
fn ggf_text_stays_on_its_line() {
    let record = Record {
        object_id: "<a & \"b\">\r\n\t\u{1}é".to_owned(),
        formula: Some("a\nb\"".to_owned()),
        ..job(CLOSE)
    };
    let line = ggf(&record);
    let id = "<LocalJobId>&lt;a &amp; &quot;b&quot;&gt;&#13;&#10;&#9;\u{fffd}é</LocalJobId>";
    assert!(line.contains(id), "{line}");
    assert!(line.contains(" urf:formula=\"a&#10;b&quot;\">"), "{line}");
}

#[test]
fn ggf_when() {
    let off = GgfOptions {
        adjustments: false,
        ..GGF
    };
    for (occasion, on, without) in [
        (Occasion::Charge, false, false),
        (Occasion::Close { charges: 0 }, false, false),
        (CLOSE, true, true),
        (LATE, true, false),
        (REFUND, true, false),
    ] {
        let record = job(occasion);
        assert_eq!(ggf::render(&record, &GGF).is_some(), on, "{occasion:?}");
        assert_eq!(
            ggf::render(&record, &off).is_some(),
            without,
            "{occasion:?}"
        );
    }
}

#[test]
fn words_for_states() {
    for (word, state) in [
        ("Completed", State::Completed),
        ("CANCELLED", State::Aborted),
        ("Removed", State::Aborted),
        ("NODE_FAIL", State::Failed),
        ("timeout", State::Timeout),
        ("failed=37", State::Timeout),
        ("failed=100", State::Aborted),
        ("failed=0", State::Completed),
        ("EXIT", State::Failed),
        ("Suspended", State::Suspended),
        ("Running", State::Running),
        ("UserHold", State::Held),
        ("Idle", State::Queued),
        ("something else", State::Completed),
    ] {
        assert_eq!(State::from_word(word), state, "{word}");
    }
}
