//! `bank mapping test`, and mappings that other commands add.

use std::collections::BTreeMap;

use bank_api::v1::{MappingTest, MappingTested, Written};
use ureq::http::Method;

use super::Record;
use crate::{
    cli::WriteArgs,
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

/// Adds a mapping.
pub(super) fn posted(
    context: &Context,
    body: &Record,
    write: &WriteArgs,
) -> Result<Written<Record>, Failure> {
    context.send(Method::POST, &["mappings"], body, write)
}

/// Shows the project, user and PI for given names, and the mappings that decide.
pub(super) fn test(context: &Context, words: &[String]) -> Result<String, Failure> {
    let mut pairs = BTreeMap::new();
    for text in words {
        let (field, value) = text
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("{text:?} is not of the form FIELD=VALUE")))?;
        pairs.insert(field.to_owned(), value.to_owned());
    }
    // It writes nothing: a repeat needs no key.
    let call = Call::send(
        Method::POST,
        client::path(&["mappings", "test"]),
        &MappingTest { values: pairs },
        None,
    )?;
    let tested: MappingTested = context.client.call(&call)?;
    let mut sheet = Sheet::new(
        vec![
            column("project", "Project", Kind::Text),
            column("project_known", "Project known", Kind::Text),
            column("project_by", "By mapping", Kind::Number),
            column("user", "User", Kind::Text),
            column("user_known", "User known", Kind::Text),
            column("user_by", "User by mapping", Kind::Number),
            column("pi", "PI", Kind::Text),
            column("pi_by", "PI by mapping", Kind::Number),
        ],
        std::slice::from_ref(&tested),
        "nothing",
    );
    sheet.remark = tested.why.join("\n");
    context.form.one(&tested, &sheet)
}
