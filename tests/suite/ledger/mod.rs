//! The rules of the ledger against both of its grounds: the book in memory and the store.
//!
//! `case_*` are the conformance cases of ledger.md 11, one test each; `model` compares random
//! sequences of every command (`script`) with a naive reference (`naive`), which predicts the answer,
//! the journal and what there is; `case_found` keeps what it has found; `race` lets many clients want the last credit.

mod ask;
mod ask_after;
mod bench;
mod case_account;
mod case_after;
mod case_between;
mod case_charge;
mod case_clock;
mod case_closing;
mod case_cycle;
mod case_deposit;
mod case_fallback;
mod case_found;
mod case_gold;
mod case_known;
mod case_lien;
mod case_lien_end;
mod case_lists;
mod case_mode;
mod case_nobody;
mod case_open_ends;
mod case_past;
mod case_patch;
mod case_period;
mod case_price;
mod case_quote;
mod case_rate;
mod case_shortfall;
mod case_store;
mod case_tree;
mod case_undo;
mod case_usage;
mod case_was;
mod case_who;
mod case_window;
mod chunks;
mod closed;
mod costs;
mod defects;
mod defects_outside;
mod fixture;
mod ground;
mod many;
mod memory;
mod model;
mod naive;
mod property;
mod race;
mod reach;
mod replay;
mod replayed;
mod reply;
mod rolled;
mod script;
mod seen;
mod sqlite;
mod statements;
mod tamper;
mod tampered;
mod watcher;
mod wild;
mod writer;
