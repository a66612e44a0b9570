//! A page for each person: what is on it, with whose rights, who gets it, and once each.

mod once;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::scheduled::{ARCHIVE, DAY, add, is_idle, until_defined};
use crate::auth::token::token;
use crate::harness::{Bank, Request, Setup, T0, until};

/// The mail program of the tests: each mail is a file with a number, complete when it has its name.
const MAILER: &str = "#!/bin/sh\ncd \"$(dirname \"$0\")/mails\" || exit 1\ncat > \".new.$$\"\n\
    mv \".new.$$\" \"mail.$$\"\n";
const MAIL: &str = "\n[[deliver]]\nname = \"mail\"\nby = \"sendmail\"\ncommand = [\"FOLDER/mailer\"]\n\
    from = \"bank@hpc.example\"\nstaff = [\"ops@hpc.example\"]\nretry_s = 1\nretry_max_s = 1\n";

/// Definitions with a page for each person.
fn personal(each: &str, deliver: &str, more: &str) -> String {
    format!(
        "{ARCHIVE}{MAIL}\n[[scheduled_report]]\nname = \"page\"\nreport = \"personal\"\neach = \"{each}\"\n\
         deliver = {deliver}\n{more}"
    )
}

/// Two projects with a PI each: amy of chemistry, where carol is a manager and dave a member, and eve of
/// physics. Carol and dave have no mail address.
fn world(toml: &str) -> Bank {
    let env = ("BANKD_LEDGER_MAX_DOWNTIME_S", "315360000");
    let env = vec![(env.0.to_owned(), env.1.to_owned())];
    let mut bank = Bank::initialized(env, T0, &["--precision", "3", "--unit", "SU"]);
    fs::create_dir(bank.folder().join("out")).unwrap();
    fs::create_dir(bank.folder().join("mails")).unwrap();
    let mailer = bank.folder().join("mailer");
    fs::write(&mailer, MAILER).unwrap();
    fs::set_permissions(&mailer, fs::Permissions::from_mode(0o755)).unwrap();
    add(&bank, toml);
    bank.start();
    for line in [
        "rate set VBR Processors 1 --per hour",
        "machine add colony",
        "machine add moon",
        "user add amy --email amy@uni.example",
        "user add carol",
        "user add dave",
        "user add eve --email eve@lab.example",
        "project add physics --members eve",
        "project add chemistry --members amy,carol,dave",
        "deposit chemistry 100000",
        "project members role chemistry amy pi",
        "project members role chemistry carol manager",
        "project members role physics eve pi",
        "deposit physics 777777",
        "hardware add xeon -m colony --processors 100 --nodes 1 --from 2025-01-01",
        "contributor add amylab -A chemistry -u amy",
        "contributor add evelab -A physics -u eve",
        "contribution add amylab 60 --from 2025-01-01",
        "contribution add evelab 20 --from 2025-01-01",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        bank.bank_ok(&words);
    }
    bank.set_clock(T0 + 10 * DAY);
    charge(&bank, "101", "chemistry", "amy", 36_000);
    charge(&bank, "102", "chemistry", "dave", 7_200);
    charge(&bank, "903", "physics", "eve", 18_000);
    bank
}

/// Bills so many seconds of one processor, that end now.
fn charge(bank: &Bank, job: &str, project: &str, user: &str, seconds: i64) {
    let wall = seconds.to_string();
    let words = ["charge", job, "--procs", "1", "--wall", &wall];
    bank.bank_ok(&[&words[..], &["-A", project, "-u", user, "-m", "colony"]].concat());
}

fn file(bank: &Bank, name: &str) -> PathBuf {
    bank.folder().join("out").join(name)
}

fn text(bank: &Bank, name: &str) -> String {
    until(name, || fs::read_to_string(file(bank, name)).ok())
}

/// The mails, by their recipients.
fn mails(bank: &Bank) -> Vec<(String, String)> {
    let entries = fs::read_dir(bank.folder().join("mails")).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let there = entries.filter(|path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("mail.")
    });
    let mut found: Vec<(String, String)> = there
        .map(|path| {
            let mail = fs::read_to_string(path).unwrap();
            let to = mail
                .lines()
                .find_map(|line| line.strip_prefix("To: "))
                .unwrap();
            (to.to_owned(), mail.clone())
        })
        .collect();
    found.sort();
    found
}

