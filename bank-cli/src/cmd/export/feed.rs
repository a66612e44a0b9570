//! What was used, in the formats of other programs, along a cursor.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use bank_api::v1::{ExportPage, ExportQuery, Truth};

use super::state::{Confirmed, State, StateFile};
use super::{PAGE, month};
use crate::{
    cli::{
        ExportCsv, ExportInvoice, ExportJsonl, ExportPods, ExportUr1, ExportXdmod, FeedArgs,
        IgnoreArgs, Layout, Profile,
    },
    context::Context,
    fail::Failure,
    file::{cannot, destination, into_file, sync_folder},
    out, when,
};

/// Formats that are made as a whole.
const WHOLE: [&str; 4] = ["swf", "swf-ids", "nerc-invoice", "nerc-pods"];

/// One export.
pub(super) struct Export<'a> {
    context: &'a Context,
    format: &'a str,
    query: ExportQuery,
    progress: Progress,
}

/// What is said of an export when it is done.
#[derive(Default)]
struct Progress {
    records: i64,
    skipped: BTreeMap<String, i64>,
    lost: BTreeMap<String, i64>,
    next: Option<String>,
}

/// `bank export ur1 --document`.
pub(super) fn document(context: &Context, args: ExportUr1) -> Result<String, Failure> {
    let args = FeedArgs {
        from: args.span.from,
        to: args.span.to,
        machine: args.span.machine,
        output: args.span.output,
        more: args.more,
    };
    run(context, "ur1", &args)
}

/// `bank export csv`, and other tables.
pub(super) fn csv(context: &Context, format: &str, args: &ExportCsv) -> Result<String, Failure> {
    let mut export = Export::new(context, format, &args.feed)?;
    export.query.spreadsheet_safe = if context.form.raw_text {
        Some(Truth::False)
    } else {
        args.spreadsheet_safe.then_some(Truth::True)
    };
    export.run(&args.feed)
}

/// `bank export xdmod`.
pub(super) fn xdmod(context: &Context, args: &ExportXdmod) -> Result<String, Failure> {
    let mut export = Export::new(context, "xdmod", &args.feed)?;
    export.query.layout = match args.layout {
        Layout::Slurm => None,
        Layout::Openshift => Some("openshift".to_owned()),
    };
    export.run(&args.feed)
}

/// `bank export nerc-pods`.
pub(super) fn pods(context: &Context, args: &ExportPods) -> Result<String, Failure> {
    let mut export = Export::new(context, "nerc-pods", &args.csv.feed)?;
    export.query.spreadsheet_safe = args.csv.spreadsheet_safe.then_some(Truth::True);
    export.query.ignore = ignored(context, &args.ignored)?;
    export.run(&args.csv.feed)
}

/// Times that are not billed, as the daemon takes them.
fn ignored(context: &Context, args: &IgnoreArgs) -> Result<Option<String>, Failure> {
    let read = |text: &String| {
        let bad = || Failure::usage(format!("{text:?} is not a pair of times"));
        let (from, to) = text.split_once('/').ok_or_else(|| {
            bad().hint("FROM/TO, such as 2026-01-03T08:00:00Z/2026-01-03T14:00:00Z")
        })?;
        let time = |text: &str| when::argument(text, context.now_us, context.zone);
        Ok(format!("{}/{}", time(from)?, time(to)?))
    };
    let all: Vec<String> = args
        .ignore
        .iter()
        .map(read)
        .collect::<Result<_, Failure>>()?;
    Ok((!all.is_empty()).then(|| all.join(",")))
}

/// `bank export nerc-invoice`.
pub(super) fn invoice(context: &Context, mut args: ExportInvoice) -> Result<String, Failure> {
    if let Some(month) = &args.month {
        let (from, to) = month::bounds(month)?;
        (args.feed.from, args.feed.to) = (Some(from), Some(to));
    }
    if args.feed.from.is_none() {
        return Err(Failure::usage("which month? --month 2026-01"));
    }
    let mut export = Export::new(context, "nerc-invoice", &args.feed)?;
    let truth = |is: bool| is.then_some(Truth::True);
    export.query.spreadsheet_safe = truth(args.spreadsheet_safe);
    export.query.round_up = truth(args.round_up);
    export.query.by_class = args.by_class;
    export.query.ignore = ignored(context, &args.ignored)?;
    export.run(&args.feed)
}

