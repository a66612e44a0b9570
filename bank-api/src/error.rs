//! The table from refusal code to HTTP status, exit codes and Gold's code (decisions.md 17, 23 and 24;
//! `nami.md` 2.2; `ledger.md` 2.6 and 11), and the problem document of RFC 9457.
//!
//! Nothing else in the workspace may map a refusal to a number. A code once published keeps its
//! meaning.

use serde::{Deserialize, Serialize};

use crate::exit::{bank, nami};

/// A refusal code with its number at each interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The code: stable, snake case.
    pub code: &'static str,
    /// HTTP status.
    pub http: u16,
    /// Exit code of `bank`.
    pub bank: u8,
    /// Exit code of the NAMI scripts, before the site's own map.
    pub nami: u8,
    /// Status code of the Gold gateway, three digits.
    pub gold: &'static str,
    /// A short name for people, without particulars.
    pub title: &'static str,
}

const fn entry(
    code: &'static str,
    http: u16,
    bank: u8,
    nami: u8,
    gold: &'static str,
    title: &'static str,
) -> Row {
    Row {
        code,
        http,
        bank,
        nami,
        gold,
        title,
    }
}

/// All refusals, sorted by code.
///
/// The documents do not define three cases. `bad_event_time` is a clock error, so scripts treat it like 401
/// and keep the document. Headers that only a faulty client sends (`duplicate_header`,
/// `idempotency_key_required`) are "anything else", because the document is not faulty. A blocked account
/// counts as insufficient funds.
#[rustfmt::skip]
pub static TABLE: &[Row] = &[
    entry("account_blocked", 402, bank::FUNDS, nami::FUNDS, "782", "account blocked until a deposit"),
    entry("allocation_overlap", 409, bank::REFUSED, nami::OTHER, "740", "allocations overlap"),
    entry("already_exists", 409, bank::CONFLICT, nami::OTHER, "740", "already exists"),
    entry("already_reversed", 409, bank::REFUSED, nami::OTHER, "740", "already reversed"),
    entry("ambiguous", 409, bank::REFUSED, nami::REFUSED, "740", "ambiguous name"),
    entry("amount_overflow", 422, bank::REFUSED, nami::DOCUMENT, "740", "amount out of range"),
    entry("amount_too_large", 422, bank::REFUSED, nami::DOCUMENT, "740", "amount too large"),
    entry("approval_needed", 403, bank::REFUSED, nami::OTHER, "740", "approval required"),
    entry("bad_amount", 422, bank::REFUSED, nami::DOCUMENT, "740", "amount not allowed"),
    entry("bad_amount_syntax", 400, bank::USAGE, nami::DOCUMENT, "314", "not an amount"),
    entry("bad_document", 400, bank::USAGE, nami::DOCUMENT, "313", "unusable document"),
    entry("bad_duration", 400, bank::USAGE, nami::DOCUMENT, "314", "not a duration"),
    entry("bad_event_time", 400, bank::USAGE, nami::AUTH, "314", "event time not allowed"),
    entry("bad_name", 422, bank::REFUSED, nami::DOCUMENT, "314", "name not allowed"),
    entry("bad_number", 400, bank::USAGE, nami::DOCUMENT, "314", "not a number"),
    entry("bad_rate", 422, bank::REFUSED, nami::OTHER, "740", "rate not allowed"),
    entry("bad_request", 400, bank::USAGE, nami::DOCUMENT, "314", "malformed request"),
    entry("bad_value", 422, bank::REFUSED, nami::DOCUMENT, "314", "value not allowed"),
    entry("bad_window", 422, bank::REFUSED, nami::DOCUMENT, "740", "window not allowed"),
    entry("balance_not_zero", 409, bank::REFUSED, nami::OTHER, "740", "balance not zero"),
    entry("body_incomplete", 408, bank::UNAVAILABLE, nami::INTERNAL, "242", "body incomplete"),
    entry("busy", 503, bank::UNAVAILABLE, nami::INTERNAL, "720", "busy, try again"),
    entry("cycle", 409, bank::REFUSED, nami::OTHER, "740", "would close a circle"),
    entry("cycle_not_due", 409, bank::REFUSED, nami::OTHER, "740", "cycle not due"),
    entry("database_moved", 503, bank::UNAVAILABLE, nami::INTERNAL, "720", "the bank's file was moved"),
    entry("disk_full", 507, bank::UNAVAILABLE, nami::INTERNAL, "720", "the bank's disk is full"),
    entry("duplicate_header", 400, bank::USAGE, nami::OTHER, "242", "header sent twice"),
    entry("fallback_chain", 422, bank::REFUSED, nami::OTHER, "740", "fallback of a fallback"),
    entry("has_refunds", 409, bank::REFUSED, nami::OTHER, "740", "has refunds"),
    entry("idempotency_key_required", 400, bank::USAGE, nami::OTHER, "242", "key required"),
    entry("implausible_duration", 422, bank::REFUSED, nami::REFUSED, "740", "more time than has passed"),
    entry("import_gone", 404, bank::UNAVAILABLE, nami::OTHER, "740", "import expired"),
    entry("in_use", 409, bank::REFUSED, nami::OTHER, "740", "still in use"),
    entry("insufficient_funds", 402, bank::FUNDS, nami::FUNDS, "782", "insufficient funds"),
    entry("internal", 500, bank::INTERNAL, nami::INTERNAL, "720", "internal error"),
    entry("key_reused", 409, bank::CONFLICT, nami::OTHER, "740", "key used for another request"),
    entry("lien_ended", 409, bank::REFUSED, nami::OTHER, "740", "lien has ended"),
    entry("live_liens", 409, bank::REFUSED, nami::OTHER, "740", "live liens"),
    entry("machine_inactive", 403, bank::REFUSED, nami::REFUSED, "740", "machine inactive"),
    entry("machine_unknown", 404, bank::NOT_FOUND, nami::REFUSED, "740", "unknown machine"),
    entry("method_not_allowed", 405, bank::USAGE, nami::UNSUPPORTED, "315", "method not allowed"),
    entry("migration_changed", 409, bank::CONFLICT, nami::OTHER, "740", "moved in with other contents"),
    entry("migration_unequal", 409, bank::REFUSED, nami::OTHER, "740", "balances differ"),
    entry("missing_field", 400, bank::USAGE, nami::DOCUMENT, "314", "missing field"),
    entry("negative_charge", 422, bank::REFUSED, nami::DOCUMENT, "740", "negative usage"),
    entry("no_clock_jump", 409, bank::REFUSED, nami::OTHER, "740", "no clock jump to confirm"),
    entry("no_default_project", 422, bank::REFUSED, nami::REFUSED, "740", "no default project"),
    entry("no_usable_account", 403, bank::REFUSED, nami::REFUSED, "740", "no usable account"),
    entry("not_a_member", 403, bank::REFUSED, nami::REFUSED, "740", "not a member"),
    entry("not_allowed", 403, bank::DENIED, nami::DENIED, "444", "not allowed"),
    entry("not_found", 404, bank::NOT_FOUND, nami::REFUSED, "740", "not found"),
    entry("not_reversible", 409, bank::REFUSED, nami::OTHER, "740", "not reversible"),
    entry("not_settable", 422, bank::REFUSED, nami::OTHER, "740", "not settable"),
    entry("not_sound", 409, bank::REFUSED, nami::OTHER, "740", "the bank is not sound"),
    entry("nothing_closed", 409, bank::REFUSED, nami::OTHER, "740", "nothing closed"),
    entry("nothing_to_refund", 409, bank::REFUSED, nami::OTHER, "740", "nothing to refund"),
    entry("nothing_unbilled", 409, bank::REFUSED, nami::OTHER, "740", "nothing unbilled"),
    entry("over_limit", 403, bank::REFUSED, nami::OTHER, "740", "above the limit"),
    entry("overlap", 409, bank::REFUSED, nami::OTHER, "740", "overlaps billed usage"),
    entry("own_proposal", 403, bank::DENIED, nami::DENIED, "444", "your own proposal"),
    entry("partner_away", 503, bank::UNAVAILABLE, nami::INTERNAL, "720", "partner bank away"),
    entry("partner_out_of_step", 409, bank::CONFLICT, nami::OTHER, "740", "partner banks out of step"),
    entry("partner_refused", 403, bank::REFUSED, nami::REFUSED, "740", "refused by the partner bank"),
    entry("period_closed", 409, bank::REFUSED, nami::OTHER, "740", "period closed"),
    entry("period_gap", 409, bank::REFUSED, nami::OTHER, "740", "would leave a gap"),
    entry("period_not_over", 422, bank::REFUSED, nami::OTHER, "740", "period not over"),
    entry("project_inactive", 403, bank::REFUSED, nami::REFUSED, "740", "project inactive"),
    entry("project_unknown", 404, bank::NOT_FOUND, nami::REFUSED, "740", "unknown account"),
    entry("proposal_over", 409, bank::CONFLICT, nami::OTHER, "740", "no open proposal"),
    entry("quote_invalid", 409, bank::REFUSED, nami::REFUSED, "740", "quote not valid"),
    entry("rate_limited", 429, bank::UNAVAILABLE, nami::INTERNAL, "720", "too many requests of this client"),
    entry("refund_exceeds_charge", 422, bank::REFUSED, nami::OTHER, "740", "refund above the charge"),
    entry("same_account", 422, bank::REFUSED, nami::OTHER, "740", "same account"),
    entry("shares_over_100", 422, bank::REFUSED, nami::OTHER, "740", "shares above 100"),
    entry("statement_differs", 500, bank::INTERNAL, nami::INTERNAL, "720", "statement does not add up"),
    entry("too_large", 413, bank::USAGE, nami::DOCUMENT, "242", "too large"),
    entry("too_many_decimals", 422, bank::REFUSED, nami::DOCUMENT, "740", "too many decimals"),
    entry("too_many_requests", 409, bank::REFUSED, nami::OTHER, "740", "too many open requests"),
    entry("unauthorized", 401, bank::DENIED, nami::AUTH, "422", "not authenticated"),
    entry("uncovered", 409, bank::REFUSED, nami::OTHER, "740", "would leave debt uncovered"),
    entry("undone", 409, bank::REFUSED, nami::OTHER, "740", "undone with another command"),
    entry("unknown_attribute", 422, bank::USAGE, nami::UNSUPPORTED, "710", "unknown attribute"),
    entry("unsupported", 501, bank::USAGE, nami::UNSUPPORTED, "315", "not supported"),
    entry("user_inactive", 403, bank::REFUSED, nami::REFUSED, "740", "user inactive"),
    entry("user_unknown", 404, bank::NOT_FOUND, nami::REFUSED, "740", "unknown user"),
    entry("was_removed", 409, bank::CONFLICT, nami::OTHER, "740", "removed, and can come back"),
    entry("window_in_past", 422, bank::REFUSED, nami::OTHER, "740", "window is over"),
];

