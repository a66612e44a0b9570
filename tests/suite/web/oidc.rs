//! Signing in with an OpenID Connect provider.

use std::time::{Duration, Instant};

use serde_json::json;

use super::browser::{Browser, ask};
use super::oidc_provider::{CLIENT, Provider, SECRET};
use crate::harness::{Bank, Request, Response, Setup, pause};

/// A bank whose people sign in with a provider.
fn bank(provider: &Provider) -> Bank {
    let setup = Setup::new()
        .toml("[web.oidc.groups]\nhpc-audit = [\"auditor\"]\nhpc-chiefs = [\"admin\"]\n")
        .env("BANKD_WEB_LISTEN", "127.0.0.1:0")
        .env("BANKD_WEB_SIGN_IN_PER_MINUTE", "1000");
    let mut bank = setup.start();
    bank.stop();
    let issuer = &provider.issuer;
    let settings = format!(
        "[web.oidc]\nissuer = \"{issuer}\"\nclient_id = \"{CLIENT}\"\n\
         client_secret_file = \"oidc.secret\"\ntimeout_s = 1\n"
    );
    // The file has the table already.
    let path = bank.data().join("bankd.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("[web.oidc]\n"), "{text}");
    std::fs::write(&path, text.replacen("[web.oidc]\n", &settings, 1)).unwrap();
    std::fs::write(bank.data().join("oidc.secret"), format!("{SECRET}\n")).unwrap();
    bank.start();
    bank
}

/// The cookie of an answer, without its attributes.
fn cookie(answer: &Response) -> String {
    let cookie = answer.header("set-cookie").unwrap_or_default();
    cookie.split(';').next().unwrap().to_owned()
}

/// Begins a sign-in: the cookie, and the address at the provider.
fn begin(bank: &Bank, next: &str) -> (String, String) {
    let answer = ask(bank, &Request::get(&format!("/login/oidc?next={next}")));
    assert_eq!(answer.status, 303, "{}", answer.text());
    let location = answer.header("location").unwrap().to_owned();
    (cookie(&answer), location)
}

fn finish(bank: &Bank, cookie: &str, target: &str) -> Response {
    ask(bank, &Request::get(target).header("Cookie", cookie))
}

/// A whole sign-in.
fn sign_in(bank: &Bank, provider: &Provider) -> Response {
    let (cookie, location) = begin(bank, "");
    finish(bank, &cookie, &provider.authorize(&location))
}

fn browser(bank: &Bank, provider: &Provider) -> Browser {
    let answer = sign_in(bank, provider);
    assert_eq!(answer.status, 303, "{}\n{}", answer.text(), bank.log());
    Browser {
        cookie: cookie(&answer),
        ..Browser::default()
    }
}

#[track_caller]
fn is_refused(answer: &Response, status: u16, words: &str) {
    let text = answer.text();
    assert_eq!(answer.status, status, "{text}");
    assert!(text.contains(words), "{words}: {text}");
    assert_eq!(answer.header("set-cookie"), None);
}

#[test]
fn a_person_signs_in_and_lands_where_they_were() {
    let provider = Provider::start();
    let mut bank = bank(&provider);
    let page = ask(&bank, &Request::get("/login?next=%2Fjobs")).text();
    let host = provider.issuer.split_once("://").unwrap().1;
    assert!(page.contains(&format!("Sign in with {host}")), "{page}");
    assert!(page.contains("href=\"/login/oidc?next=%2Fjobs\""), "{page}");
    let answer = ask(&bank, &Request::get("/login/oidc?next=%2Fjobs"));
    let set = answer.header("set-cookie").unwrap();
    for part in [
        "bank-oidc=bo_",
        "; HttpOnly",
        "; SameSite=Lax",
        "; Max-Age=600",
    ] {
        assert!(set.contains(part), "{set}");
    }
    let target = provider.authorize(answer.header("location").unwrap());
    let done = finish(&bank, &cookie(&answer), &target);
    assert_eq!(
        (done.status, done.header("location")),
        (303, Some("/jobs")),
        "{}",
        done.text()
    );
    let mut amy = Browser {
        cookie: cookie(&done),
        ..Browser::default()
    };
    let home = amy.get(&bank, "/").text();
    assert!(
        home.contains("chemistry") && !home.contains("physics"),
        "{home}"
    );
    assert!(amy.get(&bank, "/sessions").text().contains("oidc"));
    // The same answer of the provider counts once, and the provider's keys are asked for once.
    is_refused(
        &finish(&bank, &cookie(&answer), &target),
        403,
        "it can be finished once",
    );
    assert_eq!(provider.asked("/token"), 1);
    browser(&bank, &provider);
    assert_eq!(provider.asked("/keys"), 1);
    bank.verify();
}

#[test]
fn answers_of_another_browser_or_sign_in_do_not_count() {
    let provider = Provider::start();
    let bank = bank(&provider);
    let (cookie, location) = begin(&bank, "");
    let target = provider.authorize(&location);
    let (other, elsewhere) = begin(&bank, "");
    let wrong_state = provider.authorize(&elsewhere);
    for (cookie, target) in [
        ("", target.as_str()),
        (&other, &target),
        (&cookie, &wrong_state),
        (&cookie, target.split('&').next().unwrap()),
        (&format!("{cookie}; {cookie}"), &target),
        ("bank-oidc=bo_nonsense", &target),
    ] {
        is_refused(&finish(&bank, cookie, target), 403, "in the same browser");
    }
    // Nothing of this has ended the sign-in itself.
    let iss = format!("{target}&iss=https%3A%2F%2Fother.example");
    let answer = finish(&bank, &cookie, &iss);
    is_refused(&answer, 403, "another provider");
    assert_eq!(provider.asked("/token"), 0);
    // A code of one sign-in in the answer to another one: PKCE refuses it.
    let (cookie, location) = begin(&bank, "");
    let own = provider.authorize(&location);
    let state = own.split("&state=").nth(1).unwrap();
    let stolen = format!("{}&state={state}", target.split('&').next().unwrap());
    is_refused(&finish(&bank, &cookie, &stolen), 403, "invalid_grant");
    // A person who declines.
    let (cookie, location) = begin(&bank, "");
    let state = provider.authorize(&location);
    let state = state.split("&state=").nth(1).unwrap();
    let target = format!("/login/oidc/back?error=%3Cb%3Eaccess_denied&state={state}");
    is_refused(
        &finish(&bank, &cookie, &target),
        403,
        "&lt;b&gt;access_denied",
    );
}

#[test]
fn tokens_that_do_not_count_are_refused() {
    let provider = Provider::start();
    let bank = bank(&provider);
    for (claims, words) in [
        (json!({"nonce": "another"}), "nonce"),
        (json!({"nonce": null}), "nonce"),
        (json!({"aud": "somebody"}), "audience"),
        (json!({"aud": [CLIENT, "somebody"]}), "audience"),
        (json!({"iss": "https://evil.example"}), "issuer"),
        (json!({"exp": 1}), "Expired"),
        (json!({"at_hash": "AAAA"}), "another access token"),
        (json!({"preferred_username": "root"}), "cannot sign in"),
        (json!({"preferred_username": "uid:0"}), "cannot sign in"),
        (json!({"preferred_username": "<b>\u{7}"}), "cannot sign in"),
    ] {
        provider.twist(|twist| twist.claims = claims);
        is_refused(&sign_in(&bank, &provider), 403, words);
    }
    provider.twist(|twist| {
        twist.claims = json!({});
        twist.is_stranger = true;
    });
    is_refused(&sign_in(&bank, &provider), 403, "No matching key");
    provider.twist(|twist| twist.is_stranger = false);
    browser(&bank, &provider);
    // The provider withdraws its key and uses another one.
    provider.twist(|twist| twist.key = 1);
    browser(&bank, &provider);
}

#[test]
fn groups_give_roles_for_the_session() {
    let provider = Provider::start();
    let mut bank = bank(&provider);
    let grouped = |groups: serde_json::Value| {
        provider.twist(|twist| {
            twist.claims = json!({"preferred_username": "vera", "groups": groups});
        });
    };
    grouped(json!(["x", "hpc-audit"]));
    let mut auditor = browser(&bank, &provider);
    assert_eq!(auditor.get(&bank, "/data/roles").status, 200);
    assert_eq!(auditor.get(&bank, "/deposit").status, 403);
    grouped(json!(["hpc-chiefs"]));
    let mut chief = browser(&bank, &provider);
    let page = chief.submit(
        &bank,
        "/deposit",
        "/deposit",
        &[("name", "chemistry"), ("amount", "5")],
    );
    let done = chief.submit_of(&bank, &page.text(), "/deposit", &[("step", "confirm")]);
    assert_eq!(done.status, 303, "{}", done.text());
    let rows = bank.query("SELECT client FROM tx WHERE origin = 'web' AND req_id LIKE 'w%-oidc-%'");
    assert_eq!(rows, [["unix:vera"]], "the journal has the way");
    // The next session has the roles of its own sign-in.
    grouped(json!([]));
    let mut plain = browser(&bank, &provider);
    assert_eq!(plain.get(&bank, "/data/roles").status, 403);
    assert_eq!(auditor.get(&bank, "/data/roles").status, 200);
    // Roles of the bank are added.
    bank.bank_ok(&["role", "grant", "vera", "auditor"]);
    assert_eq!(plain.get(&bank, "/data/roles").status, 200);
    bank.verify();
}

#[test]
fn a_name_that_the_bank_does_not_know_sees_nothing() {
    let provider = Provider::start();
    let bank = bank(&provider);
    provider.twist(|twist| twist.claims = json!({"preferred_username": "<img src=x>&\"'"}));
    let mut stranger = browser(&bank, &provider);
    let home = stranger.get(&bank, "/").text();
    assert!(
        home.contains("no account with money") && home.contains("&lt;img src=x&gt;"),
        "{home}"
    );
    assert!(
        !home.contains("<img src=x") && !home.contains("chemistry"),
        "{home}"
    );
    assert_eq!(stranger.get(&bank, "/projects/chemistry").status, 404);
    // A user who is set inactive has no session.
    provider.twist(|twist| twist.claims = json!({}));
    let mut amy = browser(&bank, &provider);
    bank.bank_ok(&["user", "set", "amy", "--active", "no"]);
    assert_eq!(amy.get(&bank, "/").status, 303);
}

#[test]
fn claims_may_be_in_the_user_info() {
    let provider = Provider::start();
    let bank = bank(&provider);
    provider.twist(|twist| {
        twist.claims = json!({"preferred_username": null});
        twist.info = json!({"sub": "sub-1", "preferred_username": "vera", "groups": ["hpc-audit"]});
    });
    let mut vera = browser(&bank, &provider);
    assert_eq!(vera.get(&bank, "/data/roles").status, 200);
    // Somebody else's.
    provider.twist(|twist| twist.info["sub"] = json!("sub-2"));
    assert_eq!(sign_in(&bank, &provider).status, 503);
}

#[test]
fn a_provider_that_is_away_delays_nobody() {
    let provider = Provider::start();
    let bank = bank(&provider);
    provider.twist(|twist| twist.is_silent = true);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let answers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| ask(&bank, &Request::get("/login/oidc"))))
            .collect();
        pause(Duration::from_millis(200));
        let asked = Instant::now();
        assert_eq!(ask(&bank, &Request::get("/login")).status, 200);
        assert!(
            asked.elapsed() < Duration::from_millis(700),
            "{:?}",
            asked.elapsed()
        );
        for answer in answers {
            is_refused(&answer.join().unwrap(), 503, "does not answer");
        }
    });
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    provider.twist(|twist| twist.is_silent = false);
    browser(&bank, &provider);
    // After the browser went to the provider.
    let (cookie, location) = begin(&bank, "");
    let target = provider.authorize(&location);
    provider.twist(|twist| twist.is_silent = true);
    is_refused(&finish(&bank, &cookie, &target), 503, "does not answer");
    assert!(bank.log().contains("the identity provider is away"));
}

#[test]
fn without_a_provider_there_is_no_such_page() {
    let bank = super::browser::bank();
    for target in ["/login/oidc", "/login/oidc/back?code=x&state=y"] {
        assert_eq!(ask(&bank, &Request::get(target)).status, 404, "{target}");
    }
    let page = ask(&bank, &Request::get("/login")).text();
    assert!(!page.contains("/login/oidc"), "{page}");
}
