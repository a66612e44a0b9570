//! Templates: a name with places that usage fills.

use super::{Condition, Field, Naming};
use crate::ids::NAME_BYTES_MAX;

/// A name as a mapping makes it: text with `{FIELD}` for what usage says there, `{FIELD.2}` for what
/// the second star of the condition on that field stands for, and `{2}` for the second star of all
/// conditions together, in their order. `{{` and `}}` are braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Whole(Field),
    /// A star of the condition on a field, counted from 1.
    Star(Field, usize),
    /// A star of all conditions, counted from 1.
    Nth(usize),
}

impl Template {
    /// Reads a template: 1 to 256 bytes without control characters.
    pub fn parse(text: &str) -> Option<Template> {
        let bounded = !text.is_empty() && text.len() <= NAME_BYTES_MAX;
        if !bounded || text.chars().any(char::is_control) {
            return None;
        }
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, behind) = rest.split_at_checked(at)?;
            literal.push_str(before);
            if let Some(after) = behind.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = behind.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else {
                let (place, after) = behind.strip_prefix('{')?.split_once('}')?;
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
                pieces.push(Piece::parse(place)?);
                rest = after;
            }
        }
        literal.push_str(rest);
        pieces.push(Piece::Text(literal));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Some(Template {
            text: text.to_owned(),
            pieces,
        })
    }

    /// The template that makes one name, whatever is filled in.
    pub fn literal(name: &str) -> Option<Template> {
        Template::parse(&name.replace('{', "{{").replace('}', "}}"))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name that it always makes, where nothing is filled in.
    pub fn always(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(only)] => Some(only),
            _ => None,
        }
    }

    /// Whether every star that it names is there.
    pub fn suits(&self, conditions: &[Condition]) -> bool {
        let stars = |own: &Condition| if own.is_not { 0 } else { own.pattern.stars() };
        let all: usize = conditions
            .iter()
            .fold(0, |n, own| n.saturating_add(stars(own)));
        self.pieces.iter().all(|piece| match piece {
            Piece::Text(_) | Piece::Whole(_) => true,
            Piece::Nth(n) => *n <= all,
            Piece::Star(field, n) => {
                let mut of = conditions
                    .iter()
                    .filter(|own| own.field == *field && !own.is_not);
                of.next().is_some_and(|own| *n <= own.pattern.stars())
            }
        })
    }

    /// The name that it makes; none where usage does not say what it names, or where the result is
    /// empty, too long, or has a blank at either end.
    pub(super) fn fill(
        &self,
        naming: &Naming<'_>,
        conditions: &[Condition],
        stars: &[Vec<&str>],
    ) -> Option<String> {
        let mut name = String::new();
        for piece in &self.pieces {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Whole(field) => naming.get(field)?,
                Piece::Nth(n) => stars.iter().flatten().nth(n.checked_sub(1)?)?,
                Piece::Star(field, n) => {
                    let of = |(own, _): &(&Condition, _)| own.field == *field && !own.is_not;
                    let (_, texts) = conditions.iter().zip(stars).find(of)?;
                    texts.get(n.checked_sub(1)?)?
                }
            };
            name.push_str(text);
        }
        let bounded = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
        let clean = name.trim() == name && !name.chars().any(char::is_control);
        (bounded && clean).then_some(name)
    }
}

impl Piece {
    fn parse(place: &str) -> Option<Piece> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            text.parse().ok().filter(|n| digits && *n > 0)
        };
        if let Some(n) = number(place) {
            return Some(Piece::Nth(n));
        }
        // The name of an attribute may have points itself: `attr.app.kubernetes.io/name`.
        let parted = place.rsplit_once('.');
        let star =
            parted.and_then(|(field, n)| Some(Piece::Star(Field::parse(field)?, number(n)?)));
        star.or_else(|| Field::parse(place).map(Piece::Whole))
    }
}
