//! Rates, tests of mappings, keys, cycles, the clock.

use bank_api::v1::{
    ClockStatus, ConfirmClock, Cycle, CycleRun, Key, KeyQuery, List, MappingTest, MappingTested,
    NewCycle, NewKey, NewKeyAnswer, NewRate, PageQuery, PatchCycle, PatchKey, Rate, RateQuery,
    RateTest, RateTested, Removed, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{clock, cycle, key, mapping, rate, rate_test};
use super::{AMOUNTS, NAMED, NEW, VALUES};
use crate::route::Route;

pub(super) fn rows() -> Vec<Route> {
    [rates(), mappings(), keys(), cycles()]
        .into_iter()
        .flatten()
        .collect()
}

fn rates() -> Vec<Route> {
    vec![
        Route::get("/api/v1/rates", rate::list)
            .right(Right::SeeSettings)
            .description("Rates, with `history` those that are over too")
            .asks::<RateQuery>()
            .gives::<List<Rate>>(200, "The rates."),
        Route::post("/api/v1/rates", rate::set)
            .right(Right::ChangeRates)
            .description("Set a rate; it ends an older one about the same subject")
            .body::<NewRate>()
            .gives::<Written<Rate>>(201, "The rate.")
            .refuses(&[VALUES, NAMED, &["bad_rate", "bad_window"]])
            .refuses(&[&["unknown_attribute", "already_exists"]])
            .refuses(&[&["machine_unknown", "window_in_past"]]),
        Route::delete("/api/v1/rates/{id}", rate::remove)
            .right(Right::ChangeRates)
            .description("End a rate")
            .gives::<Removed>(200, "It holds no more.")
            .refuses(&[VALUES]),
        Route::post("/api/v1/rates/test", rate_test::test)
            .right(Right::Quote)
            .description(
                "What usage would cost, or would have cost, by rates that are only proposed",
            )
            .more("What the past would have cost is for those who may see it all.")
            .body::<RateTest>()
            .gives::<RateTested>(200, "The prices.")
            .refuses(&[VALUES, NAMED, &["bad_duration", "bad_number", "bad_rate"]])
            .refuses(&[&["bad_window", "amount_overflow", "unknown_attribute"]]),
    ]
}

fn mappings() -> Vec<Route> {
    vec![
        Route::post("/api/v1/mappings/test", mapping::test)
            .right(Right::SeeIntake)
            .description("Whom usage would be for, and why")
            .body::<MappingTest>()
            .gives::<MappingTested>(200, "The names.")
            .refuses(&[VALUES]),
    ]
}

fn keys() -> Vec<Route> {
    vec![
        Route::get("/api/v1/keys", key::list)
            .right(Right::SeeKeys)
            .description("Signing keys, without their secrets")
            .asks::<KeyQuery>()
            .gives::<List<Key>>(200, "The keys."),
        Route::post("/api/v1/keys", key::add)
            .right(Right::ChangeKeys)
            .description("Make a signing key")
            .more("The answer holds the secret, once.")
            .body::<NewKey>()
            .gives::<NewKeyAnswer>(201, "The key.")
            .refuses(&[VALUES, NAMED, NEW, &["bad_window"]]),
        Route::get("/api/v1/keys/{id}", key::show)
            .right(Right::SeeKeys)
            .description("One signing key")
            .gives::<Key>(200, "The key."),
        Route::patch("/api/v1/keys/{id}", key::set)
            .right(Right::ChangeKeys)
            .description("Change a signing key")
            .body::<PatchKey>()
            .gives::<Written<Key>>(200, "The key as it is now.")
            .refuses(&[VALUES, &["bad_window"]]),
        Route::delete("/api/v1/keys/{id}", key::remove)
            .right(Right::ChangeKeys)
            .description("Remove a signing key and its secret")
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[VALUES]),
    ]
}

fn cycles() -> Vec<Route> {
    vec![
        Route::get("/api/v1/cycles", cycle::list)
            .right(Right::SeeSettings)
            .description("Cycles of accounts in view")
            .asks::<PageQuery>()
            .gives::<List<Cycle>>(200, "The cycles."),
        Route::post("/api/v1/cycles", cycle::add)
            .right(Right::ChangeCycles)
            .description("Make a cycle")
            .offers::<NewCycle>()
            .gives::<Written<Cycle>>(201, "The cycle.")
            .refuses(&[VALUES, AMOUNTS, NAMED, NEW, &["bad_window"]]),
        Route::get("/api/v1/cycles/{name}", cycle::show)
            .right(Right::SeeSettings)
            .description("One cycle")
            .gives::<Cycle>(200, "The cycle."),
        Route::patch("/api/v1/cycles/{name}", cycle::set)
            .right(Right::ChangeCycles)
            .description("Change a cycle")
            .offers::<PatchCycle>()
            .gives::<Written<Cycle>>(200, "The cycle as it is now.")
            .refuses(&[VALUES, AMOUNTS]),
        Route::delete("/api/v1/cycles/{name}", cycle::remove)
            .right(Right::ChangeCycles)
            .description("Remove a cycle")
            .gives::<Removed>(200, "It was removed.")
            .refuses(&[VALUES]),
        Route::post("/api/v1/cycles/{name}/run", cycle::run)
            .right(Right::ChangeCycles)
            .description("What the next boundary will do, or what is due")
            .gives::<Written<CycleRun>>(200, "What was done.")
            .refuses(&[VALUES, AMOUNTS, &["allocation_overlap", "cycle_not_due"]]),
        Route::post("/api/v1/clock", clock::confirm)
            .right(Right::ConfirmClock)
            .description("Say that a jump of the clock was right")
            .body::<ConfirmClock>()
            .gives::<Written<ClockStatus>>(200, "The clock as it is now.")
            .refuses(&[VALUES, &["no_clock_jump"]]),
    ]
}
