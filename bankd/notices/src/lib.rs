//! Alerts, notifications and scheduled reports.
//!
//! Start at [`attention`], which judges figures; [`deliver`] takes notices to their targets, [`schedule`] makes
//! reports. Each has threads or a task of its own that the daemon starts and stops.

pub mod attention;
pub mod deliver;
pub mod schedule;
