//! Usage files on their way to the daemon: in pieces, each acknowledged, in constant memory.
//!
//! This side reads no record; what the bytes mean is the daemon's to say. A piece that may have been
//! taken is sent again at the same place, where it has no second effect. An import that broke off is
//! made whole by the same import from its beginning: identity makes the repeat harmless.

use std::io::{self, Read};
use std::time::Duration;

use bank_api::exit::bank as exit;
use bank_api::v1::{
    ImportDone, ImportOpened, ImportTaken, NewImport, PieceQuery, ReadOptions, Removed,
};
use serde::de::DeserializeOwned;
use ureq::http::Method;

use crate::{
    cli::WriteArgs,
    client::{self, Call},
    clock,
    context::Context,
    fail::Failure,
};

/// Largest piece, in bytes; the daemon may want smaller ones.
const PIECE_MAX: usize = 1 << 20;
/// How often a piece is sent that a busy daemon does not take, which waits ten seconds each time.
pub(crate) const BUSY_TRIES: u32 = 60;
/// The same for the end of an import, behind which its last records are committed.
const END_TRIES: u32 = 720;
/// How often a call is made that gets no answer.
const LOST_TRIES: u32 = 10;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(500);

const AGAIN: &str = "repeat the import: it continues, and nothing counts twice";

/// Whether the daemon no longer has an import that it had opened. Sending it again is safe.
pub(crate) fn is_gone(failure: &Failure) -> bool {
    failure.is("import_gone")
}

/// What is sent, and how it is read.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(crate) struct Upload {
    /// The collector that the records are of.
    pub(crate) source: String,
    /// What the files are: a name of `bank_api::v1::IMPORT_FORMATS`.
    pub(crate) format: String,
    /// The machine that the records are of.
    pub(crate) machine: Option<String>,
    /// How they are read.
    pub(crate) options: ReadOptions,
    /// What ended before is left out, RFC 3339.
    pub(crate) since: Option<String>,
    /// Sum up by UTC day too.
    pub(crate) days: bool,
    /// Read and decide, write nothing.
    pub(crate) dry_run: bool,
    /// `ImportDone::ok` is false where records cannot be read.
    pub(crate) strict: bool,
    /// Keep no raw lines.
    pub(crate) no_raw: bool,
}

/// How far it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Bytes of all files.
    pub(crate) bytes: u64,
    /// Records that the daemon has read.
    pub(crate) records: u64,
}

/// Sends files as one import, and waits until all of it is committed.
pub(crate) fn send(
    context: &Context,
    upload: &Upload,
    files: impl Iterator<Item = (String, Box<dyn Read>)>,
) -> Result<ImportDone, Failure> {
    send_shown(context, upload, files, &mut |_| {})
}

/// The same for somebody who watches.
pub(crate) fn send_shown(
    context: &Context,
    upload: &Upload,
    files: impl Iterator<Item = (String, Box<dyn Read>)>,
    watch: &mut dyn FnMut(Sent),
) -> Result<ImportDone, Failure> {
    let mut sending = Sending {
        context,
        upload,
        opened: None,
        sent: Sent::default(),
        watch,
    };
    let done = (1..)
        .zip(files)
        .try_for_each(|(number, (name, mut file))| sending.file(number, &name, &mut *file))
        .and_then(|()| sending.end());
    done.map_err(|failure| sending.give_up(failure))
}

/// An import on its way.
struct Sending<'a> {
    context: &'a Context,
    upload: &'a Upload,
    opened: Option<ImportOpened>,
    sent: Sent,
    watch: &'a mut dyn FnMut(Sent),
}

