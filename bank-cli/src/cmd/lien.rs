//! `bank lien`: the money held for jobs.

use bank_api::v1::{Lien, LienQuery, PastQuery, PatchLien, Written};
use ureq::http::Method;

use crate::{
    cli::LienCommand,
    context::Context,
    fail::Failure,
    out::{Form, Kind, Sheet, column},
    when,
};

pub(super) fn run(context: &Context, command: LienCommand) -> Result<String, Failure> {
    match command {
        LienCommand::Ls { only, state, then } => {
            let PastQuery { at, recorded } = context.past(&then)?;
            let query = LienQuery {
                project: only.project,
                user: only.user,
                machine: only.machine,
                state,
                at,
                recorded,
                ..LienQuery::default()
            };
            list(context, &query)
        }
        LienCommand::Show { id, then } => {
            let query = context.past(&then)?;
            let sheet = |rows: &[Lien]| sheet(rows, false, "no lien");
            context.show(&["liens", &id.to_string()], &query, sheet)
        }
        LienCommand::Extend { id, until, write } => {
            let end = context.time(Some(&until))?.unwrap_or_default();
            let body = PatchLien { end };
            let id = id.to_string();
            let answer: Written<Lien> =
                context.send(Method::PATCH, &["liens", &id], &body, &write)?;
            let message = extended(&context.form, &answer.object);
            context.written(&answer, &message)
        }
        LienCommand::Rm { id, remove } => {
            let what = format!("release lien {id}");
            let answer: Written<Lien> =
                context.remove(&["liens", &id.to_string()], &what, &remove)?;
            let message = released(&context.form, &answer.object);
            context.written(&answer, &message)
        }
    }
}

fn list(context: &Context, query: &LienQuery) -> Result<String, Failure> {
    let open = query.state.as_deref().is_none_or(|state| state == "open");
    let empty = match (open, &query.at) {
        (true, None) => "no open liens",
        (true, Some(_)) => "no lien held anything then",
        (false, _) => "no liens",
    };
    context.list(&["liens"], query, |rows: &[Lien]| sheet(rows, open, empty))
}

/// `lien 7 of job 1632 holds 300 SU until 2026-11-21 12:10:00, exclusive`
fn extended(form: &Form, lien: &Lien) -> String {
    let Lien {
        id,
        kind,
        job,
        unit,
        ..
    } = lien;
    let end = lien.end.as_ref().map(|end| when::moment(end, form.zone));
    let end = end.unwrap_or_default();
    let held = form.amount(&lien.amount);
    format!("lien {id} of {kind} {job} holds {held} {unit} until {end}, exclusive")
}

/// `lien 7 of job 1632 released, 300 SU are free`
fn released(form: &Form, lien: &Lien) -> String {
    let Lien {
        id,
        kind,
        job,
        unit,
        ..
    } = lien;
    let held = form.amount(&lien.amount);
    format!("lien {id} of {kind} {job} released, {held} {unit} are free")
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
        column("accounts", "Accounts", Kind::Text).secondary(),
        column("placed", "Start", Kind::Time).secondary(),
        column("end", "Expires", Kind::Time),
        column("start", "Start", Kind::Time).on_request(),
        column("state", "State", Kind::Text).on_screen_if(!open),
        column("shadow", "Shadow", Kind::Text).screen_if(some(|lien| lien.shadow)),
        column("unit", "Unit", Kind::Text).on_request(),
    ];
    let unit = liens.first().map_or("", |lien| &lien.unit);
    Sheet::new(columns, liens, empty).unit(unit)
}
