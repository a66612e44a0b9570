//! Slurm in its renderings (`collectors.md` a): `sacct` with and without a header line, key and value,
//! `scontrol show job` and jobcomp blocks, JSON. All of them become a [`row::Row`], which is judged in
//! one place.

pub(super) mod blocks;
mod columns;
pub(super) mod document;
mod hosts;
pub(super) mod keyed;
mod row;
pub(super) mod sacct;
mod stated;
pub(super) mod tres;

#[cfg(test)]
mod tests;
