//! Reports that are rows with their sums: by cursor, a row to a page, they are the same as at once, and
//! the sums are of all pages; `bank` reads them to their end.

use serde_json::Value;

use crate::harness::{Address, Bank, Connection, Documents, Request, Setup, T0};

fn ask(bank: &Bank, target: &str) -> Value {
    let mut connection = Connection::open(&Address::Unix(bank.socket())).unwrap();
    let answer = connection.send(&Request::get(target)).unwrap();
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

/// Reads a report row by row, and compares.
fn row_by_row(bank: &Bank, route: &str, rows: usize) {
    let mut whole = ask(bank, route);
    assert!(whole["next"].is_null(), "{whole}");
    assert_eq!(whole["items"].as_array().unwrap().len(), rows, "{whole}");
    let mark = if route.contains('?') { '&' } else { '?' };
    let first = format!("{route}{mark}limit=1");
    let (mut found, mut target) = (Vec::new(), first.clone());
    loop {
        let mut page = ask(bank, &target);
        let items = page["items"].as_array().unwrap();
        assert_eq!(items.len(), 1, "{page}");
        found.extend(items.iter().cloned());
        let next = page["next"].take();
        // All but the rows is said of the whole; until when is now, where nobody says it.
        for name in ["items", "next", "from", "until"] {
            if let Some(text) = whole.get(name) {
                page[name] = text.clone();
            }
        }
        assert_eq!(page, whole, "{target}");
        let Some(next) = next.as_str() else { break };
        assert!(found.len() < rows, "{route} goes on behind its end");
        target = format!("{first}&after=");
        bank_api::text::percent_encode(next, &mut target);
    }
    assert_eq!(Value::Array(found), whole["items"].take());
    let mut connection = Connection::open(&Address::Unix(bank.socket())).unwrap();
    for wrong in ["after=nothing", "limit=0", "limit=1001"] {
        let answer = connection.send(&Request::get(&format!("{route}{mark}{wrong}")));
        assert_eq!(answer.unwrap().status, 422, "{wrong}");
    }
}

#[test]
fn what_would_have_been_refused_comes_page_by_page() {
    let bank = Setup::new().chemistry(10).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.set_clock(T0 + 86_400);
    let line = |hour: u32, project: &str| {
        format!(
            r#"{{"source":"slurm:colony","id":"{hour}","machine":"colony","project":"{project}","user":"amy","#
        ) + &format!(
            r#""start":"2026-01-01T{hour:02}:00:00Z","end":"2026-01-01T{hour:02}:10:00Z","processors":10}}"#
        ) + "\n"
    };
    let mut text: String = (1..=3).map(|hour| line(hour, "chemistry")).collect();
    // Nobody knows whose these are.
    for (hour, project) in [
        (4, "mars"),
        (5, "venus"),
        (6, "it's, \"all\" 100 %"),
        (7, "mars"),
    ] {
        text += &line(hour, &project.replace('"', "\\\""));
    }
    let file = bank.folder().join("uses.jsonl");
    std::fs::write(&file, text).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    let from = "/api/v1/what-if/enforced?from=2026-01-01T00:00:00Z&project=chemistry";
    row_by_row(&bank, from, 3);
    row_by_row(&bank, "/api/v1/what-if?project=chemistry", 3);
    row_by_row(&bank, "/api/v1/unmapped?by=account", 3);
    let unmapped = bank.json(&["unmapped", "--by", "account"]);
    assert_eq!(unmapped["items"].as_array().unwrap().len(), 3, "{unmapped}");
}

#[test]
fn who_ran_on_a_fallback_comes_page_by_page() {
    let documents = Documents::own();
    let bank = Setup::new()
        .chemistry(100)
        .env("BANKD_FALLBACK_MODE", "bank")
        .start();
    bank.bank_ok(&["machine", "set", "colony", "--fallback", "freecycle"]);
    for job in ["Moab.1", "Moab.2", "Moab.3"] {
        let reserve = documents.with(3, &[("Moab.1024", job)]);
        bank.script("reserve", &reserve).expect(0, "");
    }
    row_by_row(&bank, "/api/v1/report/fallback", 3);
    let report = bank.json(&["report", "fallback"]);
    assert_eq!(report["items"].as_array().unwrap().len(), 3, "{report}");
    assert!(report["next"].is_null());
}
