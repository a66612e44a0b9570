//! The JSON API, `/api/v1`: one file for each noun, the table of routes here.
//!
//! A handler reads its request through `call::Call`, sees the bank through `view::View` (what
//! is hidden from the caller does not exist for them), and either asks a question of the read
//! pool or submits one command to the writer. None may change the ledger in another way, and none
//! may decide a rule.

mod account;
mod after;
mod allocation;
mod arithmetic;
mod attribute;
mod balance;
mod call;
mod charge;
mod clock;
mod cycle;
mod enforced;
mod explain;
mod formula;
mod given;
mod import;
mod job;
mod journal;
mod key;
mod lien;
mod lists;
mod machine;
mod mapping;
mod money;
mod monitor;
mod object;
mod project;
mod quarantine;
mod quote;
mod rate;
mod rate_test;
mod reconcile;
mod records;
mod report;
mod reserve;
mod shape;
mod source;
mod status;
mod unmapped;
mod usage;
mod user;
mod user_directory;
mod view;
mod whatif;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{delete, get, post};

use crate::app::App;
use crate::http::auth::Authenticated;
use crate::http::error::with_request_id;

/// Every route of the API. Who may use one is decided in its handler.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .merge(registry())
        .merge(ledger())
        .merge(settings())
        .route_layer(middleware::from_fn(name_request))
}

/// Who there is: projects, users, machines, accounts.
fn registry() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/status", get(status::show))
        .route("/api/v1/projects", get(project::list).post(project::add))
        .route(
            "/api/v1/projects/{name}",
            get(project::show)
                .patch(project::set)
                .delete(project::remove),
        )
        .route(
            "/api/v1/projects/{name}/members",
            get(project::members).post(project::set_member),
        )
        .route(
            "/api/v1/projects/{name}/members/{user}",
            delete(project::remove_member),
        )
        .route("/api/v1/users", get(user::list).post(user::add))
        .route(
            "/api/v1/users/{name}",
            get(user::show).patch(user::set).delete(user::remove),
        )
        .route("/api/v1/user-directory", post(user_directory::merge))
        .route("/api/v1/machines", get(machine::list).post(machine::add))
        .route(
            "/api/v1/machines/{name}",
            get(machine::show)
                .patch(machine::set)
                .delete(machine::remove),
        )
        .route("/api/v1/accounts", get(account::list).post(account::add))
        .route(
            "/api/v1/accounts/{name}",
            get(account::show)
                .patch(account::set)
                .delete(account::remove),
        )
        .route("/api/v1/accounts/{name}/undelete", post(after::undelete))
}

/// Money and work.
fn ledger() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/allocations", get(allocation::list))
        .route(
            "/api/v1/allocations/{id}",
            get(allocation::show)
                .patch(allocation::set)
                .delete(allocation::remove),
        )
        .route("/api/v1/deposits", post(money::deposit))
        .route("/api/v1/withdrawals", post(money::withdraw))
        .route("/api/v1/transfers", post(after::transfer))
        .route("/api/v1/refunds", post(after::refund))
        .route("/api/v1/adjustments", post(after::adjust))
        .route("/api/v1/reversals", post(after::reverse))
        .route("/api/v1/settlements", post(after::settle))
        .route("/api/v1/balances", get(balance::list))
        .route("/api/v1/quotes", get(given::list).post(quote::quote))
        .route(
            "/api/v1/quotes/{id}",
            get(given::show).delete(given::remove),
        )
        .route("/api/v1/reserves", post(reserve::reserve))
        .route("/api/v1/charges", post(charge::charge))
        .route("/api/v1/liens", get(lien::list))
        .route(
            "/api/v1/liens/{id}",
            get(lien::show).patch(lien::extend).delete(lien::release),
        )
        .route("/api/v1/jobs", get(job::list))
        .route("/api/v1/jobs/{id}", get(job::show))
        .route("/api/v1/journal", get(journal::list))
        .route("/api/v1/monitor", get(monitor::list))
        .route("/api/v1/usage", post(usage::take))
        .route("/api/v1/reconcile", get(reconcile::show))
        .route("/api/v1/sources", get(source::list))
        .route(
            "/api/v1/sources/{name}",
            get(source::show).patch(source::set).delete(source::remove),
        )
        .route("/api/v1/imports", get(import::list).post(import::open))
        .route("/api/v1/imports/{id}", delete(import::give_up))
        .route("/api/v1/imports/{id}/data", post(import::take))
        .route("/api/v1/imports/{id}/end", post(import::end))
        .route(
            "/api/v1/quarantine",
            get(quarantine::list).delete(quarantine::clear),
        )
        .route(
            "/api/v1/quarantine/{id}",
            get(quarantine::show).delete(quarantine::remove),
        )
        .route("/api/v1/quarantine/{id}/replay", post(quarantine::replay))
        .route("/api/v1/unmapped", get(unmapped::list))
        .route("/api/v1/unmapped/assign", post(unmapped::assign))
        .route("/api/v1/report/fallback", get(report::on_fallback))
        .route("/api/v1/records", get(records::list))
}

/// What money and work go by: rates, attributes, keys, cycles, the clock.
fn settings() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/rates", get(rate::list).post(rate::set))
        .route("/api/v1/rates/{id}", delete(rate::remove))
        .route("/api/v1/rates/test", post(rate_test::test))
        .route(
            "/api/v1/attributes",
            get(attribute::list).post(attribute::add),
        )
        .route("/api/v1/attributes/{name}", delete(attribute::remove))
        .route("/api/v1/mappings", get(mapping::list).post(mapping::add))
        .route("/api/v1/mappings/test", post(mapping::test))
        .route(
            "/api/v1/mappings/{id}",
            get(mapping::show)
                .patch(mapping::set)
                .delete(mapping::remove),
        )
        .route("/api/v1/keys", get(key::list).post(key::add))
        .route(
            "/api/v1/keys/{id}",
            get(key::show).patch(key::set).delete(key::remove),
        )
        .route("/api/v1/cycles", get(cycle::list).post(cycle::add))
        .route(
            "/api/v1/cycles/{name}",
            get(cycle::show).patch(cycle::set).delete(cycle::remove),
        )
        .route("/api/v1/cycles/{name}/run", post(cycle::run))
        .route("/api/v1/what-if", get(whatif::show))
        .route("/api/v1/what-if/enforced", get(enforced::show))
        .route("/api/v1/clock", post(clock::confirm))
}

/// Puts the request's id into the problem documents of all handlers.
async fn name_request(caller: Authenticated, request: Request, next: Next) -> Response {
    with_request_id(next.run(request).await, &caller.request_id)
}

#[cfg(test)]
mod tests;
