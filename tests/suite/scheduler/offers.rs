//! What a portal asks with `mshow -a --flags=policy,tid`: the cost of several offers at once, each
//! with a TID that holds its price.

use crate::harness::{Setup, T0};

/// A portal's offer: it has no id yet.
fn offer(processors: u32, seconds: u32) -> String {
    format!(
        "<Job><ObjectID>cost</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>{processors}</Processors><WallDuration>{seconds}</WallDuration></Job>"
    )
}

fn tids(output: &str) -> Vec<(String, String)> {
    let lines = output.lines().map(|line| line.split_once(':').unwrap());
    lines
        .map(|(cost, tid)| (cost.to_owned(), tid.to_owned()))
        .collect()
}

#[test]
fn several_offers_are_answered_one_line_each_with_a_tid_of_their_own() {
    let mut bank = Setup::new().chemistry(10_000).start();
    let offers = [offer(1, 3600), offer(2, 1800), offer(4, 600)].concat();
    // Without TIDs it is a question and leaves nothing behind.
    let before = bank.transactions();
    bank.script("quote", offers.as_bytes())
        .expect(0, "3600\n3600\n2400\n");
    assert_eq!(bank.transactions(), before);
    let wrapped = format!("<Data>{offers}</Data>");
    let ran = bank
        .call("quote")
        .set("print_tid=yes")
        .body(wrapped.as_bytes())
        .run();
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let made = tids(&ran.stdout);
    let costs: Vec<&str> = made.iter().map(|(cost, _)| cost.as_str()).collect();
    assert_eq!(costs, ["3600", "3600", "2400"]);
    let mut distinct: Vec<&str> = made.iter().map(|(_, tid)| tid.as_str()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 3);

    // The price holds for the job that commits to the offer, though it has doubled since.
    bank.set_clock(T0 + 60);
    bank.bank_ok(&["rate", "set", "VBR", "Processors", "2"]);
    bank.set_clock(T0 + 120);
    let committed = |id: &str, tid: &str| {
        offer(4, 600).replace("cost", id).replace(
            "</Job>",
            &format!("<Var name=\"BILLTID\">{tid}</Var></Job>"),
        )
    };
    let tid = &made[2].1;
    for event in ["create", "reserve"] {
        bank.script(event, committed("Moab.1", tid).as_bytes())
            .expect(0, "");
    }
    assert_eq!(bank.held(), [("chemistry".to_owned(), 2400)]);
    // Another job cannot use it a second time: it pays today's price, and says so.
    let second = bank.script("reserve", committed("Moab.2", tid).as_bytes());
    second.expect(0, "").expect_stderr(&["quote invalid"]);
    let held: i64 = bank.held().iter().map(|(_, amount)| amount).sum();
    assert_eq!(held, 2400 + 4800);
    bank.verify();
}

#[test]
fn one_offer_too_dear_refuses_the_whole_question() {
    let mut bank = Setup::new().chemistry(3000).start();
    let offers = [offer(1, 600), offer(1, 3600)].concat();
    let ran = bank.script("quote", offers.as_bytes());
    ran.expect(78, "")
        .expect_stderr(&["need 3600", "have 3000"]);
    bank.verify();
}
