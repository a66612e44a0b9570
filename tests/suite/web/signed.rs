//! Signed addresses: the feed of notices, and pictures on other web sites.

use super::browser::{Browser, HEADER, address, ask, bank, with_settings};
use crate::harness::{Bank, Request, Response, Setup, T0};

const SITE: &str = "https://www.example.org";

/// A bank whose pictures one site may show, with a charged job of amy.
fn open() -> Bank {
    let bank = with_settings(&[("BANKD_WEB_EMBED_SITES", SITE)]);
    bank.bank_ok(&["deposit", "chemistry", "100000"]);
    let (start, end) = (T0 - 3600, T0);
    let job = format!(
        "<Job><JobID>1</JobID><User>amy</User><Account>chemistry</Account><Class>batch</Class>\
         <Processors>4</Processors><ChargeDuration>3600</ChargeDuration>\
         <StartTime>{start}</StartTime><EndTime>{end}</EndTime></Job>"
    );
    bank.script("end", job.as_bytes()).expect(0, "");
    bank.set_clock(T0 + 86_400);
    bank
}

/// The addresses in the attributes `src` that `bank web embed` prints: image and frame.
fn embed(bank: &Bank, page: &str) -> [String; 2] {
    let printed = bank.bank_ok(&["web", "embed", page]);
    let mut found = printed.split("src=\"").skip(1).map(|part| {
        let address = part.split('"').next().unwrap().replace("&amp;", "&");
        path(bank, &address)
    });
    [found.next().unwrap(), found.next().unwrap()]
}

/// An address without its origin.
fn path(bank: &Bank, url: &str) -> String {
    let origin = format!("http://{}", address(bank));
    url.strip_prefix(&origin)
        .unwrap_or_else(|| panic!("{url}"))
        .to_owned()
}

/// Asks without a session.
fn fetch(bank: &Bank, target: &str) -> Response {
    ask(bank, &Request::get(target))
}

#[test]
fn a_site_shows_every_picture_without_a_session() {
    let mut bank = open();
    for page in [
        "/projects/chemistry",
        "/usage?by=user&from=2025-12-01",
        "/waiting",
        "/utilization",
        "/contribution",
    ] {
        let [image, frame] = embed(&bank, page);
        let answer = fetch(&bank, &image);
        assert_eq!(answer.status, 200, "{page}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
        assert_eq!(answer.header("cache-control"), Some("public, max-age=300"));
        assert_eq!(
            answer.header("cross-origin-resource-policy"),
            Some("cross-origin")
        );
        let answer = fetch(&bank, &frame);
        assert_eq!(answer.status, 200, "{page}: {}", answer.text());
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains(&format!("frame-ancestors {SITE}")),
            "{policy}"
        );
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert_eq!(answer.header("x-frame-options"), None);
        assert!(answer.header("set-cookie").is_none());
        assert!(!answer.text().contains("<nav"), "{}", answer.text());
    }
    let [image, frame] = embed(&bank, "/usage?by=user&from=2025-12-01");
    for target in [image, frame] {
        assert!(fetch(&bank, &target).text().contains("amy"), "{target}");
    }
    bank.verify();
}

#[test]
fn nothing_in_a_signed_address_can_be_changed() {
    let mut bank = open();
    let [_, frame] = embed(&bank, "/usage?by=user");
    let before = "/embed/usage?by=user";
    assert!(frame.starts_with(before), "{frame}");
    for other in [
        frame.replace("by=user", "by=project"),
        frame.replace("&person=root", "&person=amy"),
        frame.replace("/embed/usage", "/embed/waiting"),
        frame.replace("&expires=", "&expires=9"),
        frame.replace(before, "/feed?by=user"),
        frame.replace("&signature=", "&signature=A"),
        format!("{frame}&at=2026-01-01"),
        before.to_owned(),
    ] {
        let answer = fetch(&bank, &other);
        assert_eq!(answer.status, 403, "{other}");
        assert!(answer.text().contains("was changed"), "{}", answer.text());
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
    }
    // Guesses are limited like attempts to sign in, and good addresses are not.
    let statuses: Vec<u16> = (0..10)
        .map(|_| fetch(&bank, "/feed?person=x").status)
        .collect();
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(fetch(&bank, &frame).status, 200);
    // It is no session.
    assert_eq!(fetch(&bank, "/usage").status, 303);
    bank.verify();
}

