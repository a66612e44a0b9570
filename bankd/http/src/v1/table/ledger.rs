//! Money: allocations, balances, what brings it in and out, what is done after the fact.

use bank_api::v1::{
    Allocation, AllocationQuery, Balance, BalanceQuery, Correction, ExplainQuery, Explanation,
    JournalPage, JournalQuery, List, Monitor, MonitorQuery, NewAdjustment, NewDeposit, NewRefund,
    NewReversal, NewSettlement, NewTransfer, NewWithdrawal, OnDemandBalances, OnDemandQuery,
    PastQuery, PatchAllocation, QueryAnswer, QueryQuery, Receipt, RefusedJob, RefusedQuery,
    RemoveQuery, Removed, Transfer, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{
    allocation, balance, correction, explained, gold, journal, money, monitor, ondemand, query,
};
use super::{AMOUNTS, APPROVAL, HELD, NAMED, SHORT, VALUES, WINDOW};
use crate::route::{Joins, Route};

pub(super) fn rows() -> Vec<Route> {
    [allocations(), movements(), corrections(), readings()]
        .into_iter()
        .flatten()
        .collect()
}

fn allocations() -> Vec<Route> {
    vec![
        Route::get("/api/v1/allocations", allocation::list)
            .right(Right::SeeLedger)
            .description("Allocations in view; deposits make them")
            .asks::<AllocationQuery>()
            .gives::<List<Allocation>>(200, "The allocations.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/allocations/{id}", allocation::show)
            .right(Right::SeeLedger)
            .description("One allocation")
            .asks::<PastQuery>()
            .gives::<Allocation>(200, "The allocation."),
        Route::patch("/api/v1/allocations/{id}", allocation::set)
            .right(Right::ChangeAllocations)
            .description("Move the window of an allocation, or set its limit")
            .offers::<PatchAllocation>()
            .gives::<Written<Allocation>>(200, "The allocation as it is now.")
            .refuses(&[VALUES, AMOUNTS, WINDOW, &["not_settable", "uncovered"]]),
        Route::delete("/api/v1/allocations/{id}", allocation::remove)
            .right(Right::ChangeAllocations)
            .description("Remove an allocation")
            .query::<RemoveQuery>()
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[VALUES, HELD, APPROVAL]),
    ]
}

fn movements() -> Vec<Route> {
    vec![
        Route::post("/api/v1/deposits", money::deposit)
            .right(Right::Deposit)
            .joins(Joins::Beside)
            .description("Bring money into an account")
            .offers::<NewDeposit>()
            .gives::<Receipt>(201, "What was deposited, and what is there now.")
            .refuses(&[VALUES, AMOUNTS, NAMED, WINDOW]),
        Route::post("/api/v1/withdrawals", money::withdraw)
            .right(Right::Withdraw)
            .joins(Joins::Beside)
            .description("Take money out of an account")
            .offers::<NewWithdrawal>()
            .gives::<Receipt>(201, "What was withdrawn, and what is left.")
            .refuses(&[VALUES, AMOUNTS, NAMED, SHORT]),
        Route::post("/api/v1/transfers", correction::transfer)
            .right(Right::Transfer)
            .joins(Joins::Beside)
            .description("Move money from one account to another")
            .offers::<NewTransfer>()
            .gives::<Transfer>(201, "What moved.")
            .refuses(&[VALUES, AMOUNTS, NAMED, SHORT])
            .refuses(&[&["allocation_overlap", "same_account"]]),
    ]
}

