//! Every screen that is laid out by hand, on a terminal of 80 columns: each module with such a screen calls
//! [`assert_fits`] with the answers of [`filled`]. The modules are read from the sources, so that none can be
//! forgotten.

use std::{fs, path::Path};

use anstream::adapter::strip_str;
use bank_picture::figure;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor, value::Error,
};

use super::super::width;

/// The columns of a terminal.
const WIDTH: usize = 80;
/// A large number and a large amount.
const NUMBER: i64 = 1_000_000_000_000_000_000;
const AMOUNT: &str = "-1000000000000000.125";
/// The amount of seconds in hours.
const HOURS: &str = "277,777,777,777.778";
/// Fields with amounts, and fields with times.
const AMOUNTS: &str = "amount cost available needed remaining held shadow shadow_held active amount_after \
    held_after free taken charged refunded net released placed_amount opening closing total_credits \
    total_debits balance credit_limit debt burn_per_day rate jobs core_seconds shadow_charged wait_mean_s expansion share";
const TIMES: &str = "at at_effective at_recorded made_at empty_at from until valid_from valid_until opened \
    closed placed started ended last_contact next_boundary clock ledger";

/// How wide texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Texts {
    Short,
    Sentences,
    Words,
}

/// Answers with a value in each field: short texts, sentences, and names as long as they may be. Amounts and
/// numbers are large in all of them.
pub(crate) fn filled<T: DeserializeOwned>() -> Vec<T> {
    let all = [Texts::Short, Texts::Sentences, Texts::Words];
    let answers = all.map(|texts| T::deserialize(Widest { field: "", texts }).unwrap());
    answers.into()
}

/// No line is too wide, no amount is broken, and none touches what stands beside it.
pub(crate) fn assert_fits(text: &str) {
    let text = strip_str(text).to_string();
    let amount = figure::grouped(AMOUNT);
    let amount = amount.trim_start_matches(['-', '\u{2212}']);
    let number = figure::grouped(&NUMBER.to_string());
    for line in text.lines() {
        assert!(width(line) <= WIDTH, "{line:?}\n{text}");
        assert_eq!(line, line.trim_end(), "{text}");
        for word in line.split(' ').filter(|word| word.matches(',').count() > 1) {
            let value = word.trim_matches(|letter: char| !letter.is_ascii_digit());
            let is_whole = [amount, HOURS, &number].contains(&value)
                || amount.starts_with(&format!("{value}."));
            assert!(is_whole, "{word:?} in {line:?}\n{text}");
        }
    }
}

/// Each module that fits lines to the terminal tests it with [`assert_fits`].
#[test]
fn every_screen_is_tested_with_wide_values() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cmd")];
    let (mut tested, mut missing) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            if !source.contains("fitted(") || path.ends_with("tests.rs") {
                continue;
            }
            let below = path.with_extension("").join("tests.rs");
            let beside = path.with_file_name("tests.rs");
            let tests = [below, beside].map(|path| fs::read_to_string(path).unwrap_or_default());
            if source.contains("assert_fits(") || tests.iter().any(|t| t.contains("assert_fits(")) {
                tested += 1;
            } else {
                missing.push(path);
            }
        }
    }
    assert!(missing.is_empty(), "no test with assert_fits: {missing:#?}");
    assert!(tested >= 10, "{tested}");
}

/// A source of wide values for fields of every type.
#[derive(Debug, Clone, Copy)]
struct Widest {
    field: &'static str,
    texts: Texts,
}

impl Widest {
    fn text(self) -> String {
        let is_of = |fields: &str| fields.split_whitespace().any(|field| field == self.field);
        if is_of(AMOUNTS) {
            return AMOUNT.to_owned();
        }
        if is_of(TIMES) {
            return "2026-11-20T21:41:05Z".to_owned();
        }
        match self.texts {
            Texts::Short => "abc".to_owned(),
            Texts::Sentences => ["some words of text"; 12].join(" "),
            Texts::Words => "m".repeat(256),
        }
    }
}

impl<'de> Deserializer<'de> for Widest {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.text())
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(true)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(NUMBER)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(NUMBER)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u32(u32::MAX)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u16(u16::MAX)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u8(9)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts {
            fields: vec![self.field; 2],
            texts: self.texts,
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Parts {
            fields: vec!["key"],
            texts: self.texts,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Parts {
            fields: fields.iter().rev().copied().collect(),
            texts: self.texts,
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum((*variants.first().unwrap()).into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct identifier ignored_any
    }
}

/// The fields of an answer, or the items of a list, from last to first.
struct Parts {
    fields: Vec<&'static str>,
    texts: Texts,
}

impl<'de> SeqAccess<'de> for Parts {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let texts = self.texts;
        let next = self.fields.pop();
        next.map(|field| seed.deserialize(Widest { field, texts }))
            .transpose()
    }
}

impl<'de> MapAccess<'de> for Parts {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let next = self.fields.last();
        next.map(|field| seed.deserialize((*field).into_deserializer()))
            .transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let field = self
            .fields
            .pop()
            .ok_or_else(|| de::Error::custom("no field"))?;
        let texts = self.texts;
        seed.deserialize(Widest { field, texts })
    }
}
