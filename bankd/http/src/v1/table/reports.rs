//! Reports on the use and funding of clusters.

use bank_api::v1::{
    ContributionQuery, ContributionReport, EfficiencyQuery, EfficiencyReport, PriorityQuery,
    PriorityReport,
};
use bankd_ledger::access::right::Right;

use super::super::share;
use super::NAMED;
use crate::route::Route;

pub(super) fn rows() -> Vec<Route> {
    vec![
        Route::get("/api/v1/report/contribution", share::contribution)
            .right(Right::SeeLedger)
            .description(
                "Shares of usage and contributions, and utilisation, of one or two periods",
            )
            .more(
                "Without the role of an auditor, a person gets the rows of the contributors with their \
                 login name, without totals and utilisation.",
            )
            .asks::<ContributionQuery>()
            .gives::<ContributionReport>(200, "The report.")
            .refuses(&[NAMED, &["amount_overflow", "bad_window"]]),
        Route::get("/api/v1/report/efficiency", share::efficiency)
            .right(Right::SeeLedger)
            .description("Requested and used resources, with energy and CO2")
            .more("Without the role of an auditor, only of visible jobs.")
            .asks::<EfficiencyQuery>()
            .gives::<EfficiencyReport>(200, "The report.")
            .refuses(&[NAMED, &["amount_overflow", "bad_window"]]),
        Route::get("/api/v1/report/priority", share::priorities)
            .right(Right::SeeShares)
            .description("Priorities of groups from what they used")
            .asks::<PriorityQuery>()
            .gives::<PriorityReport>(200, "The priorities.")
            .refuses(&[NAMED]),
    ]
}
