//! One row of the table of routes: what is asked, who may, what comes in and what goes out.
//!
//! The rows are all there is. The router is made of them ([`mount`]), each with the one check of its
//! right in front of its handler, and so is the document that describes the API. A handler that
//! stands in no row is not reached, and one that is mounted in another way refuses ([`Granted`]).

use std::any::type_name;
use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use bank_core::kind::Kind;
use bankd_ledger::access::right::Right;
use bankd_services::Services;
use tower::ServiceExt as _;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::answer::{lines, refused};
use super::auth::{self, Authenticated};
use super::bad_request::no_query;
use super::error::Failure;
use super::log::Denied;

/// A JSON shape, as the document needs it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The type, with its arguments.
    pub rust: fn() -> &'static str,
    /// Its name as a component.
    pub name: fn() -> Cow<'static, str>,
    /// Its own schema.
    pub schema: fn() -> RefOr<Schema>,
    /// Adds the schemas that it refers to.
    pub others: fn(&mut Vec<(String, RefOr<Schema>)>),
}

impl Shape {
    /// That of a type.
    pub(super) fn of<T: ToSchema>() -> Self {
        Self {
            rust: type_name::<T>,
            name: T::name,
            schema: T::schema,
            others: T::schemas,
        }
    }

    /// Whether it is anything but an object without members.
    fn has_members(&self) -> bool {
        !matches!((self.schema)(), RefOr::T(Schema::Object(object)) if object.properties.is_empty())
    }

    /// Whether it is one of something, such as a list: it has no name of its own.
    pub(super) fn is_generic(&self) -> bool {
        (self.rust)().contains('<')
    }
}

/// What a record of a declared kind is sent or answered as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One record.
    One,
    /// A page of records.
    List,
    /// A new record.
    New,
    /// Changes to a record.
    Patch,
    /// A record with the transaction that wrote it.
    Written,
}

/// What a body is.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// JSON of a declared kind.
    Record(&'static Kind, Form),
    /// A JSON object whose members the site declares.
    Object,
    /// JSON of a shape.
    Json(Shape),
    /// Bytes, with the media type.
    Bytes(&'static str),
}

/// One answer of a route that did what it was asked.
#[derive(Clone, Debug)]
pub struct Given {
    /// HTTP status.
    pub status: u16,
    /// What is in it.
    pub content: Content,
    /// One sentence.
    pub description: Cow<'static, str>,
}

/// How the command of a route may be in a batch (`crate::batch`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joins {
    /// Between the others: it begins when the earlier ones are done, and ends before the later ones begin.
    #[default]
    Alone,
    /// The same, or with others or not at all: it is one command of the ledger.
    Whole,
    /// The same, or beside its neighbours: it also reads nothing before it is in the queue.
    Beside,
}

/// A row before it says who may: it fits in no table.
#[derive(Debug)]
#[must_use]
pub struct Unruled {
    method: Method,
    path: Cow<'static, str>,
    handler: MethodRouter<Arc<Services>>,
}

impl Unruled {
    /// The one right that the route needs.
    pub fn right(self, right: Right) -> Route {
        Route {
            writes: auth::is_mutating(&self.method, &self.path),
            method: self.method,
            path: self.path,
            right,
            description: Cow::Borrowed(""),
            more: "",
            numbers: &[],
            query: None,
            body: None,
            given: Vec::new(),
            refuses: Vec::new(),
            joins: Joins::default(),
            handler: self.handler,
        }
    }
}

