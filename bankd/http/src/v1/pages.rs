//! Pages of lists: how many rows, and behind which one; lists that are whole in memory are cut here.

use std::fmt::Display;
use std::str::FromStr;

use bank_api::v1::{List, PageQuery};
use bank_core::refusal::Refusal;
use serde::Serialize;

use super::call::{Call, Handled, ok};
use crate::error::Failure;

/// Rows of a page that names no limit.
const USUAL: u32 = 1000;

/// The same of a list that is read from the store.
pub(super) const USUAL_OF_LONG: u32 = 100;

/// Most rows of a page.
const LIMIT_MAX: u32 = 1000;

/// The requested page.
pub(super) struct Turn {
    limit: usize,
    after: Option<String>,
}

/// The rows of a page, and the cursor of the next.
pub(super) type Page<T> = (Vec<T>, Option<String>);

impl Turn {
    /// The page in the query.
    pub(super) fn of(
        call: &Call,
        rows: Option<u32>,
        after: Option<String>,
    ) -> Result<Self, Failure> {
        let limit = limit(rows, USUAL).map_err(|refusal| call.refused(&refusal))?;
        Ok(Self { limit, after })
    }

    /// The page in a query without other parameters.
    pub(super) fn read(call: &Call) -> Result<Self, Failure> {
        let PageQuery { limit, after } = call.query()?;
        Self::of(call, limit, after)
    }

    /// Size of the page, and its cursor: for handlers that produce rows one at a time.
    pub(super) fn parts(self) -> (usize, Option<String>) {
        (self.limit, self.after)
    }

    /// The page of rows in the order of a unique key. A row may appear or disappear between two pages
    /// without effect on the others.
    pub(super) fn by<T, K>(self, rows: Vec<T>, key: impl Fn(&T) -> K) -> Result<Page<T>, Refusal>
    where
        K: Ord + FromStr + Display,
    {
        let after = self.after.as_deref().map(str::parse).transpose();
        let after: Option<K> = after.map_err(|_| bad_cursor())?;
        let from = after.map_or(0, |after| rows.partition_point(|row| key(row) <= after));
        Ok(self.cut(rows, from, key))
    }

    /// The answer with the page of rows in the order of a unique key.
    pub(super) fn list<T, K, S: Serialize>(
        self,
        call: &Call,
        rows: Vec<T>,
        key: impl Fn(&T) -> K,
        shape: impl Fn(T) -> S,
    ) -> Handled
    where
        K: Ord + FromStr + Display,
    {
        let page = self.by(rows, key);
        let (rows, next) = page.map_err(|refusal| call.refused(&refusal))?;
        let items = rows.into_iter().map(shape).collect();
        ok(&List { items, next })
    }

    /// The page of rows in another order: behind the row of the cursor, which must be there still.
    pub(super) fn behind<T, K>(
        self,
        rows: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> Result<Page<T>, Refusal>
    where
        K: PartialEq + FromStr + Display,
    {
        let from = match self.after.as_deref() {
            None => 0,
            Some(after) => {
                let after: K = after.parse().map_err(|_| bad_cursor())?;
                let place = rows.iter().position(|row| key(row) == after);
                place.ok_or_else(bad_cursor)?.saturating_add(1)
            }
        };
        Ok(self.cut(rows, from, key))
    }

    fn cut<T, K: Display>(self, rows: Vec<T>, from: usize, key: impl Fn(&T) -> K) -> Page<T> {
        let more = rows.len().saturating_sub(from) > self.limit;
        let page: Vec<T> = rows.into_iter().skip(from).take(self.limit).collect();
        let next = page
            .last()
            .filter(|_| more)
            .map(|last| key(last).to_string());
        (page, next)
    }
}

/// The rows of a page, 1 to 1000.
pub(super) fn limit(limit: Option<u32>, default: u32) -> Result<usize, Refusal> {
    let limit = limit.unwrap_or(default);
    let expected = "1 to 1000";
    let within = (1..=LIMIT_MAX).contains(&limit);
    let limit = usize::try_from(limit).ok().filter(|_| within);
    limit.ok_or(Refusal::BadValue {
        field: "limit",
        expected,
    })
}

/// Size of a page of a long list, and the number in its cursor.
pub(super) fn numbered(
    call: &Call,
    rows: Option<u32>,
    after: Option<&str>,
) -> Result<(usize, Option<i64>), Failure> {
    let read = || Ok((limit(rows, USUAL_OF_LONG)?, after.map(cursor).transpose()?));
    read().map_err(|refusal| call.refused(&refusal))
}

/// The number in a cursor.
pub(super) fn cursor(text: &str) -> Result<i64, Refusal> {
    cursor_in(text, "after")
}

/// The same of a list whose cursor has another name.
pub(super) fn cursor_in(text: &str, field: &'static str) -> Result<i64, Refusal> {
    let number = text.parse().ok().filter(|number| *number >= 0);
    number.ok_or_else(|| bad_cursor_in(field))
}

/// An invalid cursor, or one of a removed row.
pub(super) fn bad_cursor() -> Refusal {
    bad_cursor_in("after")
}

/// The same of a list whose cursor has another name.
fn bad_cursor_in(field: &'static str) -> Refusal {
    Refusal::BadValue {
        field,
        expected: "the `next` of the page before",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(limit: usize, after: Option<&str>) -> Turn {
        Turn {
            limit,
            after: after.map(str::to_owned),
        }
    }

    /// All pages, one after the other.
    fn all(limit: usize, page: impl Fn(Turn) -> Page<i64>) -> Vec<Vec<i64>> {
        let mut pages = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let (rows, next) = page(turn(limit, after.as_deref()));
            pages.push(rows);
            match next {
                None => return pages,
                next => after = next,
            }
        }
    }

    #[test]
    fn the_pages_are_the_list() {
        let ordered: Vec<i64> = (1..=7).collect();
        let wild = vec![5, 1, 7, 2];
        for limit in 1..=8 {
            let pages = all(limit, |turn| turn.by(ordered.clone(), |n| *n).unwrap());
            assert!(
                pages
                    .iter()
                    .all(|page| page.len() <= limit && !page.is_empty())
            );
            assert_eq!(pages.concat(), ordered, "by {limit}");
            let pages = all(limit, |turn| turn.behind(wild.clone(), |n| *n).unwrap());
            assert_eq!(pages.concat(), wild, "behind {limit}");
        }
    }

    #[test]
    fn numbers_are_in_the_order_of_numbers_and_a_row_may_go() {
        let (rows, next) = turn(2, Some("9")).by(vec![8, 10, 11, 100], |n| *n).unwrap();
        assert_eq!((rows, next.as_deref()), (vec![10, 11], Some("11")));
        assert!(turn(2, Some("x")).by(vec![1], |n: &i64| *n).is_err());
        assert!(turn(2, Some("9")).behind(vec![8], |n| *n).is_err());
        let (rows, next) = turn(2, None).by(Vec::<i64>::new(), |n| *n).unwrap();
        assert_eq!((rows, next), (Vec::new(), None));
    }
}
