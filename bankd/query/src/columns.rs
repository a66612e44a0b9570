//! The columns of a query: attributes as they are and sums, with their names in the answer.

use bank_api::query as written;

use super::catalogue::Kind;
use super::names::{Sum, check_sum, operator};
use super::plan::{Field, Output, Plan, title};
use super::{Column, Mistake};

impl Plan {
    pub(super) fn take_columns(&mut self, text: &str) -> Result<(), Mistake> {
        let shown = written::shown(text)?;
        let mut order = Vec::new();
        for one in &shown {
            let operators: Vec<&str> = one
                .operators
                .iter()
                .map(|o| operator(o))
                .collect::<Result<_, _>>()?;
            let (sorts, rest) = match operators.as_slice() {
                ["Sort", rest @ ..] => (Some(false), rest),
                ["Tros", rest @ ..] => (Some(true), rest),
                rest => (None, rest),
            };
            let operator = match rest {
                [] => None,
                [one] => Some(*one),
                _ => {
                    let what = "Show: only Sort and Tros take another operator inside";
                    return Err(Mistake::new(what).hint("as in Tros(Sum(Amount))"));
                }
            };
            self.grouped |= operator.is_some();
            let column = self.take_column(&one.name, operator, one.alias.as_deref())?;
            order.extend(sorts.map(|falls| (column, falls)));
        }
        self.order = order;
        let mut grouped: Vec<usize> = Vec::new();
        for one in &shown {
            if one
                .operators
                .iter()
                .any(|o| o.eq_ignore_ascii_case("GroupBy"))
            {
                let field = self.field(&one.name)?;
                let own = |at: &usize| {
                    self.columns
                        .get(*at)
                        .is_some_and(|c| shows(c, Some(field), None))
                };
                grouped.extend((0..self.columns.len()).filter(own));
            }
        }
        let plain = |at: &usize| self.columns.get(*at).is_some_and(|c| c.sum.is_none());
        let mut loose = (0..self.columns.len()).filter(plain);
        if let (true, Some(at)) = (self.grouped, loose.find(|at| !grouped.contains(at))) {
            let name = self.columns.get(at).map_or("", |c| c.column.name.as_str());
            let what = format!("Show: {name} is neither summed up nor grouped by");
            return Err(Mistake::new(what).hint(format!("add GroupBy({name}), or leave it out")));
        }
        Ok(())
    }

    /// The number of the column; one attribute is shown once, however often it is named, unless its names in
    /// the answer differ.
    fn take_column(
        &mut self,
        name: &str,
        operator: Option<&str>,
        alias: Option<&str>,
    ) -> Result<usize, Mistake> {
        let sum = operator.and_then(Sum::named);
        let field = if name == "*" && operator == Some("Count") {
            None
        } else {
            Some(self.field(name)?)
        };
        let kind = field.map_or(Kind::Whole, |f| f.attribute.kind);
        if let (Some(sum), Some(operator)) = (sum, operator) {
            check_sum(sum, kind, operator, name)?;
        }
        let several = self.objects.len() > 1;
        let own = field.and_then(|f| {
            let object = self.objects.get(f.object)?;
            Some(title(object, f.attribute, several))
        });
        let own = own.unwrap_or_else(|| "*".to_owned());
        let name = match (alias, sum, operator) {
            (Some(alias), _, _) => alias.to_owned(),
            (None, Some(_), Some(operator)) => format!("{operator}({own})"),
            _ => own,
        };
        let mut known = self.columns.iter().enumerate();
        if let Some((at, column)) = known.find(|(_, c)| c.column.name == name) {
            if shows(column, field, sum) {
                return Ok(at);
            }
            let what = format!("Show: two columns have the name {name}");
            return Err(Mistake::new(what).hint("give one of them another alias"));
        }
        let kind = if sum == Some(Sum::Count) {
            Kind::Whole
        } else {
            kind
        };
        self.columns.push(Output {
            column: Column { name, kind },
            field,
            sum,
        });
        Ok(self.columns.len().saturating_sub(1))
    }
}

/// Whether a column shows an attribute, or the sum of one.
fn shows(column: &Output, field: Option<Field>, sum: Option<Sum>) -> bool {
    let key = |f: &Field| (f.object, f.attribute.name);
    column.sum == sum && column.field.as_ref().map(key) == field.as_ref().map(key)
}