/// One route.
#[derive(Debug)]
#[must_use]
pub struct Route {
    /// The method; a `GET` answers `HEAD` too.
    pub method: Method,
    /// The path, with `{names}` of its parameters.
    pub path: Cow<'static, str>,
    /// What a caller needs.
    pub right: Right,
    /// One line: what it does.
    pub description: Cow<'static, str>,
    /// What more there is to know; may be empty.
    pub more: &'static str,
    /// Whether it needs an idempotency key, and takes `dry_run`.
    pub writes: bool,
    /// Those parameters of the path that are whole numbers.
    pub numbers: &'static [&'static str],
    /// An object whose members are the parameters of the query.
    pub query: Option<Shape>,
    /// What it takes.
    pub body: Option<Content>,
    /// What it answers where nothing is refused; nothing for a route that always refuses.
    pub given: Vec<Given>,
    /// Codes of refusals beyond those that every such route may give.
    pub refuses: Vec<&'static str>,
    /// How it may be in a batch.
    pub joins: Joins,
    handler: MethodRouter<Arc<Services>>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $method:ident;)*) => {
        impl Route {
            $(
                $(#[$doc])*
                pub fn $name<H, T>(path: impl Into<Cow<'static, str>>, handler: H) -> Unruled
                where
                    H: Handler<T, Arc<Services>>,
                    T: 'static,
                {
                    Unruled {
                        method: Method::$method,
                        path: path.into(),
                        handler: on(MethodFilter::$method, handler),
                    }
                }
            )*
        }
    };
}

methods! {
    /// A question.
    get = GET;
    /// A new thing, or something done.
    post = POST;
    /// A change.
    patch = PATCH;
    /// A removal.
    delete = DELETE;
}

impl Route {
    /// What it does, in one line without a full stop.
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.description = description.into();
        self
    }

    /// How it may be in a batch.
    pub fn joins(mut self, joins: Joins) -> Self {
        self.joins = joins;
        self
    }

    /// What more there is to know: whole sentences.
    pub fn more(mut self, more: &'static str) -> Self {
        self.more = more;
        self
    }

    /// Those parameters of the path that are whole numbers.
    pub fn numbers(mut self, names: &'static [&'static str]) -> Self {
        self.numbers = names;
        self
    }

    /// The parameters of the query: the members of an object.
    pub fn query<T: ToSchema>(mut self) -> Self {
        self.query = Some(Shape::of::<T>());
        self
    }

    /// The JSON body that it takes.
    pub fn body<T: ToSchema>(mut self) -> Self {
        self.body = Some(Content::Json(Shape::of::<T>()));
        self
    }

    /// A body of a declared kind.
    pub fn takes_record(mut self, kind: &'static Kind, form: Form) -> Self {
        self.body = Some(Content::Record(kind, form));
        self
    }

    /// A body whose members the site declares.
    pub fn takes_object(mut self) -> Self {
        self.body = Some(Content::Object);
        self
    }

    /// An answer of a declared kind.
    pub fn gives_record(
        self,
        status: u16,
        kind: &'static Kind,
        form: Form,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.answers(status, Content::Record(kind, form), description.into())
    }

    /// An answer whose members the site declares.
    pub fn gives_object(self, status: u16, description: &'static str) -> Self {
        self.answers(status, Content::Object, description.into())
    }

    /// A body of another kind.
    pub fn bytes(mut self, media: &'static str) -> Self {
        self.body = Some(Content::Bytes(media));
        self
    }

    /// An answer as JSON.
    pub fn gives<T: ToSchema>(self, status: u16, description: &'static str) -> Self {
        let content = Content::Json(Shape::of::<T>());
        self.answers(status, content, description.into())
    }

    /// An answer of another kind.
    pub fn gives_bytes(self, status: u16, media: &'static str, description: &'static str) -> Self {
        self.answers(status, Content::Bytes(media), description.into())
    }

    fn answers(mut self, status: u16, content: Content, description: Cow<'static, str>) -> Self {
        self.given.push(Given {
            status,
            content,
            description,
        });
        self
    }

    /// Groups of codes of refusals, rows of [`bank_api::error::TABLE`], beyond those that every such route
    /// may give.
    pub fn refuses(mut self, groups: &[&'static [&'static str]]) -> Self {
        self.refuses.extend(groups.iter().copied().flatten());
        self
    }
}

/// The router of the rows: nobody reaches a handler without the right of its row.
pub fn mount(rows: Vec<Route>, services: &Arc<Services>) -> Router<Arc<Services>> {
    rows.into_iter().fold(Router::new(), |router, row| {
        let guard = Guard {
            services: Arc::clone(services),
            right: row.right,
            has_query: row.query.as_ref().map_or(row.writes, Shape::has_members),
        };
        let handler = row.handler.layer(from_fn_with_state(guard, guarded));
        router.route(&row.path, handler)
    })
}

/// The router of rows that need no caller. A row with a right of its own is left out: it is closed
/// rather than open by mistake.
pub fn open(rows: Vec<Route>) -> Router<Arc<Services>> {
    let rows = rows.into_iter();
    let rows = rows.filter(|row| row.right == Right::Anybody);
    rows.fold(Router::new(), |router, row| {
        router.route(&row.path, row.handler)
    })
}

/// The answer of a router to one request.
pub async fn once(router: Router, request: Request) -> Response {
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// That the right of the route was asked for, in the extensions of a request.
#[derive(Clone, Copy, Debug)]
pub struct Granted(());

#[derive(Clone)]
struct Guard {
    services: Arc<Services>,
    right: Right,
    /// The handler reads and checks the parameters of the query; else there are none.
    has_query: bool,
}

/// The one check of rights, and of queries of routes without parameters.
async fn guarded(
    State(guard): State<Guard>,
    caller: Authenticated,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = guard.right.demand(caller.roles) {
        let bank = &guard.services.writer.directory().bank;
        if request.uri().path().starts_with("/nami/") {
            let mut response = lines(&[refused(&refusal, bank)]);
            let why = super::error::detail(&refusal, bank);
            Denied::of(refusal.code(), why).put(response.extensions_mut());
            return response;
        }
        return Failure::refused(&refusal, bank).into_response();
    }
    if !guard.has_query
        && let Err(failure) = no_query(request.uri())
    {
        return failure.into_response();
    }
    request.extensions_mut().insert(Granted(()));
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn nothing() {}

    #[test]
    fn a_row_with_a_right_is_never_open() {
        let row = |right| open(vec![Route::get("/x", nothing).right(right)]);
        assert!(row(Right::Anybody).has_routes());
        for (right, word) in bankd_ledger::access::right::RIGHTS {
            let is_open = row(*right).has_routes();
            assert_eq!(is_open, *right == Right::Anybody, "{word}");
        }
    }
}
