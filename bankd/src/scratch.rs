//! Private temporary folders.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A folder that is removed with this.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new one; its name begins with `prefix`.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        let name = format!("{prefix}-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If the removal fails, the cleanup of the temporary folder removes the rest.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
