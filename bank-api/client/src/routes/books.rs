//! The journal, statements, closed periods and proofs.

use bank_api::v1::{
    Close, CloseQuery, ExplainQuery, Explanation, JournalPage, JournalQuery, KeptCheckpoint, List,
    Monitor, MonitorQuery, NewClose, PageQuery, QueryAnswer, QueryQuery, SignedCheckpoint,
    Statement, StatementLine, StatementLineQuery, StatementQuery, UndoClose, Verification,
    VerificationQuery, Written,
};
use ureq::http::Method;

use super::{Record, rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// The journal, oldest first.
    read(journal() JournalQuery) "/api/v1/journal" -> JournalPage;
    /// Why a job was charged as it was, or what a transaction did.
    read(explanation(name) ExplainQuery) "/api/v1/explanations/{name}" -> Explanation;
    /// Ask in the query language.
    read(query() QueryQuery) "/api/v1/query" -> QueryAnswer;
    /// What strict enforcement would have refused, in the order of the journal.
    read(monitor() MonitorQuery) "/api/v1/monitor" -> Monitor;
    /// The statement of a project, an account, a user or a machine over a period.
    read(statement() StatementQuery) "/api/v1/statements" -> Statement;
    /// The lines of a statement, in order of time.
    read(statement_entries() StatementLineQuery) "/api/v1/statements/entries" -> List<StatementLine>;
    /// Periods of the books that were closed, the newest first.
    read(closes() CloseQuery) "/api/v1/closes" -> List<Close>;
    /// Close the books of a period that is over.
    send(POST close() NewClose) "/api/v1/closes" -> Written<Close>;
    /// Open the period again that was closed last.
    send(POST undo_close() UndoClose) "/api/v1/closes/undo" -> Written<Close>;
    /// The verification that runs, else the last one.
    read(verification() VerificationQuery) "/api/v1/verifications" -> Verification;
    /// Begin to prove every balance and hash, unless that is under way.
    ask(verify() ()) "/api/v1/verifications" -> Verification;
    /// A signed checkpoint of what the bank is now.
    show(checkpoint()) "/api/v1/checkpoint" -> SignedCheckpoint;
    /// The checkpoints that the daemon made, compared with the bank.
    read(checkpoints() PageQuery) "/api/v1/checkpoints" -> List<KeptCheckpoint>;
}
