//! A list that is printed in parts, because it is long or because it grows.
//!
//! The column names are printed once. Columns stay where they are: they become wider if the values of a part
//! require it, and never narrower while the rows fit the terminal. If they do not fit, the part is folded
//! again, below an empty line and with column names of its own.

use serde::Serialize;

use super::{
    Form, Sheet,
    fold::Layout,
    table::{self, Below, Part},
};
use crate::fail::Failure;

/// What the parts of a list have in common.
#[derive(Debug)]
pub(crate) struct Parts {
    form: Form,
    layout: Option<Layout>,
    /// The lines below the list, until they are printed.
    below: Option<Below>,
    is_begun: bool,
}

impl Parts {
    /// A list of which nothing is printed yet.
    pub(crate) fn new(form: &Form) -> Self {
        Self {
            form: form.clone(),
            layout: None,
            below: None,
            is_begun: false,
        }
    }

    /// The next part: the rows of the sheet, or in JSON Lines those of the answer. Each sheet has the same
    /// columns. A part without rows is empty, unless it is the first.
    pub(crate) fn list<T: Serialize>(
        &mut self,
        answer: &T,
        sheet: &Sheet,
    ) -> Result<String, Failure> {
        if self.is_begun && sheet.rows.is_empty() {
            return Ok(String::new());
        }
        let (layout, below, form) = (&mut self.layout, &mut self.below, &self.form);
        let text = form.shown(answer, sheet, |sheet, columns| {
            text_of(form, table::part(form, sheet, columns, layout), below)
        })?;
        self.is_begun = true;
        if !self.form.is_table() {
            self.form.header = false;
        }
        Ok(text)
    }

    /// The next rows as a table, without the unit and the remarks below it.
    pub(crate) fn lines(&mut self, sheet: &Sheet) -> Result<String, Failure> {
        let columns = self.form.chosen(sheet)?;
        let part = table::part_lines(&self.form, sheet, &columns, &mut self.layout);
        Ok(text_of(&self.form, part, &mut self.below))
    }

    /// The lines below the list, once: the columns that are not shown, the unit and the zone of times.
    pub(crate) fn end(&mut self) -> String {
        let below = self.below.take();
        below.map_or_else(String::new, |below| below.text(&self.form))
    }
}

