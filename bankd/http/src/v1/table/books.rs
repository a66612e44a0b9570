//! The books: statements, and the periods that are closed.

use bank_api::v1::{
    Close, CloseQuery, List, Migration, NewClose, NewMigration, Statement, StatementLine,
    StatementLineQuery, StatementQuery, UndoClose, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{close, migration, statement};
use super::{NAMED, VALUES};
use crate::route::Route;

pub(super) fn rows() -> Vec<Route> {
    vec![
        Route::get("/api/v1/statements", statement::show)
            .right(Right::SeeLedger)
            .description("The statement of a project, an account, a user or a machine over a period")
            .more(
                "Opening + credits + debits = closing: checked for each account against its balances \
                 at every call.",
            )
            .asks::<StatementQuery>()
            .gives::<Statement>(200, "The statement.")
            .refuses(&[NAMED, &["bad_window", "no_usable_account"]])
            .refuses(&[&["statement_differs"]]),
        Route::get("/api/v1/statements/entries", statement::lines)
            .right(Right::SeeLedger)
            .description("The lines of a statement, in order of time")
            .asks::<StatementLineQuery>()
            .gives::<List<StatementLine>>(200, "A page of lines.")
            .refuses(&[NAMED, &["bad_window", "no_usable_account"]]),
        Route::post("/api/v1/migrations", migration::open)
            .right(Right::Migrate)
            .description("Open this bank with the contents of another")
            .more(
                "All items are written in one transaction of the database, or none. A repeat adds what is new and \
                 changes nothing else.",
            )
            .body::<NewMigration>()
            .gives::<Migration>(200, "What was written, and the proof of the balances.")
            .refuses(&[NAMED, VALUES, &["migration_changed", "migration_unequal"]])
            .refuses(&[&["period_closed", "too_large"]]),
        Route::get("/api/v1/closes", close::list)
            .right(Right::SeeLedger)
            .description("Periods of the books that were closed, the newest first")
            .asks::<CloseQuery>()
            .gives::<List<Close>>(200, "A page of them."),
        Route::post("/api/v1/closes", close::close)
            .right(Right::ClosePeriods)
            .description("Close the books of a period that is over")
            .more("What comes later is an adjustment of the open period, with its own date.")
            .body::<NewClose>()
            .gives::<Written<Close>>(201, "What is closed.")
            .refuses(&[VALUES, &["bad_window", "period_closed", "period_gap"]])
            .refuses(&[&["period_not_over"]]),
        Route::post("/api/v1/closes/undo", close::undo)
            .right(Right::ClosePeriods)
            .description("Open the period again that was closed last")
            .body::<UndoClose>()
            .gives::<Written<Close>>(200, "What is open again.")
            .refuses(&[VALUES, &["nothing_closed"]]),
    ]
}
