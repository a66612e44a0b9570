//! `bank key`: signing keys of clients. A secret is shown once, or goes straight to a file.

use std::{fmt::Write as _, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use bank_api::v1::{Key, KeyQuery, NewKey, NewKeyAnswer, PatchKey, Written};
use ureq::http::Method;

use super::nothing_to_set;
use crate::{
    cli::{AddKey, KeyCommand, RotateKey, SetKey},
    client,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    when,
};

pub(super) fn run(context: &Context, command: KeyCommand) -> Result<String, Failure> {
    match command {
        KeyCommand::Add(args) => add(context, args),
        KeyCommand::Ls { client } => {
            let query = KeyQuery {
                client,
                ..KeyQuery::default()
            };
            context.list(&["keys"], &query, sheet)
        }
        KeyCommand::Show { id } => context.show(&["keys", &id], &(), sheet),
        KeyCommand::Set(args) => set(context, args),
        KeyCommand::Rotate(args) => rotate(context, args),
        KeyCommand::Rm { id, remove } => {
            let what = format!("remove key {id:?}");
            let answer = context.remove(&["keys", &id], &what, &remove)?;
            context.removed(&answer, &format!("key {id:?} removed"))
        }
    }
}

fn add(context: &Context, args: AddKey) -> Result<String, Failure> {
    let given = args
        .secret_file
        .as_deref()
        .map(client::read_secret)
        .transpose()?;
    let body = NewKey {
        id: args.id,
        client: args.client,
        roles: args.role,
        projects: args.project,
        machines: args.machine,
        secret: given.map(|secret| secret.to_text().to_string()),
        gold: args.gold,
        valid_from: context.time(args.from.as_ref())?,
        valid_until: context.time(args.until.as_ref())?,
    };
    let sent = |context: &Context| context.send(Method::POST, &["keys"], &body, &args.write);
    let file = args.out.as_deref();
    deliver(context, file, args.write.dry_run, sent, &sentence)
}

/// A second key for the client of one, which ends by itself.
fn rotate(context: &Context, args: RotateKey) -> Result<String, Failure> {
    let given = args
        .secret_file
        .as_deref()
        .map(client::read_secret)
        .transpose()?;
    let body = bank_api::v1::RotateKey {
        id: args.new_id,
        overlap_s: Some(when::seconds(&args.overlap)?),
        secret: given.map(|secret| secret.to_text().to_string()),
        gold: args.gold,
    };
    let path = ["keys", args.id.as_str(), "rotate"];
    let sent = |context: &Context| context.send(Method::POST, &path, &body, &args.write);
    let file = args.out.as_deref();
    let message = |answer: &NewKeyAnswer| {
        let (old, overlap) = (&args.id, &args.overlap);
        let new = sentence(answer);
        format!("{new}; key {old:?} ends in {overlap}, unless it ends before")
    };
    deliver(context, file, args.write.dry_run, sent, &message)
}

/// Has a key made, and tells its secret once: on the screen, or in a new file.
fn deliver(
    context: &Context,
    file: Option<&Path>,
    dry_run: bool,
    send: impl FnOnce(&Context) -> Result<NewKeyAnswer, Failure>,
    sentence: &dyn Fn(&NewKeyAnswer) -> String,
) -> Result<String, Failure> {
    // The file comes first: a secret that nobody could keep would be lost.
    let file = match file {
        Some(path) if !dry_run => Some((path, create(path)?)),
        _ => None,
    };
    let mut answer = match (send(context), &file) {
        (Ok(answer), _) => answer,
        (Err(failure), None) => return Err(failure),
        (Err(failure), Some((path, _))) => {
            // Nothing was written to it; an empty file left behind would only block the next try.
            let _ = std::fs::remove_file(path);
            return Err(failure);
        }
    };
    let mut message = sentence(&answer);
    match (file, &answer.secret) {
        (Some((path, file)), Some(secret)) => {
            keep(file, path, secret).map_err(|why| {
                let hint = "the secret is shown above, once: store it now";
                let what = format!("key {:?} is made, but {why}", answer.key.id);
                Failure {
                    before: Some(format!("secret {secret}\n")),
                    ..Failure::internal(what).hint(hint)
                }
            })?;
            let _ = write!(message, "\nsecret in {}", path.display());
            answer.secret = None;
        }
        (None, Some(secret)) => {
            let _ = write!(
                message,
                "\nsecret {secret}\nstore it now: it is not shown again"
            );
        }
        (Some((path, _)), None) => {
            let _ = std::fs::remove_file(path);
            message.push_str("\nno secret is shown: this key existed before");
        }
        (None, None) => {}
    }
    context.done(&answer, &message, answer.transaction, answer.dry_run, &[])
}

fn sentence(answer: &NewKeyAnswer) -> String {
    let key = &answer.key;
    format!(
        "key {:?} of client {:?} added, fingerprint {}",
        key.id, key.client, key.fingerprint
    )
}

/// Writes the secret to its file, and the file to the disk.
fn keep(mut file: std::fs::File, path: &Path, secret: &str) -> Result<(), String> {
    file.write_all(format!("{secret}\n").as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// A new file that only its owner may read.
fn create(path: &Path) -> Result<std::fs::File, Failure> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| Failure::usage(format!("cannot make {}: {error}", path.display())))
}

fn set(context: &Context, args: SetKey) -> Result<String, Failure> {
    let state = args
        .active
        .map(|active| if active.into() { "active" } else { "disabled" });
    let body = PatchKey {
        state: state.map(str::to_owned),
        roles: args.role,
        projects: args.project,
        machines: args.machine,
        valid_until: context.time(args.until.as_ref())?,
    };
    if body == PatchKey::default() {
        return Err(nothing_to_set());
    }
    let answer: Written<Key> =
        context.send(Method::PATCH, &["keys", &args.id], &body, &args.write)?;
    context.written(&answer, &format!("key {:?} changed", args.id))
}

fn sheet(keys: &[Key]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Text),
        column("client", "Client", Kind::Text),
        column("roles", "Roles", Kind::Text),
        column("projects", "Projects", Kind::Text),
        column("machines", "Machines", Kind::Text).secondary(),
        column("state", "State", Kind::Text),
        column("valid_from", "From", Kind::Date).secondary(),
        column("valid_until", "Until", Kind::Date),
        column("fingerprint", "Fingerprint", Kind::Text).secondary(),
        column("last_used", "Used", Kind::Time),
    ];
    Sheet::new(columns, keys, "no keys")
}