/// The text of a part. If it is laid out again, the lines below the rows before it come first.
fn text_of(form: &Form, part: Part, below: &mut Option<Below>) -> String {
    let before = part.below.and_then(|new| below.replace(new));
    if let Some(below) = below {
        below.reach(part.times);
    }
    before.map_or_else(String::new, |before| before.text(form)) + &part.text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        cli::Format,
        out::{Kind, column, test_form},
    };

    fn job(user: &str, note: &str, cost: &str) -> Value {
        json!({"user": user, "note": note, "cost": cost, "at": "2026-11-20T21:41:00Z"})
    }

    /// The parts, a line each row, and what is below them.
    fn printed(form: &Form, parts: &[&[Value]]) -> (Vec<String>, String) {
        let mut list = Parts::new(form);
        let mut part = |rows: &&[Value]| {
            let rows = *rows;
            let columns = vec![
                column("at", "Time", Kind::Time).secondary(),
                column("user", "User", Kind::Text),
                column("cost", "Cost", Kind::Amount),
                column("note", "Note", Kind::Text),
            ];
            let sheet = Sheet::new(columns, rows, "no jobs").unit("SU");
            let answer = bank_api::v1::List::whole(rows.to_vec());
            list.list(&answer, &sheet).unwrap()
        };
        let texts = parts.iter().map(&mut part).collect();
        (texts, list.end())
    }

    #[test]
    fn the_columns_of_later_parts_are_those_of_the_first() {
        let first = [job("amelia", "night", "1000.000")];
        let later = [job("bo", "x", "2.000")];
        let wider = [job("bo-from-far", "x", "2.500")];
        let (texts, below) = printed(&test_form(), &[&first, &later, &[], &wider, &later]);
        assert_eq!(
            texts,
            [
                "Time                 User         Cost  Note\n\
                 2026-11-20 22:41:00  amelia  1,000.000  night\n",
                "2026-11-20 22:41:00  bo          2.000  x\n",
                "",
                "2026-11-20 22:41:00  bo-from-far      2.500  x\n",
                "2026-11-20 22:41:00  bo               2.000  x\n",
            ]
        );
        assert_eq!(below, "Amounts in SU. Times +0100.\n");
    }

    /// The line below a list is for the times of all parts.
    #[test]
    fn times_of_both_seasons_have_both_offsets() {
        let form = Form {
            zone: bank_picture::Zone::named("Europe/Berlin").unwrap(),
            ..test_form()
        };
        let at = |time: &str| json!({"user": "amy", "note": "x", "cost": "2.000", "at": time});
        let [summer, winter] =
            ["2026-10-24T21:41:00Z", "2026-11-20T21:41:00Z"].map(|time| [at(time)]);
        let year = [&winter[..], &summer[..]].concat();
        let both = "Amounts in SU. Times +0200, later +0100.\n";
        for (parts, below) in [
            (&[&winter[..]][..], "Amounts in SU. Times +0100.\n"),
            (&[&year], both),
            (&[&winter, &summer], both),
        ] {
            assert_eq!(printed(&form, parts).1, below);
        }
    }

    /// A column that was left out of the first part is in no later one.
    #[test]
    fn columns_that_are_left_out_are_named_once() {
        let form = Form {
            width: 40,
            ..test_form()
        };
        let first = [job("amelia", "at night", "1000.000")];
        let later = [job("bo", "", "2.000")];
        let (texts, below) = printed(&form, &[&first, &later]);
        assert_eq!(
            texts,
            [
                "User         Cost  Note\namelia  1,000.000  at night\n",
                "bo          2.000\n",
            ]
        );
        assert_eq!(
            below,
            "Not shown: Time. A wider terminal or\n--columns shows them.\nAmounts in SU. Times +0100.\n"
        );
    }

    #[test]
    fn a_part_that_does_not_fit_is_folded_again() {
        let form = Form {
            width: 50,
            ..test_form()
        };
        let first = [job("amelia", "night", "1000.000")];
        let long = [job("a-name-of-twenty-six-letters", "x", "2.000")];
        let (texts, below) = printed(&form, &[&first, &long, &long]);
        assert_eq!(
            texts[0],
            "Time                 User         Cost  Note\n\
             2026-11-20 22:41:00  amelia  1,000.000  night\n"
        );
        assert!(
            texts[1].starts_with("Amounts in SU. Times +0100.\n\nUser "),
            "{texts:#?}"
        );
        assert!(texts[1].ends_with(&texts[2]), "{texts:#?}");
        assert_eq!(texts[2], "a-name-of-twenty-six-letters  2.000  x\n");
        assert!(below.starts_with("Not shown: Time. "), "{below}");
    }

    #[test]
    fn records_are_apart() {
        let form = Form {
            width: 20,
            ..test_form()
        };
        let jobs = [job("a-name-of-many-letters", "x", "2.000")];
        let (texts, _) = printed(&form, &[&jobs, &jobs]);
        assert!(texts[0].starts_with("Time  2026-11-20"), "{texts:#?}");
        assert_eq!(texts[1], format!("\n{}", texts[0]));
    }

    #[test]
    fn separated_values_have_one_header() {
        let form = Form {
            format: Format::Csv,
            ..test_form()
        };
        let jobs = [job("amy", "x", "2.000")];
        let (texts, below) = printed(&form, &[&jobs, &jobs]);
        let line = "2026-11-20T21:41:00Z,amy,2.000,x\n";
        assert_eq!(
            texts,
            [format!("at,user,cost,note\n{line}"), line.to_owned()]
        );
        assert_eq!(below, "");
    }
}
