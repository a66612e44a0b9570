//! The way to the statement of any project, over any period and as of any moment.

use axum::response::{IntoResponse as _, Redirect};
use bank_api::v1::{Balance, List};
use bankd_ledger::access::right::Right;
use maud::html;

use crate::page::Page;
use crate::parts::period;
use crate::target::Target;
use crate::visit::{Shown, Visit};

pub(crate) fn rows() -> Vec<Page> {
    vec![
        Page::get("/statements", show)
            .right(Right::SeeLedger)
            .below(&["/proof", "/"])
            .takes_period()
            .takes(["project", "at"]),
    ]
}

async fn show(visit: Visit) -> Shown {
    if let Some(project) = visit.parameter("project").map(str::trim) {
        let target = visit.link(&["projects", project, "statement"]);
        let target = target.maybe("from", visit.parameter("from"));
        let target = target.maybe("to", visit.parameter("to"));
        return Ok(Redirect::to(target.as_str()).into_response());
    }
    let first: List<Balance> = visit
        .get(Target::api(&["balances"]).with("limit", "1"))
        .await?;
    if first.items.is_empty() {
        let content = html! {
            div .empty {
                p { "There is no account yet, and so no statement." }
                p .small { "The page " a href=(visit.link(&[])) { "Balances" } " describes how to begin." }
            }
        };
        return Ok(visit.page("Statements", &[], &content));
    }
    let content = html! {
        p { "Deposits, charges and other changes of the accounts of a project. " strong { "State at" } " shows the statement as it was at that
            moment; " strong { "From" } " and " strong { "To" } " are its period." }
        form .period method="get" action="/statements" {
            label { span { "Project" } input name="project" required autocomplete="off" spellcheck="false"; }
            (period::inputs(&visit, &["from", "to", "at", "zone"], None))
            button type="submit" { "Show" }
        }
    };
    Ok(visit.page("Statements", &[], &content))
}
