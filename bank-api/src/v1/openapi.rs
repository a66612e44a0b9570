//! Schemas of the shapes that write themselves: exact numbers, whole ones as they are and all
//! others as text.

use std::borrow::Cow;

use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{RefOr, Schema as AnySchema};
use utoipa::{PartialSchema, ToSchema};

use super::{Number, Quantity};

/// A value of one of two types, with a sentence that says what it is.
fn either(other: Type, says: &str) -> RefOr<AnySchema> {
    let of = |kind: Type| ObjectBuilder::new().schema_type(kind).build();
    let schema = OneOfBuilder::new()
        .item(of(Type::String))
        .item(of(other))
        .description(Some(says));
    RefOr::T(Schema::OneOf(schema.build()))
}

impl PartialSchema for Number {
    fn schema() -> RefOr<AnySchema> {
        either(
            Type::Number,
            "An exact decimal: a string, or a number as it is written.",
        )
    }
}

impl ToSchema for Number {
    fn name() -> Cow<'static, str> {
        "Number".into()
    }
}

impl PartialSchema for Quantity {
    fn schema() -> RefOr<AnySchema> {
        either(
            Type::Integer,
            "An exact number: an integer, or the decimal as a string where it is none.",
        )
    }
}

impl ToSchema for Quantity {
    fn name() -> Cow<'static, str> {
        "Quantity".into()
    }
}
