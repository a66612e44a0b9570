//! Partner banks: what they ask of this bank, and settlements with them.

use bank_api::v1::{
    List, PartnerCharge, PartnerCharged, PartnerEntry, PartnerEntryQuery, PartnerExplained,
    PartnerHeld, PartnerMessageQuery, PartnerPosition, PartnerRelease, PartnerReleased,
    PartnerReserve, Settlement, SettlementQuery,
};
use bankd_ledger::access::right::Right;

use super::super::{partner, settlement};
use super::{AMOUNTS, NAMED, SPEND, VALUES};
use crate::route::Route;
use crate::v1::call::Empty;

pub(super) fn rows() -> Vec<Route> {
    [asked(), compared()].into_iter().flatten().collect()
}

/// Routes for partners.
fn asked() -> Vec<Route> {
    vec![
        Route::post("/api/v1/partner/reserves", partner::reserve)
            .right(Right::Deliver)
            .description("Hold money for a job at a partner bank")
            .body::<PartnerReserve>()
            .gives::<PartnerHeld>(200, "What is held.")
            .refuses(&[VALUES, AMOUNTS, SPEND, &["bad_duration", "bad_window"]])
            .refuses(&[&["negative_charge", "window_in_past"]]),
        Route::post("/api/v1/partner/releases", partner::release)
            .right(Right::Deliver)
            .description("Give back what was held for a job that did not start")
            .body::<PartnerRelease>()
            .gives::<PartnerReleased>(200, "Nothing is held for the question.")
            .refuses(&[VALUES]),
        Route::post("/api/v1/partner/charges", partner::charge)
            .right(Right::Deliver)
            .description("Charge a project for a job at a partner bank, or return")
            .more("Messages are numbered and carried out once, in order.")
            .body::<PartnerCharge>()
            .gives::<PartnerCharged>(200, "It is carried out.")
            .refuses(&[VALUES, AMOUNTS, &["bad_duration", "partner_out_of_step"]]),
        Route::get("/api/v1/partner/position", partner::position)
            .right(Right::SeeOwnMessages)
            .description("The last messages between a partner bank and this one")
            .query::<Empty>()
            .gives::<PartnerPosition>(200, "Their numbers."),
        Route::get("/api/v1/partner/entries", partner::entries)
            .right(Right::SeeOwnMessages)
            .description("The entries of a month between a partner bank and this one")
            .asks::<PartnerEntryQuery>()
            .gives::<List<PartnerEntry>>(200, "A page of entries."),
        Route::get("/api/v1/partner/messages/{number}", settlement::message)
            .right(Right::SeeOwnMessages)
            .numbers(&["number"])
            .description("What a message between a partner bank and this one is here")
            .query::<PartnerMessageQuery>()
            .gives::<PartnerExplained>(200, "Its transaction.")
            .refuses(&[NAMED]),
    ]
}

/// Routes for people of this bank.
fn compared() -> Vec<Route> {
    vec![
        Route::get("/api/v1/partners/{name}/settlement", settlement::show)
            .right(Right::SeePartners)
            .description("The settlement of a month with a partner bank")
            .more("Both banks have the same totals: only entries that both have are added up.")
            .asks::<SettlementQuery>()
            .gives::<Settlement>(200, "The settlement.")
            .refuses(&[NAMED]),
        Route::get(
            "/api/v1/partners/{name}/messages/{number}",
            settlement::explain,
        )
        .right(Right::SeePartners)
        .numbers(&["number"])
        .description("What a message between this bank and a partner bank is there")
        .query::<PartnerMessageQuery>()
        .gives::<PartnerExplained>(200, "The transaction there.")
        .refuses(&[NAMED, &["partner_away", "partner_refused"]]),
    ]
}
