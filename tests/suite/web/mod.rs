//! The web pages from outside: a real daemon, asked as a browser without script asks.

mod access;
mod addresses;
mod audit;
pub(crate) mod browser;
mod care;
mod deposit;
mod figures;
mod foreign;
mod guard;
mod look;
mod money;
mod oidc;
mod oidc_provider;
mod pages;
mod pictures;
mod recorded;
mod requests;
mod roles;
mod rows;
mod session;
mod sign_in;
mod signed;
mod slashes;
mod ways;
mod words;
mod work;