/// The row for a code without one. Such a code is a bug, so an internal error.
static INTERNAL: Row = entry(
    "internal",
    500,
    bank::INTERNAL,
    nami::INTERNAL,
    "720",
    "internal error",
);

/// The row of a code.
pub fn row(code: &str) -> Option<&'static Row> {
    TABLE
        .binary_search_by(|row| row.code.cmp(code))
        .ok()
        .and_then(|index| TABLE.get(index))
}

/// The row of a code, or that of `internal`: a code without a row is a bug of ours.
pub fn row_or_internal(code: &str) -> &'static Row {
    row(code).unwrap_or(&INTERNAL)
}

/// Exit code of `bank` for a response without a known code, by its status (decisions.md 24).
pub fn bank_exit_of_status(status: u16) -> u8 {
    match status {
        200..=299 => bank::DONE,
        400 | 405 | 413 => bank::USAGE,
        401 | 403 => bank::DENIED,
        402 => bank::FUNDS,
        404 => bank::NOT_FOUND,
        409 => bank::CONFLICT,
        422 => bank::REFUSED,
        408 | 429 | 502..=504 => bank::UNAVAILABLE,
        _ => bank::INTERNAL,
    }
}

/// Exit code of the NAMI scripts for an answer without a valid line, by its status (`nami.md` 2.2). A bare
/// 403 means missing rights, because a rule always sends a line.
pub fn nami_exit_of_status(status: u16) -> u8 {
    match status {
        400 | 413 | 422 => nami::DOCUMENT,
        401 => nami::AUTH,
        402 => nami::FUNDS,
        403 => nami::DENIED,
        405 | 501 => nami::UNSUPPORTED,
        408 | 429 | 500 | 502..=504 => nami::INTERNAL,
        _ => nami::OTHER,
    }
}

