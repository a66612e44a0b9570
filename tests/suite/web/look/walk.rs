//! Every page of the table of pages, as each of the six roles.

use std::collections::{BTreeSet, VecDeque};

use bankd_web::rows;

use super::axe::Axe;
use super::seen::{everywhere, night, telephone};
use super::site::{PEOPLE, Site};
use crate::harness::{Browser, Page, View};

/// Where a walk begins: the first screen, and a project whose money is spent.
const STARTS: [&str; 3] = [
    "/",
    "/projects/climate-ocean",
    "/projects/climate-ocean/statement",
];

/// The pages of the table.
fn pages() -> BTreeSet<&'static str> {
    let all = rows().into_iter();
    let shown = all.filter(|row| row.method == "GET" && !is_file(row.path));
    shown.map(|row| row.path).collect()
}

/// Whether a row has a file and no page: a picture, or data.
fn is_file(path: &str) -> bool {
    path.rsplit('/').next().unwrap().contains('.')
}

/// The page that answers for a path: the one with the most fixed parts.
pub(super) fn pattern(path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split('/').collect();
    let fits = |pattern: &&str| {
        let own: Vec<&str> = pattern.split('/').collect();
        own.len() == parts.len()
            && own
                .iter()
                .zip(&parts)
                .all(|(own, part)| own.starts_with('{') || own == part)
    };
    pages()
        .into_iter()
        .filter(fits)
        .min_by_key(|pattern| pattern.matches('{').count())
}

/// A name for files.
fn named(person: &str, path: &str) -> String {
    let path = path.trim_matches('/').replace(['/', '{', '}'], "_");
    format!("{person}-{}", if path.is_empty() { "first" } else { &path })
}

struct Walk<'a> {
    site: &'a Site,
    axe: Option<Axe>,
    /// Pages that somebody has looked at in every width.
    known: BTreeSet<&'static str>,
    findings: Vec<String>,
}

impl Walk<'_> {
    /// Follows links from the first screen until every kind of page was open once.
    fn all_of(&mut self, page: &mut Page<'_>, person: &str) -> BTreeSet<&'static str> {
        let mut open: VecDeque<String> = VecDeque::from(STARTS.map(str::to_owned));
        let mut seen = BTreeSet::new();
        while let Some(target) = open.pop_front() {
            let path = target.split(['?', '#']).next().unwrap();
            let Some(kind) = pattern(path).filter(|kind| !seen.contains(kind)) else {
                continue;
            };
            seen.insert(kind);
            self.site.open(page, person, &target);
            let status = page.status();
            if status != 200 {
                self.findings.push(format!("{person} {target}: {status}"));
            }
            let links = page.eval(
                "[...document.querySelectorAll('a[href^=\"/\"]')].map(a => a.getAttribute('href'))",
            );
            let links = links.as_array().unwrap().iter();
            open.extend(links.map(|link| link.as_str().unwrap().to_owned()));
            self.look(page, person, kind);
        }
        seen
    }

    /// Those with more rights came before: what is known is looked at again on first screens, and on the page of a
    /// project by its investigator.
    fn look(&mut self, page: &mut Page<'_>, person: &str, kind: &'static str) {
        let is_first = kind == "/" || (person, kind) == ("hartmann", "/projects/{name}");
        if !self.known.insert(kind) && !is_first {
            return;
        }
        let name = named(person, kind);
        everywhere(page, &name, &mut self.findings);
        self.barriers(page, &name);
    }

    fn barriers(&mut self, page: &mut Page<'_>, name: &str) {
        let Some(axe) = &self.axe else {
            return;
        };
        for (time, view) in [
            ("day", View::WIDE),
            ("night", night()),
            ("telephone", telephone()),
        ] {
            page.resize(view);
            let barriers = axe.barriers(page).into_iter();
            self.findings
                .extend(barriers.map(|barrier| format!("{name} by {time}: {barrier}")));
        }
    }
}

