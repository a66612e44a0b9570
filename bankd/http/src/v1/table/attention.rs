//! Raised alerts, who is told, what is made by the calendar, and what comes.

use bank_api::v1::{
    AckAttention, Attention, AttentionDone, AttentionQuery, ExpiringRow, ForecastQuery,
    ForecastRow, List, NegativeRow, Notice, OutboxQuery, ReportRun, RunReport, ScheduledReport,
    SwitchAttention, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{attention, forecast, metrics, scheduled};
use super::{NAMED, QUERY};
use crate::route::Route;
use crate::v1::call::Empty;

pub(super) fn rows() -> Vec<Route> {
    [events(), outbox(), made(), reports()]
        .into_iter()
        .flatten()
        .collect()
}

fn events() -> Vec<Route> {
    vec![
        Route::get("/api/v1/attention", attention::list)
            .right(Right::SeeLedger)
            .description("Raised alerts")
            .more("Of projects in view; the newest first.")
            .asks::<AttentionQuery>()
            .gives::<List<Attention>>(200, "A page of events.")
            .refuses(&[NAMED]),
        Route::patch("/api/v1/attention/projects/{name}", attention::switch)
            .right(Right::ChangeAttention)
            .description("Switch the alerts of a project off or on")
            .body::<SwitchAttention>()
            .gives::<Written<AttentionDone>>(200, "It is switched.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/attention/{id}", attention::show)
            .right(Right::SeeLedger)
            .numbers(&["id"])
            .description("One event")
            .query::<Empty>()
            .gives::<Attention>(200, "The event."),
        Route::post("/api/v1/attention/{id}/ack", attention::ack)
            .right(Right::ChangeAttention)
            .numbers(&["id"])
            .description("Say that what an event raised was seen")
            .body::<AckAttention>()
            .gives::<Written<AttentionDone>>(200, "The acknowledgement; the alert stays raised.")
            .refuses(&[&["already_exists", "bad_value"]]),
    ]
}

fn outbox() -> Vec<Route> {
    vec![
        Route::get("/api/v1/attention/outbox", attention::outbox)
            .right(Right::SeeOutbox)
            .description("Waiting and abandoned notices")
            .asks::<OutboxQuery>()
            .gives::<List<Notice>>(200, "A page of notices."),
        Route::post("/api/v1/attention/outbox/{id}/retry", attention::retry)
            .right(Right::ChangeAttention)
            .numbers(&["id"])
            .description("Retry an abandoned notice")
            .gives::<Written<Notice>>(200, "It waits again.")
            .refuses(&[QUERY]),
    ]
}

fn made() -> Vec<Route> {
    vec![
        Route::get("/api/v1/report/scheduled", scheduled::list)
            .right(Right::SeeOutbox)
            .description("Scheduled reports and their state")
            .query::<Empty>()
            .gives::<List<ScheduledReport>>(200, "The definitions by name."),
        Route::post("/api/v1/report/scheduled/{name}/run", scheduled::run)
            .right(Right::ChangeAttention)
            .description("Have a scheduled report made now")
            .more("The thread that makes reports does it next; the answer does not wait for it.")
            .body::<RunReport>()
            .gives::<Written<ReportRun>>(200, "It is made next.")
            .refuses(&[&["already_exists", "bad_value", "not_found"]]),
        Route::get("/metrics", metrics::show)
            .right(Right::SeeOutbox)
            .description("Metrics of the daemon and of scheduled reports, for Prometheus")
            .query::<Empty>()
            .gives_bytes(200, "text/plain", "The text format 0.0.4."),
    ]
}

fn reports() -> Vec<Route> {
    vec![
        Route::get("/api/v1/report/forecast", forecast::lasting)
            .right(Right::SeeLedger)
            .description("How long the money of accounts lasts")
            .asks::<ForecastQuery>()
            .gives::<List<ForecastRow>>(200, "The accounts.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/report/expiring", forecast::expiring)
            .right(Right::SeeLedger)
            .description("Money that ends, and what of it will be left over")
            .asks::<ForecastQuery>()
            .gives::<List<ExpiringRow>>(200, "The allocations.")
            .refuses(&[NAMED]),
        Route::get("/api/v1/report/negative", forecast::negative)
            .right(Right::SeeLedger)
            .description("Accounts below zero")
            .asks::<ForecastQuery>()
            .gives::<List<NegativeRow>>(200, "The accounts.")
            .refuses(&[NAMED]),
    ]
}
