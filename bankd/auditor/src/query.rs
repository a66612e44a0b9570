//! The query of `GET /records` (`auditor-api.md` 4): nested keys with brackets, all terms together.
//!
//! Pure: the text after the `?` in, [`Query`] out, or one sentence for a 400. Terms that AUDITOR silently
//! ignores are supported or refused here. Decision 0039 lists these cases.

mod terms;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bankd_intake::auditor::record::fault;
use bankd_intake::auditor::time::Time;
use bankd_store::read::auditor::{Order, Range, Select, pair};

use terms::Term;

/// The parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// The conditions for the database.
    pub(super) select: Select,
    /// Conditions on the values of keys.
    pub(super) meta: BTreeMap<String, Meta>,
    /// Conditions on the amounts of components. One component of the name must match.
    pub(super) components: BTreeMap<String, Range>,
    /// At most so many.
    pub(super) limit: Option<u64>,
}

/// Values that a key must have, and must not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Meta {
    /// All findings.
    pub(super) has: Vec<String>,
    /// None of these values, if the key is present.
    pub(super) lacks: Vec<String>,
}

/// Most terms of one query.
const TERMS_MAX: usize = 1000;

impl Query {
    /// Reads the text behind the `?`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for piece in text.split('&').filter(|piece| !piece.is_empty()) {
            if terms.len() == TERMS_MAX {
                return Err(format!("more than {TERMS_MAX} terms"));
            }
            terms.push(Term::parse(piece)?);
        }
        let mut query = Query::default();
        let mut seen = std::collections::BTreeSet::new();
        for term in &terms {
            if query.take(term)? && !term.is_next() && !seen.insert(&term.path) {
                return Err(format!("{}: given twice", term.name()));
            }
        }
        Ok(query.close())
    }

    /// Takes a term; false for one without a value, which is as if it were not given.
    fn take(&mut self, term: &Term) -> Result<bool, String> {
        let path: Vec<&str> = term.path.iter().map(String::as_str).collect();
        if term.value.is_empty() && may_be_empty(path.as_slice()) {
            return Ok(false);
        }
        match path.as_slice() {
            ["record_id"] => self.select.record_id = Some(term.as_name()?),
            ["limit"] => self.limit = Some(term.as_number()?),
            ["start_time", operator] => narrow_time(&mut self.select.start, operator, term)?,
            ["stop_time", operator] => narrow_time(&mut self.select.stop, operator, term)?,
            ["runtime", operator] => narrow_number(&mut self.select.runtime, operator, term)?,
            ["sort_by", direction @ ("asc" | "desc")] => {
                if self.select.order.is_some() {
                    return Err("sort_by: asc and desc together".to_owned());
                }
                let order = match term.value.as_str() {
                    "start_time" => Order::Start,
                    "stop_time" => Order::Stop,
                    "runtime" => Order::Runtime,
                    "record_id" => Order::RecordId,
                    _ => {
                        let fields = "start_time, stop_time, runtime or record_id";
                        return Err(format!("{}: one of {fields} expected", term.name()));
                    }
                };
                self.select.order = Some(order);
                self.select.descending = *direction == "desc";
            }
            ["meta", key, "c", _] => {
                let value = term.as_name()?;
                self.meta(key, term)?.has.push(value);
            }
            ["meta", key, "dnc", _] => {
                let value = term.as_name()?;
                self.meta(key, term)?.lacks.push(value);
            }
            ["component", name, operator] => {
                check(name, term)?;
                let range = self.components.entry((*name).to_owned()).or_default();
                narrow_number(range, operator, term)?;
            }
            _ => return Err(term.unknown()),
        }
        Ok(true)
    }

    /// The conditions on a key. The last part of the term's path is only an order.
    fn meta(&mut self, key: &str, term: &Term) -> Result<&mut Meta, String> {
        check(key, term)?;
        let place = term.path.last().map_or("", String::as_str);
        if !place.bytes().all(|b| b.is_ascii_digit()) {
            return Err(term.unknown());
        }
        Ok(self.meta.entry(key.to_owned()).or_default())
    }

    /// The values that keys must have lead through the database.
    fn close(mut self) -> Self {
        let wanted = self.meta.iter().flat_map(|(key, meta)| {
            let values = meta.has.iter();
            values.map(move |value| pair(key, value))
        });
        self.select.pairs = wanted.collect();
        self.select.limited = self.limit.is_some();
        self
    }
}

/// A key of `meta`, or the name of a component.
fn check(name: &str, term: &Term) -> Result<(), String> {
    fault(name).map_or(Ok(()), |why| Err(format!("{}: name {why}", term.name())))
}

/// Terms that are ignored if they have no value. A list has no such terms.
fn may_be_empty(path: &[&str]) -> bool {
    match path {
        [field] => {
            let fields = ["record_id", "limit", "start_time", "stop_time", "runtime"];
            fields.contains(field) || ["sort_by", "meta", "component"].contains(field)
        }
        ["sort_by", direction] => matches!(*direction, "asc" | "desc"),
        ["meta" | "component", _] | ["meta", _, "c" | "dnc"] => true,
        ["start_time" | "stop_time" | "runtime", operator] | ["component", _, operator] => {
            matches!(*operator, "gt" | "gte" | "lt" | "lte" | "equals")
        }
        _ => false,
    }
}

/// Times are whole microseconds, as records keep them.
fn narrow_time(range: &mut Range, operator: &str, term: &Term) -> Result<(), String> {
    let at = Time::parse(&term.value).map(Time::micros);
    let at = at.ok_or_else(|| {
        let hint = "a time such as 2024-01-02T03:04:05%2B00:00 expected";
        format!("{}: {hint}", term.name())
    })?;
    narrow(range, operator, Ok(at)).ok_or_else(|| term.unknown())
}

fn narrow_number(range: &mut Range, operator: &str, term: &Term) -> Result<(), String> {
    // A larger number exceeds every stored amount.
    let value = i64::try_from(term.as_number()?).map_err(|_| ());
    narrow(range, operator, value).ok_or_else(|| term.unknown())
}

fn narrow(range: &mut Range, operator: &str, value: Result<i64, ()>) -> Option<()> {
    match (operator, value) {
        ("gt", Ok(i64::MAX)) | ("gt" | "gte" | "equals", Err(())) => range.empty(),
        ("lt" | "lte", Err(())) => range.at_most(i64::MAX),
        ("gt", Ok(value)) => range.at_least(value.saturating_add(1)),
        ("gte", Ok(value)) => range.at_least(value),
        ("lt", Ok(value)) => range.at_most(value.saturating_sub(1)),
        ("lte", Ok(value)) => range.at_most(value),
        ("equals", Ok(value)) => {
            range.at_least(value);
            range.at_most(value);
        }
        _ => return None,
    }
    Some(())
}
