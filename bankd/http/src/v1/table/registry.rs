//! Members of projects, the merge of directories of people, and accounts.

use bank_api::v1::{
    Account, AccountsQuery, List, Member, MergeUsers, MergedUsers, NewAccount, NewMember,
    PastPageQuery, PastQuery, PatchAccount, RemoveQuery, Removed, Status, Written,
};

use super::super::{account, correction, member, status, user_directory};
use super::{APPROVAL, HELD, NAMED, NEW, VALUES};
use crate::route::Route;
use bank_api::v1::Correction;
use bankd_ledger::access::right::Right;

pub(super) fn rows() -> Vec<Route> {
    [projects(), users(), accounts()]
        .into_iter()
        .flatten()
        .collect()
}

fn projects() -> Vec<Route> {
    vec![
        Route::get("/api/v1/status", status::show)
            .right(Right::SeeStatus)
            .description("The state of the daemon")
            .gives::<Status>(200, "As it is now."),
        Route::get("/api/v1/projects/{name}/members", member::list)
            .right(Right::SeeRegistry)
            .description("The members of a project")
            .asks::<PastPageQuery>()
            .gives::<List<Member>>(200, "The members."),
        Route::post("/api/v1/projects/{name}/members", member::set)
            .right(Right::ChangeMembers)
            .description("Make a user a member, or switch one")
            .body::<NewMember>()
            .gives::<Written<Member>>(201, "The member.")
            .refuses(&[VALUES]),
        Route::delete("/api/v1/projects/{name}/members/{user}", member::remove)
            .right(Right::ChangeMembers)
            .description("Take a member off a project")
            .gives::<Removed>(200, "The user is no longer a member.")
            .refuses(&[VALUES]),
    ]
}

fn users() -> Vec<Route> {
    vec![
        Route::post("/api/v1/user-directory", user_directory::merge)
            .right(Right::ChangeReference)
            .description("Merge entries of a directory of people")
            .more("Each entry is merged or refused by itself; `items` has the results.")
            .body::<MergeUsers>()
            .gives::<MergedUsers>(200, "The result for each entry."),
    ]
}

/// Why an account cannot have its parent, its share or its fallback account.
const PLACE: &[&str] = &["cycle", "fallback_chain", "shares_over_100"];

fn accounts() -> Vec<Route> {
    vec![
        Route::get("/api/v1/accounts", account::list)
            .right(Right::SeeRegistry)
            .description("Accounts in view, by name, with their sums")
            .asks::<AccountsQuery>()
            .gives::<List<Account>>(200, "The accounts."),
        Route::post("/api/v1/accounts", account::add)
            .right(Right::ChangeAccounts)
            .description("Make an account")
            .body::<NewAccount>()
            .gives::<Written<Account>>(201, "The account.")
            .refuses(&[VALUES, NEW, NAMED, PLACE]),
        Route::get("/api/v1/accounts/{name}", account::show)
            .right(Right::SeeRegistry)
            .description("One account, by name or number")
            .asks::<PastQuery>()
            .gives::<Account>(200, "The account."),
        Route::patch("/api/v1/accounts/{name}", account::set)
            .right(Right::ChangeAccounts)
            .description("Change an account")
            .body::<PatchAccount>()
            .gives::<Written<Account>>(200, "The account as it is now.")
            .refuses(&[VALUES, NAMED, PLACE, &["allocation_overlap"]]),
        Route::delete("/api/v1/accounts/{name}", account::remove)
            .right(Right::ChangeAccounts)
            .description("Remove an account")
            .query::<RemoveQuery>()
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[VALUES, HELD, APPROVAL]),
        Route::post("/api/v1/accounts/{name}/undelete", correction::undelete)
            .right(Right::Reverse)
            .description("Bring a removed account back")
            .gives::<Correction>(201, "What came back with it.")
            .refuses(&[VALUES, NEW, PLACE, APPROVAL]),
    ]
}
