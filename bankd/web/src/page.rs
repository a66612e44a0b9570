//! One row of the table of pages: its address, the right that it needs, and its place in the navigation.
//!
//! A new page is a file in `pages` with `rows()`, and a line in `rows` of `pages.rs`. The router and the navigation are
//! made of the rows; tests walk over them with every role.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use bank_core::refusal::Refusal;
use bankd_ledger::access::right::Right;

use super::Web;
use super::failed::Failed;
use super::parts::form::Field;
use super::parts::turn;
use super::visit::Visit;

/// A page before it has its right: it fits in no table.
#[must_use]
pub(crate) struct Unruled(Method, &'static str, MethodRouter<Arc<Web>>);

impl Unruled {
    /// The one right that the page needs. Views and rules still decide about each object.
    pub(crate) fn right(self, right: Right) -> Page {
        let Self(method, path, handler) = self;
        Page {
            method,
            path,
            right,
            nav: None,
            below: &[],
            takes: Vec::new(),
            form: None,
            picture: None,
            handler,
        }
    }
}

/// What every page takes, beside the parameters of its row.
const ALWAYS: &str = "zone";
/// What a picture for another site takes too: its form, and what its signature adds.
const SIGNED: [&str; 4] = ["as", "person", "expires", "signature"];

/// One page, or the target of a form.
#[must_use]
pub struct Page {
    /// The method.
    pub method: Method,
    /// The path, with `{names}` of its parameters.
    pub path: &'static str,
    /// What a person needs.
    pub right: Right,
    /// Its word in the navigation, if it is there.
    pub nav: Option<&'static str>,
    /// The pages of the navigation that lead to it: the first one that a person sees is marked.
    pub below: &'static [&'static str],
    /// The parameters of its address, beside the zone.
    pub takes: Vec<&'static str>,
    /// The form that is sent to it: what it does, and its fields.
    form: Option<(&'static str, Vec<Field<'static>>)>,
    /// What other sites may show of it.
    picture: Option<MethodRouter<Arc<Web>>>,
    handler: MethodRouter<Arc<Web>>,
}

impl Page {
    /// A page.
    pub(crate) fn get<H, T>(path: &'static str, handler: H) -> Unruled
    where
        H: Handler<T, Arc<Web>>,
        T: 'static,
    {
        Unruled(Method::GET, path, on(MethodFilter::GET, handler))
    }

    /// The target of a form. The layer around the pages has checked its token.
    pub(crate) fn post<H, T>(path: &'static str, handler: H) -> Unruled
    where
        H: Handler<T, Arc<Web>>,
        T: 'static,
    {
        Unruled(Method::POST, path, on(MethodFilter::POST, handler))
    }

    /// Other sites may show its picture, which this handler makes.
    pub(crate) fn picture<H, T>(mut self, handler: H) -> Self
    where
        H: Handler<T, Arc<Web>>,
        T: 'static,
    {
        self.picture = Some(on(MethodFilter::GET, handler));
        self
    }

    /// Whether other sites may show its picture.
    pub fn has_picture(&self) -> bool {
        self.picture.is_some()
    }

    /// Takes these parameters in its address. Every other one is refused.
    pub(crate) fn takes(mut self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.takes.extend(names);
        self
    }

    /// The parameters of a question over a period.
    pub(crate) fn takes_period(self) -> Self {
        self.takes(["from", "to"])
    }

    /// The fields of a form, which a link can fill in.
    pub(crate) fn takes_fields(self, fields: &[Field<'static>]) -> Self {
        self.takes(fields.iter().map(|field| field.name))
    }

    /// The form that is sent to it: what it does in words, and its fields. A form that arrives too late is shown so.
    pub(crate) fn of_form(mut self, title: &'static str, fields: &[Field<'static>]) -> Self {
        self.form = Some((title, fields.to_vec()));
        self
    }

    /// What the form does that is sent to it, and its fields.
    pub(crate) fn form(self) -> Option<(&'static str, Vec<Field<'static>>)> {
        self.form
    }

    /// Where it is, if it is not in the navigation itself and not below the path of a page that is.
    pub(crate) fn below(mut self, pages: &'static [&'static str]) -> Self {
        self.below = pages;
        self
    }

    /// Shows it in the navigation of people with its right.
    pub(crate) fn nav(mut self, word: &'static str) -> Self {
        self.nav = Some(word);
        self
    }
}

/// The router of the rows: nobody reaches a handler without the right of its row, or with a parameter that the row
/// does not take.
pub(super) fn mount(rows: Vec<Page>) -> Router<Arc<Web>> {
    rows.into_iter().fold(Router::new(), |router, row| {
        let handler = match row.method {
            Method::GET => asked(row.takes, row.handler),
            // A form is sent to an address of ours.
            _ => row.handler,
        };
        router.route(row.path, behind(row.right, handler))
    })
}

/// The router of the pictures of rows, with the same rights and parameters, below a path.
pub(super) fn mount_pictures(rows: Vec<Page>, root: &str) -> Router<Arc<Web>> {
    rows.into_iter().fold(Router::new(), |router, mut row| {
        let Some(picture) = row.picture else {
            return router;
        };
        row.takes.extend(SIGNED);
        let handler = behind(row.right, asked(row.takes, picture));
        router.route(&format!("{root}{}", row.path), handler)
    })
}

fn asked(takes: Vec<&'static str>, handler: MethodRouter<Arc<Web>>) -> MethodRouter<Arc<Web>> {
    let takes: Arc<[&'static str]> = takes.into();
    handler.layer(from_fn(
        move |visit: Visit, request: Request, next: Next| {
            let takes = Arc::clone(&takes);
            async move {
                match known(&visit, &takes) {
                    Ok(()) => next.run(request).await,
                    Err(failed) => failed.into_response(),
                }
            }
        },
    ))
}

/// The one check of the parameters of an address: a page that ignored one would show something else than was asked.
fn known(visit: &Visit, takes: &[&'static str]) -> Result<(), Failed> {
    let is_known = |name: &str| name == ALWAYS || takes.contains(&name);
    let unknown = visit.query.iter().find(|(name, _)| !is_known(name));
    let Some((name, _)) = unknown else {
        return Ok(());
    };
    // Cursors come from links, and nobody types them.
    let typed = takes.iter().copied();
    let typed = typed.filter(|name| !turn::is_cursor(name) && !SIGNED.contains(name));
    let typed: Vec<&str> = typed
        .filter(|name| *name != "done")
        .chain([ALWAYS])
        .collect();
    let detail = format!(
        "{name:?} is not a parameter of this page; it takes {}",
        typed.join(", ")
    );
    Err(Failed::new("bad_request", detail).field(name))
}

fn behind(right: Right, handler: MethodRouter<Arc<Web>>) -> MethodRouter<Arc<Web>> {
    let guarded = move |visit: Visit, request: Request, next: Next| async move {
        guarded(right, &visit, request, next).await
    };
    handler.layer(from_fn(guarded))
}

/// The one check of rights of pages, in the words of the API.
async fn guarded(right: Right, visit: &Visit, request: Request, next: Next) -> Response {
    match right.demand(visit.roles) {
        Ok(()) => match visit.checked_zone() {
            Ok(()) => next.run(request).await,
            Err(failed) => failed.into_response(),
        },
        Err(Refusal::NotAllowed { what }) => Failed::new("not_allowed", what).into_response(),
        Err(_) => Failed::internal().into_response(),
    }
}

/// An address without a page.
pub(super) async fn unknown(State(_): State<Arc<Web>>) -> Failed {
    Failed::new("not_found", "there is no such page")
}
