//! Whole connections with an answer of their own behind them, on a clock that the tests move.

mod deadlines;
mod fixture;
mod limits;
mod who;
