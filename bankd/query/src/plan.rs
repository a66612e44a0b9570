//! What a query means: its names found in the catalogue, its values read by their kinds, its options
//! checked against their limits.

use bank_core::amount::Precision;
use bank_core::kind::{Readers, Records};
use bank_core::time::Timestamp;

use bank_api::query::{self as written, Comparison, Condition, Op, Setting, Term, Text, Written};

use super::catalogue::{Attribute, Kind, Object, Seen};
use super::declared::may_see;
use super::names::{OPTIONS, Sum, check_pattern, flag, near, today, unknown_option, within};
use super::values::Values;
use super::{
    COLUMNS_MAX, Column, LIMIT_DEFAULT, LIMIT_MAX, Mistake, OFFSET_MAX, Sight, objects,
    objects_of_gold,
};

/// A query that can be asked.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) objects: Vec<&'static Object>,
    pub(super) condition: Option<Test>,
    pub(super) columns: Vec<Output>,
    /// Columns by number, each with whether it falls.
    pub(super) order: Vec<(usize, bool)>,
    pub(super) grouped: bool,
    pub(super) unique: bool,
    pub(super) hidden: bool,
    pub(super) until: Option<i64>,
    pub(super) now: Timestamp,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) sight: Sight,
}

/// An attribute of one of the query's objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) object: usize,
    pub(super) attribute: &'static Attribute,
}

/// A condition that is understood.
#[derive(Clone, Debug)]
pub(super) enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    Number(Field, Op, i64),
    Text(Field, Op, String),
    Absent(Field, bool),
    Fields(Field, Op, Field),
}

/// A column of the answer.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) column: Column,
    /// None for the number of rows.
    pub(super) field: Option<Field>,
    pub(super) sum: Option<Sum>,
}

/// A query in its parts: what a client of Gold sends.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Names of objects.
    pub objects: Vec<String>,
    /// The condition.
    pub terms: Vec<Term>,
    /// The options.
    pub options: Vec<Setting>,
}

