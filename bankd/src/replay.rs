//! `bankd replay`: replays captured documents on a copy of a bank, and prints the effect of each.
//!
//! The bank itself is read once and never written. A snapshot of its database in a temporary folder
//! is served to this process only, through the routes that a scheduler's documents use. The copy's
//! clock follows the events of the documents, and no record files are written.

mod captured;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use bank_api::error::{Problem, nami_exit_of_status};
use bank_api::nami::Line;
use bank_api::text::{counted, format_rfc3339, parse_rfc3339, percent_encode};
use bank_api::v1::{Balance, Job, List, Replayed, ReplayedObject};
use bank_core::time::{TEN_YEARS_S, Timestamp};
use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_http::inside::Inside;
use bankd_ledger::clock::{LedgerClock, SetClock};
use bankd_nami::{MAX_BYTES, ReadOptions, read};
use bankd_services::{Services, start};
use bankd_store::{SqliteStore, snapshot};

use crate::scratch::Scratch;
use captured::Captured;

/// Documents to replay, and options.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Files and folders.
    pub files: Vec<PathBuf>,
    /// The event of files whose name contains none; if set, it applies to every file.
    pub event: Option<String>,
    /// When those happened, RFC 3339; else at the bank's present.
    pub at: Option<String>,
    /// The machine of documents that name none.
    pub machine: Option<String>,
    /// One JSON object for each document in place of text.
    pub json: bool,
}

/// Replays the documents and prints each result; false if the bank rejected one of them.
///
/// # Errors
/// If a file or the bank cannot be read, or the copy cannot be made or used.
pub fn run(data: &DataDir, config: Config, choices: &Choices) -> Result<bool> {
    let at_us = match &choices.at {
        None => None,
        Some(text) => {
            Some(parse_rfc3339(text).with_context(|| format!("--at: {text:?} is not a time"))?)
        }
    };
    if let Some(event) = &choices.event {
        ensure!(
            captured::is_event(event),
            "--event: {event:?} is not an event"
        );
    }
    let documents = captured::find(&choices.files, choices.event.as_deref(), at_us)?;
    let scratch = Scratch::new("bankd-replay")?;
    let copy = DataDir::new(scratch.path());
    snapshot(&data.database(), &copy.database())
        .with_context(|| format!("cannot copy {}", data.database().display()))?;
    let config = alone(config);
    let clock = Arc::new(SetClock::new(present(&copy, &config)?));
    let uid = std::fs::metadata(scratch.path())?;
    let uid = std::os::unix::fs::MetadataExt::uid(&uid);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let taken = runtime.block_on(async {
        let given: Arc<dyn LedgerClock> = Arc::<SetClock>::clone(&clock);
        let (services, records) = start::start_with(&copy, &config, |_| Ok(given))?;
        let mut play = Play {
            inside: Inside::new(&services, uid),
            services,
            clock,
            machine: choices.machine.as_deref(),
            number: 0,
        };
        let all = play.all(&documents, choices.json).await;
        let services = play.services;
        let ended = tokio::task::spawn_blocking(move || {
            records.stop();
            services.writer.stop();
            services.writer_thread.wait()
        });
        ensure!(ended.await.unwrap_or(false), "the writer thread failed");
        all
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    taken
}

/// Settings of an isolated bank: no site files, no listeners, and a clock that accepts any step.
fn alone(mut config: Config) -> Config {
    config.file.path.clear();
    config.ggf.path.clear();
    config.ledger.max_jump_s = TEN_YEARS_S;
    config.ledger.max_downtime_s = TEN_YEARS_S;
    config
}

/// The latest moment that the copied bank has seen.
fn present(copy: &DataDir, config: &Config) -> Result<Timestamp> {
    let store = SqliteStore::open(&copy.database(), config.policy())?;
    let seen = store.seen()?.map(|seen| seen.reading.clock);
    Ok(seen.unwrap_or(Timestamp(0)).max(store.last_recorded()))
}

/// A play under way.
struct Play<'c> {
    services: Arc<Services>,
    inside: Inside,
    clock: Arc<SetClock>,
    machine: Option<&'c str>,
    /// Documents so far.
    number: usize,
}

impl Play<'_> {
    async fn all(&mut self, documents: &[Captured], json: bool) -> Result<bool> {
        let mut refused = 0_usize;
        for document in documents {
            let played = self.one(document).await?;
            refused = refused.saturating_add(usize::from(played.exit != 0));
            let text = if json {
                serde_json::to_string(&played)? + "\n"
            } else {
                shown(&played)
            };
            say_all!("{text}");
        }
        if !json {
            let documents = counted(documents.len(), "document");
            say!("{documents}, {refused} rejected; nothing was written to the bank");
        }
        Ok(refused == 0)
    }

    /// Replays one document.
    async fn one(&mut self, document: &Captured) -> Result<Replayed> {
        self.number = self.number.saturating_add(1);
        let body = body_of(&document.path)?;
        let now = self.clock.now().0;
        let at_us = document.at_us.unwrap_or(now);
        self.clock.set(Timestamp(at_us.max(now)));
        let key = format!("replay-{}", self.number);
        let time = format_rfc3339(at_us);
        let mut fields = vec![("Idempotency-Key", key.as_str())];
        // Events before the copied bank's present arrive late.
        if at_us < now {
            fields.push(("Bank-Event-Time", &time));
        }
        let mut target = format!("/nami/v1/{}", document.event);
        if let Some(machine) = self.machine {
            target = format!("{target}?machine={}", escaped(machine));
        }
        let (status, answer) = self.inside.post(&target, &fields, body.clone()).await?;
        let (exit, lines) = understood(status, &answer);
        let mut objects = self.objects(&body, &lines).await?;
        // Without objects the answer is about the document as a whole.
        if objects.is_empty() {
            objects = lines.into_iter().map(only_answer).collect();
        }
        Ok(Replayed {
            file: document.path.display().to_string(),
            event: document.event.clone(),
            time,
            exit,
            objects,
        })
    }

    /// Each object of a document as it is afterwards.
    async fn objects(&self, body: &[u8], lines: &[String]) -> Result<Vec<ReplayedObject>> {
        let nami = &self.services.nami;
        let options = ReadOptions {
            latin1_fallback: nami.latin1_fallback,
            tid_variable: &nami.tid_variable,
        };
        let Ok(documents) = read(body, &options) else {
            return Ok(Vec::new());
        };
        let mut objects = Vec::new();
        for (index, document) in documents.into_iter().enumerate() {
            // Where all share one line, it is about the whole document.
            let answer = lines.get(index).or(lines.first()).cloned();
            let mut object = only_answer(answer.unwrap_or_default());
            if let Some(id) = document.object_id {
                let machine = document.machine.or(self.machine.map(str::to_owned));
                self.look(&id, machine.as_deref(), &mut object).await?;
                object.object = Some(id);
            }
            objects.push(object);
        }
        Ok(objects)
    }

    /// State of an object and of the account that pays for it.
    async fn look(&self, id: &str, machine: Option<&str>, to: &mut ReplayedObject) -> Result<()> {
        let mut target = format!("/api/v1/jobs/{}", escaped(id));
        if let Some(machine) = machine {
            target = format!("{target}?machine={}", escaped(machine));
        }
        let (_, body) = self.inside.get(&target).await?;
        // An unknown object has no figures.
        let Ok(job) = serde_json::from_slice::<Job>(&body) else {
            return Ok(());
        };
        to.lien = job.lien.map(|lien| lien.amount);
        to.charged = Some(job.charged);
        to.state = Some(job.state);
        let Some(account) = job.account else {
            return Ok(());
        };
        let target = format!("/api/v1/balances?account={}", escaped(&account));
        let (_, body) = self.inside.get(&target).await?;
        if let Ok(balances) = serde_json::from_slice::<List<Balance>>(&body)
            && let Some(balance) = balances.items.into_iter().next()
        {
            to.balance = Some(balance.amount);
            to.available = Some(balance.available);
        }
        to.account = Some(account);
        Ok(())
    }
}

