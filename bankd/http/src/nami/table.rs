//! The table of the scheduler's routes: XML in, lines of text out.

use bankd_ledger::access::right::Right;

use super::{
    Parameters, charge, create, delete, end, go_on, modify, pause, query, quote, reserve, resume,
    start, update,
};
use crate::route::{Joins, Route, Unruled};

/// Description of an answer with lines.
const LINES: &str = "A line for each object of the document.";

/// Every route of the scheduler.
pub fn rows() -> Vec<Route> {
    vec![
        row(Route::post("/nami/v1/quote", quote), "Price of an object"),
        row(
            Route::post("/nami/v1/create", create),
            "An object was submitted",
        ),
        row(Route::post("/nami/v1/reserve", reserve), "An object starts"),
        row(
            Route::post("/nami/v1/charge", charge),
            "Charges the usage of an object",
        ),
        row(
            Route::post("/nami/v1/delete", delete),
            "An object was removed: releases its lien",
        ),
        row(Route::post("/nami/v1/start", start), "As reserve"),
        row(Route::post("/nami/v1/update", update), "As charge"),
        row(
            Route::post("/nami/v1/continue", go_on),
            "An object continues",
        ),
        row(
            Route::post("/nami/v1/pause", pause),
            "An object was used, and suspended",
        ),
        row(
            Route::post("/nami/v1/resume", resume),
            "A suspended object continues",
        ),
        row(
            Route::post("/nami/v1/end", end),
            "An object was used, and has ended",
        ),
        row(
            Route::post("/nami/v1/modify", modify),
            "An object was changed",
        ),
        Route::post("/nami/v1/query", query)
            .right(Right::Nami)
            .description("Not supported: always 501"),
    ]
}

fn row(route: Unruled, description: &'static str) -> Route {
    route
        .right(Right::Nami)
        .joins(Joins::Beside)
        .description(description)
        .query::<Parameters>()
        .bytes("text/xml")
        .gives_bytes(200, "text/plain", LINES)
}
