//! HTTP: the routes, what every request passes through, and who may ask.
//!
//! Start at [`router`]; it is made of a table whose rows [`route`] describes. [`frame`] is the layer
//! around it, [`auth`] decides who is asking, the limits of `services` how much, `v1` and [`nami`] hold the handlers. Nothing here decides about money.

mod answer;
pub mod auth;
mod bare;
pub mod error;
pub mod frame;
mod health;
pub mod inside;
pub mod log;
pub mod nami;
pub mod openapi;
pub mod route;
pub mod router;
pub mod socket;
pub mod v1;

pub use auth::Authenticated;
pub use socket::serve;
