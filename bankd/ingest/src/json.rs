//! JSON with exact numbers: read level by level, decimals unchanged.

use std::collections::BTreeMap;
use std::{fmt, io};

use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::lines::document;
use super::number::Number;

/// An object of which only the first level is read. Of a repeated name the last value is used.
#[derive(Debug, Default)]
pub(super) struct Object<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Object<'a> {
    /// Reads one; `None` if the text is no object.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Object)
    }

    /// The object under a name.
    pub(super) fn object(&self, name: &str) -> Option<Object<'a>> {
        self.0.get(name).and_then(|raw| Object::parse(raw.get()))
    }

    /// The names, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The list under a name, each element as its text.
    pub(super) fn list(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        let raw = *self.0.get(name)?;
        serde_json::from_str(raw.get()).ok()
    }

    /// Gives each element of the list under a name, one after the other: a list of a document may have many
    /// millions. `None` if there is no such list.
    pub(super) fn each(
        &self,
        name: &str,
        give: impl FnMut(&'a RawValue) -> io::Result<()>,
    ) -> Option<io::Result<()>> {
        each(self.raw(name)?, give)
    }

    /// The text of the value under a name.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|raw| raw.get())
    }

    /// A string, a number or a word as text; objects, lists and null are none.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let raw = self.0.get(name)?.get();
        match raw.as_bytes().first()? {
            b'"' => serde_json::from_str(raw).ok(),
            b'{' | b'[' | b'n' => None,
            _ => Some(raw.to_owned()),
        }
    }

    /// A number, or a string that is one.
    pub(super) fn number(&self, name: &str) -> Option<Number> {
        Number::parse(&self.text(name)?)
    }

    /// Adds missing values from another object.
    pub(super) fn or(mut self, other: Object<'a>) -> Self {
        for (name, value) in other.0 {
            self.0.entry(name).or_insert(value);
        }
        self
    }
}

/// The text of a document with a list. An object without that list is an element by itself: it becomes the only one of
/// a list.
pub(super) fn listed(input: &mut dyn io::BufRead, name: &str) -> io::Result<Vec<u8>> {
    let bytes = document(input)?;
    let text = String::from_utf8_lossy(&bytes);
    let is_element = Object::parse(&text).is_some_and(|whole| whole.raw(name).is_none());
    if is_element {
        return Ok(format!("{{{name:?}:[{text}]}}").into_bytes());
    }
    Ok(bytes)
}

/// Gives each element of a list; `None` if the text is none.
pub(super) fn each<'a>(
    text: &'a str,
    give: impl FnMut(&'a RawValue) -> io::Result<()>,
) -> Option<io::Result<()>> {
    let mut each = Each { give, failed: None };
    let read = serde_json::Deserializer::from_str(text).deserialize_seq(&mut each);
    match (read, each.failed) {
        (_, Some(error)) => Some(Err(error)),
        (Ok(()), None) => Some(Ok(())),
        (Err(_), None) => None,
    }
}

struct Each<F> {
    give: F,
    failed: Option<io::Error>,
}

impl<'a, F: FnMut(&'a RawValue) -> io::Result<()>> Visitor<'a> for &mut Each<F> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(raw) = list.next_element()? {
            if let Err(error) = (self.give)(raw) {
                self.failed = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_one_after_the_other_until_one_fails() {
        let object = Object::parse(r#"{"a":[1,{"b":[2]},"x"],"c":1}"#).unwrap();
        let mut all = Vec::new();
        let take = |raw: &RawValue| {
            all.push(raw.get().to_owned());
            Ok(())
        };
        assert!(object.each("a", take).unwrap().is_ok());
        assert_eq!(all, ["1", r#"{"b":[2]}"#, "\"x\""]);
        let mut seen = 0;
        let failed = object.each("a", |_| {
            seen += 1;
            Err(io::Error::other("full"))
        });
        assert_eq!(failed.unwrap().unwrap_err().to_string(), "full");
        assert_eq!(seen, 1);
        assert!(object.each("c", |_| Ok(())).is_none() && object.each("d", |_| Ok(())).is_none());
    }

    #[test]
    fn an_element_by_itself_becomes_a_list() {
        for (text, whole) in [
            (r#"{"id":1}"#, r#"{"jobs":[{"id":1}]}"#),
            (r#"{"jobs":[{"id":1}]}"#, r#"{"jobs":[{"id":1}]}"#),
            (r#"{"id":"#, r#"{"id":"#),
            ("", ""),
        ] {
            let found = listed(&mut text.as_bytes(), "jobs").unwrap();
            assert_eq!(String::from_utf8(found).unwrap(), whole, "{text}");
        }
    }

    #[test]
    fn numbers_stay_as_they_are_written() {
        let object =
            Object::parse(r#"{"a":0.1000000000000000055,"b":"7","c":null,"d":{"e":[1,"x"]}}"#);
        let object = object.unwrap();
        assert_eq!(object.text("a").as_deref(), Some("0.1000000000000000055"));
        assert_eq!(object.number("b"), Some(Number::whole(7)));
        assert_eq!((object.text("c"), object.text("d")), (None, None));
        let list = object.object("d").unwrap().list("e").unwrap();
        assert_eq!(list.len(), 2);
        assert!(Object::parse("[1]").is_none() && Object::parse("{").is_none());
    }
}
