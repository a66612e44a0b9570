//! Fields: their declaration, and the check of a value against it.

use super::{KeyType, Kind, Objects, of};
use super::{Type, Value, decimal};
use crate::ids::NAME_BYTES_MAX;
use crate::mapping::{PRIORITY, PRIORITY_MAX};
use crate::refusal::{Refusal, short};

/// A field of a kind.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a declaration: each flag is one column of a table of fields"
)]
pub struct Field {
    /// Its name: in JSON, in messages, and with `-` for `_` as an option of `bank`.
    pub name: String,
    /// Its column in the database.
    pub column: &'static str,
    /// The heading of its column in lists.
    pub label: String,
    /// Type and range of its values.
    pub of: Type,
    /// Whether a record has a value.
    pub need: Need,
    /// Help: what the values are, without the default.
    pub help: String,
    /// The option of `bank` where it is not the name, with its letter and a second name.
    pub option: Option<&'static str>,
    /// The letter of the option.
    pub letter: Option<char>,
    /// A second name of the option.
    pub alias: Option<&'static str>,
    /// Whether `bank KIND add` takes it by position rather than as an option.
    pub positional: bool,
    /// Whether the record belongs to the one that it refers to: it is removed with it.
    pub owner: bool,
    /// Whether lists on a screen have its column.
    pub screen: Screen,
    /// Whether lists leave its column out first, where the screen is narrow.
    pub secondary: bool,
    /// Whether its column has NULL where a record has no value, or the default.
    pub nullable: bool,
    /// Whether its values are names of payers, which queries hide from callers who do not see them.
    pub payer: bool,
    /// Whether its column has the numbers of the records that its names refer to.
    pub numbered: bool,
    /// The table with a row for each text of its list, where the list has no column of the kind's table.
    pub rows: Option<&'static str>,
    /// Whether the journal, which everyone reads, has its name only.
    pub private: bool,
    /// Whether its option takes several names with commas between them.
    pub commas: bool,
    /// Whether its texts may have line breaks.
    pub lines: bool,
    /// Whether the value of a new record stays.
    pub fixed: bool,
    /// Whether a value stays once a record has one.
    pub once: bool,
    /// What no type can express, for each text.
    pub rule: Option<Rule>,
    /// Whether the site added it.
    pub site: bool,
}

/// Checks a text of a field, and brings it into its stored form.
///
/// # Errors
/// The refusal of the text.
pub type Rule = fn(&str, &dyn Objects) -> Result<String, Refusal>;

/// Whether a record has a value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Always; a new record must name it.
    Required,
    /// Always; a new record that does not name it gets this one.
    Default(Value),
    /// Not always; the text is the meaning of no value, for help.
    Optional(String),
}

/// Whether lists on a screen have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// Always.
    Always,
    /// Where a row has a value that is not the default.
    IfAny,
}

