//! Projects, users and accounts.

use bank_api::v1::{
    Account, List, Member, MergeUsers, MergedUsers, NewAccount, NewMember, NewProject, NewUser,
    PastPageQuery, PastQuery, PatchAccount, PatchProject, PatchUser, Project, RemoveQuery, Removed,
    Status, User, Written,
};

use super::super::{account, correction, project, status, user, user_directory};
use super::{HELD, NAMED, NEW, VALUES};
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
        Route::get("/api/v1/projects", project::list)
            .right(Right::SeeRegistry)
            .description("Projects in view, by name")
            .query::<PastPageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<Project>>(200, "The projects."),
        Route::post("/api/v1/projects", project::add)
            .right(Right::ChangeProjects)
            .description("Make a project")
            .body::<NewProject>()
            .gives::<Written<Project>>(201, "The project.")
            .refuses(VALUES)
            .refuses(NEW)
            .refuses(NAMED)
            .refuses(&["cycle"]),
        Route::get("/api/v1/projects/{name}", project::show)
            .right(Right::SeeRegistry)
            .description("One project")
            .query::<PastQuery>()
            .refuses(&["bad_value"])
            .gives::<Project>(200, "The project."),
        Route::patch("/api/v1/projects/{name}", project::set)
            .right(Right::ChangeProjects)
            .description("Change a project")
            .body::<PatchProject>()
            .gives::<Written<Project>>(200, "The project as it is now.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["cycle"]),
        Route::delete("/api/v1/projects/{name}", project::remove)
            .right(Right::ChangeProjects)
            .description("Remove a project")
            .gives::<Removed>(200, "It is gone.")
            .refuses(VALUES)
            .refuses(HELD),
        Route::get("/api/v1/projects/{name}/members", project::members)
            .right(Right::SeeRegistry)
            .description("The members of a project")
            .query::<PastPageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<Member>>(200, "The members."),
        Route::post("/api/v1/projects/{name}/members", project::set_member)
            .right(Right::ChangeMembers)
            .description("Make a user a member, or switch one")
            .body::<NewMember>()
            .gives::<Written<Member>>(201, "The member.")
            .refuses(VALUES),
        Route::delete(
            "/api/v1/projects/{name}/members/{user}",
            project::remove_member,
        )
        .right(Right::ChangeMembers)
        .description("Take a member off a project")
        .gives::<Removed>(200, "The user is no member any more.")
        .refuses(VALUES),
    ]
}

fn users() -> Vec<Route> {
    vec![
        Route::get("/api/v1/users", user::list)
            .right(Right::SeeRegistry)
            .description("Users in view, by name")
            .query::<PastPageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<User>>(200, "The users."),
        Route::post("/api/v1/users", user::add)
            .right(Right::ChangeUsers)
            .description("Make a user")
            .body::<NewUser>()
            .gives::<Written<User>>(201, "The user.")
            .refuses(VALUES)
            .refuses(NEW)
            .refuses(NAMED),
        Route::get("/api/v1/users/{name}", user::show)
            .right(Right::SeeRegistry)
            .description("One user")
            .query::<PastQuery>()
            .refuses(&["bad_value"])
            .gives::<User>(200, "The user."),
        Route::patch("/api/v1/users/{name}", user::set)
            .right(Right::ChangeUsers)
            .description("Change a user")
            .body::<PatchUser>()
            .gives::<Written<User>>(200, "The user as they are now.")
            .refuses(VALUES)
            .refuses(NEW),
        Route::delete("/api/v1/users/{name}", user::remove)
            .right(Right::ChangeUsers)
            .description("Remove a user")
            .gives::<Removed>(200, "They are gone.")
            .refuses(VALUES)
            .refuses(HELD),
        Route::post("/api/v1/user-directory", user_directory::merge)
            .right(Right::ChangeUsers)
            .description("Merge what a directory of people says")
            .more("Each entry is merged or refused by itself; `items` say what became of it.")
            .body::<MergeUsers>()
            .gives::<MergedUsers>(200, "What became of each entry."),
    ]
}

fn accounts() -> Vec<Route> {
    vec![
        Route::get("/api/v1/accounts", account::list)
            .right(Right::SeeRegistry)
            .description("Accounts in view, by name, with their sums")
            .query::<PastPageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<Account>>(200, "The accounts."),
        Route::post("/api/v1/accounts", account::add)
            .right(Right::ChangeAccounts)
            .description("Make an account")
            .body::<NewAccount>()
            .gives::<Written<Account>>(201, "The account.")
            .refuses(VALUES)
            .refuses(NEW)
            .refuses(NAMED)
            .refuses(&["cycle", "fallback_chain", "shares_over_100"]),
        Route::get("/api/v1/accounts/{name}", account::show)
            .right(Right::SeeRegistry)
            .description("One account, by name or number")
            .query::<PastQuery>()
            .refuses(&["bad_value"])
            .gives::<Account>(200, "The account."),
        Route::patch("/api/v1/accounts/{name}", account::set)
            .right(Right::ChangeAccounts)
            .description("Change an account")
            .body::<PatchAccount>()
            .gives::<Written<Account>>(200, "The account as it is now.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["cycle", "fallback_chain", "shares_over_100"])
            .refuses(&["allocation_overlap"]),
        Route::delete("/api/v1/accounts/{name}", account::remove)
            .right(Right::ChangeAccounts)
            .description("Remove an account")
            .query::<RemoveQuery>()
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Removed>(200, "It is gone.")
            .refuses(VALUES)
            .refuses(HELD),
        Route::post("/api/v1/accounts/{name}/undelete", correction::undelete)
            .right(Right::Reverse)
            .description("Bring a removed account back")
            .gives::<Correction>(201, "What came back with it.")
            .refuses(VALUES)
            .refuses(NEW)
            .refuses(&["cycle", "fallback_chain", "shares_over_100"]),
    ]
}
