//! The file that `bankd init` writes: every setting with its default, all commented out.

/// `bankd.toml` as new, the same file that packages ship as a sample.
pub const SAMPLE: &str = include_str!("../../../etc/bankd.toml");
