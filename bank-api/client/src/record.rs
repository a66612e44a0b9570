//! Records whose members the site declares.

use serde_json::{Map, Value};

/// A record of a kind that the site added: it declares its members, and `GET /api/v1/kinds` lists them. Kinds of the program
/// have types of their own in [`crate::records`].
pub type Record = Map<String, Value>;
