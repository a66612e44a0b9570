//! A message as a query: its objects, the attributes that it asks for, its conditions and options.

use bank_core::kind::Records;
use bankd_query::{
    Attribute, Kind, LIMIT_MAX, Object, Op, Question, Setting, Term, Text, objects_of_gold,
};

use super::{Call, Condition, Fault, Wanted, plain, unsupported};

/// Objects of one query at most.
const OBJECTS_MAX: usize = 3;
/// Objects of Gold, and of the accounting plugin of Slurm for Gold, that this bank does not have.
const ELSEWHERE: [&str; 14] = [
    "Organization",
    "AccountOrganization",
    "Role",
    "RoleAction",
    "RoleUser",
    "Password",
    "Object",
    "Attribute",
    "Action",
    "EventLog",
    "EventUsage",
    "UsageHour",
    "UsageDay",
    "UsageMonth",
];
/// The options that the query itself has.
pub(super) const OPTIONS: [&str; 5] = ["ShowHidden", "Time", "Unique", "Limit", "Offset"];

/// A query, and the elements of its answer.
#[derive(Clone, Debug)]
pub(in crate::talk) struct Asked {
    pub(super) question: Question,
    /// The element of a row.
    pub(super) element: String,
    /// For each element in a row, its name and the column with its value.
    pub(super) elements: Vec<(String, String)>,
    /// Whether the answer is one row of sums, with the number of rows in the last column.
    pub(super) is_total: bool,
}

impl Asked {
    /// Reads a query.
    ///
    /// # Errors
    /// An object or an attribute that there is not, or a condition that cannot be tested.
    pub(super) fn of(call: &Call, records: &Records) -> Result<Asked, Fault> {
        let all = objects_of_gold(records);
        let names = std::iter::once(&call.object).chain(&call.others);
        let objects = names.map(|name| named(&all, name));
        let objects = objects.collect::<Result<Vec<_>, _>>()?;
        if objects.len() > OBJECTS_MAX {
            return Err(unsupported(&format!(
                "a Query of more than {OBJECTS_MAX} objects"
            )));
        }
        let reader = Reader { objects };
        let terms = call.conditions.iter().map(|own| reader.term(own));
        let terms = terms.collect::<Result<Vec<_>, _>>()?;
        let hidden = call.option("ShowHidden").is_some_and(|text| text == "True");
        let wanted = if call.wanted.is_empty() {
            reader.usual(hidden)
        } else {
            call.wanted.clone()
        };
        let mut shown: Vec<String> = Vec::new();
        let mut elements = Vec::new();
        for own in &wanted {
            let (show, column) = reader.column(own)?;
            if !shown.contains(&show) {
                shown.push(show);
            }
            let alias = own.alias.as_deref().map(plain);
            let name = alias
                .filter(|name| is_element_name(name))
                .unwrap_or_else(|| own.name.clone());
            elements.push((name, column));
        }
        let is_total = !wanted.is_empty() && wanted.iter().all(|own| is_sum(&own.op));
        if is_total {
            shown.push("Count(*)".to_owned());
        }
        let mut options = vec![setting("Show", &shown.join(","))];
        for (name, value) in &call.options {
            if let Some(name) = OPTIONS.iter().find(|own| *own == name) {
                options.push(setting(name, value));
            }
        }
        if call.option("Limit").is_none() {
            options.push(setting("Limit", &LIMIT_MAX.to_string()));
        }
        let names: Vec<String> = reader.objects.iter().map(|o| o.name.to_owned()).collect();
        Ok(Asked {
            element: names.join("_"),
            question: Question {
                objects: names,
                terms,
                options,
            },
            elements,
            is_total,
        })
    }
}

fn setting(name: &str, value: &str) -> Setting {
    Setting {
        name: name.to_owned(),
        value: value.to_owned(),
        negated: false,
    }
}

