//! Forms of commands: each is a declaration of its fields and the route of its command.
//!
//! The form has the idempotency key. The preview sends the entries as a dry run and shows what would change; it
//! carries the key and the entries. The confirmation sends them to the API. So a form that is sent twice is
//! done once. A command that needs the approval of a second person is proposed by the confirmation.

use axum::response::{IntoResponse as _, Redirect, Response};
use bank_api::v1::{AccountAfter, Balance, List, Proposal};
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::failed::Failed;
use crate::parts::amount::amount;
use crate::parts::debt::unpaid;
use crate::parts::form::{self, Field, Kind, key, keyed, token};
use crate::parts::hint;
use crate::parts::message::said;
use crate::parts::table::Table;
use crate::target::Target;
use crate::visit::{Shown, Visit};

/// The id of what a form is about.
const ABOUT: &str = "about";

/// The form of a command.
pub(crate) struct Order<'a> {
    pub(crate) title: &'a str,
    /// The command in a sentence: "the transfer".
    pub(crate) what: &'a str,
    /// What a person should know before; may be empty.
    pub(crate) lead: &'a str,
    pub(crate) fields: &'a [Field<'a>],
    /// What the command is about, which nobody enters here; may be empty.
    pub(crate) about: Markup,
    /// Members of the request that nobody enters.
    pub(crate) fixed: Map<String, Value>,
    /// The page itself, where the form is sent.
    pub(crate) action: Target,
    /// The route of the command, which takes `dry_run`.
    pub(crate) route: Target,
    /// Pages above it.
    pub(crate) trail: &'a [(&'a str, Target)],
    /// Whether a second person may have to approve it.
    pub(crate) is_proposed: bool,
    /// More of the answer of the dry run.
    pub(crate) more: fn(&Visit, &Value) -> Markup,
    /// The page to show when it is done.
    pub(crate) after: fn(&Value) -> Target,
}

impl Order<'_> {
    /// The page with the form.
    pub(crate) fn show(&self, visit: &Visit) -> Response {
        visit.page(self.title, self.trail, &self.form(visit, None))
    }

    /// A step of the form that was sent.
    pub(crate) async fn take(&self, visit: &Visit) -> Shown {
        let done = match visit.field("step") {
            Some("confirm") => self.confirm(visit).await,
            Some("change") => Ok(self.show(visit)),
            _ => self.preview(visit).await,
        };
        done.or_else(|failed| {
            let content = self.form(visit, Some(&failed));
            let mut page = visit.page(self.title, self.trail, &content);
            *page.status_mut() = failed.status();
            Ok(page)
        })
    }

    /// The form, with what was typed and what was wrong with it.
    pub(crate) fn form(&self, visit: &Visit, failed: Option<&Failed>) -> Markup {
        // A refused request used up its key.
        let key = match failed {
            None => key(visit),
            Some(_) => new_key(),
        };
        html! {
            @if let Some(failed) = failed { (self.refusal(visit, failed)) }
            @if !self.lead.is_empty() { p .lead { (self.lead) } }
            div #(ABOUT) { (self.about) }
            form .entry method="post" action=(self.action) {
                (token(visit)) (keyed(&key))
                (form::fields(visit, self.fields, failed))
                button type="submit" { "Preview" }
            }
        }
    }

    /// The message of a refusal. That of a form about something that nobody enters leads there.
    fn refusal(&self, visit: &Visit, failed: &Failed) -> Markup {
        if self.fixed.is_empty() {
            return form::refusal(visit, self.fields, failed);
        }
        form::refusal_of(visit, (ABOUT, self.title), self.fields, failed)
    }

    /// The entries as the body of the request.
    fn entered(&self, visit: &Visit) -> Result<Map<String, Value>, Failed> {
        let mut body = self.fixed.clone();
        for field in self.fields {
            let text = visit.field(field.name).map(str::trim).unwrap_or_default();
            if text.is_empty() {
                if field.is_required {
                    return Err(Failed::new("missing_field", "required").field(field.name));
                }
                continue;
            }
            let value = match field.kind {
                Kind::Whole => Value::from(text.parse::<i64>().map_err(|_| {
                    let detail = format!("{text:?} is not a whole number");
                    Failed::new("bad_value", detail).field(field.name)
                })?),
                Kind::Time => Value::from(visit.time_of(field.name, text)?),
                Kind::End => Value::from(visit.end_of(field.name, text)?),
                Kind::Words | Kind::Figure | Kind::Amount | Kind::SignOrWord | Kind::Choice(_) => {
                    Value::from(text)
                }
            };
            body.insert(field.name.to_owned(), value);
        }
        Ok(body)
    }

    /// Decides the command without doing it.
    async fn preview(&self, visit: &Visit) -> Shown {
        let body = self.entered(visit)?;
        let tried = self.route.clone().with("dry_run", "true");
        let key = key(visit);
        let sent = visit.send("POST", tried.clone(), &key, &body).await;
        let content = match sent {
            Ok((_, answer)) => {
                let shown = self.effect(visit, &answer).await?;
                html! { (shown) (self.confirmation(visit, &key, &body, false)) }
            }
            Err(failed) if self.is_proposed && failed.problem().code == "approval_needed" => {
                let key = new_key();
                let tried = tried.with("propose", "true");
                let _: (u16, Value) = visit.send("POST", tried, &key, &body).await?;
                html! {
                    div .message role="status" {
                        p { (hint::words(&said(&failed.problem().message()))) }
                        p { "Confirm to propose it. It waits until another person approves it." }
                    }
                    (self.facts(visit, &body))
                    (self.confirmation(visit, &key, &body, true))
                }
            }
            Err(failed) => return Err(failed),
        };
        let title = format!("{}: preview", self.title);
        Ok(visit.page(&title, self.trail, &content))
    }

    /// What would change: the entries, and the balances before and after.
    async fn effect(&self, visit: &Visit, answer: &Value) -> Result<Markup, Failed> {
        let warnings = answer.get("warnings").and_then(Value::as_array);
        let mut tables = Vec::new();
        for after in accounts(answer) {
            tables.push(balance(visit, &after).await?);
        }
        let debts = unpaid(visit, answer).await?;
        Ok(html! {
            (self.facts(visit, &self.entered(visit)?))
            @for warning in warnings.into_iter().flatten().filter_map(Value::as_str) {
                div .message { p { (hint::words(&said(warning))) } }
            }
            ((self.more)(visit, answer))
            (debts)
            @for table in &tables { (table) }
        })
    }

    /// What it is about, the entries, and what counts where nobody entered anything.
    fn facts(&self, visit: &Visit, body: &Map<String, Value>) -> Markup {
        let is_entered = |name: &str| self.fields.iter().any(|field| field.name == name);
        let entries = body.iter().filter(|(name, _)| is_entered(name));
        let entries = entries.map(|(name, value)| (name.clone(), value.clone()));
        let unit = visit.unit();
        let absent = self
            .fields
            .iter()
            .filter(|field| !body.contains_key(field.name));
        let absent = absent.filter_map(|field| Some((field.label(&unit), field.if_empty()?)));
        html! {
            (self.about)
            dl .facts {
                (form::facts(visit, self.fields, &entries.collect()))
                @for (label, text) in absent { dt { (label) } dd { (text) } }
            }
        }
    }

    /// The second step, with the entries. Times are instants: the request is the same whenever it is sent.
    fn confirmation(
        &self,
        visit: &Visit,
        key: &str,
        body: &Map<String, Value>,
        propose: bool,
    ) -> Markup {
        html! {
            form .entry method="post" action=(self.action) {
                (token(visit)) (keyed(key))
                @for (name, value) in body { input type="hidden" name=(name) value=(form::written(value)); }
                @if propose { input type="hidden" name="propose" value="true"; }
                p .actions {
                    button type="submit" name="step" value="confirm" {
                        @if propose { "Propose " (self.what) } @else { "Confirm " (self.what) }
                    } " "
                    button .plain type="submit" name="step" value="change" { "Change" }
                }
            }
        }
    }

    /// Does it, once for each key.
    async fn confirm(&self, visit: &Visit) -> Shown {
        let body = self.entered(visit)?;
        let propose = visit.field("propose").filter(|_| self.is_proposed);
        let route = self.route.clone().maybe("propose", propose);
        let (status, answer): (u16, Value) = visit.send("POST", route, &key(visit), &body).await?;
        let target = if status == 202 {
            proposed(answer)?
        } else {
            (self.after)(&answer)
        };
        Ok(Redirect::to(target.as_str()).into_response())
    }
}

