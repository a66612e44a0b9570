//! What tests of several crates of the daemon share. No product code uses it.

use std::path::PathBuf;

/// Something in the folder of shared samples; tests over it are skipped where it is not.
#[allow(clippy::disallowed_methods)] // the one setting of the tests
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("BANK_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} does not exist (BANK_SHARED)", path.display());
    None
}
