//! What screens, pages and files of reports are: bounded, whole or not there, in the unit that is asked
//! for, a line for each row.

use std::fs;

use serde_json::{Value, json};

use super::scheduled::{ARCHIVE, DAY, scheduling, until_defined};
use crate::harness::{Bank, Request, T0};

const LATE: i64 = 500 * 86_400;

/// Uses of so many users, one each: two processors for 5,401 s on one of a hundred days of 2026.
fn used(users: usize) -> Bank {
    let bank = Bank::new();
    bank.set_clock(T0 + LATE);
    take_in(&bank, users, |n| (1 + n % 100 / 25, 1 + n % 25, 10));
    bank
}

/// Takes them in, each of the month, day and hour that is said.
fn take_in(bank: &Bank, users: usize, when: impl Fn(usize) -> (usize, usize, usize)) {
    let lines = (0..users).map(|n| {
        let (month, day, hour) = when(n);
        let at = |hour: usize, rest: &str| format!("2026-{month:02}-{day:02}T{hour:02}:{rest}Z");
        json!({"source": "sge:blue", "id": n.to_string(), "machine": "blue", "project": "chemistry",
            "user": format!("user{n}"), "processors": 2, "cpu_s": 3600, "state": "completed",
            "start": at(hour, "00:00"), "end": at(hour + 1, "30:01")})
        .to_string()
    });
    bank.bank_ok(&["machine", "add", "blue"]);
    let file = bank.folder().join("usage.jsonl");
    fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
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
        let message = "1,001 names in 109 time intervals are 109,109 values; the limit is 100,000";
        assert!(ran.stderr.contains(message), "{form}: {}", ran.stderr);
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

/// 350 users, each in two hours of their own, and the one that `scheduling` charges.
#[test]
fn a_scheduled_page_of_that_size_fails_in_words() {
    let page = format!(
        "{ARCHIVE}\n[[scheduled_report]]\nname = \"much\"\nreport = \"usage\"\noptions = [\"--by\", \"user,hour\"]\n\
         form = \"html\"\nevery = \"monthly\"\ntz = \"UTC\"\ndeliver = [\"archive\"]\n"
    );
    let bank = scheduling(&page);
    bank.set_clock(T0 + 30 * DAY + 43_200);
    take_in(&bank, 350, |n| (1, 1 + n / 12, 2 * (n % 12)));
    bank.set_clock(T0 + 31 * DAY);
    let failed = until_defined(&bank, "much", |one| !one["error"].is_null());
    let error = failed["error"].as_str().unwrap();
    assert!(
        error.starts_with("2026-01: too many values for a picture: 35"),
        "{error}"
    );
    let out = fs::read_dir(bank.folder().join("out")).unwrap();
    assert_eq!(out.count(), 0);
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
        let output = bank.bank_ok(&words(&format!("{command} -o {name}")));
        assert_eq!(output, format!("written to {name}\n"), "{command}");
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

/// What a command prints of some columns, without their head.
fn cells(bank: &Bank, command: &str, columns: &str) -> Vec<String> {
    let response = bank.bank_ok(&words(&format!("{command} --csv -n --columns {columns}")));
    response.lines().map(str::to_owned).collect()
}

/// Two decimals of hours, half to even, of whole credits that are seconds.
fn hours(seconds: &str) -> String {
    let seconds: i64 = seconds.parse().unwrap();
    let (hundredths, rest) = (seconds.abs() / 36, seconds.abs() % 36);
    let up = rest > 18 || (rest == 18 && hundredths % 2 == 1);
    let hundredths = hundredths + i64::from(up);
    let sign = if seconds < 0 && hundredths > 0 {
        "-"
    } else {
        ""
    };
    format!("{sign}{}.{:02}", hundredths / 100, hundredths % 100)
}

#[test]
fn reports_of_money_are_in_hours_where_a_credit_is_a_second() {
    let bank = used(3);
    bank.bank_ok(&["deposit", "chemistry", "7300", "--end", "2028-01-01"]);
    bank.bank_ok(&["withdraw", "physics", "1801", "--no-credit"]);
    for (command, columns) in [
        ("report forecast", "available"),
        ("report expiring --within 3000", "amount,unused"),
        ("report negative", "amount,held,available"),
        (
            "report balance-sheet --from 2026-06-01",
            "opening,deposits,withdrawals,other,closing",
        ),
    ] {
        let raw = cells(&bank, command, columns);
        assert!(!raw.is_empty() || command.contains("negative"), "{command}");
        assert_eq!(
            raw,
            cells(&bank, &format!("{command} --units raw"), columns)
        );
        let scaled = |of: fn(&str) -> String| -> Vec<String> {
            let line = |line: &String| line.split(',').map(of).collect::<Vec<_>>().join(",");
            raw.iter().map(line).collect()
        };
        let response = cells(&bank, &format!("{command} --units hours"), columns);
        assert_eq!(response, scaled(hours), "{command}");
        let whole = |text: &str| text.to_owned();
        let response = cells(&bank, &format!("{command} --units seconds"), columns);
        assert_eq!(response, scaled(whole), "{command}");
        let page = bank.bank_ok(&words(&format!("{command} --units hours -O html")));
        assert!(!page.contains("credits"), "{command}: {page}");
    }
    let page = bank.bank_ok(&words("report forecast -A chemistry --units hours -O html"));
    let available = &cells(
        &bank,
        "report forecast -A chemistry --units hours",
        "available",
    )[0];
    assert!(
        page.contains(&format!("<td class=\"n\">{available}</td>")),
        "{page}"
    );
    assert!(
        page.contains("Burn-down of chemistry") && page.contains("hours"),
        "{page}"
    );
}

/// A month is one row for each machine; a row for each day is printed on request only.
#[test]
fn utilization_of_a_month_is_one_row_for_each_machine() {
    let bank = used(3);
    let month = "report utilization --month 2026-01 --tz UTC";
    let rows = |command: &str| cells(&bank, command, "machine");
    assert_eq!(rows(&format!("{month} -m blue")), ["blue"]);
    assert_eq!(rows(&format!("{month} -m blue --by day")).len(), 31);
    let screen = bank.bank_ok(&words(&format!("{month} -m blue")));
    let sentences = screen.replace('\n', " ");
    assert!(
        sentences.contains("No capacity is declared for blue (bank hardware add)."),
        "{screen}"
    );
    bank.bank_ok(&words("hardware add thin -m blue --processors 8 --nodes 1"));
    let screen = bank.bank_ok(&words(&format!("{month} -m blue")));
    assert!(!screen.contains("No capacity"), "{screen}");
    // Usage of a machine without declared capacity is no part of the row of all machines.
    bank.bank_ok(&words("machine add bare"));
    bank.bank_ok(&words(
        "charge b -A chemistry -u amy -m bare --procs 1000 --duration 3600",
    ));
    let year = "report utilization --from 2026-01-01 --to 2027-06-01 --tz UTC";
    let used = cells(&bank, year, "used");
    assert_eq!(rows(year), ["bare", "blue", "(all)"]);
    assert_eq!(used[1], used[2], "{used:?}");
    assert_ne!(used[0], "0.00", "{used:?}");
}

/// Three times two processors for 5,401 s: 32,406 s, which no two decimals of hours say.
#[test]
fn reports_of_use_are_in_exact_seconds() {
    let bank = used(3);
    let month = "--month 2026-01 --tz UTC";
    for (command, column, hours, seconds) in [
        (
            "report contribution --by-project",
            "usage",
            "9.00",
            "32406.00",
        ),
        ("report top", "usage", "9.00", "32406.00"),
        (
            "report utilization --buckets month -m blue",
            "used",
            "9.00",
            "32406.00",
        ),
    ] {
        let command = format!("{command} {month}");
        let cells_of = |units: &str| cells(&bank, format!("{command} {units}").trim(), column);
        assert!(
            cells_of("").contains(&hours.to_owned()),
            "{command}: {:?}",
            cells_of("")
        );
        assert_eq!(cells_of(""), cells_of("--units hours"), "{command}");
        let own = cells_of("--units seconds");
        assert!(own.contains(&seconds.to_owned()), "{command}: {own:?}");
        let page = bank.bank_ok(&words(&format!("{command} --units seconds -O html")));
        assert!(
            page.contains("factored processor-seconds"),
            "{command}: {page}"
        );
    }
    let cells_of = cells(
        &bank,
        &format!("report efficiency {month} --units seconds"),
        "seconds,cpu_seconds",
    );
    assert_eq!(cells_of, ["32406.000000,10800.000000"; 2]);
    let cells_of = cells(
        &bank,
        "report monthly 2026-01 --tz UTC --units seconds",
        "by,name,core_seconds",
    );
    assert!(
        cells_of.contains(&"project,chemistry,32406.000000".to_owned()),
        "{cells_of:?}"
    );
    let page = bank.bank_ok(&words(
        "report monthly 2026-01 --tz UTC --units seconds -O html",
    ));
    assert!(
        page.contains("32,406.000000") && page.contains("core-seconds"),
        "{page}"
    );
    // What tells nothing of the kind says so, and JSON is as the daemon sends it.
    for command in ["report scheduled", "report run month", "user ls"] {
        let ran = bank.bank(&words(&format!("{command} --units hours")));
        assert_eq!(ran.exit, 2, "{command}: {}", ran.stderr);
    }
    let ran = bank.bank(&["report", "top", "--units", "hours", "--json"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
}

#[test]
fn json_lines_have_a_row_each_with_its_subject() {
    let bank = used(3);
    let month = "--month 2026-01 --tz UTC";
    for (command, name, rows) in [
        (format!("usage --by user {month}"), "user", 3),
        (format!("usage --by user,day {month}"), "user", 3),
        (format!("report contribution --by-user {month}"), "group", 5),
        (format!("report top --by-user {month}"), "group", 3),
        (
            format!("report efficiency --group-by user {month}"),
            "group",
            4,
        ),
        (
            format!("report utilization --buckets week {month}"),
            "machine",
            10,
        ),
        ("report monthly 2026-01 --tz UTC".to_owned(), "name", 7),
        (format!("report balance-sheet {month}"), "account", 8),
    ] {
        let response = bank.bank_ok(&words(&format!("{command} -O jsonl")));
        let lines: Vec<Value> = response
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let csv = bank.bank_ok(&words(&format!("{command} --csv -n")));
        assert_eq!(lines.len(), csv.lines().count(), "{command}: {response}");
        assert_eq!(lines.len(), rows, "{command}: {response}");
        for line in &lines {
            assert!(line[name].is_string(), "{command}: {line}");
            assert_eq!(
                line["period_from"], "2026-01-01T00:00:00Z",
                "{command}: {line}"
            );
            assert_eq!(
                line["period_until"], "2026-02-01T00:00:00Z",
                "{command}: {line}"
            );
            let has_unit = line["unit"].is_string() || command.contains("efficiency");
            assert!(has_unit, "{command}: {line}");
        }
        let only = bank.bank_ok(&words(&format!("{command} -O jsonl --columns {name}")));
        let first: Value = serde_json::from_str(only.lines().next().unwrap()).unwrap();
        assert_eq!(first.as_object().unwrap().len(), 1, "{command}: {only}");
    }
    // What --json says stays one document.
    let whole = bank.json(&words(&format!("usage --by user {month}")));
    assert_eq!(whole["rows"].as_array().unwrap().len(), 3);
}

#[test]
fn every_route_of_reports_takes_times_and_dates() {
    let bank = used(3);
    for (route, until) in [
        ("usage", "until"),
        ("contribution", "to"),
        ("efficiency", "to"),
        ("fallback", "until"),
    ] {
        let target =
            |from: &str, to: &str| format!("/api/v1/report/{route}?from={from}&{until}={to}");
        for (from, to) in [
            ("2026-01-01", "2026-02-01"),
            ("2026-01-01T00:00:00", "2026-02-01T00:00:00"),
            ("2026-01-01T01:00:00%2B01:00", "2026-02-01T00:00:00Z"),
        ] {
            let answer = bank.over_socket(&Request::get(&target(from, to)));
            assert_eq!(answer.status, 200, "{route} {from}: {}", answer.text());
            let whole: Value = serde_json::from_str(&answer.text()).unwrap();
            let response = if route == "contribution" {
                &whole["periods"][0]
            } else {
                &whole
            };
            assert_eq!(response["from"], "2026-01-01T00:00:00Z", "{route} {from}");
            assert_eq!(response[until], "2026-02-01T00:00:00Z", "{route} {to}");
        }
        for bad in ["2026-02-30", "yesterday", "2026-01"] {
            let answer = bank.over_socket(&Request::get(&target(bad, "2027-01-01")));
            assert_eq!(answer.status, 422, "{route} {bad}: {}", answer.text());
        }
    }
}

#[test]
fn a_period_without_ends_has_all_there_is() {
    let bank = used(3);
    let all = cells(&bank, "usage --from 2026-01-01 --to 2026-03-01", "jobs");
    assert_eq!(all, ["3"]);
    for bounds in [
        "--from -infinity --to infinity",
        "--from -infinity",
        "--from -infinity --to 2026-03-01",
        "--from 2025-12-01 --to infinity",
    ] {
        assert_eq!(
            cells(&bank, &format!("usage {bounds}"), "jobs"),
            all,
            "{bounds}"
        );
    }
    for command in [
        "report contribution --from -infinity",
        "report efficiency --to infinity",
        "usage --to -infinity",
        "usage --from infinity",
        "report top --from nonsense",
    ] {
        let ran = bank.bank(&words(command));
        assert_eq!(ran.exit, 2, "{command}: {}", ran.stderr);
        let hint = ran
            .stderr
            .lines()
            .find(|line| line.starts_with("hint: "))
            .unwrap();
        assert!(
            hint.contains("2026-10") && !hint.contains("infinity"),
            "{hint}"
        );
    }
}
