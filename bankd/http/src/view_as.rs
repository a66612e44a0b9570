//! Queries in the view of a person: `?view_as=amy` of a GET below `/api/v1/` returns what amy sees by her
//! projects and grants (decision note 0173).
//!
//! It only ever narrows: roles over the whole bank do not count. Anybody may ask for their own view, with an
//! empty name; that of somebody else needs a view of the whole bank and its roles.

use std::sync::Arc;

use axum::extract::Query;
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use bank_core::access;
use bank_core::command::Scope;
use bank_core::refusal::Refusal;
use bank_core::role::{ROLES, Who};
use bankd_ledger::access::right::Right;
use bankd_ledger::access::{Role, Roles};
use bankd_ledger::view::View;
use bankd_services::Services;

use crate::auth::Authenticated;
use crate::error::Failure;

const PARAMETER: &str = "view_as=";

/// The caller, or the person of `view_as`, which is removed from the query.
pub(crate) fn narrowed(
    services: &Services,
    caller: Authenticated,
    parts: &mut Parts,
) -> Result<Authenticated, Failure> {
    let is_query = parts.method == Method::GET || parts.method == Method::HEAD;
    if !is_query || !parts.uri.path().starts_with("/api/v1/") {
        return Ok(caller);
    }
    let Some(name) = taken(&mut parts.uri)? else {
        return Ok(caller);
    };
    let (directory, now) = (services.writer.directory(), services.writer.now());
    let refused = |refusal: &Refusal| Failure::refused(refusal, &directory.bank);
    let scope = if name.is_empty() || caller.user.as_ref() == Some(&name) {
        of_oneself(&caller).ok_or_else(|| {
            refused(&Refusal::bad_value(
                "view_as",
                "the name of a user: the caller is not a person",
            ))
        })?
    } else {
        let right = Right::SeeAccess.demand(caller.roles);
        right.map_err(|refusal| refused(&refusal))?;
        let view = View::of(&directory, &caller.caller.scope, caller.user.clone(), now);
        let unknown = || refused(&Refusal::not_found("user", &name));
        if !view.is_unlimited() {
            return Err(unknown());
        }
        let is_known = directory.user_named(&name).is_some();
        if !is_known && directory.grants_of(&name, now).next().is_none() {
            return Err(unknown());
        }
        of_person(&name)
    };
    let who = scope.who.as_deref().cloned().unwrap_or_default();
    let held = access::held(&scope, &who, &directory, now);
    let of_projects = held.iter().filter(|held| !held.projects.is_empty());
    let roles = of_projects.fold(who.roles, |roles, held| roles.with(held.role));
    let user = if name.is_empty() {
        caller.user.clone()
    } else {
        Some(name)
    };
    let mut narrowed = Authenticated {
        uid: None,
        roles,
        user,
        of_own_projects: true,
        ..caller
    };
    narrowed.caller.scope = scope;
    Ok(narrowed)
}

/// The name in the query, and the query without it.
fn taken(uri: &mut Uri) -> Result<Option<String>, Failure> {
    let query = uri.query().unwrap_or_default();
    let is_own = |part: &&str| part.starts_with(PARAMETER);
    let own: Vec<&str> = query.split('&').filter(is_own).collect();
    let bad = || Failure::new("bad_request", "view_as: one name of a user");
    let part = match own.as_slice() {
        [] => return Ok(None),
        [part] => format!("/?{part}"),
        _ => return Err(bad()),
    };
    let part: Uri = part.parse().map_err(|_| bad())?;
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(&part);
    let Query(pairs) = pairs.map_err(|_| bad())?;
    let (_, name) = pairs.into_iter().next().ok_or_else(bad)?;
    let rest: Vec<&str> = query.split('&').filter(|part| !is_own(part)).collect();
    let target = format!("{}?{}", uri.path(), rest.join("&"));
    let mut pieces = std::mem::take(uri).into_parts();
    pieces.path_and_query = Some(target.parse().map_err(|_| bad())?);
    *uri = Uri::from_parts(pieces).map_err(|_| bad())?;
    Ok(Some(name))
}

/// The scope of the caller without roles over the whole bank; none for a program.
fn of_oneself(caller: &Authenticated) -> Option<Scope> {
    caller.user.as_ref()?;
    let scope = &caller.caller.scope;
    let who = scope.who.as_deref()?;
    let own = ROLES.iter().map(|(role, _)| *role);
    let own = own.filter(|role| who.roles.has(*role));
    let own = own.filter(|role| *role == Role::User || role.is_of_projects());
    Some(Scope {
        who: Some(Arc::new(Who {
            roles: own.fold(Roles::default(), Roles::with),
            ..who.clone()
        })),
        ..scope.clone()
    })
}

/// The scope of a person on the socket who has no roles but those of grants and projects.
fn of_person(name: &str) -> Scope {
    Scope {
        who: Some(Arc::new(Who {
            actor: name.to_owned(),
            client: format!("unix:{name}"),
            roles: Roles::of(&[Role::User]),
            person: Some(name.to_owned()),
        })),
        ..Scope::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_taken_out_of_the_query() {
        let take = |text: &str| {
            let mut uri: Uri = text.parse().unwrap();
            let name = taken(&mut uri).map_err(|_| ());
            (name, uri.to_string())
        };
        let some = |name: &str| Ok(Some(name.to_owned()));
        for (text, name, rest) in [
            ("/api/v1/users", Ok(None), "/api/v1/users"),
            ("/u?a=1&view_as=amy&b=2", some("amy"), "/u?a=1&b=2"),
            ("/u?view_as=", some(""), "/u?"),
            ("/u?view_as=a%26b%20c", some("a&b c"), "/u?"),
            ("/u?view_asx=a", Ok(None), "/u?view_asx=a"),
        ] {
            assert_eq!(take(text), (name, rest.to_owned()), "{text}");
        }
        assert!(take("/u?view_as=a&view_as=b").0.is_err());
    }
}
