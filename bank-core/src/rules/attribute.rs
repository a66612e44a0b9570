//! Usage attributes: declared and taken back (ledger.md 6).

use crate::attribute::{Attribute, check_name};
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::NAME_BYTES_MAX;
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::usage::ATTRIBUTES_MAX;
use crate::view::{Context, View};

/// Declares an attribute. One that was taken back comes back.
pub(super) fn add(new: &Attribute, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    check_name(&new.name)?;
    let text = &new.description;
    if text.len() > NAME_BYTES_MAX || text.chars().any(char::is_control) {
        return Err(Refusal::BadValue {
            field: "description",
            expected: "at most 256 bytes without control characters",
        });
    }
    if ctx.directory.attribute(&new.name).is_some() {
        return Err(Refusal::AlreadyExists {
            kind: "attribute".into(),
            name: new.name.clone(),
        });
    }
    let declared = ctx.directory.attributes.iter().filter(|a| !a.deleted);
    if declared.count() >= ATTRIBUTES_MAX {
        return Err(Refusal::BadValue {
            field: "name",
            expected: "at most 64 declared attributes",
        });
    }
    let attribute = Attribute {
        deleted: false,
        ..new.clone()
    };
    let mut postings = Postings::new(view);
    postings.begin("attr_add", ctx.now);
    postings.remark(&format!("{} {}", attribute.name, attribute.kind.word()));
    let row = DirectoryRow::Attribute(attribute.clone());
    postings.directory.push(row);
    Ok(postings.finish(Outcome::Attribute(attribute)))
}

/// Takes a declaration back; refused while a rate names the attribute. Usage keeps its values.
pub(super) fn remove(name: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let known = ctx.directory.attribute(name);
    let known = known.ok_or_else(|| Refusal::not_found("attribute", name))?;
    let is = |property: &str| property.eq_ignore_ascii_case(&known.name);
    let mut rates = ctx.directory.rates_at(ctx.now).iter();
    if let Some(rate) = rates.find(|r| is(&r.name) || is(r.property())) {
        return Err(Refusal::InUse {
            name: known.name.clone(),
            by: format!("rate {}", rate.id.0),
        });
    }
    let mut postings = Postings::new(view);
    postings.begin("attr_rm", ctx.now);
    postings.remark(&known.name);
    let row = DirectoryRow::Attribute(Attribute {
        deleted: true,
        ..known.clone()
    });
    postings.directory.push(row);
    Ok(postings.finish(Outcome::Removed(known.name.clone())))
}