/// The label of a name: `Paid by` of `paid_by`.
pub(super) fn label_of(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next();
    let first = first.into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

impl Field {
    /// A field that may have no value.
    pub(super) fn new(name: &'static str, of: Type, help: &str) -> Field {
        Field {
            name: name.to_owned(),
            column: name,
            label: label_of(name),
            of,
            need: Need::Optional(String::new()),
            help: help.to_owned(),
            option: None,
            letter: None,
            alias: None,
            positional: false,
            owner: false,
            screen: Screen::Always,
            secondary: false,
            nullable: false,
            payer: false,
            numbered: false,
            rows: None,
            private: false,
            commas: false,
            lines: false,
            fixed: false,
            once: false,
            rule: None,
            site: false,
        }
    }

    /// The order in which records are tried: lower first.
    pub(super) fn priority() -> Field {
        let of = Type::Whole(0, PRIORITY_MAX);
        let help = "Priority; lower is tried first";
        Field::new("priority", of, help).default(Value::Whole(PRIORITY))
    }

    /// Free text of up to 256 bytes, in lists where a row has one.
    pub(super) fn description() -> Field {
        let of = Type::Text(NAME_BYTES_MAX);
        Field {
            screen: Screen::IfAny,
            lines: true,
            ..Field::new("description", of, "Description")
        }
    }

    /// The start of the time in which the record counts, inclusive.
    pub(super) fn from(help: &str) -> Field {
        Field::new("from", Type::Time, help)
            .column("from_at")
            .absent("always")
    }

    /// The end of the time in which the record counts, exclusive.
    pub(super) fn until(help: &str) -> Field {
        let own = Field::new("until", Type::Time, help).column("until_at");
        Field {
            alias: Some("to"),
            ..own.absent("no end")
        }
    }

    pub(super) fn column(self, column: &'static str) -> Field {
        Field { column, ..self }
    }

    pub(super) fn required(self) -> Field {
        let need = Need::Required;
        Field { need, ..self }
    }

    pub(super) fn default(self, value: Value) -> Field {
        let need = Need::Default(value);
        Field { need, ..self }
    }

    pub(super) fn absent(self, meaning: &str) -> Field {
        let need = Need::Optional(meaning.to_owned());
        Field { need, ..self }
    }

    /// With a label other than its name.
    pub(super) fn label(self, label: &str) -> Field {
        let label = label.to_owned();
        Field { label, ..self }
    }

    pub(super) fn option(self, option: &'static str) -> Field {
        let option = Some(option);
        Field { option, ..self }
    }

    pub(super) fn letter(self, letter: char) -> Field {
        let letter = Some(letter);
        Field { letter, ..self }
    }

    pub(super) fn alias(self, alias: &'static str) -> Field {
        let alias = Some(alias);
        Field { alias, ..self }
    }

    pub(super) fn if_any(self) -> Field {
        let screen = Screen::IfAny;
        Field { screen, ..self }
    }

    pub(super) fn secondary(self) -> Field {
        let secondary = true;
        Field { secondary, ..self }
    }

    pub(super) fn nullable(self) -> Field {
        let nullable = true;
        Field { nullable, ..self }
    }

    pub(super) fn payer(self) -> Field {
        let payer = true;
        Field { payer, ..self }
    }

    pub(super) fn numbered(self) -> Field {
        let numbered = true;
        Field { numbered, ..self }
    }

    pub(super) fn rows(self, table: &'static str) -> Field {
        let rows = Some(table);
        Field { rows, ..self }
    }

    pub(super) fn commas(self) -> Field {
        let commas = true;
        Field { commas, ..self }
    }

    pub(super) fn private(self) -> Field {
        let private = true;
        Field { private, ..self }
    }

    pub(super) fn once(self) -> Field {
        let once = true;
        Field { once, ..self }
    }

    pub(super) fn fixed(self) -> Field {
        let fixed = true;
        Field { fixed, ..self }
    }

    pub(super) fn rule(self, rule: Rule) -> Field {
        let rule = Some(rule);
        Field { rule, ..self }
    }

    pub(super) fn positional(self) -> Field {
        let positional = true;
        Field { positional, ..self }
    }

    pub(super) fn owner(self) -> Field {
        let owner = true;
        Field { owner, ..self }
    }

    /// Whether its values are lists.
    pub fn is_list(&self) -> bool {
        matches!(self.of, Type::Texts(..) | Type::References(..))
    }

    /// The value of a record that names none.
    pub fn default_value(&self) -> &Value {
        match &self.need {
            Need::Default(value) => value,
            Need::Required | Need::Optional(_) => &Value::None,
        }
    }

    /// Whether its values are numbers of records.
    pub fn is_number_of_record(&self) -> bool {
        match &self.of {
            Type::Reference(kind) => of(kind).is_some_and(|kind| kind.key == KeyType::Number),
            _ => false,
        }
    }

    /// The range of its values, in words: `1 to 1000000`.
    pub fn expected(&self) -> String {
        match &self.of {
            Type::Text(max) => format!("at most {max} bytes without control characters"),
            Type::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Type::Duration(min, max) => format!("{min} to {max} seconds"),
            Type::Decimal(places, min, max) => format!(
                "a decimal number from {} to {} with at most {places} decimals",
                decimal(*min, *places),
                decimal(*max, *places)
            ),
            Type::Amount(..) => "an amount".to_owned(),
            Type::Flag => "true or false".to_owned(),
            Type::Time => "a time such as 2026-10-01T00:00:00Z".to_owned(),
            Type::Choice(words) => words.join(", "),
            Type::Reference(kind) if self.is_number_of_record() => {
                format!("the number of an existing {kind}")
            }
            Type::Reference(kind) => format!("the name of an existing {kind}"),
            Type::Texts(max, bytes) => {
                format!("at most {max} texts of at most {bytes} bytes each")
            }
            Type::References(kind, max) => format!("at most {max} names of existing {kind}s"),
        }
    }

    /// The refusal of a value of this field.
    pub fn bad(&self) -> Refusal {
        Refusal::bad_field(&self.name, self.expected())
    }

    /// Checks a value: its type, its range, its rule, and that what it refers to exists. The stored form of the
    /// value.
    ///
    /// # Errors
    /// `missing_field`, `bad_value`, `not_found`, and those of the rule.
    pub(crate) fn checked(&self, value: &Value, objects: &dyn Objects) -> Result<Value, Refusal> {
        let is_blank = matches!(value, Value::Text(text) if text.trim().is_empty());
        let is_default = matches!(value, Value::Text(text) if text == "default");
        match &self.need {
            Need::Default(own) if value.is_none() || is_blank || (self.nullable && is_default) => {
                return Ok(own.clone());
            }
            Need::Optional(_) if value.is_none() || is_blank => return Ok(Value::None),
            Need::Required if value.is_none() || is_blank => {
                return Err(Refusal::bad_field(&self.name, "a value"));
            }
            _ => {}
        }
        if let (Type::Choice(words), Value::Text(text)) = (&self.of, value) {
            let word = words.iter().find(|word| word.eq_ignore_ascii_case(text));
            return word.cloned().map(Value::Text).ok_or_else(|| self.bad());
        }
        self.check(value, objects)?;
        let ruled = |text: &String| match self.rule {
            Some(rule) => rule(text, objects),
            None => Ok(text.clone()),
        };
        Ok(match value {
            Value::Text(text) => Value::Text(ruled(text)?),
            Value::List(list) => {
                let mut list: Vec<String> = list.iter().map(ruled).collect::<Result<_, _>>()?;
                if matches!(self.of, Type::References(..)) {
                    list.sort_unstable();
                    list.dedup();
                }
                Value::List(list)
            }
            value => value.clone(),
        })
    }

    fn check(&self, value: &Value, objects: &dyn Objects) -> Result<(), Refusal> {
        let is_bad = |c: char| c.is_control() && !(self.lines && matches!(c, '\n' | '\r' | '\t'));
        let is_text = |text: &str, max: usize| text.len() <= max && !text.chars().any(is_bad);
        let fits = match (&self.of, value) {
            (Type::Text(max), Value::Text(text)) => is_text(text, *max),
            (
                Type::Whole(min, max)
                | Type::Duration(min, max)
                | Type::Amount(min, max)
                | Type::Decimal(_, min, max),
                Value::Whole(number),
            ) => (min..=max).contains(&number),
            (Type::Flag, Value::Flag(_)) | (Type::Time, Value::Time(_)) => true,
            (Type::Reference(kind), Value::Text(name)) => return known(kind, name, objects),
            (Type::Reference(kind), Value::Whole(number)) => {
                return known(kind, &number.to_string(), objects);
            }
            (Type::Texts(..), Value::List(texts)) if texts.iter().any(String::is_empty) => {
                let expected = "no empty text".to_owned();
                return Err(Refusal::bad_field(&self.name, expected));
            }
            (Type::Texts(max, bytes), Value::List(texts)) => {
                texts.len() <= *max && texts.iter().all(|text| is_text(text, *bytes))
            }
            (Type::References(kind, max), Value::List(names)) if names.len() <= *max => {
                return names.iter().try_for_each(|name| known(kind, name, objects));
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.bad()) }
    }
}

fn known(kind: &str, key: &str, objects: &dyn Objects) -> Result<(), Refusal> {
    if objects.has(kind, key) {
        return Ok(());
    }
    Err(Refusal::not_found(kind.to_owned(), &short(key)))
}

impl Kind {
    /// Adds a field.
    pub(super) fn with(mut self, field: Field) -> Kind {
        self.fields.push(field);
        self
    }
}