/// The problem document of RFC 9457 with additional members; media type `application/problem+json`. Absent
/// members are omitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// `urn:bank:problem:CODE`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The short name of the code.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// The refusal code, a row of [`TABLE`].
    pub code: String,
    /// Description of this case, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// A remedy. It contains only names that the caller may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The parameter of the query, or the member of the body (names with slashes between), that cannot be
    /// read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The id of the request in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Required amount, exact decimal, for insufficient funds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
    /// Available amount, exact decimal, for insufficient funds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<String>,
}

impl Problem {
    /// The document for a code; a code without a row becomes `internal`.
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        let row = row_or_internal(code);
        let detail = crate::reason::bounded(detail);
        Self {
            kind: format!("urn:bank:problem:{}", row.code),
            title: row.title.to_owned(),
            status: row.http,
            code: row.code.to_owned(),
            detail: (!detail.is_empty()).then_some(detail),
            hint: None,
            field: None,
            request_id: None,
            needed: None,
            available: None,
        }
    }

    /// Reads a body; `None` if it is no problem document.
    pub fn from_json(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// What happened, in the words that people read on a screen and on a page.
    pub fn message(&self) -> String {
        let message = self.detail.as_ref().unwrap_or(&self.title);
        let words = self.code.replace('_', " ");
        match self.row().bank {
            bank::REFUSED | bank::FUNDS => format!("refused: {}", prefixed(&words, message)),
            bank::DENIED => format!(
                "not allowed: {}",
                message.trim_start_matches("not allowed: ")
            ),
            bank::CONFLICT => format!("conflict: {}", prefixed(&words, message)),
            bank::INTERNAL => format!("internal error of the daemon: {message}"),
            bank::UNAVAILABLE => format!("the daemon cannot take it now: {message}"),
            _ => message.clone(),
        }
    }

    /// The row of the document's code.
    pub fn row(&self) -> &'static Row {
        row_or_internal(&self.code)
    }
}

