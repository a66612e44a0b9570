//! Kinds and fields that a site adds at run time, as records of the kind `kind`: `bank kind add Grant
//! --field title:text --field amount:amount`. A record whose name is a kind of the program adds fields to
//! that kind.
//!
//! A field is written `NAME:TYPE`, with `!` behind the type where each record has a value, then a blank and
//! a help text: `state:open|closed! State of the application`. Types are in [`TYPES`]; words with `|`
//! between them are a choice; the word of a kind of the program, or `account`, is a reference.

mod check;

use self::check::{check, removable};
use super::{Check, Field, KeyType, Kind, Need, Readers, Record, Type, Value, Writers};
use super::{RECORDS_MAX, choice};
use crate::ids::{NAME_BYTES_MAX, check_name};
use std::collections::BTreeSet;

/// The word of the kind whose records are kinds.
pub const WORD: &str = "kind";
/// Types of fields by word.
pub const TYPES: [&str; 7] = [
    "text", "number", "decimal", "amount", "flag", "time", "list",
];
/// The kind of objects beside records that a field can refer to.
pub const OBJECT: &str = "account";
/// Words that cannot be the word of a kind, because they are commands of `bank` or views of queries. Tests
/// compare them with the commands and the views.
pub const RESERVED: [&str; 72] = [
    "account",
    "account_rule",
    "adjust",
    "all",
    "alloc",
    "allocation",
    "approve",
    "attention",
    "attr",
    "bal",
    "balance",
    "batch",
    "charge",
    "checkpoint",
    "clock",
    "close",
    "collect",
    "cycle",
    "deposit",
    "entry",
    "explain",
    "export",
    "fund",
    "gen",
    "help",
    "import",
    "job",
    "jobs",
    "journal",
    "key",
    "lien",
    "limit",
    "member",
    "migrate",
    "moab",
    "monitor",
    "nami",
    "options",
    "priority",
    "proj",
    "proposal",
    "quarantine",
    "query",
    "quote",
    "rate",
    "reconcile",
    "record",
    "records",
    "refund",
    "reject",
    "report",
    "request",
    "reserve",
    "role",
    "settings",
    "settle",
    "settlement",
    "slurm",
    "source",
    "statement",
    "status",
    "stmt",
    "token",
    "transaction",
    "transfer",
    "undo",
    "unmapped",
    "usage",
    "verify",
    "web",
    "what_if",
    "withdraw",
];
/// Names that a field of the site cannot have: those of keys, and of options that commands have already. A
/// test of `bank` compares them with its options.
pub const RESERVED_FIELDS: [&str; 30] = [
    "at",
    "color",
    "columns",
    "config",
    "csv",
    "deleted",
    "dry_run",
    "format",
    "help",
    "id",
    "json",
    "key",
    "key_file",
    "key_id",
    "name",
    "no_header",
    "no_thousands",
    "parsable",
    "parsable2",
    "quiet",
    "raw_text",
    "record",
    "recorded",
    "server",
    "spreadsheet_safe",
    "transaction",
    "units",
    "version",
    "warnings",
    "yes",
];
/// Most kinds that a site adds.
const KINDS_MAX: usize = 64;
/// Most fields of a kind with those that a site adds: a view of queries has 64 columns, and up to three of them
/// are keys and `Deleted`.
const FIELDS_MAX: usize = 61;
/// Longest word of a kind or field, in bytes.
const WORD_MAX: usize = 32;
/// Most texts of a list, and longest text.
const LIST_MAX: usize = 1_000;
/// Decimals of a field of type `decimal`.
const PLACES: u32 = 9;

pub(super) fn kind() -> Kind {
    let ops = ["kind_add", "kind_set", "kind_rm"];
    let about = "Kinds of records and fields that this site adds";
    let own = Kind {
        key: KeyType::Word,
        table: None,
        help: [
            "Add a kind of records, or fields to a built-in kind".into(),
            "Change a kind; fields with values keep their type".into(),
            "Remove a kind without records".into(),
            "no kinds of this site".into(),
        ],
        check,
        removable,
        ..Kind::new(WORD, "kinds", ops, about)
    };
    let first = |word: &str| Value::Text(word.to_owned());
    own.with(
        Field::new(
            "fields",
            Type::Texts(FIELDS_MAX, NAME_BYTES_MAX),
            "Field, as NAME:TYPE",
        )
        .absent("none")
        .option("field"),
    )
    .with(
        Field::new("keys", choice(["number", "name"]), "Keys of its records")
            .default(first("number")),
    )
    .with(
        Field::new(
            "see",
            choice(Readers::ALL.map(|(_, word)| word)),
            "Who may see records",
        )
        .default(first("everyone")),
    )
    .with(
        Field::new(
            "change",
            choice(Writers::ALL.map(|(_, word)| word)),
            "Who may change records",
        )
        .default(first("administrators")),
    )
    .with(Field::description())
}

