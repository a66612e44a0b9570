//! The rows of a plan: as the database gives them, or summed up here, where sums are exact whatever
//! they come to.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Rows, params_from_iter};

use super::compile::{Statement, statement};
use super::names::Sum;
use super::plan::{Output, Plan};
use super::{Found, GROUPS_MAX, Mistake};
use bankd_store::Error;

/// One value of an answer. A number is what its column's kind says.
#[derive(Clone, Debug)]
pub enum Cell {
    /// None.
    None,
    /// A number, a time, or whether something is so.
    Number(i64),
    /// A sum.
    Sum(i128),
    /// An average.
    Average(Average),
    /// A text.
    Text(String),
}

/// A sum over a count that is not zero.
#[derive(Clone, Copy, Debug)]
pub struct Average {
    sum: i128,
    count: i64,
}

impl Average {
    /// With so many more decimals than the sum has, rounded half to even.
    pub fn with_decimals(self, more: u32) -> i128 {
        let count = i128::from(self.count.max(1));
        let sum = self.sum.saturating_mul(10_i128.saturating_pow(more));
        let (whole, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
        let up = match (rest.saturating_mul(2)).cmp(&count) {
            Ordering::Less => false,
            Ordering::Equal => whole % 2 != 0,
            Ordering::Greater => true,
        };
        whole.saturating_add(i128::from(up))
    }
}

impl Ord for Cell {
    /// Nothing comes first, then numbers, then texts.
    fn cmp(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Text(one), Cell::Text(two)) => one.cmp(two),
            (Cell::None, Cell::None) => Ordering::Equal,
            (Cell::None, _) | (_, Cell::Text(_)) => Ordering::Less,
            (_, Cell::None) | (Cell::Text(_), _) => Ordering::Greater,
            (one, two) => {
                let ((a, b), (c, d)) = (one.fraction(), two.fraction());
                // Sums of 64 bits over counts of 63: the products of whole parts and counts fit.
                let whole = a.div_euclid(b).cmp(&c.div_euclid(d));
                whole.then_with(|| {
                    let left = a.rem_euclid(b).saturating_mul(d);
                    left.cmp(&c.rem_euclid(d).saturating_mul(b))
                })
            }
        }
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Cell) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Cell) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

impl Cell {
    fn fraction(&self) -> (i128, i128) {
        match self {
            Cell::Number(number) => (i128::from(*number), 1),
            Cell::Sum(sum) => (*sum, 1),
            Cell::Average(a) => (a.sum, i128::from(a.count.max(1))),
            Cell::None | Cell::Text(_) => (0, 1),
        }
    }
}

impl Plan {
    /// Asks the bank.
    ///
    /// # Errors
    /// If the store fails; inside, if there are more groups than are held.
    pub fn run(&self, connection: &Connection) -> Result<Result<Found, Mistake>, Error> {
        let Statement { sql, values } = statement(self);
        // Others ask otherwise: it is not kept.
        let mut prepared = connection.prepare(&sql)?;
        let rows = prepared.query(params_from_iter(values))?;
        if self.grouped {
            return self.summed(rows);
        }
        let mut found = self.gather(rows)?;
        let more = found.len() > self.limit;
        found.truncate(self.limit);
        Ok(Ok(self.found(found, more)))
    }

    fn found(&self, rows: Vec<Vec<Cell>>, more: bool) -> Found {
        Found {
            columns: self.columns(),
            rows,
            next: more.then(|| self.offset.saturating_add(self.limit)),
        }
    }

