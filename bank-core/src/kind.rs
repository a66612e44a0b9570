//! Kinds of reference data: one declaration each.
//!
//! A [`Kind`] declares its key, its [`Field`]s and who may see and change its records. All layers read the
//! declaration: rules check values, the store makes SQL and versions, the HTTP API makes JSON and its
//! description, `bank` makes options and columns, the journal makes its text. What a declaration cannot
//! express is the `check` of the kind: code in the same file.
//!
//! [`declared`] lists the kinds of this program. A site adds kinds, and fields of kinds, as records of the
//! kind `kind` ([`site`]); [`Records`] holds both.

mod attribute;
mod contribution;
mod contributor;
mod downtime;
mod field;
mod hardware;
mod machine;
mod mapping;
mod partner;
mod project;
mod record;
mod records;
pub mod site;
mod user;

pub use bank_core_values::value::{Type, Value, decimal, units};
pub use contributor::UNASSIGNED;
pub use field::{Field, Need, Rule, Screen};
pub(crate) use mapping::of_record as mapping_of;
pub use record::Record;
pub use records::Records;

use crate::ids::check_name;
use crate::refusal::Refusal;
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

/// Most records of a kind.
pub const RECORDS_MAX: usize = 10_000;
/// Most projects, and most users.
pub const OBJECTS_MAX: usize = 1_000_000;
/// Most bytes of the values of a record.
pub const RECORD_BYTES_MAX: usize = 65_536;

/// A kind of reference data.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its word in commands, messages and the journal: `downtime`.
    pub word: String,
    /// The name of its lists and of its path in the API: `downtimes`.
    pub plural: String,
    /// One line for help and manuals.
    pub about: String,
    /// What identifies a record.
    pub key: KeyType,
    /// Checks the name of a new record.
    pub key_rule: fn(&str) -> Result<(), Refusal>,
    /// Most records, without removed ones.
    pub most: usize,
    /// The fields, in the order of its columns in the database.
    pub fields: Vec<Field>,
    /// Values of a new record that it does not keep: other objects are made of them.
    pub arguments: Vec<Field>,
    /// Values that are shown with a record, but are no values of it: they come from other objects.
    pub derived: Vec<Field>,
    /// Who may see its records.
    pub readers: Readers,
    /// Who may change its records.
    pub writers: Writers,
    /// Its table; none where its records are rows of the table `kind_record`.
    pub table: Option<&'static str>,
    /// The journal's words for adding, changing and removing a record.
    pub ops: [&'static str; 3],
    /// The place of the column `deleted`: behind so many fields. A column that was added later is behind it,
    /// so that the columns of old versions keep their places.
    pub deleted_after: usize,
    /// The kind below which `bank` has its commands: `bank hardware downtime`.
    pub within: Option<&'static str>,
    /// The command of `bank`, where it is not the word.
    pub command: Option<&'static str>,
    /// A second word of the command.
    pub alias: Option<&'static str>,
    /// What a record is about. A caller who sees only some projects or machines sees the records about these; all
    /// records where there is none.
    pub concerns: Option<fn(&Record) -> Concern<'_>>,
    /// Whether jobs name its records: one that open jobs name is not removed.
    pub of_jobs: bool,
    /// Whether messages between banks name its records: one that messages name is not removed.
    pub of_messages: bool,
    /// The columns of its list, in their order; empty for all fields.
    pub listed: Vec<&'static str>,
    /// The whole-number field that orders the list before the key.
    pub ordered_by: Option<&'static str>,
    /// Help for `add`, `set` and `rm`, and the text of an empty list.
    pub help: [String; 4],
    /// Brings the values of a record that is added, changed or removed into line with each other.
    pub normalize: fn(&mut Record),
    /// The rules that no field can express, on a record that is added or changed.
    pub check: Check,
    /// Whether a record may be removed.
    pub removable: Check,
}

/// A rule of a kind.
///
/// # Errors
/// The refusal of the record.
pub type Check = fn(&Record, &dyn Objects) -> Result<(), Refusal>;

/// What identifies a record of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// A number that the bank gives, from 1.
    Number,
    /// A name that is given with the record ([`crate::ids::check_name`]).
    Name,
    /// A name that is a word of commands: a letter, then letters, digits and `_`; at most 32 bytes,
    /// stored in lower case.
    Word,
    /// A name without regard to case; the first spelling stays.
    AnyCase,
    /// A name, with a number beside it by which other tables refer to the record ([`Record::id`]).
    Object,
}

/// What a record is about, for callers who do not see the whole bank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concern<'a> {
    /// Machines; the record is seen by callers who see all of them.
    pub machines: Vec<Cow<'a, str>>,
    /// Projects and users.
    pub whose: Whose<'a>,
}

/// The project or user that a record is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Whose<'a> {
    /// None in particular.
    #[default]
    Everyone,
    /// Any: only a caller who sees all projects sees it.
    Unknown,
    /// A project, or an account of a project.
    Project(Cow<'a, str>),
    /// A user.
    User(Cow<'a, str>),
}

/// The key of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A number.
    Number(i64),
    /// A name.
    Name(String),
}

/// Who may see the records of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readers {
    /// Every caller with a role, except collectors.
    #[default]
    Everyone,
    /// Administrators and auditors.
    Auditors,
    /// Administrators.
    Administrators,
}