/// The parts of a mail: media type and text.
fn parts(mail: &str) -> Vec<(String, String)> {
    let parts = mail.split("Content-Type: text/").skip(1);
    let decoded = parts.map(|part| {
        let (head, body) = part.split_once("base64\n\n").unwrap();
        let body: String = body
            .lines()
            .take_while(|line| !line.starts_with("--"))
            .collect();
        let text = String::from_utf8(STANDARD.decode(body).unwrap()).unwrap();
        (head.split(';').next().unwrap().to_owned(), text)
    });
    decoded.collect()
}

fn is_complete(bank: &Bank, period: &str) -> Value {
    until_defined(bank, "page", |one| {
        let runs = one["runs"].as_array().unwrap();
        let mut made = runs.iter().filter(|run| run["state"] == "made");
        made.any(|run| run["period"] == period)
    })
}

/// The amounts of a page by section, row and column.
fn figure(page: &[Value], section: &str, row: &str, column: &str) -> String {
    let found = page
        .iter()
        .find(|one| one["section"] == section && one["row"] == row && one["column"] == column);
    let found = found.unwrap_or_else(|| panic!("{section}, {row}, {column}: {page:?}"));
    found["value"].as_str().unwrap().to_owned()
}

fn rows(csv: &str) -> Vec<Value> {
    let lines = csv.lines().skip(1);
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        // Amounts have no comma, and of the heads only the last one.
        let value = cells.last().unwrap();
        let column = cells[2..cells.len() - 1].join(",").replace('"', "");
        serde_json::json!({"section": cells[0], "row": cells[1], "column": column, "value": value})
    };
    lines.map(row).collect()
}

const MONTH: [&str; 2] = ["--month", "2026-01"];

#[test]
fn every_pi_gets_a_page_of_their_own_projects_and_the_staff_a_summary() {
    let mut bank = world(&personal("user", "[\"archive\", \"mail\"]", ""));
    bank.set_clock(T0 + 31 * DAY);
    let defined = is_complete(&bank, "2026-01");
    is_idle(&bank);
    // Pages of people without a contributor ask for nothing that they may not see.
    assert!(!bank.log().contains("access refused"), "{}", bank.log());
    // A folder for each, with the page; the summary is beside them.
    for name in ["amy", "carol", "dave", "eve"] {
        let page = text(&bank, &format!("{name}/page-2026-01.html"));
        assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
        assert!(page.contains(&format!("Personal report: {name}")), "{page}");
        for (other, words) in [
            ("eve", ["physics", "evelab"]),
            ("amy", ["chemistry", "amylab"]),
        ] {
            let is_own = (name == "eve") == (other == "eve");
            let has = page.contains(words[0]);
            assert_eq!(has, is_own, "{name}: {page}");
            let owns = name == other;
            assert_eq!(page.contains(words[1]), owns, "{name}: {page}");
        }
    }
    // A member sees no other member, a leader sees all.
    let of = |name: &str| text(&bank, &format!("{name}/page-2026-01.html"));
    assert!(!of("dave").contains(">amy<") && of("dave").contains("(not shown)"));
    assert!(of("amy").contains(">dave<") && of("carol").contains(">dave<"));
    assert!(of("amy").contains("Subscription and contribution"));
    // By mail: a text and a page to those with an address, to nobody else.
    let mails = mails(&bank);
    let to: Vec<&str> = mails.iter().map(|(to, _)| to.as_str()).collect();
    assert_eq!(
        to,
        ["amy@uni.example", "eve@lab.example", "ops@hpc.example"]
    );
    for ((_, mail), name) in mails.iter().zip(["amy", "eve"]) {
        assert!(
            mail.contains("\nContent-Type: multipart/alternative;"),
            "{mail}"
        );
        assert!(!mail.contains("Bcc"), "{mail}");
        let parts = parts(mail);
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert!(
            parts[0].0 == "plain"
                && parts[0]
                    .1
                    .starts_with(&format!("Personal report: {name}\n"))
        );
        assert_eq!(parts[1], ("html".to_owned(), of(name)));
    }
    let summary = &parts(&mails[2].1)[0].1;
    assert_eq!(*summary, text(&bank, "page-2026-01.txt"));
    for part in [
        "People: 4. Not delivered: 2.\n",
        "\n  carol: no mail address\n",
        "\n  dave: no mail address\n",
        "\n  amy: amy@uni.example\n",
        "bank report run page --period 2026-01 --for USER",
    ] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    let run = &defined["runs"][0];
    assert_eq!(run["people"], 4);
    assert_eq!(run["problems"][0]["person"], "carol");
    assert_eq!(run["problems"][1]["reason"], "no mail address");
    let screen = bank.bank_ok(&["report", "scheduled", "--csv"]);
    assert!(
        screen.contains("no page for carol (no mail address)"),
        "{screen}"
    );
    bank.verify();
}

