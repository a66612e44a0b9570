//! A page of a report as text: for a terminal and for mail.

use bank_picture::{Plain, Report, plain_head, plain_sections};

use super::{Form, Kind, Row, Sheet, described, sentences};

impl Form {
    /// A page as text, at most as wide as the terminal. Charts are left out: their tables have the same
    /// amounts.
    pub(crate) fn page(&self, page: &Report) -> String {
        let mut out = sentences(&plain_head(page), self.width);
        for section in plain_sections(page) {
            out.push('\n');
            out.push_str(&sentences(&section.heading, self.width));
            if section.rows.is_empty() {
                out.push_str("No data in this period.\n");
            } else {
                out.push_str(&self.table(&sheet(&section)));
            }
            out.push_str(&sentences(&section.remarks.join("\n"), self.width));
        }
        out
    }
}

fn sheet(section: &Plain) -> Sheet {
    let columns = section.columns.iter().enumerate();
    let columns = columns.map(|(at, (head, is_number))| {
        let kind = if *is_number { Kind::Number } else { Kind::Text };
        described(&at.to_string(), head, kind)
    });
    let rows = section.rows.iter().map(|cells| {
        let cells = cells.iter().enumerate();
        let row = cells.map(|(at, cell)| (at.to_string(), cell.as_str().into()));
        row.collect::<Row>()
    });
    Sheet::new(columns.collect(), &rows.collect::<Vec<_>>(), "")
}

#[cfg(test)]
mod tests {
    use bank_picture::{Cell, Part, Section, Table};

    use super::super::{assert_fits, test_form};
    use super::*;

    fn report(rows: &[[&str; 4]]) -> Report {
        let heads = ["account", "used up on", "", "remark"];
        let table = Table {
            columns: heads.map(|head| (head.to_owned(), false)).to_vec(),
            rows: rows
                .iter()
                .map(|row| row.map(|text| Cell::Text(text.to_owned())).to_vec())
                .collect(),
            ..Table::default()
        };
        let remark = ["a sentence of some words"; 5].join(", ");
        Report {
            title: "Personal report: amy".to_owned(),
            zone: test_form().zone,
            parts: vec![Part {
                sections: vec![Section::table("Forecast", table).note(remark)],
                ..Part::default()
            }],
            period: None,
            generated: 0,
            remarks: Vec::new(),
        }
    }

    /// A column without a value gives its room to the others, and its name is below the table.
    #[test]
    fn a_page_is_folded_like_every_table() {
        let long = "physics-of-the-atmosphere-and-the-oceans";
        let words = ["words"; 20].join(" ");
        let text = test_form().page(&report(&[[long, "", "", &words], ["b", "", "", "x"]]));
        assert_fits(&text);
        assert!(text.starts_with("Personal report: amy\n"), "{text}");
        assert!(text.contains("\nForecast\naccount "), "{text}");
        assert!(!text.contains("Not shown"), "{text}");
        let both = format!("{long}{long}");
        let text = test_form().page(&report(&[[&both[..60], "", "", &words]]));
        assert_fits(&text);
        assert!(text.contains("Not shown: used up on. "), "{text}");
        let text = test_form().page(&report(&[]));
        assert!(
            text.contains("\nForecast\nNo data in this period.\n"),
            "{text}"
        );
    }
}
