//! A bank on several machines: its log in `PostgreSQL`, nodes that follow and take over, and links that are cut, hang
//! and delay.

mod age;
mod anywhere;
mod clients;
mod doors;
mod howto;
mod join;
mod killed;
mod leave;
mod link;
mod log;
mod nodes;
mod patroni;
mod rounds;
mod server;
mod steps;
mod sums;
mod upgrade;
