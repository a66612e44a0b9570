//! Pages and pictures of reports: what the daemon's figures become, and what a browser makes of it.
//!
//! The browser is Debian's Chromium, driven by `peers/browser.py`. `BANK_SHOTS=FOLDER` keeps what it saw.

mod browser;
mod script;

use crate::harness::{Bank, T0, programs};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// What is typed at a terminal must succeed.
#[track_caller]
fn typed(bank: &Bank, words: &[&str]) -> String {
    let ran = bank.typed(&programs().bank(), words);
    assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
    ran.stdout
}

/// A job that was charged so many processors for ten hours, and is over.
fn billed(bank: &Bank, job: &str, whose: (&str, &str), processors: i64) {
    bank.job_event("charge", job, whose, (processors, 36_000), "");
    bank.job_event("delete", job, whose, (processors, 36_000), "");
}

/// Thirty days of two users on one project, a deposit in between, a job that holds money, and an
/// account below its award's end; local midnight of 2026-01-31.
fn month() -> Bank {
    let bank = Bank::site();
    let script = "machine add ia64 --mode strict\n\
        user add amy\n\
        user add <b>&\"bob'\n\
        project add chem --members amy,<b>&\"bob'\n\
        project add astro --members amy\n\
        deposit chem 100000 --end 2026-04-01\n\
        deposit astro 5000 --end 2026-02-20";
    for line in script.lines() {
        typed(&bank, &line.split_whitespace().collect::<Vec<_>>());
    }
    for day in 0..30 {
        bank.set_clock(T0 + day * DAY + 3600);
        billed(
            &bank,
            &format!("a{day}"),
            ("chem", "amy"),
            100 + day * 7 % 60,
        );
        let bob = "&lt;b&gt;&amp;&quot;bob&apos;";
        billed(&bank, &format!("b{day}"), ("chem", bob), 50);
        if day == 20 {
            // Twenty days: it is held at the end of the month.
            let wall = "<WallDuration>1728000</WallDuration>";
            bank.job_event("reserve", "held", ("chem", "amy"), (10, 36_000), wall);
        }
        if day == 12 {
            typed(&bank, &["deposit", "chem", "20000", "--end", "2026-04-01"]);
        }
    }
    billed(&bank, "s", ("astro", "amy"), 40);
    bank.set_clock(T0 + 30 * DAY - 3600);
    bank
}

/// The amounts at the ends of a statement of January stand in its page, and its pictures too.
#[test]
fn a_statement_has_a_burn_down_of_its_period() {
    let mut bank = month();
    let words = ["statement", "chem", "--month", "2026-01"];
    let json = typed(&bank, &[&words[..], &["--json", "--summary"]].concat());
    let statement: serde_json::Value = serde_json::from_str(&json).unwrap();
    let page = typed(&bank, &[&words[..], &["-O", "html"]].concat());
    assert!(page.contains("<h2>Burn-down</h2>"), "{page}");
    assert!(page.contains("<h2>Charged by user</h2>"), "{page}");
    // What was charged in the period: the total below the columns is the statement's own.
    let total: &str = statement["total_debits"].as_str().unwrap();
    let total = grouped(total.trim_start_matches('-'));
    let foot = page.split("<tfoot>").nth(1).unwrap();
    assert!(
        foot.contains(&format!("{total}</td></tr>")),
        "{total}: {foot}"
    );
    // The amount at the end of the picture is the closing amount.
    let closing = grouped(statement["closing"].as_str().unwrap());
    let drawn = page.split("<desc").nth(1).unwrap();
    assert!(
        drawn.contains(&format!("to {closing} SU on 2026-01-")),
        "{closing}: {drawn}"
    );
    assert!(page.contains(">held of it<") && page.contains(">deposit<"));
    // The summary has the same pictures.
    let summary = typed(&bank, &[&words[..], &["--summary", "-O", "html"]].concat());
    let pictures = |page: &str| {
        page[page.find("<figure>").unwrap()..page.rfind("</figure>").unwrap()].to_owned()
    };
    assert_eq!(pictures(&page), pictures(&summary));
    // A user's statement has no balance: nothing burns down, what was charged is shown.
    let user = typed(
        &bank,
        &["statement", "-u", "amy", "--month", "2026-01", "-O", "html"],
    );
    assert!(!user.contains("Burn-down") && user.contains("<h2>Charged by project</h2>"));
    let svg = typed(&bank, &[&words[..], &["-O", "svg"]].concat());
    assert!(
        svg.starts_with("<?xml") && svg.contains("Burn-down of chem"),
        "{svg}"
    );
    // A period without anything says so.
    let empty = typed(
        &bank,
        &["statement", "-u", "amy", "--month", "2025-01", "-O", "html"],
    );
    assert!(empty.contains("No data in this period."), "{empty}");
    bank.verify();
}

/// `-1234.500` as a page shows it.
fn grouped(amount: &str) -> String {
    let (whole, rest) = amount.split_once('.').unwrap();
    let mut out = String::new();
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{out}.{rest}")
}

#[test]
fn a_forecast_is_drawn() {
    let mut bank = month();
    let page = typed(&bank, &["report", "forecast", "-O", "html"]);
    for part in [
        "<h2>Available</h2>",
        "<h2>Burn-down of chem</h2>",
        "<h2>Burn-down of astro</h2>",
        ">forecast<",
        ">spent evenly<",
        ">held of it<",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let svg = typed(&bank, &["report", "forecast", "-A", "chem", "-O", "svg"]);
    assert!(
        svg.contains("Burn-down of chem") && svg.contains("class=\"coming\""),
        "{svg}"
    );
    let several = typed(&bank, &["report", "forecast", "-O", "svg"]);
    assert!(several.contains("Bars by account: 2 in all"), "{several}");
    for (words, part) in [
        (
            ["report", "expiring", "-O", "html"],
            "<h2>Unused at the end</h2>",
        ),
        (
            ["report", "negative", "-O", "html"],
            "No data in this period.",
        ),
        (
            ["report", "fallback", "-O", "html"],
            "<h2>Charged by project</h2>",
        ),
    ] {
        let page = typed(&bank, &words);
        assert!(page.contains(part), "{part}: {page}");
    }
    bank.verify();
}

#[test]
fn a_terminal_shows_bars() {
    let mut bank = month();
    let words = ["report", "forecast", "--chart"];
    let say = |more: &[(&str, &str)]| bank.bank_as(more, &words).stdout;
    let plain = say(&[("LC_ALL", "C"), ("COLUMNS", "60")]);
    assert!(plain.is_ascii() && plain.contains("##"), "{plain}");
    assert!(plain.lines().all(|line| line.len() <= 60), "{plain}");
    let blocks = say(&[("LANG", "de_DE.UTF-8"), ("COLUMNS", "100")]);
    assert!(
        blocks.contains('█') && blocks.contains("Burn-down of chem"),
        "{blocks}"
    );
    let refused = bank.bank(&["report", "forecast", "--chart", "--json"]);
    assert_eq!(refused.exit, 2, "{}", refused.stdout);
    let nothing = bank.bank(&["balance", "-O", "svg"]);
    assert_eq!(nothing.exit, 2, "{}", nothing.stdout);
    bank.verify();
}
