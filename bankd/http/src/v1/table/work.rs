//! Work: quotes, what is held and charged by hand, jobs, and what enforcement would come to.

use bank_api::v1::{
    Charged, Enforced, EnforcedQuery, GivenQuote, GivenQuoteQuery, Held, Job, JobQuery, Lien,
    LienQuery, List, NewCharge, NewQuote, NewReserve, OneJobQuery, PastQuery, PatchLien, Quote,
    RecordedUse, RecordedUseQuery, Removed, WhatIf, WhatIfQuery, WriteQuery, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{charge, enforced, job, lien, quote, recorded, reserve, stored_quote, whatif};
use super::{AMOUNTS, NAMED, SPEND, VALUES};
use crate::route::{Joins, Route};

pub(super) fn rows() -> Vec<Route> {
    [quotes(), liens(), jobs()].into_iter().flatten().collect()
}

fn quotes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/quotes", stored_quote::list)
            .right(Right::SeeLedger)
            .description("Quotes that were given, the newest first")
            .asks::<GivenQuoteQuery>()
            .gives::<List<GivenQuote>>(200, "A page of quotes."),
        Route::post("/api/v1/quotes", quote::quote)
            .right(Right::Quote)
            .description("What would it cost?")
            .more(
                "Writes nothing, unless `guarantee` asks for a quote that holds: that one is a \
                 row, and needs an idempotency key.",
            )
            .query::<WriteQuery>()
            .body::<NewQuote>()
            .gives::<Quote>(200, "The cost.")
            .gives::<Quote>(201, "The cost, guaranteed.")
            .refuses(&[VALUES, NAMED, SPEND, &["amount_overflow"]])
            .refuses(&[&["amount_too_large", "bad_duration", "bad_number"]])
            .refuses(&[&["idempotency_key_required", "key_reused"]]),
        Route::get("/api/v1/quotes/{id}", stored_quote::show)
            .right(Right::SeeLedger)
            .description("One quote that was given")
            .gives::<GivenQuote>(200, "The quote."),
        Route::delete("/api/v1/quotes/{id}", stored_quote::remove)
            .right(Right::EndQuotes)
            .description("End a quote")
            .more("What is bound to it keeps its price.")
            .gives::<Removed>(200, "It holds no more.")
            .refuses(&[VALUES]),
    ]
}

fn liens() -> Vec<Route> {
    vec![
        Route::post("/api/v1/reserves", reserve::reserve)
            .right(Right::Hold)
            .joins(Joins::Whole)
            .description("Hold money for a job by hand")
            .body::<NewReserve>()
            .gives::<Written<Held>>(201, "What is held.")
            .refuses(&[VALUES, NAMED, SPEND, WORK]),
        Route::post("/api/v1/charges", charge::charge)
            .right(Right::Charge)
            .joins(Joins::Whole)
            .description("Bill a job by hand")
            .body::<NewCharge>()
            .gives::<Written<Charged>>(201, "What was billed.")
            .refuses(&[VALUES, AMOUNTS, NAMED, SPEND, WORK]),
        Route::get("/api/v1/liens", lien::list)
            .right(Right::SeeLedger)
            .description("Liens in view")
            .asks::<LienQuery>()
            .gives::<List<Lien>>(200, "A page of liens.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/liens/{id}", lien::show)
            .right(Right::SeeLedger)
            .description("One lien")
            .asks::<PastQuery>()
            .numbers(&["id"])
            .gives::<Lien>(200, "The lien."),
        Route::patch("/api/v1/liens/{id}", lien::extend)
            .right(Right::Hold)
            .description("Move the end of a lien")
            .more("One that has expired holds again what it held.")
            .numbers(&["id"])
            .body::<PatchLien>()
            .gives::<Written<Lien>>(200, "The lien as it is now.")
            .refuses(&[VALUES, &["insufficient_funds", "lien_ended"]])
            .refuses(&[&["window_in_past", "account_blocked", "bad_window"]]),
        Route::delete("/api/v1/liens/{id}", lien::release)
            .right(Right::Hold)
            .description("Give back what a lien holds")
            .numbers(&["id"])
            .gives::<Written<Lien>>(200, "The lien as it is now.")
            .refuses(&[&["lien_ended"]]),
    ]
}

/// What is wrong with a use.
const WORK: &[&str] = &[
    "amount_overflow",
    "amount_too_large",
    "bad_duration",
    "bad_number",
    "bad_window",
    "implausible_duration",
    "negative_charge",
    "overlap",
    "window_in_past",
];

fn jobs() -> Vec<Route> {
    vec![
        Route::get("/api/v1/jobs", job::list)
            .right(Right::SeeLedger)
            .description("Jobs in view, the newest first")
            .asks::<JobQuery>()
            .gives::<List<Job>>(200, "A page of jobs.")
            .refuses(&[NAMED, &["bad_window"]]),
        Route::get("/api/v1/jobs/{id}", job::show)
            .right(Right::SeeLedger)
            .description("One job: its charges, who paid, and how the price came about")
            .query::<OneJobQuery>()
            .gives::<Job>(200, "The job.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/uses", recorded::list)
            .right(Right::SeeLedger)
            .description("Finished uses in view without a charge, the newest first")
            .more(
                "A collector reported them, and usage reports count them. With `GET /api/v1/jobs` of the same \
                 period, they are all jobs of a report.",
            )
            .asks::<RecordedUseQuery>()
            .gives::<List<RecordedUse>>(200, "A page of uses.")
            .refuses(&[NAMED, &["bad_window"]]),
        Route::get("/api/v1/what-if", whatif::show)
            .right(Right::SeeLedger)
            .description("Which jobs strict enforcement would have refused")
            .asks::<WhatIfQuery>()
            .gives::<WhatIf>(200, "The jobs, and sums by project.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/what-if/enforced", enforced::show)
            .right(Right::SeeLedger)
            .description("The effect of strict enforcement from a time on")
            .asks::<EnforcedQuery>()
            .gives::<Enforced>(200, "What runs and what is refused.")
            .refuses(&[NAMED, &["bad_window"]]),
    ]
}
