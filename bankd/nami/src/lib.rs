//! Reads the XML that a scheduler sends about its jobs and reservations
//! (`nami.md` 3): bytes in, [`Document`]s out, or one [`DocumentError`] for
//! the whole input, or one for each object that cannot be used.
//!
//! The reader is tolerant of names and shapes and strict about meaning. Names are matched without regard to
//! case, `_` and `-`, through a table of aliases. An ambiguous input (two accounts, a number that is not one)
//! is refused. The reader must never guess at a number, never follow a DOCTYPE, never do more work than the
//! size of its input allows, and never panic. It is independent of databases and HTTP.
//!
//! Start reading at [`read`]; `reader.rs` walks the XML, `names.rs` contains the vocabulary, `object.rs`
//! makes a document of the elements.

mod names;
mod number;
mod object;
mod reader;
mod request;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;

pub use number::{Number, epoch};
pub use request::{asserted_amount, request};
pub use text::{is_character, resolved};

/// Greatest size of an input in bytes (`nami.md` 3.2).
pub const MAX_BYTES: usize = 1 << 20;
/// Greatest depth of nested elements (`nami.md` 3.2).
pub const MAX_DEPTH: u32 = 16;
/// Greatest number of elements, and likewise of attributes, of one input
/// (`nami.md` 3.2).
pub const MAX_ELEMENTS: u32 = 2000;
/// Greatest length of a name or id in bytes (`nami.md` 3.1).
pub const MAX_NAME_BYTES: usize = 256;
/// Budget in bytes for variables and unknown parts of one object together
/// (`nami.md` 3.1).
pub const MAX_KEPT_BYTES: usize = 64 << 10;

/// Reads all objects of one input.
///
/// Accepted are one object, several one after the other, and objects inside
/// the wrappers `Data`, `Request` and `Queue` (`nami.md` 2). The order of the
/// documents is that of the input; there is at least one.
///
/// # Errors
/// The first of all errors: for callers who want everything or nothing.
///
/// ```
/// use bankd_nami::{ReadOptions, read};
///
/// let xml = b"<Job><JobID>Moab.1</JobID><Procs>16</Procs></Job>";
/// let documents = read(xml, &ReadOptions::default())?;
/// assert_eq!(documents[0].object_id.as_deref(), Some("Moab.1"));
/// # Ok::<(), bankd_nami::DocumentError>(())
/// ```
pub fn read(bytes: &[u8], options: &ReadOptions<'_>) -> Result<Vec<Document>, DocumentError> {
    read_each(bytes, options)?.into_iter().collect()
}

/// Reads all objects of one input, each by itself: an error in one of several does not keep the others from
/// being applied (decisions.md 26).
///
/// # Errors
/// Faults of the input as a whole: its size, its encoding, XML that is not well-formed, a
/// DOCTYPE, too many or too deep elements, no object in it.
pub fn read_each(
    bytes: &[u8],
    options: &ReadOptions<'_>,
) -> Result<Vec<Result<Document, DocumentError>>, DocumentError> {
    if bytes.len() > MAX_BYTES {
        let text = format_args!("{} bytes, at most {MAX_BYTES} are taken", bytes.len());
        return Err(DocumentError::new("too_large", 0, text));
    }
    let source = decode(bytes, options.latin1_fallback)?;
    let source = source.strip_prefix('\u{feff}').unwrap_or(&source);
    reader::documents(source, options)
}

/// Makes a document of names and values that other code has read, such as a message of the Gold protocol.
/// Names that are not in the vocabulary are kept.
///
/// # Errors
/// As [`read`]: one name twice, two that disagree, or a number that is none.
pub fn of_fields<'a>(
    kind: ObjectKind,
    fields: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Document, DocumentError> {
    let mut object = object::Object::new(0, kind.as_str(), Some(kind));
    for (name, value) in fields {
        if let Some(name) = generic(name) {
            object.resources().add(Cow::Borrowed(name), value, 0)?;
            continue;
        }
        match names::member(name) {
            names::Name::Field(field, rank) => {
                object.put(field, rank, name, Cow::Borrowed(value))?;
            }
            _ => object.keep(name, value),
        }
    }
    object.finish()
}

/// The name of a generic resource, if a field is the quantity of one: `gres.gpu`.
fn generic(field: &str) -> Option<&str> {
    let (kind, name) = field.split_once('.')?;
    kind.eq_ignore_ascii_case("gres").then_some(name)
}

