//! The pages: one file each, with its rows, handlers and templates.

pub(crate) mod burn;
pub(crate) mod deposit;
pub(crate) mod explain;
pub(crate) mod home;
pub(crate) mod jobs;
pub(crate) mod project;
pub(crate) mod sessions;
pub(crate) mod statement;
pub(crate) mod undo;