/// `code words: detail`, or the detail alone if it begins or ends with these words.
fn prefixed(words: &str, message: &str) -> String {
    let text = message.to_lowercase();
    if text.starts_with(words) || text.ends_with(words) {
        message.to_owned()
    } else {
        format!("{words}: {message}")
    }
}

/// Whether an answer with this status refuses its request, or reports a failure.
pub fn is_refusal(status: u16) -> bool {
    status >= 400
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_complete_in_itself() {
        for pair in TABLE.windows(2) {
            assert!(
                pair[0].code < pair[1].code,
                "{} before {}",
                pair[0].code,
                pair[1].code
            );
        }
        for row in TABLE {
            assert_eq!(super::row(row.code), Some(row));
            assert!((400..600).contains(&row.http) && row.nami < 126 && row.bank < 126);
            assert!(row.gold.len() == 3 && row.gold.parse::<u16>().is_ok());
        }
        assert_eq!(row_or_internal("no such code").http, 500);
    }

    /// The rows that documents fix: decisions.md 17, nami.md 2.2, ledger.md 2.6 and 11.
    #[test]
    fn fixed_rows() {
        for (code, http, bank, nami, gold) in [
            ("insufficient_funds", 402, 3, 78, "782"),
            ("account_blocked", 402, 3, 78, "782"),
            ("not_a_member", 403, 1, 74, "740"),
            ("no_usable_account", 403, 1, 74, "740"),
            ("user_inactive", 403, 1, 74, "740"),
            ("project_unknown", 404, 4, 74, "740"),
            ("no_default_project", 422, 1, 74, "740"),
            ("not_allowed", 403, 6, 44, "444"),
            ("unauthorized", 401, 6, 42, "422"),
            ("key_reused", 409, 7, 99, "740"),
            ("already_exists", 409, 7, 99, "740"),
            ("not_found", 404, 4, 74, "740"),
            ("bad_amount", 422, 1, 31, "740"),
            ("bad_duration", 400, 2, 31, "314"),
            ("missing_field", 400, 2, 31, "314"),
            ("bad_document", 400, 2, 31, "313"),
            ("too_large", 413, 2, 31, "242"),
            ("busy", 503, 5, 70, "720"),
            ("database_moved", 503, 5, 70, "720"),
            ("disk_full", 507, 5, 70, "720"),
            ("internal", 500, 70, 70, "720"),
        ] {
            let row = row(code).unwrap();
            assert_eq!(
                (row.http, row.bank, row.nami, row.gold),
                (http, bank, nami, gold),
                "{code}"
            );
        }
    }

    #[test]
    fn problem_leaves_out_what_is_absent() {
        let problem = Problem::new("key_reused", "");
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            "{\"type\":\"urn:bank:problem:key_reused\",\"title\":\"key used for another request\",\
             \"status\":409,\"code\":\"key_reused\"}"
        );
        let text = serde_json::to_vec(&Problem::new("busy", "queue is full")).unwrap();
        assert_eq!(Problem::from_json(&text).unwrap().row().http, 503);
        assert_eq!(Problem::from_json(b"<html>"), None);
    }
}
