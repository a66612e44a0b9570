//! Keeps the house in order: what ARCHITECTURE.md says about rooms and directions, what the lints
//! cannot say about files and functions, and that the papers name what the code has.
//!
//! Every test collects all its findings before it fails, so that one run shows the whole list. It
//! reads the sources as text: a rule that needs a compiler belongs to the lints.
//!
//! Start reading at [`source`]; `directions` and `rooms` hold the invariants, `style` the sizes,
//! `papers` the documents, `schema` what the database itself forbids.

mod circles;
mod directions;
mod papers;
mod rooms;
mod schema;
mod source;
mod style;
mod words;

/// Fails with every finding on a line of its own.
#[track_caller]
fn none_of(findings: &[String]) {
    assert!(
        findings.is_empty(),
        "{} findings:\n{}",
        findings.len(),
        findings.join("\n")
    );
}
