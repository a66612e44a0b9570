//! The settings in force, for those who may see them. A reload replaces the list.

use std::sync::{Arc, PoisonError, RwLock};

use bankd_config::Setting;

/// The list of settings.
#[derive(Debug, Default)]
pub struct Settings(RwLock<Arc<Vec<Setting>>>);

impl Settings {
    /// With the settings of the start.
    pub fn new(all: Vec<Setting>) -> Self {
        Self(RwLock::new(Arc::new(all)))
    }

    /// The list by name.
    pub fn all(&self) -> Arc<Vec<Setting>> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the list.
    pub fn set(&self, all: Vec<Setting>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(all);
    }
}
