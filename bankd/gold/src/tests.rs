//! Whole connections with a test handler, on a manual clock.

mod deadlines;
mod fixture;
mod limits;
mod who;
