//! Scheduled reports that could never be made are refused at the start; and APEL by the calendar.

use std::fs;
use std::process::Command;

use super::scheduled::{ARCHIVE, DAY, add, scheduling, until_defined, usage};
use crate::harness::{Bank, Ran, Setup, T0, programs};

/// What `bankd doctor` finds.
fn doctor(bank: &Bank) -> String {
    let mut command = Command::new(programs().bankd());
    Ran::of(command.args(["doctor", "--data"]).arg(bank.data()), b"").stdout
}

#[test]
fn what_could_not_be_made_is_refused_at_the_start_with_its_place() {
    for (toml, description) in [
        (usage("monthly", "tz = \"Mars/Olympus\"\n"), "tz: there is no zone \"Mars/Olympus\""),
        (usage("hourly", ""), "every: unknown word `hourly`"),
        (
            usage("monthly", "").replace("\"--by\", \"project\"", "\"--bye\""),
            "(use): options: unexpected argument '--bye'",
        ),
        (usage("monthly", "").replace("\"archive\"]", "\"nobody\"]"), "there is no [[deliver]]"),
        (
            "\n[[deliver]]\nname = \"archive\"\nby = \"sendmail\"\ncommand = [\"/nonexistent/mailer\"]\n\
             from = \"a@b\"\nstaff = [\"c@d\"]\n"
                .to_owned()
                + &usage("monthly", "")[ARCHIVE.len()..],
            "/nonexistent/mailer, which is not there",
        ),
        (
            "\n[report]\nprogram = \"/nonexistent/bank\"\n".to_owned() + &usage("monthly", ""),
            "report.program: /nonexistent/bank is not a file",
        ),
    ] {
        let mut bank = Setup::new().start();
        bank.stop();
        let settings = bank.data().join("bankd.toml");
        if toml.contains("[report]") {
            let text = fs::read_to_string(&settings).unwrap();
            fs::write(&settings, text.replace("\n[report]\n", "\n")).unwrap();
        }
        add(&bank, &toml);
        assert!(!bank.start_with(&[]), "{description}: it started");
        let log = bank.log();
        assert!(log.contains(description), "{description}: {log}");
        let text = fs::read_to_string(&settings).unwrap();
        let line = text.lines().position(|line| line == "[[scheduled_report]]").unwrap() + 1;
        if description.starts_with("tz") || description.starts_with('(') {
            let place = format!("bankd.toml line {line}: scheduled_report 1 (use): ");
            assert!(log.contains(&place), "{place}: {log}");
        }
        let doctor = doctor(&bank);
        assert!(doctor.contains(description), "{doctor}");
        bank.stop_or_kill();
    }
}

/// APEL by the calendar: each job once, with its cursor; and sums of the month that is over.
#[test]
fn messages_for_apel_are_put_into_their_spool() {
    let mut bank = scheduling(
        "\n[[scheduled_report]]\nname = \"jobs\"\nreport = \"export-apel\"\nevery = \"daily\"\n\
         options = [\"--state\", \"FOLDER/apel.state\", \"--spool\", \"FOLDER/jobs\"]\n\
         [[scheduled_report]]\nname = \"sums\"\nreport = \"export-apel-summary\"\n\
         options = [\"--spool\", \"FOLDER/sums\"]\n",
    );
    // The site has its name in a section that is there already.
    bank.stop();
    for folder in ["jobs", "sums"] {
        fs::create_dir(bank.folder().join(folder)).unwrap();
    }
    let settings = bank.data().join("bankd.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let site = "[export]\nsite = \"HERE\"\nbenchmark = \"HEPscore23\"\nbenchmark_value = \"15.3\"\n\
        assume_full_cpu = true\n";
    fs::write(&settings, text.replace("[export]\n", site)).unwrap();
    bank.start();
    let texts = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(bank.folder().join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        files
            .map(|path| fs::read_to_string(path).unwrap())
            .collect()
    };
    // What is charged by hand has no times of its own, which APEL asks for; a collector's job has.
    bank.set_clock(T0 + DAY / 2);
    let file = bank.folder().join("in.sacct");
    let text = "JobID|Cluster|User|Account|State|ExitCode|Start|End|NNodes|NCPUS\n\
        7|blue|amy|chemistry|COMPLETED|0:0|2026-01-01T08:00:00|2026-01-01T09:00:00|1|2\n";
    fs::write(&file, text).unwrap();
    bank.bank_ok(&["import", "sacct", file.to_str().unwrap()]);
    bank.set_clock(T0 + DAY);
    let made = until_defined(&bank, "jobs", |one| one["runs"][0]["state"] == "made");
    assert_eq!(texts("jobs").len(), 1, "{made}");
    bank.set_clock(T0 + 31 * DAY);
    let sums = until_defined(&bank, "sums", |one| one["runs"][0]["state"] == "made");
    assert!(
        sums["runs"][0]["message"]
            .as_str()
            .unwrap()
            .contains("message"),
        "{sums}"
    );
    let response = texts("sums");
    assert!(
        response[0].contains("Month: 1\nYear: 2026\n"),
        "{response:?}"
    );
    // The same job is told once, however often the day comes.
    until_defined(&bank, "jobs", |one| one["next_period"] == "2026-02-01");
    assert_eq!(texts("jobs").len(), 1);
    bank.verify();
}
