//! `bankd demo --web`: a bank with the year of a small centre, served on loopback.

mod people;

use std::io::BufRead as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use bank_api::exit::bank as exit;
use bank_core::amount::Precision;
use bank_core::time::Timestamp;
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_http::auth::{outside, roles_of};
use bankd_ledger::clock;
use bankd_safekeeping::init::{self, Choices};
use bankd_services::Services;

use super::ended::Ended;
use super::year;
use crate::scratch::Scratch;
use crate::serve;

/// The settings of the bank. The ports are free ones.
const SETTINGS: &str = "\
[http]
listen = \"127.0.0.1:0\"

[web]
listen = \"127.0.0.1:0\"
sign_in_per_minute = 60
embed_sites = [\"https://www.example.org\"]

[attention]
on = true

[fallback]
mode = \"bank\"
";
/// Seconds for which a link can be used.
const LINK_S: i64 = 3600;

/// Fills a bank and serves it until SIGTERM, SIGINT or SIGHUP. Without a folder, the bank is in a temporary one that is
/// removed at the end.
///
/// # Errors
/// If the folder has a bank already, or the bank cannot be filled or served.
pub(super) fn run(folder: Option<&Path>) -> Result<u8> {
    let ended = Ended::watch()?;
    let scratch = match folder {
        Some(_) => None,
        None => Some(Scratch::new("bankd-demo")?),
    };
    let path = folder.or(scratch.as_ref().map(Scratch::path));
    let data = DataDir::new(path.context("a folder for the bank")?);
    say!("Filling a bank with one year in {}", data.path().display());
    let watch = clock::Stopwatch::start();
    let filled = fill(&data, &ended);
    if let Some(code) = ended.code() {
        Ended::announce("the demo was ended before its bank was full");
        return Ok(code);
    }
    let config = filled?;
    say!("Filled in {:.1} s", watch.elapsed().as_secs_f64());
    serve::serve_with(&data, config, ended.arrived(), |services| {
        say_all!("{}", links(services));
        again(services);
    })?;
    Ok(exit::DONE)
}

/// Makes the bank and its year; returns its settings.
fn fill(data: &DataDir, ended: &Ended) -> Result<Config> {
    let now = Timestamp(clock::real_us());
    // Wrong settings of the environment are found before anything is made.
    let config = Config::of_text(SETTINGS, "bankd.toml").map_err(anyhow::Error::msg)?;
    let start = year::start(now);
    let choices = Choices {
        precision: Precision::new(2).unwrap_or(Precision::DEFAULT),
        unit: "SU".to_owned(),
        test: false,
    };
    let founded = Arc::new(clock::SetClock::new(start));
    init::init_with(data, &choices, |_| Ok(founded))?;
    std::fs::write(data.config(), SETTINGS)?;
    let done = year::fill(data, &config, (start, now), ended)?;
    ensure!(done, "the writer thread failed");
    Ok(config)
}

/// For each role the person, what they do, and a link to sign in.
fn links(services: &Services) -> String {
    let mut text = String::from("\nPeople of the demo, each with a link that signs in once:\n");
    for person in people::FIRST_SCREENS {
        let link = services.sessions.link(person.name, None, LINK_S);
        let link = link.ok().flatten().unwrap_or_default();
        text = format!(
            "{text}  {:<16} {:<11} {} (roles: {})\n    {link}\n",
            person.role,
            person.name,
            person.purpose,
            roles(services, person.name),
        );
    }
    text.push_str("Enter prints new links. Ctrl-C stops the demo.\n");
    text
}

/// The roles of a person as the pages show them.
fn roles(services: &Services, name: &str) -> String {
    let person = services.people.find_named(name);
    let person = person.unwrap_or_else(|| outside(name));
    let writer = &services.writer;
    let roles = roles_of(&person, &writer.directory(), writer.now());
    roles.words().replace(',', ", ")
}

/// Prints new links for each line on standard input.
fn again(services: &Arc<Services>) {
    let services = Arc::downgrade(services);
    std::thread::spawn(move || {
        for _ in std::io::stdin().lock().lines().map_while(Result::ok) {
            let Some(services) = services.upgrade() else {
                break;
            };
            say_all!("{}", links(&services));
        }
    });
}