#[test]
fn the_figures_are_those_of_the_reports() {
    let mut bank = world(&personal("pi", "[\"archive\"]", "form = \"csv\"\n"));
    charge(&bank, "104", "chemistry", "carol", 3_600);
    bank.bank_ok(&["refund", "102"]);
    bank.set_clock(T0 + 31 * DAY);
    is_complete(&bank, "2026-01");
    let page = rows(&text(&bank, "amy/page-2026-01.csv"));
    let statement = bank.json(&["statement", "chemistry", "--month", "2026-01", "--summary"]);
    let unit = statement["unit"].as_str().unwrap();
    let of = |row: &str| figure(&page, "Statement of chemistry", row, unit);
    assert_eq!(of("Opening amount"), statement["opening"].as_str().unwrap());
    assert_eq!(of("Closing amount"), statement["closing"].as_str().unwrap());
    assert_eq!(of("Available"), statement["available"].as_str().unwrap());
    for side in ["credits", "debits"] {
        for group in statement[side].as_array().unwrap() {
            let heading = group["heading"].as_str().unwrap().replace('_', " ");
            assert_eq!(of(&heading), group["amount"].as_str().unwrap());
        }
    }
    let words = ["usage", "chemistry", "--by", "project,user"];
    let usage = bank.json(&[&words[..], &MONTH].concat());
    let charged = format!("charged, {unit}");
    for row in usage["rows"].as_array().unwrap() {
        let name = format!("chemistry {}", row["keys"]["user"].as_str().unwrap());
        let of = |column: &str| figure(&page, "Usage of members", &name, column);
        assert_eq!(of("core-hours"), row["core_hours"].as_str().unwrap());
        assert_eq!(of("jobs"), row["jobs"].as_str().unwrap());
        assert_eq!(of(&charged), row["charged"].as_str().unwrap());
    }
    let total = figure(&page, "Usage of members", "total", "core-hours");
    assert_eq!(total, usage["total"]["core_hours"].as_str().unwrap());
    let words = ["report", "contribution"];
    let shares = bank.json(&[&words[..], &MONTH].concat());
    let rows = shares["periods"][0]["rows"].as_array().unwrap();
    let own = rows.iter().find(|row| row["group"] == "amylab").unwrap();
    assert!(!own["subscription"].as_str().unwrap().is_empty());
    let of = |column: &str| {
        let row = format!("amylab {}", own["subscription"].as_str().unwrap());
        figure(&page, "Subscription and contribution", &row, column)
    };
    assert_eq!(of("usage"), own["usage"].as_str().unwrap());
    assert_eq!(of("contribution"), own["contribution"].as_str().unwrap());
    let ahead = bank.items(&["report", "forecast", "-A", "chemistry"]);
    let available = format!("available, {unit}");
    assert_eq!(
        figure(&page, "Forecast", "chemistry", &available),
        ahead[0]["available"].as_str().unwrap()
    );
    bank.verify();
}

