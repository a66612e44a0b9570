//! User data from directory services, merged into the stored users. Each entry is journalled or refused
//! independently.

use bank_api::error::Problem;
use bank_api::v1::{MERGE_MAX, MergeEntry, MergeUsers, MergedUser, MergedUsers};
use bank_core::command::{Command, MergeUser};
use bank_core::effects::{Merge, Outcome};
use bank_core::kind::Value;
use bankd_ledger::writer::Decided;
use bankd_store::answer::{Answer, Media};

use super::call::{Call, Handled, ok, rendered};
use crate::error::Failure;

/// `POST /api/v1/user-directory`
pub(super) async fn merge(call: Call) -> Handled {
    let body: MergeUsers = call.json()?;
    let count = body.entries.len();
    if !(1..=MERGE_MAX).contains(&count) {
        let detail = format!("entries: 1 to {MERGE_MAX} of them in one request");
        return Err(Failure::new("bad_request", detail).hint("send them in several requests"));
    }
    let names: Vec<String> = body
        .entries
        .iter()
        .map(|entry| entry.user.clone())
        .collect();
    let commands = (1_usize..).zip(commands(body)).collect();
    let dry_run = call.dry_run()?;
    let (answers, beside) = call.write_all(commands, render).await?;
    let items = names.into_iter().zip(answers);
    let items = items.map(|(user, answer)| merged(user, &answer));
    let items: Vec<MergedUser> = items.collect::<Result<_, _>>()?;
    let answer = ok(&MergedUsers {
        transaction: items.iter().find_map(|item| item.transaction),
        items,
        dry_run,
    })?;
    Ok(beside.mark(answer))
}

fn commands(body: MergeUsers) -> impl Iterator<Item = Command> {
    let MergeUsers {
        entries,
        by_email,
        known_only,
        keep,
    } = body;
    entries.into_iter().map(move |entry| {
        Command::MergeUser(Box::new(MergeUser {
            values: values(&entry),
            name: entry.user,
            aliases: entry.aliases,
            by_email,
            known_only,
            keep,
        }))
    })
}

/// The values of an entry, by the fields of users.
fn values(entry: &MergeEntry) -> Vec<(String, Value)> {
    let texts = [
        ("common_name", &entry.common_name),
        ("email", &entry.email),
        ("default_project", &entry.default_project),
        ("organization", &entry.organization),
        ("phone", &entry.phone),
        ("description", &entry.description),
    ];
    let texts = texts.map(|(field, text)| (field, text.as_deref().map(Value::from)));
    let active = ("active", entry.active.map(Value::from));
    let given = texts.into_iter().chain([active]);
    let given = given.filter_map(|(field, value)| Some((field.to_owned(), value?)));
    given.collect()
}

fn merged(user: String, answer: &Answer) -> Result<MergedUser, Failure> {
    let broken = || Failure::new("internal", "an entry has no answer");
    if answer.media == Media::Json {
        return serde_json::from_slice(&answer.body).map_err(|_| broken());
    }
    let problem = Problem::from_json(&answer.body).ok_or_else(broken)?;
    Ok(MergedUser {
        user,
        outcome: "refused".to_owned(),
        code: Some(problem.code),
        detail: problem.detail,
        transaction: None,
    })
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::Merged(name, what) => Some(MergedUser {
            user: name.clone(),
            outcome: word(*what).to_owned(),
            code: None,
            detail: None,
            transaction: decided.transaction,
        }),
        _ => None,
    })
}

fn word(what: Merge) -> &'static str {
    match what {
        Merge::Added => "added",
        Merge::Changed => "changed",
        Merge::Unchanged => "unchanged",
    }
}
