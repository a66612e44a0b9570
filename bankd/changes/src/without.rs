//! In place of the session extension, where `SQLite` was compiled without it.

use super::{Error, LeftOut};
use rusqlite::Connection;

#[derive(Debug)]
pub(super) struct Session;

impl Session {
    pub(super) fn start(_: &Connection, _: &'static LeftOut) -> Result<Session, Error> {
        Err(Error::NotBuilt)
    }

    #[expect(clippy::unused_self, reason = "as the session's")]
    pub(super) fn changes(self) -> Result<Vec<u8>, Error> {
        Err(Error::NotBuilt)
    }
}

pub(super) fn apply(_: &Connection, _: &[u8]) -> Result<(), Error> {
    Err(Error::NotBuilt)
}
