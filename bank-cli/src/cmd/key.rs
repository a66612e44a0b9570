//! `bank key`: signing keys of clients. A secret is shown once, or goes straight to a file.

use std::{fmt::Write as _, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use bank_api::v1::{Key, KeyQuery, List, NewKey, NewKeyAnswer, PatchKey, Written};
use ureq::http::Method;

use super::{Context, nothing_to_set};
use crate::{
    cli::{AddKey, KeyCommand, SetKey},
    client,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: KeyCommand) -> Result<String, Failure> {
    match command {
        KeyCommand::Add(args) => add(context, args),
        KeyCommand::Ls { client } => {
            let list: List<Key> = context.get(&["keys"], &KeyQuery { client })?;
            context.form.list(&list, &sheet(&list.items))
        }
        KeyCommand::Show { id } => {
            let key: Key = context.get(&["keys", &id], &())?;
            context.form.one(&key, &sheet(std::slice::from_ref(&key)))
        }
        KeyCommand::Set(args) => set(context, args),
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
    // The file comes first: a secret that nobody could keep would be lost.
    let file = match &args.out {
        Some(path) if !args.write.dry_run => Some((path, create(path)?)),
        _ => None,
    };
    let sent: Result<NewKeyAnswer, Failure> =
        context.send(Method::POST, &["keys"], &body, &args.write);
    let mut answer = match (sent, &file) {
        (Ok(answer), _) => answer,
        (Err(failure), None) => return Err(failure),
        (Err(failure), Some((path, _))) => {
            // Nothing was written to it; an empty file left behind would only block the next try.
            let _ = std::fs::remove_file(path);
            return Err(failure);
        }
    };
    let mut said = sentence(&answer);
    match (file, &answer.secret) {
        (Some((path, file)), Some(secret)) => {
            keep(file, path, secret).map_err(|why| {
                let hint = format!("bank key rm {}, then add it again", body.id);
                Failure::internal(format!("key {:?} is made, but {why}", body.id)).hint(hint)
            })?;
            let _ = write!(said, "\nsecret in {}", path.display());
            answer.secret = None;
        }
        (None, Some(secret)) => {
            let _ = write!(
                said,
                "\nsecret {secret}\nkeep it now: it is not shown again"
            );
        }
        (Some((path, _)), None) => {
            let _ = std::fs::remove_file(path);
            said.push_str("\nthe daemon told no secret: this key was made before");
        }
        (None, None) => {}
    }
    context.done(&answer, &said, answer.transaction, answer.dry_run, &[])
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
        column("machines", "Machines", Kind::Text),
        column("state", "State", Kind::Text),
        column("valid_from", "From", Kind::Date),
        column("valid_until", "Until", Kind::Date),
        column("fingerprint", "Fingerprint", Kind::Text),
    ];
    Sheet::new(columns, keys, "no keys")
}
