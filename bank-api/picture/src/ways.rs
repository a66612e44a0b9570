//! Where marks of a drawing lead, and which period of the page it shows.

use bank_api::text::{format_rfc3339, percent_encode};

use super::data::{OTHERS, Span};

/// Links and periods of a drawing within a page.
#[derive(Debug, Clone, Default)]
pub(super) struct Ways {
    /// The address behind a mark, with `{name}`, `{from}` and `{until}` in it.
    pub(super) link: Option<String>,
    /// Names whose marks have no address.
    pub(super) plain: Vec<String>,
    /// The parameters of the page's address that contain the start and the end of its period.
    pub(super) zoom: Option<(String, String)>,
}

impl Ways {
    /// The address behind a mark, if it has one: names that are added up have none.
    pub(super) fn of(&self, name: &str, span: Option<Span>, is_sum: bool) -> Option<String> {
        let is_plain = is_sum || name == OTHERS || self.plain.iter().any(|own| own == name);
        let template = self.link.as_ref().filter(|_| !is_plain)?;
        let time = |us: Option<i64>| us.map(format_rfc3339).unwrap_or_default();
        let values = [
            ("{name}", name.to_owned()),
            ("{from}", time(span.map(|span| span.from))),
            ("{until}", time(span.map(|span| span.to))),
        ];
        let mut address = template.clone();
        // A name that contains a placeholder has its braces encoded.
        for (placeholder, value) in values {
            let mut text = String::new();
            percent_encode(&value, &mut text);
            address = address.replace(placeholder, &text);
        }
        Some(address)
    }
}
