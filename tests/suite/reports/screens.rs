//! What screens, pages and files of reports are: bounded, whole or not there, in the unit that is asked
//! for, a line for each row.

use std::fs;

use serde_json::json;

use crate::harness::{Bank, T0};

const LATE: i64 = 500 * 86_400;

/// Uses of so many users, one each, an hour and a half on one of a hundred days of 2026.
fn used(users: usize) -> Bank {
    let bank = Bank::new();
    bank.set_clock(T0 + LATE);
    let lines = (0..users).map(|n| {
        let (month, day) = (1 + n % 100 / 25, 1 + n % 25);
        let at = |hour: &str| format!("2026-{month:02}-{day:02}T{hour}:00Z");
        json!({"source": "sge:colony", "id": n.to_string(), "machine": "colony", "project": "chemistry",
            "user": format!("user{n}"), "processors": 2, "cpu_s": 3600, "state": "completed",
            "start": at("10:00"), "end": at("11:30")})
        .to_string()
    });
    let file = bank.folder().join("usage.jsonl");
    fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    bank
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn a_page_of_everybody_on_every_day_is_refused_with_its_numbers() {
    let bank = used(1_001);
    let much = "usage --by user,day --from 2026-01-01 --to 2026-04-26 --tz UTC";
    for form in ["-O html", "-O svg", "--chart"] {
        let ran = bank.bank(&words(&format!("{much} {form}")));
        assert_eq!(ran.exit, 2, "{form}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{form}");
        let said =
            "1,001 names in 103 spans of time are 103,103 values, and at most 100,000 are drawn";
        assert!(ran.stderr.contains(said), "{form}: {}", ran.stderr);
        assert!(ran.stderr.contains("--top N"), "{form}: {}", ran.stderr);
    }
    // What the hint says helps, and every row is there for scripts.
    let page = bank.bank_ok(&words(&format!("{much} --top 12 -O html")));
    assert!(page.contains("<td>(all others)</td>"));
    assert!(!page.contains(" others</t"), "two kinds of others");
    assert!(page.len() < 1 << 20, "{}", page.len());
    let rows = bank.bank_ok(&words(&format!("{much} --csv -n")));
    assert_eq!(rows.lines().count(), 1_001);
}

#[test]
fn a_file_is_whole_or_it_is_not_there() {
    let bank = used(3);
    bank.bank_ok(&["deposit", "chemistry", "10"]);
    let file = bank.folder().join("answer");
    let name = file.to_str().unwrap();
    let month = "--month 2026-01";
    for command in [
        format!("usage {month} -O html"),
        format!("usage {month} --csv"),
        "report monthly 2026-01 -O html".to_owned(),
        "report forecast".to_owned(),
        format!("report contribution {month} -O svg"),
        format!("statement chemistry {month}"),
        format!("statement chemistry {month} -O html"),
        format!("statement chemistry {month} --json"),
        format!("statement chemistry {month} --csv"),
    ] {
        let _ = fs::remove_file(&file);
        let timeless = |text: &str| {
            let kept = text.lines().filter(|line| !line.contains("Generated "));
            kept.collect::<Vec<_>>().join("\n")
        };
        let shown = timeless(&bank.bank_ok(&words(&command)));
        let said = bank.bank_ok(&words(&format!("{command} -o {name}")));
        assert_eq!(said, format!("written to {name}\n"), "{command}");
        let kept = timeless(&fs::read_to_string(&file).unwrap());
        assert_eq!(kept, shown, "{command}");
        let dash = timeless(&bank.bank_ok(&words(&format!("{command} -o -"))));
        assert_eq!(dash, shown, "{command}");
        let quiet = bank.bank_ok(&words(&format!("{command} -q -o {name}")));
        assert_eq!(
            (
                quiet.as_str(),
                timeless(&fs::read_to_string(&file).unwrap())
            ),
            ("", shown)
        );
    }
    // What fails leaves what was there, and nothing beside it.
    fs::write(&file, "old").unwrap();
    let before = fs::read_dir(bank.folder()).unwrap().count();
    let ran = bank.bank(&["usage", "-A", "nosuch", "-O", "html", "-o", name]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    let folder = bank.folder().to_str().unwrap().to_owned();
    for place in [folder.as_str(), "/dev/null", "/no/such/folder/page"] {
        for command in ["usage", "statement chemistry", "report top", "export csv"] {
            let ran = bank.bank(&words(&format!("{command} -o {place}")));
            assert_eq!(ran.exit, 2, "{command} {place}: {}", ran.stderr);
        }
    }
    assert_eq!(fs::read_dir(bank.folder()).unwrap().count(), before);
}
