//! The line of the log for each command.

use crate::harness::Setup;

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
