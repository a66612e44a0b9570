//! `bankd demo --web`: its bank adds up, verifies, and has something on the first screens of each role.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use bank_api::text::percent_encode;
use serde_json::{Value, json};

use crate::harness::{Address, Ran, Request, exchange, programs};

/// A demo that serves; it ends with this.
struct Demo {
    child: Child,
    folder: tempfile::TempDir,
    printed: String,
    lines: BufReader<ChildStdout>,
}

/// What it prints up to its last line.
fn until_links(lines: &mut BufReader<ChildStdout>) -> String {
    let mut printed = String::new();
    while !printed.contains("\nEnter prints new links.") {
        let read = lines.read_line(&mut printed).unwrap();
        assert!(read > 0, "the demo ended: {printed}");
    }
    printed
}

impl Demo {
    /// Starts it, and waits until it has printed its links.
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(programs().bankd())
            .args(["demo", "--web", "--data"])
            .arg(folder.path().join("bank"))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            folder,
            printed: until_links(&mut lines),
            lines,
        }
    }

    /// The links of the last output, in its order.
    fn links(&self) -> Vec<(&str, &str)> {
        let link = self.printed.lines().filter_map(|line| {
            let (place, code) = line.trim().split_once("/login/link?code=")?;
            Some((place.strip_prefix("http://")?, code))
        });
        link.collect()
    }

    /// Presses Enter.
    fn enter(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.printed = until_links(&mut self.lines);
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("bank")
    }

    fn ask(&self, request: &Request) -> Value {
        let socket = Address::Unix(self.data().join("bankd.sock"));
        let answer = exchange(&socket, request).unwrap();
        let text = answer.text();
        assert!(
            (200..300).contains(&answer.status),
            "{}: {text}",
            request.target
        );
        serde_json::from_str(&text).unwrap()
    }

    fn get(&self, target: &str) -> Value {
        self.ask(&Request::get(&format!("/api/v1/{target}")))
    }

    /// The rows that a client with one role over the bank gets.
    fn rows_as(&self, role: &str, target: &str) -> usize {
        let body = json!({"id": format!("{role}-{}", target.len()), "client": "demo", "roles": [role],
            "valid_until": "2999-01-01T00:00:00Z"});
        let mut request = Request::get("/api/v1/tokens")
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", &format!("{role}{target}"));
        (request.method, request.body) = ("POST", body.to_string().into_bytes());
        let secret = self.ask(&request)["secret"].as_str().unwrap().to_owned();
        let request = Request::get(&format!("/api/v1/{target}"));
        let answer = self.ask(&request.header("Authorization", &format!("Bearer {secret}")));
        answer["items"].as_array().unwrap().len()
    }

    /// Stops it, and verifies its bank.
    fn end(mut self) {
        let pid = self.child.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert!(killed.success());
        assert!(self.child.wait().unwrap().success());
        let ran = bankd(&["verify", "--data"], &self.data());
        assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bankd(words: &[&str], folder: &Path) -> Ran {
    Ran::of(
        Command::new(programs().bankd()).args(words).arg(folder),
        b"",
    )
}

fn minor(value: &Value) -> i128 {
    let text = value.as_str().unwrap();
    let (whole, cents) = text.split_once('.').unwrap();
    format!("{whole}{cents}").parse().unwrap()
}

/// The sums of all statements by heading, each of which agrees with its balance.
fn headings(demo: &Demo) -> (i128, BTreeMap<String, i128>) {
    let mut all = BTreeMap::new();
    let mut total = 0;
    for balance in demo.get("balances")["items"].as_array().unwrap() {
        let mut name = String::new();
        percent_encode(balance["account"].as_str().unwrap(), &mut name);
        let statement = demo.get(&format!("statements?account={name}"));
        let mut sum = minor(&statement["opening"]);
        for side in ["credits", "debits"] {
            for row in statement[side].as_array().unwrap() {
                let heading = row["heading"].as_str().unwrap().to_owned();
                let amount = minor(&row["amount"]);
                sum += amount;
                *all.entry(heading).or_insert(0) += amount;
            }
        }
        assert_eq!(sum, minor(&statement["closing"]), "{statement}");
        assert_eq!(sum, minor(&balance["amount"]), "{balance}");
        total += sum;
    }
    (total, all)
}

#[test]
fn a_demo_bank_adds_up_and_has_work_for_each_role() {
    let demo = Demo::start();
    let (total, all) = headings(&demo);
    let of = |heading: &str| all.get(heading).copied().unwrap_or(0);
    assert_eq!(of("transfers_in") + of("transfers_out"), 0, "{all:?}");
    assert_eq!(total, all.values().sum::<i128>(), "{all:?}");
    // A year of a centre of this size, and corrections in it.
    assert!(of("deposits") > 300_000_000, "{all:?}");
    assert!(
        of("charges") < -150_000_000 && of("charges") > -400_000_000,
        "{all:?}"
    );
    assert!(of("refunds") > 0 && of("expiries") < 0, "{all:?}");
    let rows = |target: &str| demo.get(target)["items"].as_array().unwrap().len();
    for (target, least) in [
        ("balances?view_as=amy", 2),
        ("jobs?view_as=amy", 50),
        ("liens?view_as=amy&state=open", 2),
        ("report/forecast?view_as=hartmann", 5),
        ("projects/climate-ocean/members?view_as=hartmann", 3),
        ("projects?view_as=mona", 13),
        ("proposals", 1),
        ("unmapped", 1),
        ("report/negative", 1),
        ("report/fallback", 1),
        ("closes", 1),
        ("contributions", 2),
    ] {
        assert!(rows(target) >= least, "{target}: {}", rows(target));
    }
    for (role, target) in [
        ("scheduler", "sources"),
        ("auditor", "journal?limit=5"),
        ("auditor", "quarantine"),
        ("admin", "roles"),
        ("admin", "limits"),
    ] {
        assert!(demo.rows_as(role, target) > 0, "{role}: {target}");
    }
    let late = demo.get("sources/openstack%3Acirrus");
    assert_eq!(late["silent"], true, "{late}");
    for name in ["amy", "hartmann", "mona", "otto", "ada", "grace"] {
        assert!(demo.printed.contains(name), "{}", demo.printed);
    }
    demo.end();
}

/// Each link signs its person in once, and each page of their navigation opens.
#[test]
fn each_person_of_a_demo_signs_in_and_sees_pages() {
    let mut demo = Demo::start();
    let people = ["amy", "hartmann", "mona", "otto", "ada", "grace"];
    assert_eq!(demo.links().len(), people.len(), "{}", demo.printed);
    for (name, (place, code)) in people.iter().zip(demo.links()) {
        let place = Address::Tcp(place.to_owned());
        let mut sign_in = Request::get("/login/link");
        sign_in.method = "POST";
        sign_in.body = format!("code={code}").into_bytes();
        let sign_in = sign_in.header("Content-Type", "application/x-www-form-urlencoded");
        let answer = exchange(&place, &sign_in).unwrap();
        assert_eq!(answer.status, 303, "{}", answer.text());
        let cookie = answer.header("set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap();
        let open = |path: &str| {
            let answer = exchange(&place, &Request::get(path).header("Cookie", cookie)).unwrap();
            let text = answer.text();
            assert_eq!(answer.status, 200, "{name} {path}: {text}");
            text
        };
        let first = open("/");
        assert!(first.contains(name), "{first}");
        let nav = first.split("<nav").nth(1).unwrap();
        let nav = nav.split("</nav>").next().unwrap();
        let paths: Vec<&str> = nav.split("href=\"").skip(1).collect();
        assert!(paths.len() > 2, "{nav}");
        for path in paths {
            open(path.split('"').next().unwrap());
        }
        let again = exchange(&place, &sign_in).unwrap();
        assert!(again.text().contains("not valid"), "{}", again.text());
    }
    demo.enter();
    assert_eq!(demo.links().len(), people.len(), "{}", demo.printed);
    demo.end();
}

/// The folder of somebody's bank is not touched.
#[test]
fn a_demo_does_not_fill_an_existing_bank() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("bank");
    assert_eq!(bankd(&["init", "--data"], &data).exit, 0);
    let ran = bankd(&["demo", "--web", "--data"], &data);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    ran.expect_stderr(&["is there already"]);
    let ran = bankd(&["demo", "--data"], &data);
    assert_eq!(ran.exit, 2, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_demo_with_wrong_settings_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("bank");
    for (name, value) in [
        ("BANKD_WEB_EMBED_SITES", "https://www.example.org/path"),
        ("BANKD_NO_SUCHSETTING", "1"),
    ] {
        let ran = Command::new(programs().bankd())
            .args(["demo", "--web", "--data"])
            .arg(&data)
            .env(name, value)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(1), "{name}: {ran:?}");
        assert!(!data.exists(), "{name}: a part of a bank is left");
    }
}