#[test]
fn a_person_and_an_administrator_get_the_same_page() {
    let mut bank = world("");
    bank.bank_ok(&["role", "grant", "amy", "auditor"]);
    let words = ["report", "personal", "--month", "2026-01", "--json"];
    let of = |name: &str| bank.bank_ok(&[&words[..], &["--user", name]].concat());
    let amy = token(&bank, "amy", &["--role", "user", "--client", "amy"]);
    let dave = token(&bank, "dave", &["--role", "user", "--client", "dave"]);
    let own = |token: &str, more: &[&str]| {
        bank.bank_as(&[("BANK_TOKEN", token)], &[&words[..], more].concat())
    };
    let mine: Value = serde_json::from_str(&own(&dave, &["--user", "dave"]).stdout).unwrap();
    let theirs: Value = serde_json::from_str(&of("dave")).unwrap();
    assert_eq!(mine, theirs);
    assert_eq!(mine["statements"][0]["name"], "chemistry");
    assert!(mine["contribution"].is_null());
    let page = bank.bank_ok(&["report", "personal", "--month", "2026-01", "--user", "dave"]);
    assert!(page.starts_with("Personal report: dave\n"), "{page}");
    assert!(
        page.lines().all(|line| line.chars().count() <= 80),
        "{page}"
    );
    let mut nameless: Value = serde_json::from_str(&own(&dave, &[]).stdout).unwrap();
    nameless["user"] = "dave".into();
    assert_eq!(nameless, mine);
    // Roles over the whole bank do not count: the page has the person's own projects.
    let page: Value = serde_json::from_str(&of("amy")).unwrap();
    assert_eq!(page["statements"].as_array().unwrap().len(), 1);
    assert_eq!(
        page["contribution"]["periods"][0]["rows"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(page["contribution"]["periods"][0]["all"]["usage"], "");
    assert!(!page.to_string().contains("physics"), "{page}");
    // Somebody else's page needs more.
    for (token, user) in [(&dave, "amy"), (&amy, "eve"), (&dave, "nobody")] {
        let ran = own(token, &["--user", user]);
        assert_eq!(ran.exit, 6, "{}{}", ran.stdout, ran.stderr);
        assert!(!ran.stderr.contains("physics"), "{}", ran.stderr);
    }
    let unknown = bank.bank(&[&words[..], &["--user", "nobody"]].concat());
    assert_eq!(unknown.exit, 4, "{}", unknown.stderr);
    // Only of queries, and once.
    let get = |target: &str| bank.over_socket(&Request::get(target));
    assert_eq!(get("/api/v1/projects?view_as=amy&view_as=eve").status, 400);
    let seen = get("/api/v1/projects?limit=10&view_as=eve").text();
    assert!(
        seen.contains("physics") && !seen.contains("chemistry"),
        "{seen}"
    );
    assert_eq!(get("/api/v1/accounts/physics?view_as=amy").status, 404);
    assert_eq!(get("/api/v1/report/priority?view_as=amy").status, 403);
    assert_eq!(get("/api/v1/keys?view_as=amy").status, 403);
    let post = Request {
        method: "POST",
        body: b"{\"name\": \"chemistry\", \"amount\": \"1\"}".to_vec(),
        ..Request::get("/api/v1/deposits?view_as=amy")
    };
    let post = post
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", "k");
    assert_eq!(bank.over_socket(&post).status, 400);
    bank.verify();
}

#[test]
fn the_letter_of_a_week_has_requested_and_used_resources() {
    let toml = "\n[[scheduled_report]]\nname = \"page\"\nreport = \"efficiency-letter\"\neach = \"user\"\n\
        every = \"weekly\"\ndeliver = [\"archive\"]\nform = \"csv\"\n";
    let mut bank = world(&format!("{ARCHIVE}{toml}"));
    bank.stop();
    let settings = bank.data().join("bankd.toml");
    let text_of = fs::read_to_string(&settings).unwrap();
    let own = "[report]\nwatts = \"12.5\"\nco2_g_per_kwh = \"380\"";
    fs::write(&settings, text_of.replace("[report]", own)).unwrap();
    bank.start();
    bank.bank_ok(&["user", "add", "frank"]);
    bank.bank_ok(&["project", "members", "add", "physics", "frank"]);
    // 2026-01-05 is a Monday.
    let lines = [
        r#"{"source":"sge:moon","id":"1","machine":"moon","project":"chemistry","user":"amy","processors":8,"start":"2026-01-06T00:00:00Z","end":"2026-01-06T02:00:00Z","requested_s":14400,"cpu_s":28800,"state":"completed"}"#,
        r#"{"source":"sge:moon","id":"2","machine":"moon","project":"physics","user":"eve","processors":4,"start":"2026-01-06T00:00:00Z","end":"2026-01-06T01:00:00Z","cpu_s":3600,"state":"completed"}"#,
    ];
    let path = bank.folder().join("usage.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", path.to_str().unwrap()]);
    bank.set_clock(T0 + 11 * DAY);
    is_complete(&bank, "2026-W02");
    is_idle(&bank);
    let week = ["--from", "2026-01-05", "--to", "2026-01-12"];
    let words = ["report", "efficiency", "--group-by", "user"];
    let whole = bank.json(&[&words[..], &week].concat());
    let amy = whole["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["group"] == "amy")
        .unwrap();
    let page = rows(&text(&bank, "amy/page-2026-W02.csv"));
    for (section, column, key) in [
        ("Requested and used", "jobs", "uses"),
        ("Requested and used", "held, h", "hours"),
        ("Requested and used", "requested, h", "requested_hours"),
        ("Requested and used", "busy, h", "cpu_hours"),
        ("Energy and possible savings", "kWh", "energy_kwh"),
        ("Energy and possible savings", "CO2, kg", "co2_kg"),
        ("Energy and possible savings", "idle, h", "idle_hours"),
        (
            "Energy and possible savings",
            "idle, kWh",
            "idle_energy_kwh",
        ),
        (
            "Energy and possible savings",
            "idle, CO2, kg",
            "idle_co2_kg",
        ),
    ] {
        let expected = amy[key].to_string().replace('"', "");
        assert_eq!(figure(&page, section, "amy", column), expected, "{column}");
    }
    // 16 processor-hours, 8 of them busy: 8 h × 12.5 W = 0.1 kWh, × 380 g = 0.038 kg.
    assert_eq!(amy["idle_hours"], "8.00");
    assert_eq!(
        (&amy["idle_energy_kwh"], &amy["idle_co2_kg"]),
        (&"0.100".into(), &"0.038".into())
    );
    let names = text(&bank, "amy/page-2026-W02.csv");
    assert!(!names.contains("eve"), "{names}");
    // Nothing was used: no letter, and no problem.
    assert!(!file(&bank, "frank").exists());
    assert!(text(&bank, "page-2026-W02.txt").contains("frank: nothing to report"));
    let screen =
        bank.bank_ok(&[&["report", "efficiency-letter", "--user", "amy"][..], &week].concat());
    assert!(
        screen.contains("Possible savings: 8.00 processor-hours, 0.100 kWh, 0.038 kg of CO2."),
        "{screen}"
    );
    bank.verify();
}

#[test]
fn definitions_that_can_never_work_are_refused() {
    for (toml, message) in [
        ("report = \"personal\"", "each: missing"),
        (
            "report = \"usage\"\neach = \"pi\"",
            "each: usage covers the whole bank",
        ),
        ("report = \"personal\"\neach = \"boss\"", "boss"),
        (
            "report = \"personal\"\neach = \"pi\"\noptions = [\"--user\", \"amy\"]",
            "options: --user",
        ),
        (
            "report = \"personal\"\neach = \"pi\"\noptions = [\"--nonsense\"]",
            "nonsense",
        ),
        (
            "report = \"personal\"\neach = \"pi\"\npeople_max = 0",
            "people_max",
        ),
        (
            "report = \"personal\"\neach = \"pi\"\nform = \"svg\"",
            "svg",
        ),
    ] {
        let mut bank = Setup::new().start();
        bank.stop();
        fs::create_dir(bank.folder().join("out")).unwrap();
        let head =
            format!("{ARCHIVE}\n[[scheduled_report]]\nname = \"page\"\ndeliver = [\"archive\"]\n");
        add(&bank, &format!("{head}{toml}\n"));
        assert!(!bank.start_with(&[]), "{toml}");
        assert!(bank.log().contains(message), "{toml}: {}", bank.log());
    }
}
