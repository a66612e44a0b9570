//! Readers against files of the field, and against their totals counted by another program.

mod expected;
mod mappings;
