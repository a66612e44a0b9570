//! Which project, user and PI the mappings give to usage, and the parts of a mapping as they are typed.

use std::collections::BTreeMap;

use bank_api::v1::{MappingTest, MappingTested};
use bank_core::directory::Directory;
use bank_core::mapping::{Condition, Field, Mapped, Naming, Template};
use bank_core::refusal::Refusal;
use bank_core::select;

use super::call::Empty;
use super::call::{Call, Handled, ok};
use super::json::{self, cleared};
use super::share::whole;

/// `POST /api/v1/mappings/test`: whom usage would be for, and why. It writes nothing, and asks all mappings
/// of the bank.
pub(super) async fn test(call: Call) -> Handled {
    whole(&call)?;
    call.query::<Empty>()?;
    let MappingTest { values } = call.json()?;
    let (mut words, mut attributes) = (BTreeMap::new(), BTreeMap::new());
    for (word, value) in values {
        match Field::parse(&word) {
            Some(Field::Attribute(name)) => attributes.insert(name, value),
            Some(_) => words.insert(word, value),
            None => return Err(call.refused(&bad_field())),
        };
    }
    let value = |word: &str| words.get(word).map(String::as_str).unwrap_or_default();
    let naming = Naming {
        source: value("source"),
        machine: value("machine"),
        user: value("user"),
        group: value("group"),
        account: value("account"),
        queue: value("queue"),
        qos: value("qos"),
        namespace: value("namespace"),
        attributes: Some(&attributes),
    };
    ok(&tested(call.directory(), &naming))
}

fn tested(directory: &Directory, naming: &Naming<'_>) -> MappingTested {
    let Mapped {
        project,
        user,
        pi,
        rule,
        user_rule,
        pi_rule,
    } = directory.mapped(naming);
    let project_known = select::named(directory, &project).is_some();
    let mut why = vec![match rule {
        Some(id) => format!("project: mapping {id} gives {project:?}"),
        None if project.is_empty() => {
            "project: no mapping matches, and no account is reported".to_owned()
        }
        None => format!("project: no mapping matches; the reported account is {project:?}"),
    }];
    if !project_known {
        let waits = "there is no such project or account: the usage waits in `bank unmapped`";
        why.push(format!("project: {waits}"));
    }
    why.push(match user_rule {
        Some(id) => format!("user: mapping {id} gives {user:?}"),
        None if user.is_empty() => "user: none reported".to_owned(),
        None if user == naming.user => format!("user: as reported, {user:?}"),
        None => format!("user: {:?} is another name of {user:?}", naming.user),
    });
    why.push(match pi_rule {
        Some(id) => format!("pi: mapping {id} gives {pi:?}"),
        None => "pi: no mapping matches; reports use the PI of the project".to_owned(),
    });
    MappingTested {
        user_known: directory.user_named(&user).is_some(),
        project: json::some(&project),
        project_by: rule,
        project_known,
        user: json::some(&user),
        user_by: user_rule,
        pi_known: directory.user_named(&pi).is_some(),
        pi: json::some(&pi),
        pi_by: pi_rule,
        why,
    }
}

/// Conditions as they are typed.
pub(super) fn conditions(texts: &[String]) -> Result<Vec<Condition>, Refusal> {
    let read = |text: &String| Condition::parse(text).ok_or_else(bad_field);
    texts.iter().map(read).collect()
}

/// A name with places to fill; the empty text is none.
pub(super) fn template(text: &str) -> Result<Option<Template>, Refusal> {
    let bad = || Refusal::BadValue {
        field: "project",
        expected: "a name, with places such as {account} or {account.1}; {{ is a brace",
    };
    let read = |text: String| Template::parse(&text).ok_or_else(bad);
    cleared(text.to_owned()).map(read).transpose()
}

fn bad_field() -> Refusal {
    Refusal::BadValue {
        field: "when",
        expected: "FIELD=PATTERN with source, machine, user, group, account, queue, qos, namespace \
                   or attr.NAME; * stands for any text, \\* for a star",
    }
}