/// The object of a name.
fn named(all: &[&'static Object], name: &str) -> Result<&'static Object, Fault> {
    if let Some(found) = all.iter().find(|object| object.name == name) {
        return Ok(found);
    }
    let name = plain(name);
    if ELSEWHERE.contains(&name.as_str()) {
        return Err(unsupported(&format!("Query of {name}")));
    }
    Err(Fault::new(
        "not_found",
        format!("{name} is not a valid object"),
    ))
}

/// Whether an alias can be the name of an element; the attribute has its own name otherwise.
fn is_element_name(alias: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    alias.starts_with(|c: char| c.is_ascii_alphabetic()) && alias.chars().all(is_part)
}

/// Whether an operator of Get sums up.
fn is_sum(op: &str) -> bool {
    ["Sum", "Count", "Average", "Max", "Min"].contains(&op)
}

struct Reader {
    objects: Vec<&'static Object>,
}

impl Reader {
    /// The attributes that an answer has if the query names none.
    fn usual(&self, hidden: bool) -> Vec<Wanted> {
        let own = |object: &&'static Object| {
            let all = object.attributes.iter();
            let all = all.filter(move |a| hidden || !a.hidden);
            let name = object.name;
            all.map(move |attribute| Wanted {
                object: Some(name.to_owned()),
                name: attribute.name.to_owned(),
                ..Wanted::default()
            })
        };
        self.objects.iter().flat_map(own).collect()
    }

    /// What shows an attribute, and the name of the column that has it.
    fn column(&self, own: &Wanted) -> Result<(String, String), Fault> {
        let (name, _) = self.find(own.object.as_deref(), &own.name)?;
        let op = own.op.as_str();
        Ok(match op {
            "" => (name.clone(), name),
            "Sort" | "Tros" | "GroupBy" => (format!("{op}({name})"), name),
            op if is_sum(op) => (format!("{op}({name})"), format!("{op}({name})")),
            _ => return Err(unsupported("Get with this op")),
        })
    }

    /// The attribute of a name, with the name of its object if there are several.
    fn find(
        &self,
        object: Option<&str>,
        name: &str,
    ) -> Result<(String, &'static Attribute), Fault> {
        let of = |one: &&&Object| object.is_none_or(|object| one.name == object);
        for one in self.objects.iter().filter(of) {
            if let Some(found) = one.attributes.iter().find(|a| a.name == name) {
                let name = match self.objects.len() {
                    1 => found.name.to_owned(),
                    _ => format!("{}.{}", one.name, found.name),
                };
                return Ok((name, found));
            }
        }
        let objects: Vec<&str> = self.objects.iter().map(|o| o.name).collect();
        let (objects, name) = (objects.join(", "), plain(name));
        let message = format!("{objects} has no attribute {name}");
        Err(Fault::new("unknown_attribute", message))
    }

    fn term(&self, own: &Condition) -> Result<Term, Fault> {
        let (name, attribute) = self.find(own.object.as_deref(), &own.name)?;
        let op = operator(&own.op).ok_or_else(|| unsupported("Where with this op"))?;
        let value = if let Some(subject) = &own.subject {
            Text {
                text: self.find(Some(subject), &own.value)?.0,
                quoted: false,
            }
        } else {
            check(attribute, op, &own.value)?;
            // Gold's clients write the marks of SQL patterns.
            let text = match op {
                Op::Match => own.value.replace('%', "*").replace('_', "?"),
                _ => own.value.clone(),
            };
            Text { text, quoted: true }
        };
        Ok(Term {
            or: own.or,
            negates: own.negates,
            opens: own.opens,
            closes: own.closes,
            name,
            op,
            value,
        })
    }
}

/// From the attribute `op` of a condition; equal without one.
fn operator(word: &str) -> Option<Op> {
    Some(match word {
        "" | "EQ" => Op::Equal,
        "NE" => Op::Unequal,
        "G" | "GT" => Op::More,
        "GE" => Op::AtLeast,
        "L" | "LT" => Op::Less,
        "LE" => Op::AtMost,
        "Match" | "M" => Op::Match,
        _ => return None,
    })
}

/// Whether the value of a condition fits the attribute.
fn check(attribute: &Attribute, op: Op, value: &str) -> Result<(), Fault> {
    let expected = match attribute.kind {
        Kind::Whole | Kind::Time if value.parse::<i64>().is_err() => "a whole number",
        Kind::Flag if !["True", "true", "1", "False", "false", "0"].contains(&value) => {
            "True or False"
        }
        _ if op == Op::Match && attribute.kind != Kind::Text => "a text with a pattern",
        _ => return Ok(()),
    };
    let message = format!("Where {}: not {expected}: {}", attribute.name, plain(value));
    Err(Fault::new("bad_number", message))
}
