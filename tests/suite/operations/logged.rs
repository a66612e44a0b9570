//! The line of the log for each command.

use crate::harness::{Request, Setup};

#[test]
fn a_line_names_the_objects_of_its_command() {
    let mut bank = Setup::new().chemistry(1000).start();
    let charge = "charge J.7 -A chemistry -u amy -m colony --procs 1 --duration 60";
    bank.bank_ok(&charge.split(' ').collect::<Vec<_>>());
    bank.bank_ok(&["withdraw", "chemistry", "1"]);
    bank.stop();
    let log = bank.log();
    for (kind, names) in [
        ("deposit", "project=chemistry user= job= machine= "),
        (
            "charge",
            "project=chemistry user=amy job=J.7 machine=colony ",
        ),
        ("withdraw", "project=chemistry user= job= machine= "),
    ] {
        let mut lines = log.lines();
        let line = lines.find(|line| line.contains(&format!("kind=\"{kind}\"")));
        let line = line.unwrap_or_else(|| panic!("no {kind} in {log}"));
        assert!(line.contains(names), "{line}");
    }
}

/// A name from a request is one value of one line, whatever it contains.
#[test]
fn a_name_of_a_refused_command_forges_no_line() {
    let mut bank = Setup::new().chemistry(1000).start();
    let forged = "j\n2026-01-01T00:00:00Z  INFO command kind=\"deposit\" outcome=\"done\"";
    let body = serde_json::json!({
        "job": forged, "type": "job", "project": "chemistry", "user": "amy", "machine": "colony",
        "processors": 1, "duration_s": 1,
    });
    let body = body.to_string();
    let request = Request {
        target: "/api/v1/charges".to_owned(),
        ..Request::nami("x", "forged", body.as_bytes())
    };
    assert_eq!(bank.over_socket(&request).status, 422);
    bank.stop();
    let log = bank.log();
    let mut lines = log
        .lines()
        .filter(|line| line.contains("2026-01-01T00:00:00Z"));
    let line = lines.next().unwrap();
    assert!(
        line.contains("job=\"j\\n2026-01-01T00:00:00Z  INFO"),
        "{line}"
    );
    assert!(
        line.contains("outcome=\\\"done\\\"\" machine=colony"),
        "{line}"
    );
    assert_eq!(lines.next(), None);
}

/// The log is on a full disk: its lines are lost and counted, and commands are accepted.
#[test]
fn a_line_that_cannot_be_written_ends_no_daemon() {
    let mut bank = Setup::new().chemistry(1000).start();
    bank.stop();
    let log = bank.clock().with_file_name("bankd.log");
    std::fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink("/dev/full", &log).unwrap();
    // The harness reads no log without an end.
    assert!(bank.start_with(&[]));
    bank.bank_ok(&["deposit", "chemistry", "1"]);
    bank.bank_ok(&["deposit", "chemistry", "2"]);
    let metrics = bank.over_socket(&Request::get("/metrics")).text();
    let lost = metrics
        .lines()
        .find_map(|line| line.strip_prefix("bankd_log_lines_lost_total "));
    assert!(lost.unwrap().parse::<u64>().unwrap() >= 2, "{metrics}");
    std::fs::remove_file(&log).unwrap();
    bank.stop();
    bank.start();
    let balance = bank.bank_ok(&["balance", "chemistry"]);
    assert!(balance.contains("1,003"), "{balance}");
}
