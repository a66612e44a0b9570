//! Rejected settings of scheduled reports.

use super::*;
use crate::Deliver;

fn config(report: ScheduledReport) -> Config {
    let folder = Deliver {
        name: "archive".to_owned(),
        by: DeliverWord::Folder,
        folder: "reports".to_owned(),
        ..Deliver::default()
    };
    let mail = Deliver {
        name: "mail".to_owned(),
        by: DeliverWord::Sendmail,
        from: "bank@x".to_owned(),
        ..Deliver::default()
    };
    Config {
        deliver: vec![folder, mail],
        scheduled_report: vec![report],
        ..Config::default()
    }
}

fn good() -> ScheduledReport {
    ScheduledReport {
        name: "month".to_owned(),
        report: "usage".to_owned(),
        deliver: vec!["archive".to_owned()],
        ..ScheduledReport::default()
    }
}

#[test]
fn what_could_never_be_made_is_refused() {
    config(good()).check_schedules().unwrap();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let apel = ScheduledReport {
        report: "export-apel".to_owned(),
        options: words(&["--spool=/s", "--state", "/t"]),
        deliver: Vec::new(),
        ..good()
    };
    config(apel.clone()).check_schedules().unwrap();
    let daily = ScheduledReport {
        report: "export-apel-summary".to_owned(),
        every: PeriodWord::Daily,
        ..apel.clone()
    };
    let again = ScheduledReport {
        options: words(&["--spool=/s"]),
        ..apel
    };
    for (wrong, message) in [
        (daily, "whole months"),
        (again, "needs --spool and --state"),
        (
            ScheduledReport {
                name: "A".into(),
                ..good()
            },
            "name",
        ),
        (
            ScheduledReport {
                report: "sums".into(),
                ..good()
            },
            "is none of usage",
        ),
        (
            ScheduledReport {
                tz: "Mars/Olympus".into(),
                ..good()
            },
            "no zone",
        ),
        (
            ScheduledReport {
                deliver: Vec::new(),
                ..good()
            },
            "no recipient",
        ),
        (
            ScheduledReport {
                deliver: words(&["x"]),
                ..good()
            },
            "no [[deliver]]",
        ),
        (
            ScheduledReport {
                deliver: words(&["mail"]),
                ..good()
            },
            "no staff",
        ),
        (
            ScheduledReport {
                deliver: words(&["archive", "archive"]),
                ..good()
            },
            "twice",
        ),
        (
            ScheduledReport {
                to: words(&["x\nBcc: y@z"]),
                ..good()
            },
            "not a mail address",
        ),
        (
            ScheduledReport {
                options: words(&["--from=x"]),
                ..good()
            },
            "options",
        ),
        (
            ScheduledReport {
                options: words(&["-Ojson"]),
                ..good()
            },
            "options",
        ),
        (
            ScheduledReport {
                options: words(&["-o", "/etc/cron.d/x"]),
                ..good()
            },
            "options",
        ),
        (
            ScheduledReport {
                options: words(&["--output=/etc/cron.d/x"]),
                ..good()
            },
            "options",
        ),
        (
            ScheduledReport {
                timeout_s: 0,
                ..good()
            },
            "timeout_s",
        ),
        (
            ScheduledReport {
                catch_up: 0,
                ..good()
            },
            "catch_up",
        ),
        (
            ScheduledReport {
                most_mib: 65,
                ..good()
            },
            "most_mib",
        ),
        (
            ScheduledReport {
                report: "priority".into(),
                ..good()
            },
            "makes no page",
        ),
    ] {
        let error = config(wrong).check_schedules().unwrap_err();
        assert!(error.contains(message), "{message}: {error}");
        assert!(error.starts_with("scheduled_report 1"), "{error}");
    }
    let mut two = config(good());
    two.scheduled_report.push(good());
    let error = two.check_schedules().unwrap_err();
    assert_eq!(error, "scheduled_report 2 (month): name: two of this name");
    let text = "[http]\n[[scheduled_report]]\nname = \"a\"\n [[scheduled_report]] # b\n";
    let placed = crate::located("bankd.toml", text, error);
    assert!(
        placed.starts_with("bankd.toml line 4: scheduled_report 2"),
        "{placed}"
    );
    let other = crate::located("f", text, "http.listen: no".to_owned());
    assert_eq!(other, "http.listen: no");
}
