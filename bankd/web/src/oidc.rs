//! Signing in with an OpenID Connect provider: the code flow with PKCE, state and nonce.
//!
//! A sign-in that is under way belongs to one browser, by a cookie, and can be finished once. `provider` asks the
//! provider, outside of the event loop, with a time limit for each request.

mod claims;
mod fault;
mod pending;
mod provider;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use bankd_config::WebOidc;
use bankd_services::sessions::SignIn;
use maud::html;
use tokio::sync::Semaphore;

use super::failed::{Failed, with_code};
use super::sign_in::{attempt, begin, field};
use super::target::{Target, local};
use super::visit::Fields;
use super::{Web, cookie, layout};
use claims::Signed;
use fault::Fault;
use pending::{LASTING_S, Pending};
use provider::Provider;

/// Where the provider sends the browser back.
const BACK: &str = "/login/oidc/back";
/// Requests of people to the provider at once.
const AT_ONCE: usize = 16;

/// Sign-in with the provider of the settings.
pub(crate) struct Oidc {
    provider: Arc<Provider>,
    pending: Pending,
    slots: Arc<Semaphore>,
}

impl Oidc {
    /// None if the settings have no provider.
    pub(crate) fn new(settings: &WebOidc, origin: &str) -> Option<Self> {
        settings.is_on().then(|| Self {
            provider: Arc::new(Provider::new(settings.clone(), format!("{origin}{BACK}"))),
            pending: Pending::default(),
            slots: Arc::new(Semaphore::new(AT_ONCE)),
        })
    }

    /// The provider's host, for people.
    pub(crate) fn host(&self) -> &str {
        let issuer = &self.provider.settings().issuer;
        let rest = issuer.split_once("://").map_or("", |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default()
    }

    /// Asks the provider on a thread that may wait.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Provider) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let slot = Arc::clone(&self.slots).try_acquire_owned();
        let slot = slot.map_err(|_| Fault::Away("too many requests at once".to_owned()))?;
        let provider = Arc::clone(&self.provider);
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&provider);
            drop(slot);
            done
        });
        let failed = |_| Fault::Away("the request ended early".to_owned());
        done.await.map_err(failed)?
    }
}

pub(crate) fn routes() -> Router<Arc<Web>> {
    Router::new()
        .route("/login/oidc", get(start))
        .route(BACK, get(back))
}

/// Without a provider there is no such page.
fn of(web: &Web) -> Result<&Oidc, Failed> {
    let missing = || Failed::new("not_found", "there is no such page");
    web.oidc.as_ref().ok_or_else(missing)
}

/// `GET /login/oidc?next=`: sends the browser to the provider.
async fn start(
    State(web): State<Arc<Web>>,
    Query(query): Query<Fields>,
    request: Request,
) -> Result<Response, Failed> {
    let oidc = of(&web)?;
    let (parts, _) = request.into_parts();
    attempt(&web, &parts)?;
    let started = match oidc.ask(Provider::start).await {
        Ok(started) => started,
        Err(fault) => return Ok(shown(oidc, &fault)),
    };
    let url = started.url.clone();
    let next = local(field(&query, "next"));
    let text = oidc.pending.add(started, next)?;
    let mut response = Redirect::to(&url).into_response();
    let is_secure = web.services.web.is_secure();
    let cookie = cookie::set_named(cookie::oidc_name(is_secure), &text, is_secure, LASTING_S);
    let none = HeaderValue::from_static("");
    let fields = response.headers_mut();
    fields.insert(header::SET_COOKIE, cookie.unwrap_or(none));
    Ok(response)
}

/// `GET /login/oidc/back?code=&state=`: begins the session of the person whom the provider has identified.
async fn back(
    State(web): State<Arc<Web>>,
    Query(query): Query<Fields>,
    request: Request,
) -> Result<Response, Failed> {
    let oidc = of(&web)?;
    let (parts, _) = request.into_parts();
    let name = cookie::oidc_name(web.services.web.is_secure());
    let cookie = cookie::named(&parts.headers, name).unwrap_or_default();
    let Some(under_way) = oidc.pending.take(cookie, field(&query, "state")) else {
        return Ok(over());
    };
    let error = field(&query, "error");
    if !error.is_empty() {
        let fault = Fault::Refused(format!("the provider answered {error}"));
        return Ok(shown(oidc, &fault));
    }
    let issuer = field(&query, "iss");
    if !issuer.is_empty() && issuer != oidc.provider.settings().issuer {
        let fault = Fault::Refused("the answer is of another provider".to_owned());
        return Ok(shown(oidc, &fault));
    }
    let code = field(&query, "code").to_owned();
    let next = under_way.next.clone();
    let asked = oidc.ask(move |provider| provider.person(code, under_way.started));
    match asked.await {
        Ok(Signed { name, roles }) => {
            let who = SignIn {
                name,
                way: "oidc",
                roles,
                ..SignIn::default()
            };
            begin(&web, &parts, who, &next).await
        }
        Err(fault) => Ok(shown(oidc, &fault)),
    }
}

/// A sign-in that is unknown, of another browser, used or late.
fn over() -> Response {
    let content = html! {
        div .message.bad role="alert" {
            p { "This sign-in is over: it can be finished once, in the same browser, within 10 minutes." }
            p .hint { "Hint: " a href=(Target::page(&["login"])) { "sign in again" } "." }
        }
    };
    with_code(
        "not_allowed",
        layout::bare("Sign in", &content).into_response(),
    )
}

/// The page of a provider that is away, or of an answer that does not count. The log has the cause.
fn shown(oidc: &Oidc, fault: &Fault) -> Response {
    let host = oidc.host();
    let (code, words) = match fault {
        Fault::Away(cause) => {
            tracing::warn!(host, cause, "the identity provider is away");
            let words =
                format!("{host} does not answer as expected, so it cannot sign you in now.");
            ("busy", words)
        }
        Fault::Refused(cause) => {
            tracing::warn!(host, cause, "a sign-in was refused");
            ("not_allowed", format!("You are not signed in: {cause}."))
        }
    };
    let content = html! {
        div .message.bad role="alert" {
            p { (words) }
            p .hint { "Hint: " a href=(Target::page(&["login"])) { "try again" } ", or use " code { "bank web login" }
                " on a host where you use the bank" }
        }
    };
    with_code(code, layout::bare("Sign in", &content).into_response())
}