/// The view is that of the person, as it is when the address is opened.
#[test]
fn the_person_must_still_see_it() {
    let mut bank = open();
    bank.bank_ok(&["project", "add", "botany", "--members", "bob"]);
    bank.bank_ok(&["deposit", "botany", "5000"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let code = |page: &str, amy: &mut Browser| {
        let text = amy.get(&bank, page).text();
        let line = text.split("&lt;iframe src=&quot;").nth(1);
        let line = line.unwrap_or_else(|| panic!("no line to copy: {text}"));
        let line = line.split("&quot;&gt;").next().unwrap();
        path(&bank, &line.replace("&amp;amp;", "&"))
    };
    let own = code("/projects/chemistry", &mut amy);
    assert_eq!(fetch(&bank, &own).status, 200);
    let foreign = bank.bank(&["web", "embed", "/projects/botany"]);
    assert_eq!(foreign.exit, 0, "root sees it: {}", foreign.stderr);
    let usage = code("/usage?by=project", &mut amy);
    assert!(!fetch(&bank, &usage).text().contains("botany"));
    bank.bank_ok(&["project", "members", "rm", "chemistry", "amy", "--yes"]);
    assert_eq!(fetch(&bank, &own).status, 404);
    bank.bank_ok(&["user", "set", "amy", "--active", "no"]);
    let answer = fetch(&bank, &usage);
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("may not use the bank any more"));
    bank.verify();
}

/// The paths of the elements of a well-formed document.
fn elements(text: &str) -> Vec<String> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text);
    let (mut open, mut found): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                open.push(start.name().as_ref().to_owned());
                found.push(open.join("/"));
            }
            Event::Empty(start) => {
                let own = start.name().as_ref().to_owned();
                found.push(format!("{}/{own}", open.join("/")));
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

#[test]
fn a_feed_has_alerts_and_answers() {
    let mut bank = open();
    bank.bank_ok(&[
        "project",
        "set",
        "chemistry",
        "--description",
        "a<b & \"c\"",
    ]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let form = "/ask/project";
    let fields = [("name", "laser"), ("reason", "for <light> & more")];
    let preview = amy.submit(&bank, form, form, &fields).text();
    let sent = amy.submit_of(&bank, &preview, form, &[("step", "confirm")]);
    assert_eq!(sent.status, 303, "{}", sent.text());
    let page = amy.get(&bank, "/notices").text();
    let feed = page.split("href=\"http").nth(1).unwrap();
    let feed = format!("http{}", feed.split('"').next().unwrap()).replace("&amp;", "&");
    let feed = path(&bank, &feed);
    let answer = fetch(&bank, &feed);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        answer.header("content-type"),
        Some("application/atom+xml; charset=utf-8")
    );
    let text = answer.text();
    let elements = elements(&text);
    for needed in [
        "feed/id",
        "feed/title",
        "feed/updated",
        "feed/author/name",
        "feed/entry/link",
    ] {
        assert!(elements.iter().any(|own| own == needed), "{needed}: {text}");
    }
    assert!(text.contains("Your request for laser: open"), "{text}");
    // The address of root has other notices, and also comes from the command line.
    let printed = bank.bank_ok(&["web", "feed"]);
    let own = path(&bank, printed.lines().next().unwrap());
    assert!(!fetch(&bank, &own).text().contains("laser"));
    bank.verify();
}

#[test]
fn addresses_are_refused_where_they_make_no_sense() {
    let mut bank = open();
    for (arguments, exit, words) in [
        (
            &["web", "embed", "/people"][..],
            1,
            "neither /feed nor a page with a picture",
        ),
        (&["web", "embed", "/projects/a/b"], 1, "neither /feed nor"),
        (
            &["web", "embed", "https://evil.example/"],
            1,
            "neither /feed nor",
        ),
        (&["web", "embed", "/usage", "--days", "0"], 1, "1 to 366"),
        (
            &["web", "embed", "/usage?bye=user"],
            2,
            "\"bye\" is not a parameter",
        ),
        (&["web", "embed", "/usage?by=color"], 1, "none of project"),
        (&["web", "embed", "/usage?from=soon"], 1, "is not a time"),
        (&["web", "embed", "/projects/chemistri"], 4, "chemistri"),
        (&["web", "feed", "--days", "367"], 1, "1 to 366"),
    ] {
        let ran = bank.bank(arguments);
        assert_eq!(ran.exit, exit, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
    bank.verify();
    // Without a site there are no pictures for others, and the lines to copy are not there.
    let closed = bank_without_sites();
    let ran = closed.bank(&["web", "embed", "/usage"]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("web.embed_sites"), "{}", ran.stderr);
    let mut root = Browser::of_link(&closed);
    assert!(
        !root
            .get(&closed, "/usage")
            .text()
            .contains("another web site")
    );
    assert_eq!(fetch(&closed, "/embed/usage?person=root").status, 404);
    let ran = Setup::new().start().bank(&["web", "feed"]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("serves no web pages"), "{}", ran.stderr);
}

fn bank_without_sites() -> Bank {
    bank()
}

/// Addresses outlive the daemon: the secret is a file that is closed to others.
#[test]
fn a_restart_keeps_addresses() {
    let mut bank = open();
    let printed = bank.bank_ok(&["web", "feed", "--json"]);
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let feed = path(&bank, printed["url"].as_str().unwrap());
    let secret = bank.data().join("web-links.key");
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&secret).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    bank.stop();
    bank.start();
    assert_eq!(fetch(&bank, &feed).status, 200);
    bank.stop();
    std::fs::remove_file(&secret).unwrap();
    bank.start();
    assert_eq!(fetch(&bank, &feed).status, 403);
    let forged = Request::get(&feed).header(HEADER, "amy");
    assert_eq!(ask(&bank, &forged).status, 403);
    bank.verify();
}
