//! `bank attr`: usage attributes.

use bank_api::v1::{Attribute, List, NewAttribute, Written};
use ureq::http::Method;

use crate::{
    cli::AttrCommand,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: AttrCommand) -> Result<String, Failure> {
    match command {
        AttrCommand::Ls => {
            let list: List<Attribute> = context.all(&["attributes"], &())?;
            context.form.list(&list, &sheet(&list.items))
        }
        AttrCommand::Add {
            name,
            kind,
            description,
            write,
        } => {
            let body = NewAttribute {
                name,
                kind,
                description,
            };
            let answer: Written<Attribute> =
                context.send(Method::POST, &["attributes"], &body, &write)?;
            let own = &answer.object;
            context.written(
                &answer,
                &format!("attribute {} declared: {}", own.name, own.kind),
            )
        }
        AttrCommand::Rm { name, remove } => {
            let what = format!("take back the attribute {name}");
            let answer = context.remove(&["attributes", &name], &what, &remove)?;
            context.removed(&answer, &format!("attribute {} taken back", answer.name))
        }
    }
}

fn sheet(attributes: &[Attribute]) -> Sheet {
    let columns = vec![
        column("name", "Name", Kind::Text),
        column("type", "Type", Kind::Text),
        column("description", "Description", Kind::Text),
    ];
    Sheet::new(columns, attributes, "no attributes are declared")
}
