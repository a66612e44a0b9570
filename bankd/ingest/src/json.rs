//! JSON with exact numbers: read level by level, decimals unchanged.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

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

#[cfg(test)]
mod tests {
    use super::*;

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