fn only_answer(answer: String) -> ReplayedObject {
    ReplayedObject {
        answer,
        ..ReplayedObject::default()
    }
}

fn body_of(path: &Path) -> Result<Vec<u8>> {
    let bad = || path.display().to_string();
    let mut body = Vec::new();
    let limit = u64::try_from(MAX_BYTES)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let file = std::fs::File::open(path).with_context(bad)?;
    file.take(limit).read_to_end(&mut body).with_context(bad)?;
    Ok(body)
}

/// The exit code that a script would end with, before the site's map, and the answer's lines.
fn understood(status: u16, body: &[u8]) -> (u8, Vec<String>) {
    let text = String::from_utf8_lossy(body);
    if let Ok(lines) = Line::parse_all(&text) {
        let exit = Line::worst(&lines).map_or(0, Line::exit);
        return (exit, lines.iter().map(Line::to_string).collect());
    }
    let problem = Problem::from_json(body);
    let result = problem.map_or_else(
        || format!("status {status}"),
        |problem| problem.detail.unwrap_or(problem.title),
    );
    (nami_exit_of_status(status), vec![result])
}

fn shown(played: &Replayed) -> String {
    let Replayed {
        file,
        event,
        time,
        exit,
        objects,
    } = played;
    let mut text = format!("{time} {event} (exit {exit}) {file}\n");
    for object in objects {
        let name = object.object.as_deref().unwrap_or("-");
        text = format!("{text}  {name}: {}\n", object.answer);
        let figures = [
            ("lien", &object.lien),
            ("charged", &object.charged),
            ("balance", &object.balance),
            ("available", &object.available),
            ("account", &object.account),
            ("state", &object.state),
        ];
        let figures: Vec<String> = figures
            .iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", value.as_deref()?)))
            .collect();
        if !figures.is_empty() {
            text = format!("{text}    {}\n", figures.join("  "));
        }
    }
    // Replace control characters, so that a document cannot control the terminal.
    let clean = |c: char| if c.is_control() && c != '\n' { '?' } else { c };
    text.chars().map(clean).collect()
}

/// A part of a target.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    percent_encode(text, &mut out);
    out
}