impl Sending<'_> {
    fn file(&mut self, number: u64, name: &str, file: &mut dyn Read) -> Result<(), Failure> {
        let name: String = name
            .chars()
            .map(|c| if c.is_control() { '?' } else { c })
            .collect();
        let mut at = 0;
        loop {
            // Read before the import is opened: whoever makes the input may take a while to begin.
            let bytes = filled(file, PIECE_MAX)
                .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
            if at == 0 && bytes.is_empty() {
                // An empty file is a file too.
                self.piece(number, &name, 0, &[])?;
            }
            let most = usize::try_from(self.open()?.piece).unwrap_or(PIECE_MAX);
            for piece in bytes.chunks(most.clamp(1, PIECE_MAX)) {
                self.piece(number, &name, at, piece)?;
                at += u64::try_from(piece.len()).unwrap_or(u64::MAX);
            }
            if bytes.len() < PIECE_MAX {
                return Ok(());
            }
        }
    }

    fn piece(&mut self, number: u64, name: &str, at: u64, bytes: &[u8]) -> Result<(), Failure> {
        let query = PieceQuery {
            file: name.to_owned(),
            at,
            number: Some(number),
        };
        let id = self.open()?.id.clone();
        let target = client::path(&["imports", &id, "data"]) + &client::query(&query);
        let taken: ImportTaken = self.call(BUSY_TRIES, |key| {
            Call::bytes(target.clone(), bytes.to_vec(), key)
        })?;
        self.sent.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.sent.records = taken.records;
        (self.watch)(self.sent);
        Ok(())
    }

    fn open(&mut self) -> Result<&ImportOpened, Failure> {
        if self.opened.is_none() {
            let upload = self.upload;
            let options = upload.options.clone();
            let new = NewImport {
                source: upload.source.clone(),
                format: upload.format.clone(),
                machine: upload.machine.clone(),
                layout: options.layout,
                columns: options.columns,
                delimiter: options.delimiter,
                tz: options.tz,
                mapping: options.mapping,
                gpus_per_slot: options.gpus_per_slot,
                since: upload.since.clone(),
                days: upload.days,
                dry_run: upload.dry_run,
                strict: upload.strict,
                raw: !upload.no_raw,
            };
            let write = WriteArgs::default();
            let opened = self
                .context
                .send(Method::POST, &["imports"], &new, &write)?;
            self.opened = Some(opened);
        }
        let none = || Failure::internal("the import was not opened");
        self.opened.as_ref().ok_or_else(none)
    }

    fn end(&mut self) -> Result<ImportDone, Failure> {
        let id = self.open()?.id.clone();
        let target = client::path(&["imports", &id, "end"]);
        self.call(END_TRIES, |key| {
            Call::bytes(target.clone(), Vec::new(), key)
        })
    }

    /// Makes a call whose repeat has no second effect until it is answered.
    fn call<T: DeserializeOwned>(
        &self,
        busy_tries: u32,
        make: impl Fn(String) -> Call,
    ) -> Result<T, Failure> {
        repeated(busy_tries, || {
            let call = make(client::new_key()?);
            Ok(self.context.client.call(&call)?)
        })
    }

    /// Tells the daemon that nothing more comes, if it still listens.
    fn give_up(&self, failure: Failure) -> Failure {
        let Some(opened) = &self.opened else {
            return failure;
        };
        let is_down = failure.exit == exit::UNAVAILABLE && failure.problem.is_none();
        if !is_down
            && !is_gone(&failure)
            && let Ok(key) = client::new_key()
        {
            let target = client::path(&["imports", &opened.id]);
            // What went wrong was said already.
            let _: Result<Removed, _> = self.context.client.call(&Call::delete(target, key));
        }
        match &failure.problem {
            // The daemon's own hint says more, or the same.
            Some(problem) if problem.hint.is_some() => failure,
            // The same file would be refused again.
            Some(problem) if problem.code == "bad_value" => failure,
            _ => failure.hint(AGAIN),
        }
    }
}

/// Makes a call until it is answered, so many times if the daemon is busy.
pub(crate) fn repeated<T>(
    busy_tries: u32,
    mut call: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (mut busy, mut lost) = (0, 0);
    loop {
        let failure = match call() {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let tries = if failure.is("busy") {
            busy += 1;
            busy < busy_tries
        } else if failure.exit == exit::UNAVAILABLE && failure.problem.is_none() {
            lost += 1;
            lost < LOST_TRIES
        } else {
            false
        };
        if !tries {
            return Err(failure);
        }
        clock::wait(PAUSE);
    }
}

/// As many bytes as there are, at most so many.
fn filled(file: &mut dyn Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(most);
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
