//! The tests live in `suite/`; this library is empty on purpose.
