//! What clusters are made of, and who paid for it.

use bank_api::v1::{
    Contribution, ContributionQuery, ContributionReport, Contributor, Downtime, EfficiencyQuery,
    EfficiencyReport, Hardware, List, NewContribution, NewContributor, NewDowntime, NewHardware,
    PageQuery, PatchContribution, PatchContributor, PatchDowntime, PatchHardware, PriorityQuery,
    PriorityReport, Removed, Written,
};
use bankd_ledger::access::right::Right;

use super::super::{equipment, share};
use super::{NAMED, NEW, VALUES};
use crate::route::Route;

pub(super) fn rows() -> Vec<Route> {
    [
        hardware(),
        downtimes(),
        contributions(),
        contributors(),
        reports(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn hardware() -> Vec<Route> {
    vec![
        Route::get("/api/v1/hardware", equipment::list_hardware)
            .right(Right::SeeSettings)
            .says("Kinds of nodes, in the order in which they are asked for a factor")
            .query::<PageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<Hardware>>(200, "The hardware."),
        Route::post("/api/v1/hardware", equipment::add_hardware)
            .right(Right::ChangeEquipment)
            .says("Add nodes of a kind")
            .body::<NewHardware>()
            .gives::<Written<Hardware>>(201, "The hardware.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["bad_name", "bad_window"]),
        Route::get("/api/v1/hardware/{id}", equipment::show_hardware)
            .right(Right::SeeSettings)
            .says("Nodes of one kind")
            .gives::<Hardware>(200, "The hardware."),
        Route::patch("/api/v1/hardware/{id}", equipment::set_hardware)
            .right(Right::ChangeEquipment)
            .says("Change nodes of a kind; reports of the past change with it")
            .body::<PatchHardware>()
            .gives::<Written<Hardware>>(200, "The hardware as it is now.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["bad_name", "bad_window"]),
        Route::delete("/api/v1/hardware/{id}", equipment::remove_hardware)
            .right(Right::ChangeEquipment)
            .says("Remove nodes of a kind, as if they never had been there")
            .gives::<Removed>(200, "They are gone.")
            .refuses(VALUES),
    ]
}

fn downtimes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/downtimes", equipment::list_downtimes)
            .right(Right::SeeSettings)
            .says("Known downtimes of hardware, by number")
            .query::<PageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<Downtime>>(200, "The downtimes."),
        Route::post("/api/v1/downtimes", equipment::add_downtime)
            .right(Right::ChangeEquipment)
            .says("Add a known downtime of nodes of a kind")
            .body::<NewDowntime>()
            .gives::<Written<Downtime>>(201, "The downtime.")
            .refuses(VALUES)
            .refuses(&["bad_window", "not_found"]),
        Route::get("/api/v1/downtimes/{id}", equipment::show_downtime)
            .right(Right::SeeSettings)
            .says("One downtime")
            .gives::<Downtime>(200, "The downtime."),
        Route::patch("/api/v1/downtimes/{id}", equipment::set_downtime)
            .right(Right::ChangeEquipment)
            .says("Change a downtime; reports of the past change with it")
            .body::<PatchDowntime>()
            .gives::<Written<Downtime>>(200, "The downtime as it is now.")
            .refuses(VALUES)
            .refuses(&["bad_window"]),
        Route::delete("/api/v1/downtimes/{id}", equipment::remove_downtime)
            .right(Right::ChangeEquipment)
            .says("Remove a downtime, as if all nodes had worked")
            .gives::<Removed>(200, "It is gone.")
            .refuses(VALUES),
    ]
}

fn contributions() -> Vec<Route> {
    vec![
        Route::get("/api/v1/contributions", equipment::list_contributions)
            .right(Right::SeeShares)
            .says("Contributions, by number")
            .query::<PageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<Contribution>>(200, "The contributions."),
        Route::post("/api/v1/contributions", equipment::add_contribution)
            .right(Right::ChangeEquipment)
            .says("Add a contribution")
            .body::<NewContribution>()
            .gives::<Written<Contribution>>(201, "The contribution.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["bad_window"]),
        Route::get("/api/v1/contributions/{id}", equipment::show_contribution)
            .right(Right::SeeShares)
            .says("One contribution")
            .gives::<Contribution>(200, "The contribution."),
        Route::patch("/api/v1/contributions/{id}", equipment::set_contribution)
            .right(Right::ChangeEquipment)
            .says("Change a contribution; reports of the past change with it")
            .body::<PatchContribution>()
            .gives::<Written<Contribution>>(200, "The contribution as it is now.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["bad_window"]),
        Route::delete("/api/v1/contributions/{id}", equipment::remove_contribution)
            .right(Right::ChangeEquipment)
            .says("Remove a contribution, as if it never had been there")
            .gives::<Removed>(200, "It is gone.")
            .refuses(VALUES),
    ]
}

fn contributors() -> Vec<Route> {
    vec![
        Route::get("/api/v1/contributors", equipment::list_contributors)
            .right(Right::SeeShares)
            .says("Whom contributions are credited to, by name")
            .query::<PageQuery>()
            .refuses(&["bad_value"])
            .gives::<List<Contributor>>(200, "The contributors."),
        Route::post("/api/v1/contributors", equipment::add_contributor)
            .right(Right::ChangeEquipment)
            .says("Add a contributor")
            .body::<NewContributor>()
            .gives::<Written<Contributor>>(201, "The contributor.")
            .refuses(VALUES)
            .refuses(NEW)
            .refuses(NAMED)
            .refuses(&["in_use"]),
        Route::get("/api/v1/contributors/{name}", equipment::show_contributor)
            .right(Right::SeeShares)
            .says("One contributor")
            .gives::<Contributor>(200, "The contributor."),
        Route::patch("/api/v1/contributors/{name}", equipment::set_contributor)
            .right(Right::ChangeEquipment)
            .says("Change a contributor")
            .body::<PatchContributor>()
            .gives::<Written<Contributor>>(200, "The contributor as they are now.")
            .refuses(VALUES)
            .refuses(NAMED)
            .refuses(&["in_use"]),
        Route::delete("/api/v1/contributors/{name}", equipment::remove_contributor)
            .right(Right::ChangeEquipment)
            .says("Remove a contributor that nothing is credited to")
            .gives::<Removed>(200, "They are gone.")
            .refuses(VALUES)
            .refuses(&["in_use"]),
    ]
}

fn reports() -> Vec<Route> {
    vec![
        Route::get("/api/v1/report/contribution", share::contribution)
            .right(Right::SeeShares)
            .says("Shares of usage beside contributions, and utilisation, of one or two periods")
            .query::<ContributionQuery>()
            .gives::<ContributionReport>(200, "The report.")
            .refuses(NAMED)
            .refuses(&["amount_overflow", "bad_value", "bad_window"]),
        Route::get("/api/v1/report/efficiency", share::efficiency)
            .right(Right::SeeShares)
            .says("What was asked for beside what was used, with energy and CO2")
            .query::<EfficiencyQuery>()
            .gives::<EfficiencyReport>(200, "The report.")
            .refuses(NAMED)
            .refuses(&["amount_overflow", "bad_value", "bad_window"]),
        Route::get("/api/v1/report/priority", share::priorities)
            .right(Right::SeeShares)
            .says("Priorities of groups from what they used")
            .query::<PriorityQuery>()
            .gives::<PriorityReport>(200, "The priorities.")
            .refuses(NAMED)
            .refuses(&["bad_value"]),
    ]
}