impl Plan {
    /// Reads a query for somebody. `now` is the ledger's present.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(
        text: &str,
        precision: Precision,
        now: Timestamp,
        sight: Sight,
        records: &Records,
    ) -> Result<Plan, Mistake> {
        let written = written::read(text)?;
        Plan::of(written, &objects(records), Values { precision, now }, sight)
    }

    /// Reads a query of a client of Gold, over Gold's objects.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_gold(
        question: Question,
        precision: Precision,
        now: Timestamp,
        sight: Sight,
        records: &Records,
    ) -> Result<Plan, Mistake> {
        let written = Written {
            objects: question.objects,
            condition: written::of_terms(question.terms)?,
            options: question.options,
        };
        let values = Values { precision, now };
        Plan::of(written, &objects_of_gold(records), values, sight)
    }

    fn of(
        written: Written,
        catalogue: &[&'static Object],
        values: Values,
        sight: Sight,
    ) -> Result<Plan, Mistake> {
        let mut plan = Plan {
            objects: find_objects(&written.objects, &sight, catalogue)?,
            condition: None,
            columns: Vec::new(),
            order: Vec::new(),
            grouped: false,
            unique: false,
            hidden: false,
            until: None,
            now: values.now,
            limit: LIMIT_DEFAULT,
            offset: 0,
            sight,
        };
        let condition = written.condition;
        plan.condition = condition.map(|c| plan.test(&c, &values)).transpose()?;
        plan.take_options(&written.options, &values)?;
        if plan.columns.is_empty() {
            plan.show_all();
        }
        plan.check()?;
        Ok(plan)
    }

    /// The columns of the answer.
    pub fn columns(&self) -> Vec<Column> {
        self.columns.iter().map(|c| c.column.clone()).collect()
    }

    fn show_all(&mut self) {
        let several = self.objects.len() > 1;
        for (at, object) in self.objects.iter().enumerate() {
            let shown = |a: &&Attribute| self.hidden || !a.hidden;
            for attribute in object.attributes.iter().filter(shown) {
                let column = Column {
                    name: title(object, attribute, several),
                    kind: attribute.kind,
                };
                let field = Field {
                    object: at,
                    attribute,
                };
                self.columns.push(Output {
                    column,
                    field: Some(field),
                    sum: None,
                });
            }
        }
    }

    fn check(&self) -> Result<(), Mistake> {
        if self.columns.len() > COLUMNS_MAX {
            let what = format!("an answer has {COLUMNS_MAX} columns at most");
            return Err(Mistake::new(what).hint("Show names the attributes to list"));
        }
        let joined = |at: usize| self.condition.as_ref().is_some_and(|c| c.joins(at));
        for (at, object) in self.objects.iter().enumerate().skip(1) {
            if !joined(at) {
                let name = object.name;
                let what = format!("no condition joins the rows of {name} with the others");
                return Err(Mistake::new(what)
                    .hint("as in: Account,Allocation Query Allocation.Account==Account.Name"));
            }
        }
        Ok(())
    }

    fn test(&self, condition: &Condition, values: &Values) -> Result<Test, Mistake> {
        let all = |parts: &[Condition]| -> Result<Vec<Test>, Mistake> {
            parts.iter().map(|part| self.test(part, values)).collect()
        };
        Ok(match condition {
            Condition::All(parts) => Test::All(all(parts)?),
            Condition::Any(parts) => Test::Any(all(parts)?),
            Condition::Not(part) => Test::Not(Box::new(self.test(part, values)?)),
            Condition::Is(comparison) => self.comparison(comparison, values)?,
        })
    }

    fn comparison(&self, comparison: &Comparison, values: &Values) -> Result<Test, Mistake> {
        let Comparison { name, op, value } = comparison;
        let field = self.field(name)?;
        if let Some(other) = self.other(value)? {
            if field.attribute.kind != other.attribute.kind {
                let (one, two) = (field.attribute.kind.word(), other.attribute.kind.word());
                let what = format!("{name} is a {one} and {} a {two}", value.text);
                return Err(Mistake::new(what).hint("only values of one kind can be compared"));
            }
            if *op == Op::Match {
                let what = format!("{name}~ takes a pattern, not an attribute");
                return Err(Mistake::new(what));
            }
            return Ok(Test::Fields(field, *op, other));
        }
        if field.attribute.optional && !value.quoted && value.text.eq_ignore_ascii_case("none") {
            return match op {
                Op::Equal => Ok(Test::Absent(field, true)),
                Op::Unequal => Ok(Test::Absent(field, false)),
                _ => Err(Mistake::new(format!("none can only be == or != {name}"))),
            };
        }
        if field.attribute.kind == Kind::Text {
            if *op == Op::Match {
                check_pattern(name, &value.text)?;
            }
            return Ok(Test::Text(field, *op, value.text.clone()));
        }
        if *op == Op::Match {
            let kind = field.attribute.kind.word();
            let what = format!("{name} is a {kind}: only texts match a pattern");
            return Err(Mistake::new(what));
        }
        let number = values.number(field.attribute.kind, name, &value.text)?;
        Ok(Test::Number(field, *op, number))
    }

    /// The attribute that a value names, where it names one of the query's objects.
    fn other(&self, value: &Text) -> Result<Option<Field>, Mistake> {
        let Some((object, _)) = value.text.split_once('.').filter(|_| !value.quoted) else {
            return Ok(None);
        };
        let mut objects = self.objects.iter();
        if !objects.any(|o| o.name.eq_ignore_ascii_case(object)) {
            return Ok(None);
        }
        self.field(&value.text).map(Some)
    }

    /// The attribute of a name, with or without its object.
    pub(super) fn field(&self, name: &str) -> Result<Field, Mistake> {
        let (object, short) = match name.split_once('.') {
            Some((object, short)) => (Some(object), short),
            None => (None, name),
        };
        let mut found = Vec::new();
        let mut names = Vec::new();
        for (at, one) in self.objects.iter().enumerate() {
            if object.is_some_and(|o| !o.eq_ignore_ascii_case(one.name)) {
                continue;
            }
            names.extend(one.attributes.iter().map(|a| a.name));
            let mut attributes = one.attributes.iter();
            let short = today(one.name, short);
            let same = attributes.find(|a| a.name.eq_ignore_ascii_case(short));
            found.extend(same.map(|attribute| Field {
                object: at,
                attribute,
            }));
        }
        match (found.as_slice(), object) {
            ([only], _) => Ok(*only),
            ([], Some(object)) if names.is_empty() => {
                let what = format!("{object} is none of the objects of this query");
                Err(Mistake::new(what))
            }
            ([], _) => {
                let of: Vec<&str> = self.objects.iter().map(|o| o.name).collect();
                let what = format!("{} has no attribute {short:?}", of.join(", "));
                Err(Mistake::new(what).hint(near(short, &names, "its attributes are")))
            }
            _ => {
                let what = format!("several objects have an attribute {short}");
                Err(Mistake::new(what).hint(format!(
                    "name the object, as in {}",
                    self.whose(found.first())
                )))
            }
        }
    }

    fn whose(&self, field: Option<&Field>) -> String {
        let object = field.and_then(|f| Some((self.objects.get(f.object)?, f.attribute)));
        object.map_or_else(String::new, |(o, a)| format!("{}.{}", o.name, a.name))
    }

    fn take_options(&mut self, options: &[Setting], values: &Values) -> Result<(), Mistake> {
        let mut seen: Vec<&str> = Vec::new();
        for option in options {
            let mut known = OPTIONS.iter();
            let Some(name) = known.find(|o| o.eq_ignore_ascii_case(&option.name)) else {
                return Err(unknown_option(&option.name));
            };
            if seen.contains(name) {
                return Err(Mistake::new(format!("{name} is given twice")));
            }
            seen.push(name);
            if option.negated && !["ShowHidden", "Unique"].contains(name) {
                let what = format!("{name}:! has no meaning: only True and False have an opposite");
                return Err(Mistake::new(what));
            }
            let flag = || flag(name, &option.value).map(|yes| yes != option.negated);
            match *name {
                "Show" => self.take_columns(&option.value)?,
                "ShowHidden" => self.hidden = flag()?,
                "Unique" => self.unique = flag()?,
                "Time" => self.take_time(&option.value, values)?,
                "Limit" => self.limit = within(name, &option.value, 1, LIMIT_MAX)?,
                _ => self.offset = within(name, &option.value, 0, OFFSET_MAX)?,
            }
        }
        Ok(())
    }

    fn take_time(&mut self, text: &str, values: &Values) -> Result<(), Mistake> {
        self.until = Some(values.number(Kind::Time, "Time", text)?);
        let fixed = |o: &&&Object| o.effective.is_none() && o.timed.is_none();
        let other = self.objects.iter().find(fixed);
        if let Some(object) = other {
            let name = object.name;
            let what = format!("Time: {name} can only be asked as it is now");
            return Err(Mistake::new(what)
                .hint("Charge, Entry and Transaction accept it; `bank … --at` shows the others"));
        }
        Ok(())
    }
}

