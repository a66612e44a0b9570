//! Who may do what: tokens, roles of people, limits, proposals.

use bank_api::v1::{
    DepositRequest, ExtensionRequest, Limit, List, MemberRequest, NewDecision, NewKeyAnswer,
    NewLimit, NewRoleGrant, NewToken, NewTokenAnswer, NewWebLink, NewWebLogin, PageQuery,
    ProjectRequest, Proposal, ProposalQuery, ProposeQuery, Removed, RequestQuery, RevokeQuery,
    RoleGrant, RoleQuery, RotateKey, Setting, Token, TokenQuery, WebLink, WebLogin, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{key, limit, proposal, request, role, setting, token, web_link, web_login};
use super::{AMOUNTS, APPROVAL, HELD, NAMED, NEW, SPEND, VALUES, WINDOW};
use crate::route::Route;

pub(super) fn rows() -> Vec<Route> {
    [tokens(), roles(), proposals(), requests()]
        .into_iter()
        .flatten()
        .collect()
}

fn tokens() -> Vec<Route> {
    vec![
        Route::post("/api/v1/keys/{id}/rotate", key::rotate)
            .right(Right::ChangeKeys)
            .description("Make a second key for the client of one, which ends by itself")
            .more("The answer holds the secret, once.")
            .body::<RotateKey>()
            .gives::<NewKeyAnswer>(201, "The new key.")
            .refuses(&[VALUES, NEW, &["bad_duration", "bad_window"]]),
        Route::get("/api/v1/tokens", token::list)
            .right(Right::SeeKeys)
            .description("API tokens, without their text")
            .asks::<TokenQuery>()
            .gives::<List<Token>>(200, "The tokens."),
        Route::post("/api/v1/tokens", token::add)
            .right(Right::ChangeKeys)
            .description("Make an API token")
            .more("The answer holds the token, once.")
            .body::<NewToken>()
            .gives::<NewTokenAnswer>(201, "The token.")
            .refuses(&[VALUES, NAMED, NEW, &["bad_window", "window_in_past"]]),
        Route::get("/api/v1/tokens/{id}", token::show)
            .right(Right::SeeKeys)
            .description("One API token")
            .gives::<Token>(200, "The token."),
        Route::delete("/api/v1/tokens/{id}", token::remove)
            .right(Right::ChangeKeys)
            .description("Remove an API token; it is refused from then on")
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[VALUES]),
        Route::post("/api/v1/web/logins", web_login::add)
            .right(Right::SeeStatus)
            .description("Make a link with which the caller signs in to the web pages once")
            .more("For callers on the Unix socket. The link can be used once, for two minutes.")
            .body::<NewWebLogin>()
            .gives::<WebLogin>(200, "The link.")
            .refuses(&[&["not_found"]]),
        Route::post("/api/v1/web/links", web_link::add)
            .right(Right::SeeStatus)
            .description("Make a signed address of the caller's feed of notices, or of a picture for another web site")
            .more(
                "For callers on the Unix socket. The address needs no session, and shows what the caller may see when it is \
                 opened.",
            )
            .body::<NewWebLink>()
            .gives::<WebLink>(200, "The address.")
            .refuses(&[&["bad_value", "not_found"]]),
    ]
}

fn roles() -> Vec<Route> {
    vec![
        Route::get("/api/v1/roles", role::list)
            .right(Right::SeeAccess)
            .description("Roles of people: those that were given, and what they are in projects")
            .asks::<RoleQuery>()
            .gives::<List<RoleGrant>>(200, "The roles."),
        Route::post("/api/v1/roles", role::grant)
            .right(Right::ChangeAccess)
            .description("Give a person a role")
            .body::<NewRoleGrant>()
            .gives::<Written<RoleGrant>>(201, "The role.")
            .refuses(&[VALUES, NAMED, NEW, &["window_in_past"]]),
        Route::delete("/api/v1/roles/{name}/{role}", role::revoke)
            .right(Right::ChangeAccess)
            .description("Take a role back; it counts no more from then on")
            .query::<RevokeQuery>()
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[VALUES]),
        Route::get("/api/v1/limits", limit::list)
            .right(Right::SeeAccess)
            .description("Limits on amounts that a caller may move")
            .asks::<PageQuery>()
            .gives::<List<Limit>>(200, "The limits."),
        Route::get("/api/v1/settings", setting::list)
            .right(Right::SeeKeys)
            .description("The settings in force, with their sources")
            .more("Secrets are files; the list has their names. The paths of webhooks and arguments of commands are left out.")
            .asks::<PageQuery>()
            .gives::<List<Setting>>(200, "The settings."),
        Route::post("/api/v1/limits", limit::set)
            .right(Right::ChangeAccess)
            .description("Set a limit on amounts that a caller may move")
            .body::<NewLimit>()
            .gives::<Written<Limit>>(201, "The limit.")
            .refuses(&[VALUES, AMOUNTS]),
        Route::delete("/api/v1/limits/{of}/{name}", limit::remove)
            .right(Right::ChangeAccess)
            .description("Remove the limit of a `role`, or of a `name`")
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[VALUES]),
    ]
}

