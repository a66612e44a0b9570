//! Money: allocations, balances, what brings it in and out, what is done after the fact.

use bank_api::v1::{
    Allocation, AllocationQuery, Balance, BalanceQuery, Correction, ExplainQuery, Explanation,
    JournalPage, JournalQuery, List, Monitor, MonitorQuery, NewAdjustment, NewDeposit, NewRefund,
    NewReversal, NewSettlement, NewTransfer, NewWithdrawal, OnDemandBalances, OnDemandQuery,
    PastQuery, PatchAllocation, Proposal, ProposeQuery, QueryAnswer, QueryQuery, Receipt,
    RefusedJob, RefusedQuery, RemoveQuery, Removed, Transfer, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{
    allocation, balance, correction, explained, gold, journal, money, monitor, ondemand, query,
};
use super::{AMOUNTS, HELD, NAMED, VALUES};
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
            .query::<AllocationQuery>()
            .gives::<List<Allocation>>(200, "The allocations.")
            .refuses(NAMED)
            .refuses(&["bad_value"]),
        Route::get("/api/v1/allocations/{id}", allocation::show)
            .right(Right::SeeLedger)
            .description("One allocation")
            .query::<PastQuery>()
            .refuses(&["bad_value"])
            .gives::<Allocation>(200, "The allocation."),
        Route::patch("/api/v1/allocations/{id}", allocation::set)
            .right(Right::ChangeAllocations)
            .description("Move the window of an allocation, or set its limit")
            .query::<ProposeQuery>()
            .body::<PatchAllocation>()
            .gives::<Written<Proposal>>(202, "It waits for approval.")
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Written<Allocation>>(200, "The allocation as it is now.")
            .refuses(VALUES)
            .refuses(AMOUNTS)
            .refuses(&["allocation_overlap", "bad_window", "uncovered"])
            .refuses(&["not_settable", "window_in_past"]),
        Route::delete("/api/v1/allocations/{id}", allocation::remove)
            .right(Right::ChangeAllocations)
            .description("Remove an allocation")
            .query::<RemoveQuery>()
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Removed>(200, "It was removed.")
            .refuses(VALUES)
            .refuses(HELD),
    ]
}

fn movements() -> Vec<Route> {
    vec![
        Route::post("/api/v1/deposits", money::deposit)
            .right(Right::Deposit)
            .joins(Joins::Beside)
            .description("Bring money into an account")
            .query::<ProposeQuery>()
            .body::<NewDeposit>()
            .gives::<Written<Proposal>>(202, "It waits for approval.")
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Receipt>(201, "What was deposited, and what is there now.")
            .refuses(VALUES)
            .refuses(AMOUNTS)
            .refuses(NAMED)
            .refuses(&["allocation_overlap", "bad_window", "window_in_past"]),
        Route::post("/api/v1/withdrawals", money::withdraw)
            .right(Right::Withdraw)
            .joins(Joins::Beside)
            .description("Take money out of an account")
            .query::<ProposeQuery>()
            .body::<NewWithdrawal>()
            .gives::<Written<Proposal>>(202, "It waits for approval.")
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Receipt>(201, "What was withdrawn, and what is left.")
            .refuses(VALUES)
            .refuses(AMOUNTS)
            .refuses(NAMED)
            .refuses(&["account_blocked", "insufficient_funds"]),
        Route::post("/api/v1/transfers", correction::transfer)
            .right(Right::Transfer)
            .joins(Joins::Beside)
            .description("Move money from one account to another")
            .query::<ProposeQuery>()
            .body::<NewTransfer>()
            .gives::<Written<Proposal>>(202, "It waits for approval.")
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Transfer>(201, "What moved.")
            .refuses(VALUES)
            .refuses(AMOUNTS)
            .refuses(NAMED)
            .refuses(&["account_blocked", "insufficient_funds", "same_account"])
            .refuses(&["allocation_overlap"]),
    ]
}

fn corrections() -> Vec<Route> {
    vec![
        Route::post("/api/v1/refunds", correction::refund)
            .right(Right::Refund)
            .joins(Joins::Beside)
            .description("Give back what a job was charged")
            .query::<ProposeQuery>()
            .body::<NewRefund>()
            .gives::<Written<Proposal>>(202, "It waits for approval.")
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Correction>(201, "What went back, and what is left of the charge.")
            .refuses(VALUES)
            .refuses(AMOUNTS)
            .refuses(NAMED)
            .refuses(&["nothing_to_refund", "refund_exceeds_charge"])
            .refuses(&["allocation_overlap", "bad_window", "window_in_past"]),
        Route::post("/api/v1/adjustments", correction::adjust)
            .right(Right::Adjust)
            .joins(Joins::Beside)
            .description("Correct an allocation by an amount with its sign")
            .query::<ProposeQuery>()
            .body::<NewAdjustment>()
            .gives::<Written<Proposal>>(202, "It waits for approval.")
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Correction>(201, "What was corrected.")
            .refuses(VALUES)
            .refuses(AMOUNTS)
            .refuses(NAMED)
            .refuses(&["account_blocked", "insufficient_funds"]),
        Route::post("/api/v1/reversals", correction::reverse)
            .right(Right::Reverse)
            .joins(Joins::Beside)
            .description("Take a transaction back")
            .query::<ProposeQuery>()
            .body::<NewReversal>()
            .gives::<Written<Proposal>>(202, "It waits for approval.")
            .refuses(&["approval_needed", "over_limit"])
            .gives::<Correction>(201, "The reversed entries.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["already_reversed", "has_refunds", "not_reversible"])
            .refuses(&["amount_overflow", "uncovered"]),
        Route::post("/api/v1/settlements", correction::settle)
            .right(Right::Settle)
            .description("Charge an unbilled job to a project")
            .body::<NewSettlement>()
            .gives::<Correction>(201, "What was billed.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(SETTLED),
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
            .query::<BalanceQuery>()
            .gives::<List<Balance>>(200, "The balances.")
            .refuses(NAMED)
            .refuses(&["bad_value"]),
        Route::get("/api/v1/ondemand/balances.json", ondemand::balances)
            .right(Right::SeeLedger)
            .description("Balances for the dashboard of Open OnDemand")
            .query::<OnDemandQuery>()
            .gives::<OnDemandBalances>(200, "A number for each member of each project.")
            .refuses(&["bad_value"]),
        Route::get("/api/v1/journal", journal::list)
            .right(Right::SeeLedger)
            .description("The journal, oldest first")
            .query::<JournalQuery>()
            .gives::<JournalPage>(200, "A page of entries.")
            .refuses(NAMED)
            .refuses(&["bad_value"]),
        Route::get("/api/v1/refused-reserves", explained::refused)
            .right(Right::SeeLedger)
            .description("Refused reserves in view with their reasons, the latest first")
            .query::<RefusedQuery>()
            .gives::<List<RefusedJob>>(200, "The last refusal of each job.")
            .refuses(NAMED)
            .refuses(&["bad_value"]),
        Route::get("/api/v1/explanations/{name}", explained::show)
            .right(Right::SeeLedger)
            .description("Why a job was charged as it was, or what a transaction did")
            .more("The name is the scheduler's id of a job, else the number of a transaction.")
            .query::<ExplainQuery>()
            .gives::<Explanation>(200, "Its transactions, each with how it came about.")
            .refuses(NAMED),
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
            .query::<MonitorQuery>()
            .gives::<Monitor>(200, "A page of refusals.")
            .refuses(NAMED)
            .refuses(&["bad_value"]),
    ]
}
