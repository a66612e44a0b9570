//! A bank on several machines.

mod log;
mod server;
