//! Every captured conversation: the answer to each message, and the ledger afterwards
//! (`gold-captures/README.md`). Other tests cover framing and signatures.

use std::path::PathBuf;

use super::bench::{Bench, T0, T1, shown};

/// The folder of captures.
fn captures() -> Option<PathBuf> {
    bankd_testing::shared("spec/gold-captures")
}

/// One message: the beginning of its file's name, the answer, and lines about the ledger.
struct Step {
    file: &'static str,
    answer: &'static str,
    accounts: &'static [(&'static str, &'static str)],
    liens: &'static str,
}

/// The body of a captured request, as its bytes are.
fn body(folder: &std::path::Path, start: &str) -> Vec<u8> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let is_it = |path: &&PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(start) && name.ends_with(".request")
    };
    let bytes = std::fs::read(files.iter().find(is_it).unwrap()).unwrap();
    let at = |what: &[u8]| bytes.windows(what.len()).position(|w| w == what).unwrap();
    bytes[at(b"<Body")..at(b"</Body>") + b"</Body>".len()].to_vec()
}

async fn play(folder: &str, is_maui: bool, steps: &[Step]) {
    let Some(root) = captures() else { return };
    let folder = root.join(folder);
    let mut bench = Bench::new().await;
    bench.is_maui = is_maui;
    let mut charges = Vec::new();
    for step in steps {
        let name = format!("{} {}", folder.display(), step.file);
        let body = body(&folder, step.file);
        if step.file.contains("Charge") {
            bench.at(T1);
        }
        let answer = shown(&bench.send(&body).await);
        assert_eq!(answer, step.answer, "{name}");
        for (account, figures) in step.accounts {
            assert_eq!(bench.account(account).await, *figures, "{name}: {account}");
        }
        assert_eq!(bench.liens().await, step.liens, "{name}");
        if step.file.contains("Charge-job") || step.file.contains("Charge-cluster") {
            charges.push((name, body, answer));
        }
    }
    // The same charges once more: the same answers, and no effect.
    let _ = bench.journal().await;
    let last = steps.last().unwrap();
    for (name, body, answer) in charges {
        assert_eq!(shown(&bench.send(&body).await), answer, "{name} again");
        assert_eq!(bench.liens().await, last.liens, "{name} again");
        for (account, figures) in last.accounts {
            assert_eq!(
                bench.account(account).await,
                *figures,
                "{name} again: {account}"
            );
        }
        let journal = bench.journal().await;
        assert!(
            journal.starts_with("repeat (repeat_of=gold:"),
            "{name}: {journal}"
        );
        assert!(!journal.contains(';'), "{name}: {journal}");
    }
}

/// A lien of 600, in the words of its answer.
macro_rules! reserved_600 {
    ($job:literal) => {
        concat!(
            "Success 000 #1 [<Reservation><Amount>600</Amount></Reservation>] ",
            "Successfully reserved 600 credits for job ",
            $job
        )
    };
}

/// A charge, in the words of its answer.
macro_rules! charged {
    ($amount:literal, $job:literal) => {
        concat!(
            "Success 000 #1 [<Job><Charge>",
            $amount,
            "</Charge></Job>] Successfully charged job ",
            $job,
            " for ",
            $amount,
            " credits"
        )
    };
}

const DEFAULTS: &str = "Success 000 #3 [<User><Name>amy</Name><DefaultProject>chem\
    </DefaultProject></User><User><Name>bob</Name><DefaultProject>physics</DefaultProject></User>\
    <User><Name>eve</Name><DefaultProject>broke</DefaultProject></User>]";

#[tokio::test]
async fn gold_capture_02_default_account() {
    play(
        "02-default-account",
        true,
        &[
            Step {
                file: "001-Query",
                answer: DEFAULTS,
                accounts: &[],
                liens: "",
            },
            Step {
                file: "002-Reserve",
                answer: reserved_600!("job1"),
                accounts: &[("chem", "1000000/600")],
                liens: "job1 600 until 1795216910",
            },
            Step {
                file: "003-Reserve",
                answer: reserved_600!("job2"),
                accounts: &[("physics", "1000000/600")],
                liens: "job1 600 until 1795216910; job2 600 until 1795216910",
            },
            Step {
                file: "004-Charge",
                answer: charged!("6", "job1"),
                accounts: &[("chem", "999994/0")],
                liens: "job2 600 until 1795216910",
            },
            Step {
                file: "005-Charge",
                answer: charged!("6", "job2"),
                accounts: &[("chem", "999994/0"), ("physics", "999994/0")],
                liens: "",
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn gold_capture_06_each_refusal_is_decided_anew() {
    let Some(root) = captures() else { return };
    let folder = root.join("06-nofunds");
    let mut bench = Bench::new().await;
    let refused = "Failure 782 [] Not enough credits to reserve job job1";
    for file in ["001", "002"] {
        assert_eq!(shown(&bench.send(&body(&folder, file)).await), refused);
        assert_eq!(bench.journal().await, "");
    }
    bench.deposit("broke", 600).await;
    let answer = shown(&bench.send(&body(&folder, "002")).await);
    assert_eq!(answer, reserved_600!("job1"));
    assert_eq!(bench.account("broke").await, "600/600");
}

#[tokio::test]
async fn gold_capture_14_quality_of_service() {
    play(
        "14-qos",
        true,
        &[
            Step {
                file: "001-Reserve",
                answer: "Success 000 #1 [<Reservation><Amount>14400</Amount></Reservation>] \
                    Successfully reserved 14400 credits for job job1",
                accounts: &[("chem", "1000000/14400")],
                liens: "job1 14400 until 1795220210",
            },
            Step {
                file: "002-Reserve",
                answer: "Success 000 #1 [<Reservation><Amount>720</Amount></Reservation>] \
                    Successfully reserved 720 credits for job cluster.42",
                accounts: &[("physics", "1000000/720")],
                liens: "cluster.42 720 until 1795216670; job1 14400 until 1795220210",
            },
            Step {
                file: "003-Charge",
                answer: charged!("16", "job1"),
                accounts: &[("chem", "999984/0")],
                liens: "cluster.42 720 until 1795216670",
            },
            Step {
                file: "004-Charge",
                answer: charged!("36", "cluster.42"),
                accounts: &[("chem", "999984/0"), ("physics", "999964/0")],
                liens: "",
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn gold_capture_other_clients() {
    let queries: [(&str, &str); 4] = [
        (
            "slurm-Query",
            "Success 000 #1 [<Account><Id>2</Id></Account>]",
        ),
        (
            "clib-Query",
            "Success 000 #1 [<Account><Id>2</Id><Name>chem</Name><Description></Description>\
             </Account>]",
        ),
        ("strict-Query", DEFAULTS),
        (
            "hod-Quote",
            "Success 000 #1 [<Quotation><Amount>0</Amount><WallDuration>10</WallDuration>\
             <User>amy</User><Project>chem</Project></Quotation>] Successfully quoted 0 credits",
        ),
    ];
    for (file, answer) in queries {
        let step = Step {
            file,
            answer,
            accounts: &[("chem", "1000000/0")],
            liens: "",
        };
        play("other-clients-reconstructed", false, &[step]).await;
    }
}

/// The three that never get here because of their signature hold a body like the first one.
#[tokio::test]
async fn gold_captures_begin_at_the_current_clock() {
    let Some(root) = captures() else { return };
    let bench = Bench::new().await;
    bench.at(T0);
    let body = body(&root.join("13-unsigned-client"), "001");
    assert!(shown(&bench.send(&body).await).starts_with("Success 000"));
}
