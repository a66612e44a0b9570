//! Tests of the whole, one binary: a module per subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "everything in this binary is a test"
)]

mod attention;
mod auditor;
mod auth;
mod cli;
mod client;
mod client_python;
mod cluster;
mod collect;
mod export;
mod follow;
mod generator;
mod gold;
mod harness;
mod hostile;
mod howto;
mod imports;
mod ingest;
mod kill;
mod ledger;
mod lives;
mod migrate;
mod nami;
mod openapi;
mod opening;
mod operations;
mod partner;
mod pictures;
mod rates;
mod records;
mod reports;
mod scheduler;
mod slurm;
mod tidy;
mod web;
