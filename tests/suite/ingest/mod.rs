//! Readers against files of the field, and against their totals counted by another program.

mod command;
mod expected;
mod fuzz;
mod large;
mod mappings;
mod xdmod;
