//! Links to sign in to the web pages, for people on the socket.

use bank_api::v1::{NewWebLogin, WebLogin};
use bankd_services::sessions::LINK_S;

use super::call::{Call, Handled, ok};
use crate::error::Failure;

/// `POST /api/v1/web/logins`
pub(super) async fn add(call: Call) -> Handled {
    let NewWebLogin {} = call.json()?;
    let Some(uid) = call.auth.uid else {
        let detail = "a link to sign in is for people on the Unix socket";
        return Err(Failure::new("not_allowed", detail));
    };
    let name = &call.auth.caller.actor;
    let no_chance = |_| Failure::new("internal", "no random numbers");
    let link = call.services.sessions.link(name, Some(uid), LINK_S);
    let Some(url) = link.map_err(no_chance)? else {
        let detail = "this daemon serves no web pages";
        return Err(Failure::new("not_found", detail)
            .hint("set web.listen in bankd.toml and restart bankd"));
    };
    ok(&WebLogin {
        url,
        name: name.clone(),
        valid_s: LINK_S,
    })
}
