//! `bank collect`: rounds of one collector, once or for ever, and where all of them are.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bank_api::text;
use bank_api::v1::{CollectBatch, CollectRound, CollectStatus, List, ReadOptions};

use crate::{
    cli::{CollectArgs, CollectCommand, CollectStatusArgs},
    clock,
    collect::{self, queue, round},
    config::collect::{self as settings, Collect},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    upload::{self, Upload},
    when,
};

/// Settings that `status` reads from one folder at most.
const FILES_MAX: usize = 1000;

pub(super) fn run(context: &Context, command: CollectCommand) -> Result<String, Failure> {
    match command {
        CollectCommand::Slurm(args) => collect(context, "slurm", &args),
        CollectCommand::Prometheus(args) => collect(context, "prometheus", &args),
        CollectCommand::Nomad(args) => collect(context, "nomad", &args),
        CollectCommand::Kubernetes(args) => collect(context, "kubernetes", &args),
        CollectCommand::Status(args) => status(context, args),
    }
}

fn collect(context: &Context, name: &'static str, args: &CollectArgs) -> Result<String, Failure> {
    let file = args.file.clone();
    let file = file.unwrap_or_else(|| Path::new(settings::FOLDER).join(format!("{name}.toml")));
    let settings = settings::read(&file)?;
    if settings.name() != name {
        return Err(Failure::usage(format!(
            "{} has settings for {}, not for {name}",
            file.display(),
            settings.name()
        )));
    }
    let interval_s = match &args.interval {
        None => settings.interval_s(),
        Some(text) => when::seconds(text)?,
    };
    let interval = Duration::from_secs(u64::try_from(interval_s).unwrap_or(0).max(1));
    let opened = queue::Queue::open(&settings.folder, settings.queue_bytes());
    let folder = settings.folder.display();
    let opened = opened.map_err(|error| round::unusable(&folder.to_string(), &error))?;
    let queue = opened.ok_or_else(|| {
        Failure::unreachable(format!("another process collects into {folder}"))
            .hint("one is enough; try again when it has ended")
    })?;
    // Tokens and certificates are read anew in each round, for they are renewed.
    let source = Renewed {
        settings: &settings,
        source: collect::source(&settings, clock::collector_now_us)?,
        round_us: None,
    };
    let send = |head: &CollectBatch, body: Box<dyn Read>| deliver(context, head, body);
    let mut rounds = round::Rounds::new(name, queue, Box::new(source), Box::new(send))?;
    loop {
        let ended = rounds.run(clock::collector_now_us());
        let message = round_text(context, &ended.round)?;
        if args.once && !ended.is_unfinished {
            return match ended.failure {
                None => Ok(message),
                Some(mut failure) => {
                    failure.before = (!context.quiet).then_some(message);
                    Err(failure)
                }
            };
        }
        if !context.quiet && !crate::print(&message)? {
            return Ok(String::new());
        }
        if !ended.is_unfinished {
            clock::wait(interval);
        }
    }
}

/// A source that is made anew for each round.
struct Renewed<'a> {
    settings: &'a Collect,
    source: Box<dyn round::Source>,
    round_us: Option<i64>,
}

impl round::Source for Renewed<'_> {
    fn streams(&self) -> Vec<String> {
        self.source.streams()
    }

    fn fetch(
        &mut self,
        queue: &queue::Queue,
        stream: &str,
        position: Option<i64>,
        now_us: i64,
    ) -> Result<round::Next, Failure> {
        if self.round_us.is_some_and(|known| known != now_us) && self.settings.http.is_some() {
            self.source = collect::source(self.settings, clock::collector_now_us)?;
        }
        self.round_us = Some(now_us);
        self.source.fetch(queue, stream, position, now_us)
    }
}

/// Sends a batch to the bank, as `bank import` sends a file.
fn deliver(
    context: &Context,
    head: &CollectBatch,
    body: Box<dyn Read>,
) -> Result<round::Sent, Failure> {
    let upload = Upload {
        source: head.source.clone(),
        format: head.format.clone(),
        machine: head.machine.clone(),
        options: ReadOptions {
            delimiter: head.delimiter.clone(),
            ..ReadOptions::default()
        },
        ..Upload::default()
    };
    let file = (head.file.clone(), body);
    let done = upload::send(context, &upload, std::iter::once(file))?;
    Ok(round::Sent {
        records: done.records,
        outcomes: done.outcomes,
        quarantined: done.quarantined,
    })
}

