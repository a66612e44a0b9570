//! `bank settings`: the settings of the daemon that are in force.

use bank_api::v1::{List, PageQuery, Setting};

use crate::{
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context) -> Result<String, Failure> {
    let list: List<Setting> = context.all(&["settings"], &PageQuery::default())?;
    let settings = &list.items;
    let columns = vec![
        column("name", "Setting", Kind::Text),
        column("value", "Value", Kind::Text),
        column("origin", "From", Kind::Text),
        column("reload", "Reload", Kind::Text),
        column("pending", "After a restart", Kind::Text)
            .on_screen_if(settings.iter().any(|setting| setting.pending.is_some())),
        column("default", "Default", Kind::Text).on_request(),
    ];
    context
        .form
        .list(&list, &Sheet::new(columns, settings, "no settings"))
}