fn proposals() -> Vec<Route> {
    vec![
        Route::get("/api/v1/proposals", proposal::list)
            .right(Right::SeeProposals)
            .description("What was proposed, the newest first")
            .asks::<ProposalQuery>()
            .gives::<List<Proposal>>(200, "The proposals in view."),
        Route::get("/api/v1/proposals/{id}", proposal::show)
            .right(Right::SeeProposals)
            .description("One proposal")
            .gives::<Proposal>(200, "The proposal."),
        Route::post("/api/v1/proposals/{id}/approve", proposal::approve)
            .right(Right::DecideProposals)
            .description("Approve and run a proposal")
            .more("It is decided with the state of now, by the right of who approves it. With `propose`, a request \
                that a second person must approve becomes a proposal of who approves it.")
            .query::<ProposeQuery>()
            .body::<NewDecision>()
            .gives::<Written<Proposal>>(200, "It is done.")
            .refuses(&[VALUES, AMOUNTS, NAMED, HELD, SPEND, NEW])
            .refuses(&[WINDOW, APPROVAL, &["cycle_not_due", "not_settable"]])
            .refuses(&[&["nothing_to_refund", "refund_exceeds_charge"]])
            .refuses(&[&["own_proposal", "proposal_over"]])
            .refuses(&[&["same_account", "uncovered"]]),
        Route::post("/api/v1/proposals/{id}/reject", proposal::reject)
            .right(Right::DecideProposals)
            .description("Reject a proposal, or a request with an answer")
            .body::<NewDecision>()
            .gives::<Written<Proposal>>(200, "It is rejected.")
            .refuses(&[VALUES, &["proposal_over"]]),
    ]
}

fn requests() -> Vec<Route> {
    let asks = |route: Route| {
        route
            .gives::<Written<Proposal>>(202, "It waits for an answer.")
            .refuses(&[VALUES, NAMED, &["too_many_requests"]])
    };
    let money = |route: Route| asks(route).refuses(&[AMOUNTS, WINDOW]);
    let deposit = Route::post("/api/v1/requests/deposits", request::deposit)
        .right(Right::Ask)
        .description("Ask for a deposit")
        .more("For a project of the caller. Who may deposit there answers it.")
        .body::<DepositRequest>();
    let extension = Route::post("/api/v1/requests/extensions", request::extension)
        .right(Right::Ask)
        .description("Ask for a later end of an allocation")
        .body::<ExtensionRequest>();
    let member = Route::post("/api/v1/requests/members", request::member)
        .right(Right::Ask)
        .description("Ask to add or remove a member")
        .more("The pi and the managers of a project ask for others, a member for themselves.")
        .body::<MemberRequest>();
    let project = Route::post("/api/v1/requests/projects", request::project)
        .right(Right::Ask)
        .description("Ask for a new project")
        .body::<ProjectRequest>();
    vec![
        Route::get("/api/v1/requests", request::list)
            .right(Right::SeeLedger)
            .description("Requests of the caller, and those that the caller may answer")
            .asks::<RequestQuery>()
            .gives::<List<Proposal>>(200, "The requests in view, the newest first."),
        Route::get("/api/v1/requests/{id}", request::show)
            .right(Right::SeeLedger)
            .description("One request")
            .gives::<Proposal>(200, "The request."),
        money(deposit),
        money(extension).refuses(&[&["uncovered"]]),
        asks(member),
        money(project).refuses(&[NEW]),
        Route::post("/api/v1/requests/{id}/withdraw", request::withdraw)
            .right(Right::Ask)
            .description("Take a request of the caller back")
            .body::<NewDecision>()
            .gives::<Written<Proposal>>(200, "It is withdrawn.")
            .refuses(&[VALUES, &["proposal_over"]]),
    ]
}
