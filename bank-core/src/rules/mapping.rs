//! Mappings: added, changed, removed (collectors.md g, h.1).

use crate::command::SetMapping;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::{MappingId, NAME_BYTES_MAX};
use crate::mapping::{CONDITIONS_MAX, MAPPINGS_MAX, Mapping, PRIORITY, PRIORITY_MAX, Template};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::select;
use crate::view::{Context, View};

/// Adds a mapping.
pub(super) fn add(set: &SetMapping, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let mappings = &ctx.directory.mappings;
    if mappings.in_order().len() >= MAPPINGS_MAX {
        return Err(Refusal::BadValue {
            field: "mapping",
            expected: "at most 10000 of them",
        });
    }
    let new = Mapping {
        id: mappings.next_id(),
        priority: PRIORITY,
        conditions: Vec::new(),
        project: None,
        user: None,
        description: String::new(),
        deleted: false,
    };
    change(new, set, "mapping_add", view, ctx)
}

/// Changes a mapping. Usage that was taken in before stays as it is.
pub(super) fn set(set: &SetMapping, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let id = set.id.unwrap_or(MappingId(0));
    change(known(id, ctx)?.clone(), set, "mapping_set", view, ctx)
}

/// Removes a mapping. Usage that it gave to a project stays there.
pub(super) fn remove(id: MappingId, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let gone = Mapping {
        deleted: true,
        ..known(id, ctx)?.clone()
    };
    let mut postings = Postings::new(view);
    postings.begin("mapping_rm", ctx.now);
    postings.remark(&shown(&gone));
    postings.directory.push(DirectoryRow::Mapping(gone));
    Ok(postings.finish(Outcome::Removed(id.0.to_string())))
}

fn known<'a>(id: MappingId, ctx: &Context<'a>) -> Result<&'a Mapping, Refusal> {
    let known = ctx.directory.mappings.get(id);
    known.ok_or_else(|| Refusal::not_found("mapping", &id.0.to_string()))
}

fn change(
    mut mapping: Mapping,
    set: &SetMapping,
    op: &'static str,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    mapping.priority = set.priority.unwrap_or(mapping.priority);
    if let Some(conditions) = &set.conditions {
        mapping.conditions.clone_from(conditions);
    }
    if let Some(project) = &set.project {
        mapping.project.clone_from(project);
    }
    if let Some(user) = &set.user {
        mapping.user.clone_from(user);
    }
    if let Some(description) = &set.description {
        mapping.description.clone_from(description);
    }
    check(&mapping, ctx)?;
    let mut postings = Postings::new(view);
    postings.begin(op, ctx.now);
    postings.remark(&shown(&mapping));
    postings
        .directory
        .push(DirectoryRow::Mapping(mapping.clone()));
    Ok(postings.finish(Outcome::Mapping(Box::new(mapping))))
}

fn check(mapping: &Mapping, ctx: &Context<'_>) -> Result<(), Refusal> {
    let bad = |field, expected| Err(Refusal::BadValue { field, expected });
    if !(0..=PRIORITY_MAX).contains(&mapping.priority) {
        return bad("priority", "0 to 1000000; lower is asked first");
    }
    if !(1..=CONDITIONS_MAX).contains(&mapping.conditions.len()) {
        return bad("when", "1 to 16 conditions such as account=grp_*");
    }
    if mapping.project.is_none() && mapping.user.is_none() {
        return bad("project", "a project, or a user, that the mapping gives");
    }
    for template in [&mapping.project, &mapping.user].into_iter().flatten() {
        if !template.suits(&mapping.conditions) {
            return bad("project", "no star that the conditions do not have");
        }
    }
    let text = &mapping.description;
    if text.len() > NAME_BYTES_MAX || text.chars().any(char::is_control) {
        return bad(
            "description",
            "at most 256 bytes without control characters",
        );
    }
    // What is filled in may be there later; what always is the same is there now.
    let always = mapping.project.as_ref().and_then(Template::always);
    let is_unknown = |name: &&str| select::named(ctx.directory, name).is_none();
    if let Some(name) = always.filter(is_unknown) {
        return Err(Refusal::not_found("project", name));
    }
    let same = |known: &&Mapping| {
        let gives = known.project == mapping.project && known.user == mapping.user;
        gives && known.conditions == mapping.conditions && known.id != mapping.id
    };
    match ctx.directory.mappings.in_order().into_iter().find(same) {
        Some(known) => Err(Refusal::AlreadyExists {
            kind: "mapping".into(),
            name: known.id.0.to_string(),
        }),
        None => Ok(()),
    }
}

/// A mapping as the journal has it.
fn shown(mapping: &Mapping) -> String {
    let mut text = format!("mapping={} priority={}", mapping.id.0, mapping.priority);
    for condition in &mapping.conditions {
        text = format!("{text} when={condition}");
    }
    for (word, template) in [("project", &mapping.project), ("user", &mapping.user)] {
        if let Some(template) = template {
            text = format!("{text} {word}={}", template.text());
        }
    }
    text
}