/// Bytes as text: UTF-8, or Latin-1 where that is allowed (`nami.md` 3.2).
fn decode(bytes: &[u8], latin1_fallback: bool) -> Result<Cow<'_, str>, DocumentError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) if latin1_fallback => Ok(Cow::Owned(
            bytes.iter().map(|&byte| char::from(byte)).collect(),
        )),
        Err(e) => {
            let text = format_args!("not UTF-8 at byte {}", e.valid_up_to());
            Err(DocumentError::new("bad_document", 0, text))
        }
    }
}

/// The fields of a document that an event requires (`nami.md` 3.1, column "need").
///
/// The object id is needed for all but a quote. A charging event needs its own duration; a quote and a
/// reserving event need a duration of either kind. A create and a modify only store the object and a delete
/// only closes it, so they need none. Processors may be missing everywhere: the instance stores them.
///
/// # Errors
/// `missing_field`, naming the first element to expect.
pub fn require(document: &Document, event: Event) -> Result<(), DocumentError> {
    let missing = |element: &str| {
        let text = format_args!("{element} is missing, {} needs it", event.as_str());
        Err(DocumentError::new("missing_field", document.number, text))
    };
    if document.object_id.is_none() && event != Event::Quote {
        return missing("ObjectID");
    }
    let prices = event == Event::Quote || event.reserves();
    if event.charges() && document.charge_duration_s.is_none() {
        missing("ChargeDuration")
    } else if prices && document.lien_seconds().is_none() {
        missing("WallDuration")
    } else {
        Ok(())
    }
}

/// Options for reading, from the site or the caller.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'o> {
    /// Read input that is not UTF-8 as Latin-1 instead of refusing it.
    pub latin1_fallback: bool,
    /// Name of the variable that carries the id of a quote (decisions.md 26).
    pub tid_variable: &'o str,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self {
            latin1_fallback: false,
            tid_variable: "BILLTID",
        }
    }
}

/// The events that a document may come with (`nami.md` 1.1). Moab 5 to 7 and Moab 9 have words of
/// their own for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A request for a price.
    Quote,
    /// The object was submitted.
    Create,
    /// The object starts: place a lien.
    Reserve,
    /// The same, in Moab 9.
    Start,
    /// Some of it was used: debit.
    Charge,
    /// The same, in Moab 9.
    Update,
    /// It goes on: place a lien for the next interval.
    Continue,
    /// It was suspended: debit, and release the lien.
    Pause,
    /// It goes on after a pause: place a lien.
    Resume,
    /// Its use has ended: debit, and close it.
    End,
    /// The object is gone: close it.
    Delete,
    /// The object was changed: remember it.
    Modify,
}

/// Every event with the last part of its route.
const EVENTS: [(Event, &str); 12] = [
    (Event::Quote, "quote"),
    (Event::Create, "create"),
    (Event::Reserve, "reserve"),
    (Event::Start, "start"),
    (Event::Charge, "charge"),
    (Event::Update, "update"),
    (Event::Continue, "continue"),
    (Event::Pause, "pause"),
    (Event::Resume, "resume"),
    (Event::End, "end"),
    (Event::Delete, "delete"),
    (Event::Modify, "modify"),
];

impl Event {
    /// The last part of the event's route.
    pub fn as_str(self) -> &'static str {
        let known = EVENTS.iter().find(|(event, _)| *event == self);
        known.map_or("", |(_, word)| word)
    }

    /// Whether it debits the time since the last charge.
    pub fn charges(self) -> bool {
        matches!(self, Self::Charge | Self::Update | Self::Pause | Self::End)
    }

    /// Whether it places a lien.
    pub fn reserves(self) -> bool {
        matches!(
            self,
            Self::Reserve | Self::Start | Self::Continue | Self::Resume
        )
    }
}

/// The kind of object in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A job: `Job`.
    Job,
    /// A reservation: `Reservation` or `Rsv`.
    Reservation,
}

impl ObjectKind {
    /// `job` or `reservation`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Reservation => "reservation",
        }
    }
}