/// Who may change the records of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// Administrators.
    Administrators,
    /// Administrators and operators.
    Operators,
}

/// What the rules of a kind look at beside the record: the directory, seen from below.
pub trait Objects {
    /// Whether an object or record of that kind and key exists.
    fn has(&self, kind: &str, key: &str) -> bool;
    /// All records.
    fn records(&self) -> &Records;
    /// Whether a project, or an account of a project, has that name.
    fn has_payer(&self, name: &str) -> bool;
    /// The user who has a name as another name.
    fn user_with_alias(&self, alias: &str) -> Option<&str>;
    /// An account whose lists name a project.
    fn account_listing(&self, project: &str) -> Option<&str>;
    /// A rate in force that uses a usage attribute.
    fn rate_of(&self, attribute: &str) -> Option<i64>;
}

/// The kinds that every bank has.
pub fn declared() -> &'static [Kind] {
    static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
        vec![
            site::kind(),
            project::kind(),
            user::kind(),
            machine::kind(),
            mapping::kind(),
            attribute::kind(),
            hardware::kind(),
            downtime::kind(),
            contributor::kind(),
            contribution::kind(),
            partner::kind(),
        ]
    });
    &KINDS
}

/// A kind that every bank has, by its word.
pub fn of(word: &str) -> Option<&'static Kind> {
    declared().iter().find(|kind| kind.word == word)
}

impl Kind {
    /// A kind without fields, whose records have the table `word`.
    fn new(word: &'static str, plural: &str, ops: [&'static str; 3], about: &str) -> Kind {
        Kind {
            word: word.to_owned(),
            plural: plural.to_owned(),
            about: about.to_owned(),
            key: KeyType::Number,
            key_rule: |name| Ok(check_name(name)?),
            most: RECORDS_MAX,
            fields: Vec::new(),
            arguments: Vec::new(),
            derived: Vec::new(),
            readers: Readers::Everyone,
            writers: Writers::Administrators,
            table: Some(word),
            ops,
            deleted_after: 0,
            within: None,
            command: None,
            alias: None,
            concerns: None,
            of_jobs: false,
            of_messages: false,
            listed: Vec::new(),
            ordered_by: None,
            help: [
                format!("Add a {word}"),
                format!("Change a {word}"),
                format!("Remove a {word}"),
                format!("no {plural}"),
            ],
            normalize: |_| (),
            check: |_, _| Ok(()),
            removable: |_, _| Ok(()),
        }
    }

    /// Most records, removed ones included.
    pub fn most_ever(&self) -> usize {
        self.most.saturating_mul(10)
    }

    /// The command of `bank`.
    pub fn command(&self) -> &str {
        self.command.unwrap_or(&self.word)
    }

    /// Whether a word of the command line is its command.
    pub fn is_command(&self, word: &str) -> bool {
        self.command() == word || self.word == word || self.alias == Some(word)
    }

    /// A field by name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The name of its key in JSON, lists and the database.
    pub fn key_name(&self) -> &'static str {
        match self.key {
            KeyType::Number => "id",
            KeyType::Name | KeyType::Word | KeyType::AnyCase | KeyType::Object => "name",
        }
    }

    /// The fields and derived values of its list, in their order.
    pub fn columns(&self) -> Vec<&Field> {
        if self.listed.is_empty() {
            return self.fields.iter().collect();
        }
        let column = |name: &str| {
            let mut derived = self.derived.iter();
            self.field(name)
                .or_else(|| derived.find(|own| own.name == name))
        };
        let listed = self.listed.iter().filter_map(|name| column(name));
        let rest = self.fields.iter().filter(|field| field.site);
        listed.chain(rest).collect()
    }

    /// A key as it is written. None where it cannot be a key of the kind.
    pub fn read_key(&self, text: &str) -> Option<Key> {
        match self.key {
            // One spelling of a number: `+25` and `025` are no keys.
            KeyType::Number => {
                let number: Option<i64> = text.parse().ok();
                let own = number.filter(|number| number.to_string() == text);
                own.map(Key::Number)
            }
            KeyType::Name | KeyType::AnyCase | KeyType::Object => Some(Key::Name(text.to_owned())),
            KeyType::Word => Some(Key::Name(text.to_ascii_lowercase())),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Number(number) => number.fmt(f),
            Key::Name(name) => name.fmt(f),
        }
    }
}

impl Readers {
    /// Every word with its meaning.
    pub const ALL: [(Readers, &'static str); 3] = [
        (Readers::Everyone, "everyone"),
        (Readers::Auditors, "auditors"),
        (Readers::Administrators, "administrators"),
    ];
}

impl Writers {
    /// Every word with its meaning.
    pub const ALL: [(Writers, &'static str); 2] = [
        (Writers::Administrators, "administrators"),
        (Writers::Operators, "operators"),
    ];
}

/// The type of a field with one of these words.
fn choice<'a>(words: impl IntoIterator<Item = &'a str>) -> Type {
    Type::Choice(words.into_iter().map(str::to_owned).collect())
}

/// A project, or an account of a project.
fn payer(text: &str, objects: &dyn Objects) -> Result<String, Refusal> {
    if objects.has_payer(text) {
        return Ok(text.to_owned());
    }
    Err(Refusal::not_found("project or account", text))
}
