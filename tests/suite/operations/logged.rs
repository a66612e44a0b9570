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
