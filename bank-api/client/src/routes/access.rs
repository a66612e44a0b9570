//! Keys, tokens, roles, limits and proposals.

use bank_api::v1::{
    Key, KeyQuery, Limit, List, NewDecision, NewKey, NewKeyAnswer, NewLimit, NewRoleGrant,
    NewToken, NewTokenAnswer, NewWebLink, NewWebLogin, PageQuery, PatchKey, Proposal,
    ProposalQuery, Removed, RevokeQuery, RoleGrant, RoleQuery, RotateKey, Token, TokenQuery,
    WebLink, WebLogin, Written,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Signing keys, without their secrets.
    read(keys() KeyQuery) "/api/v1/keys" -> List<Key>;
    /// Make a signing key.
    send(POST add_key() NewKey) "/api/v1/keys" -> NewKeyAnswer;
    /// One signing key.
    show(key(id)) "/api/v1/keys/{id}" -> Key;
    /// Change a signing key.
    send(PATCH change_key(id) PatchKey) "/api/v1/keys/{id}" -> Written<Key>;
    /// Remove a signing key and its secret.
    act(DELETE remove_key(id)) "/api/v1/keys/{id}" -> Removed;
    /// Make a second key for the client of one, which ends by itself.
    send(POST rotate_key(id) RotateKey) "/api/v1/keys/{id}/rotate" -> NewKeyAnswer;
    /// API tokens, without their text.
    read(tokens() TokenQuery) "/api/v1/tokens" -> List<Token>;
    /// Make an API token.
    send(POST add_token() NewToken) "/api/v1/tokens" -> NewTokenAnswer;
    /// One API token.
    show(token(id)) "/api/v1/tokens/{id}" -> Token;
    /// Remove an API token; it is refused from then on.
    act(DELETE remove_token(id)) "/api/v1/tokens/{id}" -> Removed;
    /// Make a link with which the caller signs in to the web pages once.
    ask(web_login() NewWebLogin) "/api/v1/web/logins" -> WebLogin;
    /// Make a signed address of the caller's feed of notices, or of a picture for another web site.
    ask(web_link() NewWebLink) "/api/v1/web/links" -> WebLink;
    /// Roles of people: those that were given, and what they are in projects.
    read(roles() RoleQuery) "/api/v1/roles" -> List<RoleGrant>;
    /// Give a person a role.
    send(POST grant_role() NewRoleGrant) "/api/v1/roles" -> Written<RoleGrant>;
    /// Take a role back; it counts no more from then on.
    act_by(DELETE revoke_role(name, role) RevokeQuery) "/api/v1/roles/{name}/{role}" -> Removed;
    /// Limits on amounts that a caller may move.
    read(limits() PageQuery) "/api/v1/limits" -> List<Limit>;
    /// Set a limit on amounts that a caller may move.
    send(POST set_limit() NewLimit) "/api/v1/limits" -> Written<Limit>;
    /// Remove the limit of a `role`, or of a `name`.
    act(DELETE remove_limit(of, name)) "/api/v1/limits/{of}/{name}" -> Removed;
    /// What was proposed, the newest first.
    read(proposals() ProposalQuery) "/api/v1/proposals" -> List<Proposal>;
    /// One proposal.
    show(proposal(id)) "/api/v1/proposals/{id}" -> Proposal;
    /// Approve and run a proposal.
    send(POST approve(id) NewDecision) "/api/v1/proposals/{id}/approve" -> Written<Proposal>;
    /// Reject a proposal, or a request with an answer.
    send(POST reject(id) NewDecision) "/api/v1/proposals/{id}/reject" -> Written<Proposal>;
}
