//! The client of the daemon by the settings of this program, and its errors as failures of a command.
//!
//! `bank-client` sends the calls. A command is sent once to each server of the list: whoever typed it decides
//! whether it is repeated.

pub(crate) mod fetch;

use std::time::Duration;

use bank_api::error;
pub(crate) use bank_client::{Call, Client, list, new_key, path, query, read_secret};
use bank_client::{Error, Identity, Refused, Retry};
use bank_picture::printable::printable;

use crate::{
    config::{Settings, Token},
    fail::Failure,
};

/// The longest a call for help texts may take: help is shown without the daemon too.
const HELP_TIMEOUT: Duration = Duration::from_secs(2);

/// The way to the daemon of the settings. It reads the key file, if requests are signed.
pub(crate) fn new(settings: &Settings) -> Result<Client, Failure> {
    Ok(builder(settings).build()?)
}

/// The same for the kinds of the site, whose options are in help texts.
pub(crate) fn for_help(settings: &Settings) -> Result<Client, Failure> {
    Ok(builder(settings).timeout(HELP_TIMEOUT).build()?)
}

fn builder(settings: &Settings) -> bank_client::Builder {
    let mut builder = Client::builder()
        .servers(list(settings.server()))
        .key_settings(settings.key_id.clone(), settings.key_file.clone())
        .retry(Retry::NONE)
        .user_agent(concat!("bank/", env!("CARGO_PKG_VERSION")))
        .warn(crate::out::warn);
    if let Some(Token(token)) = &settings.token {
        builder = builder.token(token.clone());
    }
    if let Some(file) = &settings.ca_file {
        builder = builder.authorities(file.clone());
    }
    builder
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let what = error.to_string();
        match error {
            Error::Refused(refused) => of_refused(*refused),
            Error::Unreachable { key, .. } => Self::unreachable(what).hint(match key {
                Some(key) => format!(
                    "it may have been done: repeat the command with --key {key}, which takes effect at most once"
                ),
                None => {
                    "is bankd running? --server or BANK_SERVER names another address".to_owned()
                }
            }),
            Error::Unverified { .. } => Self::unreachable(what).hint(
                "another process may listen there, or the daemon has another secret for this key",
            ),
            Error::Unreadable { answer: None, .. } => {
                Self::internal(what).hint("`bank` and `bankd` should be of the same release")
            }
            // It is done, and a secret in the answer is given once only.
            Error::Unreadable {
                answer: Some(answer),
                ..
            } => Self {
                before: Some(printable(&answer) + "\n"),
                ..Self::internal(what).hint(
                    "it was done; the answer is above as it came, and may contain a secret that \
                     is given once. `bank` and `bankd` should be of the same release",
                )
            },
            Error::Settings { hint, .. } => Self {
                hint,
                ..Self::usage(what)
            },
            Error::Key(_) => Self::access(what),
            _ => Self::internal(what),
        }
    }
}

/// The failure of an answer outside of success.
fn of_refused(refused: Refused) -> Failure {
    let what = refused.to_string();
    let mut failure = match refused.problem {
        Some(problem) => Failure::problem(problem),
        None => {
            return unauthorized(refused.status, refused.identity, {
                Failure::of(error::bank_exit_of_status(refused.status), what)
            });
        }
    };
    // 503 can come for a command that is done later; after 507 nothing was written.
    let key = refused.key.filter(|_| [503, 507].contains(&refused.status));
    if let (Some(key), None) = (key, &failure.hint) {
        failure.hint = Some(format!(
            "try again in a moment: repeat the command with --key {key}, which takes effect at most once"
        ));
    }
    unauthorized(refused.status, refused.identity, failure)
}

/// With a hint about the caller's identity, if the daemon did not accept it.
fn unauthorized(status: u16, identity: Identity, failure: Failure) -> Failure {
    if status != 401 {
        return failure;
    }
    failure.hint(match identity {
        Identity::Token => "the token (BANK_TOKEN) is unknown, expired or revoked",
        Identity::Key => "the key id, its secret or the clock of this machine is wrong",
        Identity::None => {
            "over TCP set BANK_KEY_ID and BANK_KEY_FILE, or use the daemon's Unix socket"
        }
        Identity::Socket => "the bank has no such user",
    })
}

#[cfg(test)]
mod tests;
