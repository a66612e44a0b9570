//! HTTP: routes, the frame of every request, and authentication.
//!
//! Start at [`router`], whose table has the rows that [`route`] describes. [`frame`] is the layer around
//! it. [`auth`] identifies the caller, and `services` applies the limits. `v1` and [`nami`] contain the
//! handlers. This crate makes no decision about funds.

mod answer;
pub mod auth;
mod bad_request;
mod bare;
pub mod error;
mod forward;
pub mod frame;
mod health;
pub mod inside;
pub mod log;
pub mod nami;
pub mod openapi;
mod passage;
mod position;
pub mod route;
pub mod router;
pub mod socket;
pub mod v1;
mod view_as;

pub use auth::Authenticated;
pub use socket::{serve, serve_tcp};
