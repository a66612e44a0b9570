//! Input made to do harm, through the real script to the real daemon: it is refused as unusable,
//! lies in the quarantine if it was a charge, and costs little memory and time on both sides.

mod script;
mod wire;
