//! The example of `docs/reference/http-api.md` that a site may paste: curl and openssl, by hand.

use std::process::Command;

use crate::harness::{Bank, Ran, skip, tool, workspace};

#[test]
fn the_example_of_the_reference_works() {
    let has_openssl = Command::new("openssl").arg("version").output().is_ok();
    if !(tool("curl") && has_openssl) {
        skip(
            "curl",
            "no curl and openssl to run the example of the reference with",
        );
        return;
    }
    let page = workspace().join("docs/reference/http-api.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut blocks = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"));
    let (example, _) = blocks
        .find(|(block, _)| block.contains("Signature-Input"))
        .unwrap();
    assert!(example.contains("127.0.0.1:7113"), "{example}");

    let mut bank = Bank::new();
    std::os::unix::fs::symlink(bank.data(), bank.folder().join("bank-data")).unwrap();
    let run = |example: &str| {
        let mut shell = Command::new("bash");
        shell.current_dir(bank.folder());
        Ran::of(
            shell.args(["-euc", &example.replace("127.0.0.1:7113", &bank.tcp())]),
            b"",
        )
    };
    let ran = run(example);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let receipt: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(receipt["amount"], "250", "{receipt}");
    // The same key again is the same deposit; another body under it is a conflict.
    assert_eq!(run(example).stdout, ran.stdout);
    let other = run(&example.replace("\"250\"", "\"251\""));
    assert!(other.stdout.contains("key_reused"), "{}", other.stdout);
    assert_eq!(bank.figures("chemistry"), (100_250, 0, 100_250));
    bank.verify();
}
