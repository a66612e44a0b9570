//! Accounts, their allocations and their balances.

use bank_api::v1::{
    Account, AccountsQuery, Allocation, AllocationQuery, Balance, BalanceQuery, Correction, List,
    NewAccount, OnDemandBalances, OnDemandQuery, PastQuery, PatchAccount, PatchAllocation,
    Proposal, RemoveQuery, Removed, Written,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Accounts in view, by name, with their sums.
    read(accounts() AccountsQuery) "/api/v1/accounts" -> List<Account>;
    /// Make an account.
    send(POST add_account() NewAccount) "/api/v1/accounts" -> Written<Account>;
    /// One account, by name or number.
    read(account(name) PastQuery) "/api/v1/accounts/{name}" -> Account;
    /// Change an account.
    send(PATCH change_account(name) PatchAccount) "/api/v1/accounts/{name}" -> Written<Account>;
    /// Remove an account.
    act_by(DELETE remove_account(name) RemoveQuery) "/api/v1/accounts/{name}" -> Removed;
    /// Bring a removed account back.
    act(POST undelete_account(name)) "/api/v1/accounts/{name}/undelete" -> Correction;
    /// Allocations in view; deposits make them.
    read(allocations() AllocationQuery) "/api/v1/allocations" -> List<Allocation>;
    /// One allocation.
    read(allocation(id) PastQuery) "/api/v1/allocations/{id}" -> Allocation;
    /// Move the window of an allocation, or set its limit.
    offer(PATCH change_allocation propose_change_allocation(id) PatchAllocation) "/api/v1/allocations/{id}" -> Written<Allocation>;
    /// Remove an allocation.
    act_by(DELETE remove_allocation(id) RemoveQuery) "/api/v1/allocations/{id}" -> Removed;
    /// A row for each account in view.
    read(balances() BalanceQuery) "/api/v1/balances" -> List<Balance>;
    /// Balances for the dashboard of Open `OnDemand`.
    read(on_demand_balances() OnDemandQuery) "/api/v1/ondemand/balances.json" -> OnDemandBalances;
}
