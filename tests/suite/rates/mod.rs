//! Prices: the vectors, the worked examples, and what must hold of all of them.

pub(crate) mod example;
mod given;
mod law;
mod vector;
