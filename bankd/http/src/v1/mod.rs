//! The JSON API, `/api/v1`: one file for each noun, the table of routes in [`table`].
//!
//! A handler reads its request through `call::Call` and sees the bank through `view::View`, where hidden
//! objects do not exist. It either sends a query to the read pool or submits one command to the writer. No
//! handler may change the ledger in another way or decide a rule.

mod account;
mod allocation;
mod approval;
mod arithmetic;
mod attention;
mod balance;
pub mod batch;
mod call;
mod charge;
mod clock;
mod close;
mod correction;
mod covered;
mod cycle;
mod enforced;
mod explain;
mod explained;
mod export;
mod forecast;
mod formula;
mod gold;
mod historical;
mod import;
mod job;
mod journal;
mod json;
mod key;
mod lien;
mod limit;
mod lists;
mod mapping;
mod mark;
mod member;
mod metrics;
mod migration;
mod money;
mod monitor;
mod named;
mod natural;
mod object;
mod ondemand;
mod outcome;
mod overflow;
mod owner;
mod pages;
mod partner;
mod path;

mod proof;
mod proposal;
mod quarantine;
mod query;
mod quote;
mod rate;
mod rate_test;
mod reason;
mod reconcile;
mod record;
mod recorded;
mod records;
mod report;
mod report_sampled;
mod report_usage;
mod request;
mod reserve;
mod role;
mod scheduled;
mod setting;
mod settlement;
mod share;
mod source;
mod statement;
mod status;
mod stored_quote;
pub mod table;
mod token;
mod unmapped;
mod usage;
mod user_directory;
mod view;
mod web_link;
mod web_login;
mod whatif;

pub use table::rows;

#[cfg(test)]
mod tests;