/// `bank export jsonl`.
pub(super) fn jsonl(context: &Context, args: &ExportJsonl) -> Result<String, Failure> {
    let mut export = Export::new(context, "jsonl", &args.feed)?;
    export.query.profile = (args.profile == Profile::Auditor).then(|| "auditor".to_owned());
    export.run(&args.feed)
}

/// Any format without settings of its own.
pub(super) fn run(context: &Context, format: &str, args: &FeedArgs) -> Result<String, Failure> {
    Export::new(context, format, args)?.run(args)
}

impl<'a> Export<'a> {
    pub(super) fn new(
        context: &'a Context,
        format: &'a str,
        args: &FeedArgs,
    ) -> Result<Self, Failure> {
        let more = &args.more;
        // A record that ends later than that would be passed by, and never come again.
        if more.state.is_some() && args.to.is_some() {
            return Err(Failure::usage("--state has no end: omit --to"));
        }
        let query = ExportQuery {
            from: context.time(args.from.as_ref())?,
            to: context.time(args.to.as_ref())?,
            project: more.project.clone(),
            user: more.user.clone(),
            machine: args.machine.clone(),
            since: more.since.clone(),
            limit: Some(PAGE),
            explain_loss: more.explain_loss.then_some(Truth::True),
            ..ExportQuery::default()
        };
        Ok(Self {
            context,
            format,
            query,
            progress: Progress::default(),
        })
    }

    /// The query, for formats that have more to ask.
    pub(super) fn query(&mut self) -> &mut ExportQuery {
        &mut self.query
    }

    /// Which export a state is of: everything but how far it is.
    pub(super) fn what(&self) -> String {
        let ExportQuery {
            from,
            project,
            user,
            machine,
            spreadsheet_safe,
            profile,
            layout,
            ..
        } = &self.query;
        let word = |name: &str, value: &Option<String>| {
            let value = value.as_ref().map(|value| format!(" {name}={value:?}"));
            value.unwrap_or_default()
        };
        let safe = match spreadsheet_safe {
            Some(Truth::True) => " spreadsheet_safe",
            Some(Truth::False) => " raw_text",
            None => "",
        };
        [
            self.format.to_owned(),
            word("from", from),
            word("project", project),
            word("user", user),
            word("machine", machine),
            word("profile", profile),
            word("layout", layout),
            safe.to_owned(),
        ]
        .concat()
    }

    fn run(mut self, args: &FeedArgs) -> Result<String, Failure> {
        let state = args.more.state.as_deref();
        match (state, destination(args.output.as_ref())) {
            (Some(_), None) => Err(Failure::usage(
                "--state needs -o FILE: the cursor moves when the file is on the disk",
            )),
            (Some(_), _) if WHOLE.contains(&self.format) => Err(Failure::usage(
                "this format is made as a whole, and has no cursor",
            )),
            (Some(state), Some(path)) => self.along(state, path),
            (None, Some(path)) => {
                into_file(path, |output| self.write(output, true))?;
                Ok(self.sentence(path))
            }
            (None, None) => {
                let mut output = io::stdout().lock();
                let written = self.write(&mut output, true)?;
                if out::written(written.and_then(|()| output.flush()))? {
                    self.report();
                }
                Ok(String::new())
            }
        }
    }

    /// One run of an export that goes on: lines are appended, a document is made anew of what came since.
    fn along(mut self, state: &Path, path: &Path) -> Result<String, Failure> {
        let (file, before) = StateFile::open(state, self.what())?;
        let is_first = before.is_none();
        let mut now = before.unwrap_or_default();
        self.query.since.clone_from(&now.cursor);
        if matches!(self.format, "ur1" | "ur2") {
            into_file(path, |output| self.write(output, true))?;
        } else {
            let begins = is_first.then_some(&file);
            now.confirmed = Some(self.append(path, begins, &now)?);
        }
        now.cursor.clone_from(&self.progress.next);
        file.keep(&now)?;
        Ok(self.sentence(path))
    }

