//! Proof: verifications, and signed checkpoints.

use bank_api::v1::{
    KeptCheckpoint, List, PageQuery, SignedCheckpoint, Verification, VerificationQuery,
};
use bankd_ledger::access::right::Right;

use super::super::proof;
use crate::route::Route;

pub(super) fn rows() -> Vec<Route> {
    vec![
        Route::get("/api/v1/verifications", proof::show)
            .right(Right::Verify)
            .description("The verification that runs, else the last one")
            .asks::<VerificationQuery>()
            .gives::<Verification>(200, "Its state."),
        Route::post("/api/v1/verifications", proof::start)
            .right(Right::Verify)
            .description("Begin to prove every balance and hash, unless that is under way")
            .more("One runs at a time, and it never stops the writer.")
            .gives::<Verification>(200, "Its state."),
        Route::get("/api/v1/checkpoint", proof::checkpoint)
            .right(Right::Verify)
            .description("A signed checkpoint of what the bank is now")
            .more(
                "The bank is proven first, unless it was within ten minutes: of one that is not sound \
                 nothing is signed.",
            )
            .gives::<SignedCheckpoint>(200, "The checkpoint.")
            .refuses(&[&["not_found", "not_sound"]]),
        Route::get("/api/v1/checkpoints", proof::kept)
            .right(Right::Verify)
            .description("The checkpoints that the daemon made, compared with the bank")
            .more(
                "A checkpoint holds if its signature is valid and its last transaction has the same hash. With a verified \
                 bank, all earlier transactions are then the same.",
            )
            .asks::<PageQuery>()
            .gives::<List<KeptCheckpoint>>(200, "The checkpoints, the newest first."),
    ]
}