/// One object of the input (`nami.md` 3.1). `None` means that the document lacks the field; the null
/// spellings (empty, `[NONE]`, `NONE`, `[DEFAULT]`) count as that. Names are at most 256 bytes, free of
/// control characters, and kept byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Place in the input, from 1.
    pub number: usize,
    /// Job or reservation.
    pub kind: ObjectKind,
    /// The scheduler's id of the object.
    pub object_id: Option<String>,
    /// The reservation that a job runs in, by the scheduler's id.
    pub reservation: Option<String>,
    /// The user of the machine.
    pub user: Option<String>,
    /// The requestor. Kept only: never becomes the user, never charged.
    pub requestor: Option<String>,
    /// The user's group, kept only.
    pub group: Option<String>,
    /// The project (or account) that is to pay, as the scheduler names it.
    pub account: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Class, queue or partition.
    pub class: Option<String>,
    /// The machine, where the document names one.
    pub machine: Option<String>,
    /// Processors: of the object, or the sum over its requirements.
    pub processors: Option<Number>,
    /// Nodes, likewise.
    pub nodes: Option<Number>,
    /// Memory in MB, likewise.
    pub memory_mb: Option<i64>,
    /// Disk in MB, likewise.
    pub disk_mb: Option<i64>,
    /// Generic resources in the order of first mention, each name once.
    pub gres: Vec<(String, Number)>,
    /// Wall time in seconds: the limit, or what the object took. At most ten
    /// years.
    pub wall_duration_s: Option<i64>,
    /// Seconds to be charged, since the last charge. At most ten years.
    pub charge_duration_s: Option<i64>,
    /// Start in seconds since 1970 UTC; 0 is read as not set.
    pub start_time_s: Option<i64>,
    /// End, likewise.
    pub end_time_s: Option<i64>,
    /// Submission, likewise.
    pub submit_time_s: Option<i64>,
    /// State in the scheduler's words.
    pub state: Option<String>,
    /// Exit code; the one number that may be negative.
    pub completion_code: Option<i64>,
    /// The id of a quote: from the variable named by the options, or an
    /// element `TID`.
    pub tid: Option<String>,
    /// The other variables, name and value.
    pub variables: Vec<(String, String)>,
    /// `Charge` or `Amount` as written: the scheduler's price. In a reservation it may also be the flag that
    /// decides whether it is charged at all (`nami.md` 4.1).
    pub asserted_amount: Option<String>,
    /// Everything else: the name, and the content. The name is the text between `<` and `>` of the opening
    /// tag, `@name` for an attribute of the object, or `#text` for loose text. The content is the text, or
    /// the source between the tags if it contains elements.
    pub unknown: Vec<(String, String)>,
    /// Variables or unknown parts were left out, being more than
    /// [`MAX_KEPT_BYTES`].
    pub unknown_cut: bool,
}

impl Document {
    /// Seconds for which a lien is to hold: the wall duration, else the
    /// charged one (`nami.md` 3.1).
    pub fn lien_seconds(&self) -> Option<i64> {
        self.wall_duration_s.or(self.charge_duration_s)
    }

    /// Seconds that a quote or a reserve is priced for: the charged duration,
    /// else the wall duration (`nami.md` 3.1).
    pub fn priced_seconds(&self) -> Option<i64> {
        self.charge_duration_s.or(self.wall_duration_s)
    }

    /// The asserted amount, if its text is a number.
    pub fn asserted(&self) -> Option<Number> {
        self.asserted_amount.as_deref().and_then(number::decimal)
    }
}

/// Why an input cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct DocumentError {
    /// `bad_document`, `bad_number`, `missing_field` or `too_large`.
    pub code: &'static str,
    /// One line of at most 160 bytes that names the object and the element.
    pub message: String,
}

/// Greatest length of an error's message in bytes.
const MAX_MESSAGE_BYTES: usize = 160;

impl DocumentError {
    /// `object` is the number of the object from 1; 0 is the input as a whole. Quotes of the input in `text`
    /// are made harmless here.
    fn new(code: &'static str, object: usize, text: impl std::fmt::Display) -> Self {
        let full = match object {
            0 => text.to_string(),
            n => format!("object {n}: {text}"),
        };
        let mut message = String::with_capacity(full.len().min(MAX_MESSAGE_BYTES));
        for c in full.chars() {
            let c = if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
                '?'
            } else {
                c
            };
            if message.len() + c.len_utf8() > MAX_MESSAGE_BYTES {
                break;
            }
            message.push(c);
        }
        Self { code, message }
    }
}
