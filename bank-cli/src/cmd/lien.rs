//! `bank lien`: the money held for jobs.

use bank_api::v1::{Lien, LienQuery, List};

use super::Context;
use crate::{
    cli::LienCommand,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: LienCommand) -> Result<String, Failure> {
    let LienCommand::Ls {
        project,
        user,
        machine,
        state,
    } = command;
    let open = state.as_deref().is_none_or(|state| state == "open");
    let query = LienQuery {
        project,
        user,
        machine,
        state,
    };
    let list: List<Lien> = context.get(&["liens"], &query)?;
    let empty = if open { "no open liens" } else { "no liens" };
    context.form.list(&list, &sheet(&list.items, open, empty))
}

fn sheet(liens: &[Lien], open: bool, empty: &'static str) -> Sheet {
    let some = |test: fn(&Lien) -> bool| liens.iter().any(test);
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("job", "Job", Kind::Text),
        column("machine", "Machine", Kind::Text),
        column("type", "Type", Kind::Text).on_screen_if(some(|lien| lien.kind != "job")),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("amount", "Held", Kind::Amount),
        column("accounts", "Accounts", Kind::Text),
        column("placed", "Placed", Kind::Time),
        column("end", "Expires", Kind::Time),
        column("start", "Start", Kind::Time).if_asked(),
        column("state", "State", Kind::Text).on_screen_if(!open),
        column("shadow", "Shadow", Kind::Text).on_screen_if(some(|lien| lien.shadow)),
        column("unit", "Unit", Kind::Text).if_asked(),
    ];
    let unit = liens.first().map_or("", |lien| &lien.unit);
    Sheet::new(columns, liens, empty).unit(unit)
}
