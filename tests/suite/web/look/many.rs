//! A bank with 2,000 projects and 10,000 jobs, and one with none: on a telephone, in parts, with few bytes.

use std::fmt::Write as _;

use super::super::browser::bank;
use super::seen::{everywhere, telephone};
use super::{heading, open, open_as};
use crate::harness::{Bank, Browser, Page, Request, T0};

const PROJECTS: usize = 2000;
const JOBS: usize = 10_000;

/// Pages with a list that goes on, and a report, which sums up its small rows.
const LISTS: [&str; 3] = ["/", "/projects", "/jobs"];
const REPORT: &str = "/usage?by=project";

/// Projects with money, whose jobs are imported.
const PAYING: usize = 20;

/// A bank in which amy is a member of every project.
fn many() -> Bank {
    let bank = bank();
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    for project in 0..PROJECTS {
        let body = format!("{{\"name\": \"project-{project}\", \"members\": [\"amy\"]}}");
        let request = Request {
            method: "POST",
            body: body.into_bytes(),
            ..Request::get("/api/v1/projects")
        };
        let request = request
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", &format!("project-{project}"));
        let answer = bank.over_socket(&request);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    for project in 0..PAYING {
        bank.bank_ok(&["deposit", &format!("project-{project}"), "10000000"]);
    }
    bank.set_clock(T0 + 86_400);
    let mut text =
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n".to_owned();
    for job in 0..JOBS {
        let (project, minute) = (job % PAYING, job % 60);
        writeln!(
            text,
            "{job}|colony|amy|project-{project}|COMPLETED|0:0|2025-12-31T00:00:00|\
             2025-12-31T01:{minute:02}:00|2025-12-31T02:{minute:02}:00|1|2"
        )
        .unwrap();
    }
    let file = bank.folder().join("jobs.sacct");
    std::fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let printed = bank.bank_ok(&["import", "sacct", path, "--source", "slurm:colony"]);
    assert!(bank.items(&["jobs"]).len() > 1, "{printed}");
    bank
}

/// The first words of each row.
fn shown(page: &mut Page<'_>) -> Vec<String> {
    let rows = page.eval(
        "[...document.querySelectorAll('main tbody tr')].map(row => row.children[0].textContent.trim())",
    );
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row.as_str().unwrap().to_owned()).collect()
}

#[test]
fn ten_thousand_rows_come_in_parts() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut bank = many();
    let mut page = browser.page(telephone());
    let mut findings = Vec::new();
    for person in ["amy", "chief"] {
        open_as(&mut page, &bank, person, "/jobs");
        for target in LISTS.into_iter().chain([REPORT]) {
            page.resize(telephone());
            page.ask("Network.clearBrowserCache", &serde_json::json!({}));
            open(&mut page, &bank, target);
            let name = format!(
                "many-{person}-{}",
                target.trim_matches('/').replace(['?', '='], "_")
            );
            let (bytes, status) = (page.received(), page.status());
            let most = if target == "/" && person == "amy" {
                60_000
            } else {
                120_000
            };
            if status != 200 || bytes > most {
                findings.push(format!("{name}: status {status}, {bytes} bytes"));
            }
            everywhere(&mut page, &name, &mut findings);
            let first = shown(&mut page);
            if target == REPORT {
                if first.is_empty() {
                    findings.push(format!("{name}: no rows"));
                }
                continue;
            }
            let next = "[...document.querySelectorAll('main a')].find(a => a.textContent.includes('Next rows'))";
            if page.eval(&format!("!!({next})")) != true {
                findings.push(format!("{name}: no next rows after {} rows", first.len()));
                continue;
            }
            page.navigates(|page| {
                page.eval(&format!("{next}.click()"));
            });
            let second = shown(&mut page);
            if page.status() != 200 || second.is_empty() || second == first {
                findings.push(format!(
                    "{name}: {} after {first:?} comes {second:?}",
                    heading(&mut page)
                ));
            }
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    bank.verify();
}
