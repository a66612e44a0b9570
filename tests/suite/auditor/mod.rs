//! AUDITOR's REST API from outside.

mod authority;
mod tls;