#[test]
fn every_page_is_looked_at_as_each_role() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let site = Site::demo();
    let mut walk = Walk {
        site: &site,
        axe: Axe::installed(),
        known: BTreeSet::new(),
        findings: Vec::new(),
    };
    let mut page = browser.page(View::WIDE);
    let mut reached = BTreeSet::new();
    for person in PEOPLE {
        reached.extend(walk.all_of(&mut page, person));
    }
    for missing in pages().difference(&reached) {
        walk.findings
            .push(format!("no link leads anybody to {missing}"));
    }
    let findings = walk.findings;
    assert!(
        findings.is_empty(),
        "{} findings:\n{}",
        findings.len(),
        findings.join("\n")
    );
}

/// Without data, and with addresses that show nothing.
#[test]
fn empty_and_refused_pages_look_like_pages() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let site = Site::empty();
    let mut page = browser.page(View::WIDE);
    site.open_as_founder(&mut page, "/");
    let mut walk = Walk {
        site: &site,
        axe: Axe::installed(),
        known: BTreeSet::new(),
        findings: Vec::new(),
    };
    let refused = [
        "/nosuch",
        "/projects/nosuch",
        "/?at=soon",
        "/my-usage?zone=Mars",
        "/jobs?after=nonsense",
    ];
    let all = pages().into_iter().filter(|path| !path.contains('{'));
    for target in all.chain(refused) {
        site.go(&mut page, target);
        let is_refused = refused.contains(&target);
        assert_eq!(page.status() >= 400, is_refused, "{target}");
        let name = named(
            if is_refused { "refused" } else { "empty" },
            &target.replace(['?', '='], "_"),
        );
        everywhere(&mut page, &name, &mut walk.findings);
        walk.barriers(&mut page, &name);
        if is_refused && target.contains("t=soon") | target.contains("Mars") {
            assert_eq!(
                page.eval("document.querySelectorAll('[aria-invalid=true]').length"),
                1,
                "{target}"
            );
        }
        let empty = page.text("[...document.querySelectorAll('.empty')].filter(e => e.textContent.length < 12).join()");
        assert_eq!(empty, "", "{target}");
        begins(&mut page, target);
    }
    for target in ["/login", "/login/link?code=bl_nonsense"] {
        page.ask("Network.clearBrowserCookies", &serde_json::json!({}));
        site.go(&mut page, target);
        let name = named("out", &target.replace(['?', '='], "_"));
        everywhere(&mut page, &name, &mut walk.findings);
        walk.barriers(&mut page, &name);
    }
    let findings = walk.findings;
    assert!(
        findings.is_empty(),
        "{} findings:\n{}",
        findings.len(),
        findings.join("\n")
    );
}

/// An empty page has one box, whose words fit what the address asks for.
fn begins(page: &mut Page<'_>, target: &str) {
    let text = page.text("document.querySelector('main').innerText");
    let expected = match target {
        "/operations" => "No job is charged yet",
        "/jobs" => "There is no job yet.",
        "/statements" => "There is no account yet",
        "/usage" | "/waiting" | "/utilization" => {
            let boxes = page.eval("document.querySelectorAll('.empty, .absent').length");
            assert_eq!(boxes, 1, "{target}");
            return;
        }
        _ => return,
    };
    assert!(text.contains(expected), "{target}: {text}");
    assert!(!text.contains("Nothing is wrong"), "{target}: {text}");
}

/// Reading on the move: the first screen of a user with its style, script and picture, on a new telephone.
#[test]
fn the_first_screen_of_a_user_is_small() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let site = Site::demo();
    let mut page = browser.page(telephone());
    site.open(&mut page, "amy", "/");
    let bytes = page.received();
    assert!(bytes > 5_000 && bytes < 60_000, "{bytes} bytes");
    assert_eq!(
        page.eval("document.querySelector('table').getBoundingClientRect().top < innerHeight"),
        true
    );
}