/// The page of a proposal that was just made.
pub(crate) fn proposed(answer: Value) -> Result<Target, Failed> {
    let proposal: Proposal = serde_json::from_value(answer).map_err(|_| Failed::internal())?;
    let number = proposal.id.to_string();
    Ok(match proposal.asked {
        Some(_) => Target::page(&["requests", &number]).with("done", "asked"),
        None => Target::page(&["proposals", &number]).with("done", "proposed"),
    })
}

/// The page of the transaction in an answer.
pub(crate) fn transaction(answer: &Value, done: &str) -> Target {
    let number = answer.get("transaction").and_then(Value::as_i64);
    let number = number.unwrap_or_default().to_string();
    Target::page(&["transactions", &number]).with("done", done)
}

/// Nothing more in a preview.
pub(crate) fn nothing(_: &Visit, _: &Value) -> Markup {
    html! {}
}

fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The accounts that a command changes, as they are afterwards.
fn accounts(answer: &Value) -> Vec<AccountAfter> {
    if let Some(accounts) = answer.get("accounts") {
        return serde_json::from_value(accounts.clone()).unwrap_or_default();
    }
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let one = text("account").zip(text("amount_after").zip(text("available_after")));
    one.into_iter()
        .map(|(account, (amount, available))| AccountAfter {
            account,
            amount,
            available,
        })
        .collect()
}

/// The balance of an account before and after.
async fn balance(visit: &Visit, after: &AccountAfter) -> Result<Markup, Failed> {
    let target = Target::api(&["balances"]).with("account", &after.account);
    let list: List<Balance> = visit.get(target).await?;
    let before = list.items.first();
    let unit = before.map_or("", |row| row.unit.as_str());
    let rows = [
        ("Settled", before.map(|row| &row.amount), &after.amount),
        ("Free", before.map(|row| &row.available), &after.available),
    ];
    let was = |before: Option<&String>| before.map_or_else(|| html! { "–" }, |text| amount(text));
    Ok(Table::of(&format!("Balance of {}", after.account), rows)
        .words("", |(word, ..)| html! { (word) })
        .amounts("Before", unit, |(_, before, _)| was(before))
        .amounts("After", unit, |(.., after)| amount(after))
        .show())
}
