//! Transactions that move money, and recurring deposits.

use bank_api::v1::{
    Correction, Cycle, CycleRun, List, NewAdjustment, NewCycle, NewDeposit, NewRefund, NewReversal,
    NewSettlement, NewTransfer, NewWithdrawal, PageQuery, PatchCycle, Proposal, Receipt, Removed,
    Transfer, Written,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Bring money into an account.
    offer(POST deposit propose_deposit() NewDeposit) "/api/v1/deposits" -> Receipt;
    /// Take money out of an account.
    offer(POST withdraw propose_withdraw() NewWithdrawal) "/api/v1/withdrawals" -> Receipt;
    /// Move money from one account to another.
    offer(POST transfer propose_transfer() NewTransfer) "/api/v1/transfers" -> Transfer;
    /// Give back what a job was charged.
    offer(POST refund propose_refund() NewRefund) "/api/v1/refunds" -> Correction;
    /// Correct an allocation by an amount with its sign.
    offer(POST adjust propose_adjust() NewAdjustment) "/api/v1/adjustments" -> Correction;
    /// Take a transaction back.
    offer(POST reverse propose_reverse() NewReversal) "/api/v1/reversals" -> Correction;
    /// Charge an unbilled job to a project.
    send(POST settle() NewSettlement) "/api/v1/settlements" -> Correction;
    /// Cycles of accounts in view.
    read(cycles() PageQuery) "/api/v1/cycles" -> List<Cycle>;
    /// Make a cycle.
    offer(POST add_cycle propose_add_cycle() NewCycle) "/api/v1/cycles" -> Written<Cycle>;
    /// One cycle.
    show(cycle(name)) "/api/v1/cycles/{name}" -> Cycle;
    /// Change a cycle.
    offer(PATCH change_cycle propose_change_cycle(name) PatchCycle) "/api/v1/cycles/{name}" -> Written<Cycle>;
    /// Remove a cycle.
    act(DELETE remove_cycle(name)) "/api/v1/cycles/{name}" -> Removed;
    /// What the next boundary will do, or what is due.
    act(POST run_cycle(name)) "/api/v1/cycles/{name}/run" -> Written<CycleRun>;
}
