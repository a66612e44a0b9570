//! `bank mapping`: whom usage is for, where its source says it in names of its own.

use std::collections::BTreeMap;

use bank_api::v1::{List, Mapping, MappingTest, MappingTested, NewMapping, PatchMapping, Written};
use ureq::http::Method;

use super::nothing_to_set;
use crate::{
    cli::{AddMapping, MappingCommand, SetMapping, WriteArgs},
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: MappingCommand) -> Result<String, Failure> {
    match command {
        MappingCommand::Add(args) => add(context, args),
        MappingCommand::Ls => {
            let list: List<Mapping> = context.all(&["mappings"], &())?;
            context.form.list(&list, &sheet(&list.items))
        }
        MappingCommand::Show { id } => {
            let mapping: Mapping = context.get(&["mappings", &id.to_string()], &())?;
            let sheet = sheet(std::slice::from_ref(&mapping));
            context.form.one(&mapping, &sheet)
        }
        MappingCommand::Set(args) => set(context, args),
        MappingCommand::Rm { id, remove } => {
            let what = format!("remove mapping {id}");
            let answer = context.remove(&["mappings", &id.to_string()], &what, &remove)?;
            context.removed(&answer, &format!("mapping {id} removed"))
        }
        MappingCommand::Test { says: words } => test(context, &words),
    }
}

fn add(context: &Context, args: AddMapping) -> Result<String, Failure> {
    let body = NewMapping {
        priority: args.priority,
        when: args.when,
        project: args.project,
        user: args.user,
        description: args.description,
    };
    let answer = posted(context, &body, &args.write)?;
    context.written(
        &answer,
        &format!(
            "mapping {} added: {}",
            answer.object.id,
            described(&answer.object)
        ),
    )
}

/// Adds a mapping.
pub(super) fn posted(
    context: &Context,
    body: &NewMapping,
    write: &WriteArgs,
) -> Result<Written<Mapping>, Failure> {
    context.send(Method::POST, &["mappings"], body, write)
}

fn set(context: &Context, args: SetMapping) -> Result<String, Failure> {
    let body = PatchMapping {
        priority: args.priority,
        when: Some(args.when).filter(|when| !when.is_empty()),
        project: args.project,
        user: args.user,
        description: args.description,
    };
    if body == PatchMapping::default() {
        return Err(nothing_to_set());
    }
    let id = args.id.to_string();
    let answer: Written<Mapping> =
        context.send(Method::PATCH, &["mappings", &id], &body, &args.write)?;
    context.written(
        &answer,
        &format!("mapping {id} changed: {}", described(&answer.object)),
    )
}

/// A mapping in words.
fn described(mapping: &Mapping) -> String {
    let gives = [("project", &mapping.project), ("user", &mapping.user)];
    let gives = gives.iter().filter_map(|(word, name)| {
        let name = name.as_ref()?;
        Some(format!("{word} {name}"))
    });
    let gives: Vec<String> = gives.collect();
    format!(
        "{} gives {}",
        mapping.when.join(" and "),
        gives.join(" and ")
    )
}

fn test(context: &Context, words: &[String]) -> Result<String, Failure> {
    let mut pairs = BTreeMap::new();
    for text in words {
        let (field, value) = text
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("{text:?} is no FIELD=VALUE")))?;
        pairs.insert(field.to_owned(), value.to_owned());
    }
    // It writes nothing: a repeat needs no key.
    let call = Call::send(
        Method::POST,
        client::path(&["mappings", "test"]),
        &MappingTest { says: pairs },
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
        ],
        std::slice::from_ref(&tested),
        "nothing",
    );
    sheet.remark = tested.why.join("\n");
    context.form.one(&tested, &sheet)
}

fn sheet(mappings: &[Mapping]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("priority", "Priority", Kind::Number),
        column("when", "When", Kind::Text),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("description", "Description", Kind::Text)
            .on_screen_if(mappings.iter().any(|own| own.description.is_some())),
    ];
    Sheet::new(columns, mappings, "no mappings: accounts name projects")
}