/// The kind that a record declares: of the site, or of the program with the fields of the site. A removed
/// record declares the kind as it was before, or a kind of the program without fields of the site.
pub fn kind_of(record: &Record) -> Kind {
    let word = record.key.to_string();
    let fields = record.list("fields").iter();
    let fields = fields.filter_map(|text| read(text).ok());
    match super::of(&word) {
        Some(own) if record.deleted => own.clone(),
        Some(own) => {
            // Where the program has private fields, those of the site are private too.
            let private = own.fields.iter().any(|field| field.private);
            let fields = fields.map(|field| Field { private, ..field });
            Kind {
                fields: own.fields.iter().cloned().chain(fields).collect(),
                ..own.clone()
            }
        }
        None => Kind {
            fields: fields.collect(),
            ..new(record, &word)
        },
    }
}

fn new(record: &Record, word: &str) -> Kind {
    let readers = Readers::ALL
        .iter()
        .find(|(_, text)| *text == record.text("see"));
    let writers = Writers::ALL
        .iter()
        .find(|(_, text)| *text == record.text("change"));
    let about = match record.text("description") {
        "" => format!("Records of kind {word}"),
        text => text.to_owned(),
    };
    let none: Check = |_, _| Ok(());
    Kind {
        word: word.to_owned(),
        plural: word.to_owned(),
        about,
        key: if record.text("keys") == "name" {
            KeyType::Name
        } else {
            KeyType::Number
        },
        key_rule: |name| Ok(check_name(name)?),
        most: RECORDS_MAX,
        fields: Vec::new(),
        arguments: Vec::new(),
        derived: Vec::new(),
        readers: readers.map_or(Readers::Administrators, |(readers, _)| *readers),
        writers: writers.map_or(Writers::Administrators, |(writers, _)| *writers),
        table: None,
        ops: ["record_add", "record_set", "record_rm"],
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
            format!("Add a {word} record"),
            format!("Change a {word} record"),
            format!("Remove a {word} record"),
            format!("no {word} records"),
        ],
        normalize: |_| (),
        check: none,
        removable: none,
    }
}

/// Reads a field of the site: `NAME:TYPE[!] [HELP]`.
///
/// # Errors
/// What is wrong, in words.
pub fn read(text: &str) -> Result<Field, &'static str> {
    let (spec, help) = text.split_once(' ').unwrap_or((text, ""));
    let (name, of) = spec
        .split_once(':')
        .ok_or("NAME:TYPE, such as title:text")?;
    if !is_word(name) {
        return Err("a name of a small letter, then small letters, digits and _, at most 32 bytes");
    }
    if RESERVED_FIELDS.iter().any(|other| is_same(other, name)) {
        return Err("a name other than id, name, deleted and the options of every command");
    }
    let (of, need) = match of.strip_suffix('!') {
        Some(of) => (of, Need::Required),
        None => (of, Need::Optional(String::new())),
    };
    let of = match of {
        "text" => Type::Text(NAME_BYTES_MAX),
        "number" => Type::Whole(i64::MIN, i64::MAX),
        "decimal" => Type::Decimal(PLACES, i64::MIN, i64::MAX),
        "amount" => Type::Amount(i64::MIN, i64::MAX),
        "flag" => Type::Flag,
        "time" => Type::Time,
        "list" => Type::Texts(LIST_MAX, NAME_BYTES_MAX),
        words if words.contains('|') && words.split('|').all(is_word) => {
            let words: Vec<String> = words.split('|').map(str::to_owned).collect();
            if words.iter().collect::<BTreeSet<_>>().len() < words.len() {
                return Err("different words with | between them");
            }
            Type::Choice(words)
        }
        kind if kind == OBJECT || (kind != WORD && super::of(kind).is_some()) => {
            Type::Reference(kind.to_owned())
        }
        _ => {
            return Err(
                "a type: text, number, decimal, amount, flag, time, list, project, user, account, \
                        machine, hardware or another kind of the program, or words with | between them",
            );
        }
    };
    let help = if help.is_empty() { name } else { help };
    Ok(Field {
        name: name.to_owned(),
        label: super::field::label_of(name),
        need,
        site: true,
        ..Field::new("", of, help)
    })
}

/// Whether two names are one in a view of queries, which writes `paid_by` as `PaidBy` and ignores case.
fn is_same(one: &str, other: &str) -> bool {
    let bytes = |name: &str| name.bytes().filter(|b| *b != b'_').collect::<Vec<u8>>();
    bytes(one).eq_ignore_ascii_case(&bytes(other))
}

fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    let begins = bytes.next().is_some_and(|b| b.is_ascii_lowercase());
    let goes_on = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    begins && goes_on && text.len() <= WORD_MAX
}