fn corrections() -> Vec<Route> {
    vec![
        Route::post("/api/v1/refunds", correction::refund)
            .right(Right::Refund)
            .joins(Joins::Beside)
            .description("Give back what a job was charged")
            .offers::<NewRefund>()
            .gives::<Correction>(201, "What went back, and what is left of the charge.")
            .refuses(&[VALUES, AMOUNTS, NAMED, WINDOW])
            .refuses(&[&["nothing_to_refund", "refund_exceeds_charge"]]),
        Route::post("/api/v1/adjustments", correction::adjust)
            .right(Right::Adjust)
            .joins(Joins::Beside)
            .description("Correct an allocation by an amount with its sign")
            .offers::<NewAdjustment>()
            .gives::<Correction>(201, "What was corrected.")
            .refuses(&[VALUES, AMOUNTS, NAMED, SHORT]),
        Route::post("/api/v1/reversals", correction::reverse)
            .right(Right::Reverse)
            .joins(Joins::Beside)
            .description("Take a transaction back")
            .offers::<NewReversal>()
            .gives::<Correction>(201, "The reversed entries.")
            .refuses(&[VALUES, NAMED, &["already_reversed", "has_refunds"]])
            .refuses(&[&["not_reversible", "amount_overflow", "uncovered"]]),
        Route::post("/api/v1/settlements", correction::settle)
            .right(Right::Settle)
            .description("Charge an unbilled job to a project")
            .body::<NewSettlement>()
            .gives::<Correction>(201, "What was billed.")
            .refuses(&[VALUES, NAMED, SETTLED]),
    ]
}

/// Who cannot be billed.
const SETTLED: &[&str] = &[
    "amount_overflow",
    "machine_unknown",
    "no_usable_account",
    "not_a_member",
    "nothing_unbilled",
    "project_unknown",
    "user_unknown",
];

fn readings() -> Vec<Route> {
    vec![
        Route::get("/api/v1/balances", balance::list)
            .right(Right::SeeLedger)
            .description("A row for each account in view")
            .asks::<BalanceQuery>()
            .gives::<List<Balance>>(200, "The balances.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/ondemand/balances.json", ondemand::balances)
            .right(Right::SeeLedger)
            .description("Balances for the dashboard of Open OnDemand")
            .asks::<OnDemandQuery>()
            .gives::<OnDemandBalances>(200, "A number for each member of each project."),
        Route::get("/api/v1/journal", journal::list)
            .right(Right::SeeLedger)
            .description("The journal, oldest first")
            .asks::<JournalQuery>()
            .gives::<JournalPage>(200, "A page of entries.")
            .refuses(&[NAMED, &["bad_window"]]),
        Route::get("/api/v1/refused-reserves", explained::refused)
            .right(Right::SeeLedger)
            .description("Refused reserves in view with their reasons, the latest first")
            .asks::<RefusedQuery>()
            .gives::<List<RefusedJob>>(200, "The last refusal of each job.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/explanations/{name}", explained::show)
            .right(Right::SeeLedger)
            .description("Why a job was charged as it was, or what a transaction did")
            .more("The name is the scheduler's id of a job, else the number of a transaction.")
            .query::<ExplainQuery>()
            .gives::<Explanation>(200, "Its transactions, each with how it came about.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/query", query::ask)
            .right(Right::SeeLedger)
            .description("Ask in the query language")
            .more("It only reads; docs/reference/query.md describes the language and the views.")
            .query::<QueryQuery>()
            .gives::<QueryAnswer>(200, "The rows."),
        Route::post("/api/v1/gold", gold::ask)
            .right(Right::SeeLedger)
            .description("A request of Gold's clients")
            .more(
                "The body is a Request of Gold 2.2, the answer a Response: refusals are in it, with the code \
                 of Gold, under status 200. Each action needs the right of its own route. \
                 docs/reference/gold-messages.md describes both.",
            )
            .bytes(gold::MEDIA)
            .gives_bytes(200, gold::MEDIA, "The answer of the gateway."),
        Route::get("/api/v1/monitor", monitor::list)
            .right(Right::SeeLedger)
            .description("What strict enforcement would have refused, in the order of the journal")
            .asks::<MonitorQuery>()
            .gives::<Monitor>(200, "A page of refusals.")
            .refuses(&[NAMED, &["bad_window"]]),
    ]
}
