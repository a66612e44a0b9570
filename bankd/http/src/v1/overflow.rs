//! The reason why the funds of a parent account were not used, for a caller with insufficient funds.

use bank_api::error::Problem;
use bank_core::command::Whose;
use bank_core::select;
use bank_core::usage::Usage;

use super::call::Call;
use super::outcome::Done;

/// Replaces the general hint of a refusal for insufficient funds. It applies if an account overflows into
/// its parent, and the lists of the parent exclude the request. It is computed for this refusal only.
pub(super) fn add(call: &Call, done: &mut Done, refused: &RefusedRequest) {
    if done.is_accepted() {
        return;
    }
    done.tell_once(|problem: &mut Problem| {
        if problem.code == "insufficient_funds"
            && let Some(hint) = hint(call, refused)
        {
            problem.hint = Some(hint);
        }
    });
}

/// The refused request.
pub(super) struct RefusedRequest {
    pub(super) whose: Whose,
    pub(super) usage: Usage,
    pub(super) group: String,
}

/// `None` unless the caller sees both accounts.
fn hint(call: &Call, refused: &RefusedRequest) -> Option<String> {
    let RefusedRequest {
        whose,
        usage,
        group,
    } = refused;
    let directory = call.directory();
    let payer = select::find(directory, whose).knowing(directory, usage, group);
    let user = whose.user.as_deref();
    let found = match user {
        None => select::for_any_member(directory, &payer),
        Some(user) => select::candidates(directory, &payer, user),
    };
    let (below, above) = select::held_back(directory, &found.ok()?)?;
    if !(call.view.sees_account(below) && call.view.sees_account(above)) {
        return None;
    }
    let (below, above, project) = (&below.name, &above.name, &payer.project_name);
    Some(format!(
        "account {below:?} overflows into {above:?}, but the lists of {above:?} do not let {project} \
         spend from it; to let it pay whatever they say: bank account set {below} --overflow-any"
    ))
}
