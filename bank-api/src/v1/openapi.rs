//! Schemas that cannot be derived: generic lists and written objects, and exact numbers with their own
//! serialisation.

use std::borrow::Cow;

use utoipa::openapi::schema::{
    AllOfBuilder, ArrayBuilder, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema as AnySchema};
use utoipa::{PartialSchema, ToSchema};

use super::{List, Number, Quantity, Written};

/// A reference to a shape.
fn place<T: ToSchema>() -> Ref {
    Ref::from_schema_name(T::name())
}

/// A shape and those that it refers to.
fn with_others<T: ToSchema>(schemas: &mut Vec<(String, RefOr<AnySchema>)>) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

/// A value of one type, or null.
fn or_null(kind: Type, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([kind, Type::Null]))
        .description(Some(description))
}

/// A page of a list of a named schema.
pub fn list(of: Ref) -> RefOr<AnySchema> {
    let items = ArrayBuilder::new()
        .items(of)
        .description(Some("The rows of this page, in the order of the route."));
    let next = or_null(
        Type::String,
        "Cursor of the next page, to be sent back as `after`; `null` on the last page.",
    );
    let schema = ObjectBuilder::new()
        .property("items", items)
        .property("next", next)
        .required("items")
        .required("next");
    RefOr::T(Schema::Object(schema.build()))
}

impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<AnySchema> {
        list(place::<T>())
    }
}

impl<T: ToSchema> ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        format!("List_{}", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<AnySchema>)>) {
        with_others::<T>(schemas);
    }
}

/// A named schema with the transaction that wrote it.
pub fn written(of: Ref) -> RefOr<AnySchema> {
    let transaction = or_null(
        Type::Integer,
        "The journal transaction; `null` on a dry run and where nothing changed.",
    );
    let dry_run = ObjectBuilder::new()
        .schema_type(Type::Boolean)
        .description(Some("True when the change was decided only."));
    let warnings = ArrayBuilder::new()
        .items(ObjectBuilder::new().schema_type(Type::String))
        .description(Some("Warnings about an accepted change."));
    let written = ObjectBuilder::new()
        .property("transaction", transaction)
        .property("dry_run", dry_run)
        .property("warnings", warnings)
        .required("transaction")
        .required("dry_run")
        .required("warnings");
    let schema = AllOfBuilder::new().item(of).item(written);
    RefOr::T(Schema::AllOf(schema.build()))
}

impl<T: ToSchema> PartialSchema for Written<T> {
    fn schema() -> RefOr<AnySchema> {
        written(place::<T>())
    }
}

impl<T: ToSchema> ToSchema for Written<T> {
    fn name() -> Cow<'static, str> {
        format!("Written_{}", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<AnySchema>)>) {
        with_others::<T>(schemas);
    }
}

/// A value of one of two types, with its description.
fn either(other: Type, description: &str) -> RefOr<AnySchema> {
    let of = |kind: Type| ObjectBuilder::new().schema_type(kind).build();
    let schema = OneOfBuilder::new()
        .item(of(Type::String))
        .item(of(other))
        .description(Some(description));
    RefOr::T(Schema::OneOf(schema.build()))
}

impl PartialSchema for Number {
    fn schema() -> RefOr<AnySchema> {
        either(
            Type::Number,
            "An exact decimal: a string, or a JSON number with its exact text.",
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