/// The one line of a round.
fn round_text(context: &Context, round: &CollectRound) -> Result<String, Failure> {
    if context.is_json() {
        let mut form = context.form.clone();
        form.format = crate::cli::Format::Jsonl;
        return form.one(round, &Sheet::default());
    }
    let mut parts = vec![format!("{} fetched ({} bytes)", round.fetched, round.bytes)];
    let outcomes = round.outcomes.iter();
    let outcomes: Vec<String> = outcomes.map(|(word, n)| format!("{n} {word}")).collect();
    let outcomes = match outcomes.as_slice() {
        [] => String::new(),
        _ => format!(": {}", outcomes.join(", ")),
    };
    parts.push(format!(
        "{} sent ({} records{outcomes})",
        round.sent, round.records
    ));
    if round.refused > 0 {
        parts.push(format!("{} refused", round.refused));
    }
    parts.push(format!("{} waiting", round.waiting));
    let mut line = format!("{} {}: {}", round.at, round.collector, parts.join(", "));
    if !round.trouble.is_empty() {
        line = format!("{line}; trouble: {}", round.trouble.join("; "));
    }
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    Ok(line.chars().map(clean).chain(['\n']).collect())
}

fn status(context: &Context, args: CollectStatusArgs) -> Result<String, Failure> {
    let files = if args.file.is_empty() {
        files(Path::new(settings::FOLDER))?
    } else {
        args.file
    };
    let mut rows = Vec::new();
    for file in files {
        let settings = settings::read(&file)?;
        rows.extend(streams(&file, &settings)?);
    }
    let list = List::whole(rows);
    context.form.list(&list, &sheet(&list.items))
}

/// All settings in a folder, by their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |error: std::io::Error| {
        Failure::usage(format!("cannot read {}: {error}", folder.display()))
            .hint("--file names the settings of a collector")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|ending| ending == "toml") && files.len() < FILES_MAX {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The streams of one collector, also those that have brought nothing yet.
fn streams(file: &Path, settings: &Collect) -> Result<Vec<CollectStatus>, Failure> {
    let state = round::state(&round::state_file(&settings.folder))?;
    let waiting = match queue::look(&settings.folder) {
        Ok(waiting) => waiting,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let folder = settings.folder.display().to_string();
            return Err(round::unusable(&folder, &error));
        }
    };
    let mut streams = settings.streams();
    streams.extend(state.streams.keys().cloned());
    streams.extend(waiting.iter().map(|batch| batch.head.stream.clone()));
    streams.sort();
    streams.dedup();
    let now_us = clock::collector_now_us();
    let rows = streams.into_iter().map(|stream| {
        let known = state.streams.get(&stream).cloned().unwrap_or_default();
        let mine = waiting.iter().filter(|batch| batch.head.stream == stream);
        let (count, bytes) = mine.fold((0_u64, 0_u64), |(count, bytes), batch| {
            (count.saturating_add(1), bytes.saturating_add(batch.bytes))
        });
        let until_us = known.until.as_deref().and_then(when::read);
        CollectStatus {
            collector: settings.name().to_owned(),
            file: file.display().to_string(),
            stream,
            lag_s: until_us.map(|at| now_us.saturating_sub(at).div_euclid(1_000_000)),
            until: known.until,
            sent: known.sent,
            waiting: count,
            waiting_bytes: bytes,
            batches: known.batches,
            records: known.records,
            refused: known.refused,
            round: state.round.as_ref().map(|round| round.at.clone()),
            trouble: state
                .round
                .as_ref()
                .map_or_else(Vec::new, |round| round.trouble.clone()),
        }
    });
    Ok(rows.collect())
}

fn sheet(rows: &[CollectStatus]) -> Sheet {
    let columns = vec![
        column("collector", "Collector", Kind::Text),
        column("stream", "Stream", Kind::Text),
        column("until", "Sent until", Kind::Time),
        column("lag_s", "Lag s", Kind::Number).if_machine(),
        column("round", "Last round", Kind::Time).secondary(),
        column("waiting", "Waiting", Kind::Number),
        column("waiting_bytes", "Waiting bytes", Kind::Number).secondary(),
        column("batches", "Batches", Kind::Number).secondary(),
        column("records", "Records", Kind::Number),
        column("refused", "Refused", Kind::Number),
        column("sent", "Last sent", Kind::Time).if_machine(),
        column("file", "File", Kind::Text).if_machine(),
    ];
    let mut sheet = Sheet::new(columns, rows, "no collectors");
    for row in rows {
        let who = format!("{} {}", row.collector, row.stream);
        if row.refused > 0 {
            let refused = text::counted(row.refused, "batch");
            sheet.attention.push(format!(
                "{who}: the bank refused {refused}: see the folder refused"
            ));
        }
        for trouble in &row.trouble {
            let message = format!("{}: {trouble}", row.collector);
            if !sheet.attention.contains(&message) {
                sheet.attention.push(message);
            }
        }
    }
    sheet
}
