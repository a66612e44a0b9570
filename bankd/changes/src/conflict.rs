//! A row that a changeset does not fit.

#![expect(unsafe_code, reason = "called by SQLite with its iterator")]

use super::{Cause, Difference};
use rusqlite::ffi;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::ptr;

// Codes of the extension: `sqlite3.h`, "Constants Passed To The Conflict Handler" and "Returned By" it.
const DATA: c_int = 1;
const NOT_FOUND: c_int = 2;
const CONFLICT: c_int = 3;
const CONSTRAINT: c_int = 4;
const ABORT: c_int = 2;

/// Opaque.
#[repr(C)]
pub(super) struct RawIterator {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn sqlite3changeset_op(
        iterator: *mut RawIterator,
        table: *mut *const c_char,
        columns: *mut c_int,
        operation: *mut c_int,
        indirect: *mut c_int,
    ) -> c_int;
    fn sqlite3changeset_pk(
        iterator: *mut RawIterator,
        is_key: *mut *mut c_uchar,
        columns: *mut c_int,
    ) -> c_int;
    fn sqlite3changeset_old(
        iterator: *mut RawIterator,
        column: c_int,
        value: *mut *mut ffi::sqlite3_value,
    ) -> c_int;
    fn sqlite3changeset_new(
        iterator: *mut RawIterator,
        column: c_int,
        value: *mut *mut ffi::sqlite3_value,
    ) -> c_int;
}

/// What is seen while a changeset is applied.
#[derive(Default)]
pub(super) struct Applying {
    /// Tables with changes.
    pub(super) tables: Vec<String>,
    /// The first row that it did not fit.
    pub(super) found: Option<Difference>,
}

/// Notes the row, and has everything undone. The context is an [`Applying`].
pub(super) unsafe extern "C" fn on_conflict(
    context: *mut c_void,
    code: c_int,
    iterator: *mut RawIterator,
) -> c_int {
    // SAFETY: `apply` gave a pointer to a value that nothing else uses during the call.
    let applying = unsafe { &mut *context.cast::<Applying>() };
    let cause = match code {
        DATA => Cause::OtherValues,
        NOT_FOUND => Cause::Missing,
        CONFLICT => Cause::There,
        CONSTRAINT => Cause::Constraint,
        _ => Cause::Reference,
    };
    // A missing reference has no row.
    let (table, key) = if cause == Cause::Reference {
        ("any".to_owned(), String::new())
    } else {
        row(iterator)
    };
    applying
        .found
        .get_or_insert(Difference { table, key, cause });
    ABORT
}

/// The table and the primary key of the row at an iterator.
fn row(iterator: *mut RawIterator) -> (String, String) {
    let mut table = ptr::null();
    let (mut columns, mut operation, mut indirect) = (0, 0, 0);
    // SAFETY: the iterator is valid during the callback, and points at a row.
    let code = unsafe {
        sqlite3changeset_op(
            iterator,
            &raw mut table,
            &raw mut columns,
            &raw mut operation,
            &raw mut indirect,
        )
    };
    if code != ffi::SQLITE_OK || table.is_null() {
        return ("unknown".to_owned(), String::new());
    }
    // SAFETY: the extension gives a name that ends with a zero byte.
    let name = unsafe { CStr::from_ptr(table) }
        .to_string_lossy()
        .into_owned();
    let mut is_key = ptr::null_mut();
    // SAFETY: as above.
    let code = unsafe { sqlite3changeset_pk(iterator, &raw mut is_key, &raw mut columns) };
    let length = usize::try_from(columns).unwrap_or_default();
    if code != ffi::SQLITE_OK || is_key.is_null() {
        return (name, String::new());
    }
    // SAFETY: the array has one byte for each column.
    let keys = unsafe { std::slice::from_raw_parts(is_key, length) };
    let parts = keys.iter().zip(0..).filter(|(is_key, _)| **is_key != 0);
    let parts = parts.map(|(_, column)| value(iterator, operation, column));
    (name, parts.collect::<Vec<_>>().join(", "))
}

/// A value of the row: the old one of a row that is changed or removed, else the new one.
fn value(iterator: *mut RawIterator, operation: c_int, column: c_int) -> String {
    let mut value = ptr::null_mut();
    // SAFETY: the iterator is valid, and the column is one of the row's.
    let code = unsafe {
        if operation == ffi::SQLITE_INSERT {
            sqlite3changeset_new(iterator, column, &raw mut value)
        } else {
            sqlite3changeset_old(iterator, column, &raw mut value)
        }
    };
    if code != ffi::SQLITE_OK || value.is_null() {
        return "?".to_owned();
    }
    // SAFETY: the value is valid as long as the iterator stays where it is.
    let is_blob = unsafe { ffi::sqlite3_value_type(value) } == ffi::SQLITE_BLOB;
    if is_blob {
        return "a blob".to_owned();
    }
    // SAFETY: as above; the text ends with a zero byte, and is copied.
    let text = unsafe { ffi::sqlite3_value_text(value) };
    if text.is_null() {
        return "null".to_owned();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text.cast()) }
        .to_string_lossy()
        .into_owned()
}
