//! What one node of a cluster passes to the node that writes, for a caller whom it authenticated itself, and the
//! answers to it (decision 0202).
//!
//! The body of `POST /cluster/v1/requests` is a [`Passage`] in one line of JSON, a line feed, and the body of the
//! request as it arrived. The signature of the node covers all of it.

use serde::{Deserialize, Serialize};

/// The route of passed requests.
pub const ROUTE: &str = "/cluster/v1/requests";

/// The key id of signatures between nodes.
pub const KEY_ID: &str = "cluster";
/// The answer contains what the bank contained at this position of the log, or later; in a request, the least
/// position that the answer may have.
pub const POSITION: &str = "bank-position";
/// Milliseconds since the node last contained everything that was in the log.
pub const AGE_MS: &str = "bank-age-ms";

/// A request and its caller, without the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    /// The node that passes it.
    pub from: String,
    /// The node that it is for: no other one accepts it.
    pub to: String,
    /// The caller.
    pub caller: Passed,
    /// The method, in capitals.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Header fields with a meaning for the request.
    pub headers: Vec<(String, String)>,
}

/// The caller of a passed request, which also selects the service that answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Passed {
    /// A person on the socket or on the web pages: the API.
    Person {
        /// The name; `uid:N` if the node has none.
        name: String,
        /// Whether it is a login name.
        known: bool,
        /// Roles by the lists and groups of the node.
        roles: Vec<String>,
        /// The uid on the node; none on the web pages.
        uid: Option<u32>,
    },
    /// An API token: the API.
    Token {
        /// SHA-256 of its text.
        hash: [u8; 32],
    },
    /// A peer of the Gold gateway: Gold's protocol. The body is that of the message.
    Gold {
        /// The name in the settings.
        peer: String,
        /// The id of its key.
        key: String,
        /// The form of refusals for insufficient funds: `auto`, `maui` or `gold`.
        no_funds: String,
        /// Whether only the project of a message pays.
        strict_project: bool,
        /// Whether the message is of Maui.
        is_maui: bool,
    },
    /// A client of AUDITOR's API.
    Collector {
        /// `anyone`, `named` or `unnamed`.
        identity: String,
        /// The common name of the certificate; none for the other two.
        name: Option<String>,
        /// The address of the client.
        remote: String,
        /// Whether no money moves for its records.
        track: bool,
        /// The length of a body that was cut at its limit.
        beyond: Option<u64>,
    },
    /// The node itself: a change of the sessions on the web pages. There is no body.
    Session {
        /// The change.
        change: SessionChange,
    },
    /// A new node, before it has a bank: a copy of the database. Any node answers. There is no body.
    Copy {
        /// The part that is asked for.
        part: CopyPart,
    },
}

/// A request for a copy of a node's database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CopyPart {
    /// Makes one: the answer is a `Copy`.
    Make,
    /// Bytes of it, at most [`COPY_PIECE`].
    Piece {
        /// Its id.
        copy: String,
        /// The first byte.
        from: u64,
    },
    /// Removes it.
    Remove {
        /// Its id.
        copy: String,
    },
}

/// Bytes of a piece of a copy, at most.
pub const COPY_PIECE: usize = 4 << 20;

/// A copy of a node's database, made for a new node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    /// Names it in further requests.
    pub copy: String,
    /// The UUID of the bank.
    pub bank: String,
    /// The version of the node's program.
    pub version: String,
    /// The schema version of the database.
    pub schema: i64,
    /// The last entry of the log in it.
    pub position: i64,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// A change of the sessions on the web pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionChange {
    /// A person signed in.
    New(Session),
    /// The last requests of sessions: number and seconds since 1970.
    Used(Vec<(i64, i64)>),
    /// The numbers of sessions that have ended.
    End(Vec<i64>),
}

/// A session on the web pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its number.
    pub id: i64,
    /// SHA-256 of the text in the cookie.
    pub hash: [u8; 32],
    /// The person.
    pub name: String,
    /// Their uid, if they signed in through the socket.
    pub uid: Option<u32>,
    /// The way to sign in.
    pub way: String,
    /// Roles by groups of an identity provider.
    pub roles: String,
    /// As the browser names itself.
    pub agent: String,
    /// When it began, in seconds since 1970.
    pub created_s: i64,
    /// The last request, in seconds since 1970.
    pub used_s: i64,
}

/// The answer of Gold's protocol, before it is wrapped and signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldAnswer {
    /// `Success`, `Warning` or `Failure`.
    pub value: String,
    /// Three digits.
    pub code: String,
    /// A sentence for people.
    pub message: Option<String>,
    /// The number of rows, or the amount.
    pub count: Option<String>,
    /// The inner XML of `Data`.
    pub data: Option<String>,
}

impl GoldAnswer {
    /// As text.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn text(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// From its text; none if it is not of this form.
    pub fn read(text: &[u8]) -> Option<GoldAnswer> {
        serde_json::from_slice(text).ok()
    }
}

impl Passage {
    /// The body of the request between the nodes.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn with_body(&self, body: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
        let mut whole = serde_json::to_vec(self)?;
        whole.push(b'\n');
        whole.extend_from_slice(body);
        Ok(whole)
    }

    /// The head, and where the body of the passed request begins. None if it is not of this form.
    pub fn split(whole: &[u8]) -> Option<(Passage, &[u8])> {
        let end = whole.iter().position(|byte| *byte == b'\n')?;
        let (head, body) = whole.split_at_checked(end)?;
        Some((serde_json::from_slice(head).ok()?, body.get(1..)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_one_line_before_the_body() {
        let passage = Passage {
            from: "n0".to_owned(),
            to: "n1".to_owned(),
            caller: Passed::Person {
                name: "amy\n".to_owned(),
                known: true,
                roles: vec!["admin".to_owned()],
                uid: None,
            },
            method: "POST".to_owned(),
            target: "/api/v1/deposits".to_owned(),
            headers: vec![("idempotency-key".to_owned(), "k".to_owned())],
        };
        let whole = passage.with_body(b"a\nb").unwrap();
        assert_eq!(Passage::split(&whole), Some((passage, &b"a\nb"[..])));
        assert_eq!(Passage::split(b"{}\nx"), None);
        assert_eq!(Passage::split(b"no line"), None);
    }
}
