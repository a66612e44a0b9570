//! Query of Job: the instances of the peer's machines.

use std::sync::Arc;

use bank_api::text::format_amount;
use bank_core::directory::Bank;
use bank_core::model::ObjectType;
use bank_core::time::Timestamp;
use bankd_services::Services;
use bankd_store::read::jobs::{self, JobRow};

use super::cell::{Cell, Kind};
use super::select::{Select, Shape};
use super::{Call, Fault, ROWS_MAX, ask, written};
use crate::Verified;

const SHAPE: Shape = Shape {
    usual: &[
        "Id",
        "JobId",
        "User",
        "Project",
        "Machine",
        "Queue",
        "QualityOfService",
        "Type",
        "Stage",
        "Charge",
        "Nodes",
        "Processors",
        "StartTime",
        "EndTime",
        "WallDuration",
        "Description",
    ],
    special: &[],
    conditions: &[
        ("JobId", Kind::Text),
        ("User", Kind::Text),
        ("Project", Kind::Text),
        ("Machine", Kind::Text),
        ("Stage", Kind::Text),
        ("StartTime", Kind::Number),
        ("EndTime", Kind::Number),
    ],
    relations: &[],
};

/// The jobs of an answer. If there are too many, the newest.
pub(super) async fn rows(
    services: &Arc<Services>,
    request: &Verified,
    query: &Call,
) -> Result<Vec<String>, Fault> {
    let select = Select::read(query, &SHAPE)?;
    let directory = services.writer.directory();
    let (own, peer) = (Arc::clone(&directory), Arc::clone(&request.peer));
    let tested = select.clone();
    let keep = move |job: &JobRow| {
        let project = own.any_project_named(&job.project).map(|p| p.id);
        peer.scope.has_machine(&job.machine)
            && peer.scope.has_project(&own, project, &job.project)
            && tested.accepts(|name| cell(&own.bank, job, name))
    };
    let only = select.exactly("JobId").map(str::to_owned);
    let found = ask(services, move |connection| {
        if let Some(id) = only {
            let uses = jobs::uses(connection, &id)?;
            return Ok((uses.into_iter().filter(keep).collect(), false));
        }
        let page = jobs::list(connection, None, ROWS_MAX, keep)?;
        Ok((page.rows, page.next.is_some()))
    });
    let (mut rows, is_cut): (Vec<JobRow>, bool) = found.await?;
    if is_cut {
        tracing::warn!(
            rows = rows.len(),
            "a query of the gateway does not reach the oldest jobs"
        );
    }
    rows.reverse();
    let bank = &directory.bank;
    Ok(written(&select, "Job", rows, |job, name| {
        cell(bank, job, name)
    }))
}

fn cell(bank: &Bank, job: &JobRow, attribute: &str) -> Cell {
    let optional = |text: &Option<String>| Cell::text(text.as_deref().unwrap_or_default());
    let time = |at: Option<Timestamp>| Cell::Number(at.map(Timestamp::seconds));
    match attribute {
        "Id" => Cell::Number(Some(job.id)),
        "JobId" => Cell::text(&job.object_id),
        "User" => Cell::text(&job.user),
        "Project" => Cell::text(&job.project),
        "Machine" => Cell::text(&job.machine),
        "Queue" => optional(&job.usage.class),
        "QualityOfService" => optional(&job.usage.qos),
        "Type" => Cell::text(match job.object_type {
            ObjectType::Job => "job",
            ObjectType::Reservation => "Reservation",
        }),
        "Stage" => Cell::text(stage(job)),
        "Charge" => Cell::Text(format_amount(job.billed.0, bank.precision.places())),
        "Nodes" => optional(&job.usage.nodes.map(|n| n.to_string())),
        "Processors" => optional(&job.usage.processors.map(|n| n.to_string())),
        "StartTime" => time(job.start),
        "EndTime" => time(job.end),
        "WallDuration" => {
            let used = Some(job.charged).filter(|_| job.last_usage.is_some());
            Cell::Number(used.or(job.wall).map(|s| s.0))
        }
        // The bank keeps none.
        _ => Cell::text(""),
    }
}

fn stage(job: &JobRow) -> &'static str {
    if job.closed.is_none() && job.last_usage.is_none() {
        "Reserve"
    } else {
        "Charge"
    }
}
