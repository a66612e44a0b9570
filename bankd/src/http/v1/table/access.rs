//! Who may do what: tokens, roles of people, limits, proposals.

use bank_api::v1::{List, NewToken, NewTokenAnswer, Removed, Token, TokenQuery};

use super::super::token;
use super::{NAMED, NEW, VALUES};
use crate::access::right::Right;
use crate::http::route::Route;

pub(super) fn rows() -> Vec<Route> {
    [tokens()].into_iter().flatten().collect()
}

fn tokens() -> Vec<Route> {
    vec![
        Route::get("/api/v1/tokens", token::list)
            .right(Right::SeeKeys)
            .says("API tokens, without their text")
            .query::<TokenQuery>()
            .gives::<List<Token>>(200, "The tokens."),
        Route::post("/api/v1/tokens", token::add)
            .right(Right::ChangeKeys)
            .says("Make an API token")
            .more("The answer holds the token, once.")
            .body::<NewToken>()
            .gives::<NewTokenAnswer>(201, "The token.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(NEW)
            .refuses(&["bad_window", "window_in_past"]),
        Route::get("/api/v1/tokens/{id}", token::show)
            .right(Right::SeeKeys)
            .says("One API token")
            .gives::<Token>(200, "The token."),
        Route::delete("/api/v1/tokens/{id}", token::remove)
            .right(Right::ChangeKeys)
            .says("Remove an API token; it is refused from then on")
            .gives::<Removed>(200, "It is gone.")
            .refuses(VALUES),
    ]
}