    /// Appends what came since; what a run before left unconfirmed is cut off first. `begins` is the state
    /// of a first run: it is kept before anything is written, so that a run which is killed goes on.
    fn append(
        &mut self,
        path: &Path,
        begins: Option<&StateFile>,
        now: &State,
    ) -> Result<Confirmed, Failure> {
        let failed = |e: io::Error| cannot(&path.display().to_string(), &e);
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(failed)?;
        if let Some(confirmed) = now.confirmed
            && let Some(length) = confirmed.rest(&file).map_err(failed)?
        {
            file.set_len(length).map_err(failed)?;
        }
        let length = file.metadata().map_err(failed)?.len();
        if begins.is_some() && length > 0 {
            let there = format!("{}: it is there already", path.display());
            return Err(Failure::usage(there)
                .hint("the first run of an export makes its file: name another one"));
        }
        if let Some(state) = begins {
            state.keep(&State {
                confirmed: Some(Confirmed::of(&file).map_err(failed)?),
                ..State::default()
            })?;
        }
        let mut output = BufWriter::new(file);
        self.write(&mut output, length == 0)?.map_err(failed)?;
        let file = output.into_inner().map_err(|e| failed(e.into_error()))?;
        file.sync_all().map_err(failed)?;
        sync_folder(path)?;
        Confirmed::of(&file).map_err(failed)
    }

    /// Writes every page; the outer error is the daemon's, the inner one that of the output.
    fn write(
        &mut self,
        output: &mut impl Write,
        with_head: bool,
    ) -> Result<io::Result<()>, Failure> {
        let mut is_first = with_head;
        loop {
            let page = self.page()?;
            let head = if is_first { page.head.as_str() } else { "" };
            is_first = false;
            for text in [head, &page.text] {
                if let Err(e) = output.write_all(text.as_bytes()) {
                    return Ok(Err(e));
                }
            }
            if !page.more {
                return Ok(output.write_all(page.tail.as_bytes()));
            }
        }
    }

    /// The next page, counted.
    pub(super) fn page(&mut self) -> Result<ExportPage, Failure> {
        let page: ExportPage = self.context.get(&["export", self.format], &self.query)?;
        self.query.since.clone_from(&page.next);
        let progress = &mut self.progress;
        progress.records = progress.records.saturating_add(page.records);
        progress.next.clone_from(&page.next);
        for (reason, records) in &page.skipped_reasons {
            let count = progress.skipped.entry(reason.clone()).or_default();
            *count = count.saturating_add(*records);
        }
        for lost in &page.lost {
            let count = progress.lost.entry(lost.field.clone()).or_default();
            *count = count.saturating_add(lost.records);
        }
        Ok(page)
    }

    /// Where the next export goes on.
    pub(super) fn next(&self) -> Option<String> {
        self.progress.next.clone()
    }

    /// Says what is not in the output, and where a later one goes on: not on standard output.
    pub(super) fn report(&self) {
        for (reason, count) in &self.progress.skipped {
            out::warn(&format!("{} left out: {reason}", records(*count)));
        }
        for (field, count) in &self.progress.lost {
            out::warn(&format!("the format has no {field}: {}", records(*count)));
        }
        if let Some(next) = &self.progress.next {
            out::note(&format!("next export: --since {next}"));
        }
    }

    fn sentence(&self, path: &Path) -> String {
        self.report();
        format!("{} in {}\n", records(self.progress.records), path.display())
    }

    /// Records so far.
    pub(super) fn count(&self) -> i64 {
        self.progress.records
    }
}

/// `1 record`, `2 records`.
pub(super) fn records(count: i64) -> String {
    let noun = if count == 1 { "record" } else { "records" };
    format!("{count} {noun}")
}
