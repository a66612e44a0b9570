//! Documents of schedulers, requests of Gold and pieces of imported files: bodies that are not JSON.

use bank_api::v1::{ImportTaken, PieceQuery};

use serde_json::json;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, nami::Line, path::query, write::Write};

rows! {
    /// Price of an object.
    lines(nami_quote()) "/nami/v1/quote";
    /// An object was submitted.
    lines(nami_create()) "/nami/v1/create";
    /// An object starts.
    lines(nami_reserve()) "/nami/v1/reserve";
    /// Charges the usage of an object.
    lines(nami_charge()) "/nami/v1/charge";
    /// An object was removed: releases its lien.
    lines(nami_delete()) "/nami/v1/delete";
    /// As reserve.
    lines(nami_start()) "/nami/v1/start";
    /// As charge.
    lines(nami_update()) "/nami/v1/update";
    /// An object continues.
    lines(nami_continue()) "/nami/v1/continue";
    /// An object was used, and suspended.
    lines(nami_pause()) "/nami/v1/pause";
    /// A suspended object continues.
    lines(nami_resume()) "/nami/v1/resume";
    /// An object was used, and has ended.
    lines(nami_end()) "/nami/v1/end";
    /// An object was changed.
    lines(nami_modify()) "/nami/v1/modify";
}

/// The routes of this file that are no rows of the table above.
pub(super) const OTHERS: &[(&str, &str)] = &[("POST", GOLD), ("POST", PIECE)];
const GOLD: &str = "/api/v1/gold";
const PIECE: &str = "/api/v1/imports/{id}/data";

/// A document of a scheduler, for the routes of NAMI.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The XML.
    pub xml: String,
    /// The machine of objects that name none.
    pub machine: Option<String>,
    /// The time of the event (RFC 3339), if the document is sent later.
    pub event_time: Option<String>,
    /// Quotes are answered with `COST:TID`, creates with a TID.
    pub print_tid: bool,
    /// Bytes that are no UTF-8 are read as Latin-1.
    pub latin1_fallback: bool,
}

impl Document {
    /// The call of a document to a route.
    fn call(&self, path: &str, write: Write) -> Call {
        let parameters = json!({
            "dry_run": write.dry_run,
            "latin1_fallback": self.latin1_fallback,
            "machine": self.machine,
            "print_tid": self.print_tid,
        });
        Call {
            event_time: self.event_time.clone(),
            ..Call::xml(
                target(path, &[]) + &query(&parameters),
                self.xml.clone(),
                write.key,
            )
        }
    }
}

impl Call {
    /// Send a request of Gold's protocol, without its envelope.
    pub fn gold(request: impl Into<String>, write: impl Into<Write>) -> Self {
        let write = write.into();
        Self::xml(write.target(target(GOLD, &[])), request.into(), write.key)
    }

    /// Send a piece of an imported file.
    pub fn import_piece(id: &str, piece: &PieceQuery, bytes: Vec<u8>, key: &str) -> Self {
        Self::bytes(target(PIECE, &[id]) + &query(piece), bytes, key.to_owned())
    }
}

impl Client {
    /// Send a request of Gold's protocol, without its envelope. The answer is the body of Gold's response.
    ///
    /// # Errors
    /// Every variant of [`Error`].
    pub fn gold(
        &self,
        request: impl Into<String>,
        write: impl Into<Write>,
    ) -> Result<String, Error> {
        self.text(&Call::gold(request, write))
    }

    /// Send a piece of an imported file.
    ///
    /// # Errors
    /// Every variant of [`Error`].
    pub fn import_piece(
        &self,
        id: &str,
        piece: &PieceQuery,
        bytes: Vec<u8>,
        key: &str,
    ) -> Result<ImportTaken, Error> {
        self.call(&Call::import_piece(id, piece, bytes, key))
    }

    /// Sends a document and reads the answer, one line for each object. A refusal is a line.
    ///
    /// # Errors
    /// Every variant of [`Error`]; an answer without lines is an error.
    pub(super) fn lines(&self, call: &Call) -> Result<Vec<Line>, Error> {
        let text = match self.text(call) {
            Ok(text) => text,
            Err(Error::Refused(refused)) if !refused.is_passing() => {
                return match Line::parse_all(&refused.text) {
                    Ok(lines) => Ok(lines),
                    Err(_) => Err(Error::Refused(refused)),
                };
            }
            Err(error) => return Err(error),
        };
        Line::parse_all(&text).map_err(|error| Error::Unreadable {
            server: self.server().to_owned(),
            why: error.to_string(),
            answer: Some(text),
        })
    }
}
