//! AUDITOR's REST API.

pub mod access;
pub mod certificate;
pub mod metrics;
pub mod tls;