    fn gather(&self, mut rows: Rows<'_>) -> Result<Vec<Vec<Cell>>, Error> {
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(cells(row, self.columns.len())?);
        }
        Ok(found)
    }

    fn summed(&self, mut rows: Rows<'_>) -> Result<Result<Found, Mistake>, Error> {
        let mut groups: BTreeMap<Vec<Cell>, Vec<Running>> = BTreeMap::new();
        let sums = || self.columns.iter().filter_map(|c| c.sum);
        let new = || sums().map(Running::new).collect::<Vec<Running>>();
        if self.columns.iter().all(|c| c.sum.is_some()) {
            groups.insert(Vec::new(), new());
        }
        while let Some(row) = rows.next()? {
            let cells = cells(row, self.columns.len())?;
            let (mut key, mut summed) = (Vec::new(), Vec::new());
            for (cell, column) in cells.into_iter().zip(&self.columns) {
                let part = if column.sum.is_some() {
                    &mut summed
                } else {
                    &mut key
                };
                part.push(cell);
            }
            if groups.len() >= GROUPS_MAX && !groups.contains_key(&key) {
                let what = format!("there are more than {GROUPS_MAX} groups");
                return Ok(Err(
                    Mistake::new(what).hint("ask for less, or group by less")
                ));
            }
            for (running, cell) in groups.entry(key).or_insert_with(new).iter_mut().zip(summed) {
                running.add(cell);
            }
        }
        let mut found: Vec<Vec<Cell>> = Vec::new();
        for (key, sums) in groups {
            found.push(together(&self.columns, key, sums));
        }
        found.sort_by(|one, two| self.compare(one, two));
        let more = found.len() > self.offset.saturating_add(self.limit);
        let page = found.into_iter().skip(self.offset).take(self.limit);
        let page = page.collect();
        Ok(Ok(self.found(page, more)))
    }

    fn compare(&self, one: &[Cell], two: &[Cell]) -> Ordering {
        let mut order = self.order.iter().map(|(at, falls)| {
            let way = one.get(*at).cmp(&two.get(*at));
            if *falls { way.reverse() } else { way }
        });
        order.find(|way| way.is_ne()).unwrap_or(Ordering::Equal)
    }
}

/// Keys and sums back in the order of the columns.
fn together(columns: &[Output], key: Vec<Cell>, sums: Vec<Running>) -> Vec<Cell> {
    let (mut key, mut sums) = (key.into_iter(), sums.into_iter().map(Running::end));
    let cell = |column: &Output| {
        let next = if column.sum.is_some() {
            sums.next()
        } else {
            key.next()
        };
        next.unwrap_or(Cell::None)
    };
    columns.iter().map(cell).collect()
}

/// A sum on its way.
struct Running {
    of: Sum,
    count: i64,
    sum: i128,
    best: Cell,
}

impl Running {
    fn new(of: Sum) -> Running {
        Running {
            of,
            count: 0,
            sum: 0,
            best: Cell::None,
        }
    }

    /// What is absent is not counted.
    fn add(&mut self, cell: Cell) {
        if matches!(cell, Cell::None) {
            return;
        }
        self.count = self.count.saturating_add(1);
        if let Cell::Number(number) = cell {
            // As many numbers of 64 bits as can be counted fit into 128.
            self.sum = self.sum.saturating_add(i128::from(number));
        }
        let better = match self.of {
            Sum::Max => cell > self.best,
            Sum::Min => matches!(self.best, Cell::None) || cell < self.best,
            _ => false,
        };
        if better {
            self.best = cell;
        }
    }

    fn end(self) -> Cell {
        match self.of {
            Sum::Count => Cell::Number(self.count),
            Sum::Sum => Cell::Sum(self.sum),
            Sum::Average if self.count == 0 => Cell::None,
            Sum::Average => Cell::Average(Average {
                sum: self.sum,
                count: self.count,
            }),
            Sum::Max | Sum::Min => self.best,
        }
    }
}

fn cells(row: &Row<'_>, count: usize) -> Result<Vec<Cell>, Error> {
    (0..count).map(|at| cell(row, at)).collect()
}

fn cell(row: &Row<'_>, at: usize) -> Result<Cell, Error> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => Cell::None,
        ValueRef::Integer(number) => Cell::Number(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        // No view has such a column: a sum of the database that left its range.
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            return Err(Error::Value {
                what: "a view",
                value: "not a whole number or a text".to_owned(),
            });
        }
    })
}