impl Test {
    /// Whether it compares an attribute of an object with one of another, wherever it stands in an
    /// `and`.
    fn joins(&self, object: usize) -> bool {
        match self {
            Test::All(parts) => parts.iter().any(|part| part.joins(object)),
            Test::Any(parts) => parts.iter().all(|part| part.joins(object)),
            Test::Fields(one, Op::Equal, two) => {
                one.object != two.object && (one.object == object || two.object == object)
            }
            _ => false,
        }
    }
}

fn find_objects(
    names: &[String],
    sight: &Sight,
    all: &[&'static Object],
) -> Result<Vec<&'static Object>, Mistake> {
    let mut found: Vec<&'static Object> = Vec::new();
    for name in names {
        let object = all
            .iter()
            .find(|o| o.name.eq_ignore_ascii_case(name))
            .copied();
        let object = object.ok_or_else(|| {
            let all: Vec<&str> = all.iter().map(|o| o.name).collect();
            let what = format!("there is no object {name:?}");
            Mistake::new(what).hint(near(name, &all, "the objects are"))
        })?;
        let hidden = match object.seen {
            Seen::Unlimited => !sight.is_unlimited(),
            Seen::Readers(Readers::Everyone) => false,
            Seen::Readers(readers) => !sight.is_unlimited() || !may_see(readers, sight.readers),
            Seen::Recorded(..) => !sight.sources,
            _ => false,
        };
        if hidden {
            let what = format!("{} is only for those who see the whole of it", object.name);
            let mut mistake =
                Mistake::new(what).hint("Entry and Job have the rows that you may see");
            mistake.denied = true;
            return Err(mistake);
        }
        if found.iter().any(|o| o.name == object.name) {
            return Err(Mistake::new(format!("{} is named twice", object.name)));
        }
        found.push(object);
    }
    Ok(found)
}

pub(super) fn title(object: &Object, attribute: &Attribute, several: bool) -> String {
    if several {
        format!("{}.{}", object.name, attribute.name)
    } else {
        attribute.name.to_owned()
    }
}
