//! Calls of the session extension.

#![expect(
    unsafe_code,
    reason = "rusqlite has no binding that is compiled without libclang"
)]

use super::conflict::{Applying, RawIterator, on_conflict};
use super::{Cause, Difference, Error, LeftOut};
use rusqlite::{Connection, OptionalExtension as _, ffi};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Opaque.
#[repr(C)]
pub(super) struct RawSession {
    _private: [u8; 0],
}

type Filter = unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int;
type OnConflict = unsafe extern "C" fn(*mut c_void, c_int, *mut RawIterator) -> c_int;

// https://sqlite.org/session/funclist.html
unsafe extern "C" {
    fn sqlite3session_create(
        db: *mut ffi::sqlite3,
        name: *const c_char,
        session: *mut *mut RawSession,
    ) -> c_int;
    fn sqlite3session_delete(session: *mut RawSession);
    fn sqlite3session_attach(session: *mut RawSession, table: *const c_char) -> c_int;
    fn sqlite3session_table_filter(
        session: *mut RawSession,
        filter: Option<Filter>,
        context: *mut c_void,
    );
    fn sqlite3session_changeset(
        session: *mut RawSession,
        length: *mut c_int,
        changes: *mut *mut c_void,
    ) -> c_int;
    fn sqlite3changeset_apply_v2(
        db: *mut ffi::sqlite3,
        length: c_int,
        changes: *mut c_void,
        filter: Option<Filter>,
        conflict: Option<OnConflict>,
        context: *mut c_void,
        rebase: *mut *mut c_void,
        rebase_length: *mut c_int,
        flags: c_int,
    ) -> c_int;
}

/// A session of one connection. [`super::Recorded`] owns both, and drops the session first.
#[derive(Debug)]
pub(super) struct Session {
    raw: *mut RawSession,
}

// SAFETY: the session belongs to its connection, which may move to another thread as long as one thread uses both at
// a time. `Recorded` owns both, and is not shared: it is not `Sync`.
unsafe impl Send for Session {}

impl Session {
    pub(super) fn start(
        connection: &Connection,
        left_out: &'static LeftOut,
    ) -> Result<Session, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is open as long as the connection, which outlives the session.
        let code =
            unsafe { sqlite3session_create(connection.handle(), c"main".as_ptr(), &raw mut raw) };
        check(connection, code)?;
        let session = Session { raw };
        let context = ptr::from_ref(left_out).cast_mut().cast();
        // SAFETY: the session is valid. The filter only reads its context, which lives as long as the program.
        let code = unsafe {
            sqlite3session_table_filter(raw, Some(is_recorded), context);
            sqlite3session_attach(raw, ptr::null())
        };
        check(connection, code)?;
        Ok(session)
    }

    pub(super) fn changes(self) -> Result<Vec<u8>, Error> {
        let mut length = 0;
        let mut bytes = ptr::null_mut();
        // SAFETY: the session is valid, and its connection is open.
        let code = unsafe { sqlite3session_changeset(self.raw, &raw mut length, &raw mut bytes) };
        if code != ffi::SQLITE_OK {
            return Err(failed(code, None));
        }
        let length = usize::try_from(length).unwrap_or_default();
        let changes = if bytes.is_null() {
            Vec::new()
        } else {
            // SAFETY: the extension gives so many bytes, which are ours until they are freed below.
            unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }.to_vec()
        };
        // SAFETY: the bytes are from SQLite's allocator, or null.
        unsafe { ffi::sqlite3_free(bytes) };
        Ok(changes)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: it is valid, is deleted once, and its connection is still open.
        unsafe { sqlite3session_delete(self.raw) };
    }
}

/// Whether changes of a table are recorded. The context is a [`LeftOut`].
unsafe extern "C" fn is_recorded(context: *mut c_void, table: *const c_char) -> c_int {
    // SAFETY: `start` gave a pointer to a value that lives as long as the program.
    let left_out = unsafe { &*context.cast::<LeftOut>() };
    // SAFETY: the extension gives the name of a table, which ends with a zero byte.
    let table = unsafe { CStr::from_ptr(table) };
    let is_left_out = |name: &&str| name.as_bytes() == table.to_bytes();
    c_int::from(!left_out.0.iter().any(is_left_out))
}

/// Applies a changeset, all of it or nothing.
pub(super) fn apply(connection: &Connection, changes: &[u8]) -> Result<(), Error> {
    if changes.is_empty() {
        return Ok(());
    }
    let length = c_int::try_from(changes.len()).map_err(|_| failed(ffi::SQLITE_TOOBIG, None))?;
    let mut applying = Applying::default();
    // SAFETY: the bytes are only read, and outlive the call; so does the context, which the callbacks alone use.
    let code = unsafe {
        sqlite3changeset_apply_v2(
            connection.handle(),
            length,
            changes.as_ptr().cast_mut().cast(),
            Some(note_table),
            Some(on_conflict),
            ptr::from_mut(&mut applying).cast(),
            ptr::null_mut(),
            ptr::null_mut(),
            0,
        )
    };
    match (code, applying.found) {
        (_, Some(found)) => Err(Error::Differs(found)),
        (ffi::SQLITE_OK, None) => all_there(connection, &applying.tables),
        (code, None) => Err(failed(code, Some(connection))),
    }
}

/// Notes the name of a table that is about to be changed. The context is an [`Applying`].
unsafe extern "C" fn note_table(context: *mut c_void, table: *const c_char) -> c_int {
    // SAFETY: `apply` gave a pointer to a value that nothing else uses during the call.
    let applying = unsafe { &mut *context.cast::<Applying>() };
    // SAFETY: the extension gives the name of a table, which ends with a zero byte.
    let table = unsafe { CStr::from_ptr(table) };
    applying.tables.push(table.to_string_lossy().into_owned());
    1
}

/// The extension leaves out tables that are missing, and succeeds.
fn all_there(connection: &Connection, tables: &[String]) -> Result<(), Error> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    for table in tables {
        let found = statement.query_row([table], |_| Ok(())).optional()?;
        if found.is_none() {
            return Err(Error::Differs(Difference {
                table: table.clone(),
                key: String::new(),
                cause: Cause::Table,
            }));
        }
    }
    Ok(())
}

fn check(connection: &Connection, code: c_int) -> Result<(), Error> {
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(failed(code, Some(connection))),
    }
}

fn failed(code: c_int, connection: Option<&Connection>) -> Error {
    let message = connection.and_then(|connection| {
        // SAFETY: the handle is open, and the text is copied before the next call.
        let text = unsafe { ffi::sqlite3_errmsg(connection.handle()) };
        if text.is_null() {
            return None;
        }
        // SAFETY: SQLite gives a text that ends with a zero byte.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    });
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), message).into()
}
