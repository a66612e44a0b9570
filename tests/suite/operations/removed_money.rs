//! Two-person approval of money that leaves an account, by whatever command.

use crate::harness::Setup;

#[test]
fn money_that_ends_earlier_needs_a_second_person() {
    let mut bank = Setup::new()
        .env("BANKD_APPROVAL_WITHDRAW", "1000")
        .env("BANKD_APPROVAL_ADJUST", "1000")
        .chemistry(16_500)
        .start();
    let run = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        bank.bank(&words)
    };
    let listed = run("allocation ls -a chemistry --json").stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed["items"][0]["id"].to_string();
    let before = run("balance chemistry --csv").stdout;
    let refused = |line: &str, what: &str| {
        let ran = run(line);
        assert_eq!(ran.exit, 1, "{line}: {}{}", ran.stdout, ran.stderr);
        ran.expect_stderr(&["approval needed", what, "--propose"]);
    };
    refused("withdraw chemistry 16500", "a withdrawal of 16500");
    refused("adjust chemistry -16500 --note x", "an adjustment of 16500");
    for change in [
        format!("allocation rm {id} --force --yes"),
        format!("allocation set {id} --end -1d --allow-past"),
        // A moment later is as good as now.
        format!("allocation set {id} --end +1s"),
        format!("allocation set {id} --start +1d"),
    ] {
        refused(&change, "a withdrawal of 16500");
    }
    assert_eq!(run("balance chemistry --csv").stdout, before);
    // Nothing leaves the account earlier.
    let ran = run(&format!("allocation set {id} --limit 10"));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let ran = run(&format!(
        "allocation set {id} --end -1d --allow-past --propose"
    ));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let proposed = run("proposal ls --csv").stdout;
    assert!(proposed.contains("16500"), "{proposed}");
    bank.verify();
}
