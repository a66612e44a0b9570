//! Parts that several pages share.

pub(crate) mod amount;
pub(crate) mod asked;
pub(crate) mod debt;
pub(crate) mod deed;
pub(crate) mod filter;
pub(crate) mod form;
pub(crate) mod hint;
pub(crate) mod left;
pub(crate) mod message;
pub(crate) mod nodes;
pub(crate) mod period;
pub(crate) mod picture;
pub(crate) mod project;
pub(crate) mod sent;
pub(crate) mod sentence;
pub(crate) mod share;
pub(crate) mod table;
pub(crate) mod turn;
