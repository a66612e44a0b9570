//! Known downtimes of hardware: its nodes give nothing then (reports.md 1.7 item 3). What jobs count and
//! what is credited to contributors is not theirs.

use super::{Change, bad, has_room, known_hardware, shown_window, take, text, window};
use crate::command::SetDowntime;
use crate::effects::{DirectoryRow, Outcome};
use crate::ids::{DowntimeId, HardwareId};
use crate::model::Downtime;
use crate::refusal::Refusal;
use crate::time::Window;
use crate::view::Context;

pub(super) fn add(
    hardware: HardwareId,
    set: &SetDowntime,
    ctx: &Context<'_>,
) -> Result<Change, Refusal> {
    known_hardware(hardware, ctx)?;
    let [_, rows, _, _] = ctx.directory.equipment.rows();
    has_room(rows)?;
    let new = Downtime {
        id: ctx.directory.equipment.next_downtime(),
        hardware,
        nodes: None,
        valid: Window::ALWAYS,
        reason: String::new(),
        deleted: false,
    };
    change(new, set, ctx)
}

pub(super) fn set(id: DowntimeId, set: &SetDowntime, ctx: &Context<'_>) -> Result<Change, Refusal> {
    change(known(id, ctx)?, set, ctx)
}

pub(super) fn remove(id: DowntimeId, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let mut own = known(id, ctx)?;
    own.deleted = true;
    Ok(Change {
        detail: shown(&own),
        row: DirectoryRow::Downtime(own),
        outcome: Outcome::Removed(id.0.to_string()),
    })
}

fn known(id: DowntimeId, ctx: &Context<'_>) -> Result<Downtime, Refusal> {
    let known = ctx.directory.equipment.downtime(id);
    let unknown = || Refusal::not_found("downtime", &id.0.to_string());
    known.cloned().ok_or_else(unknown)
}

fn change(mut own: Downtime, set: &SetDowntime, ctx: &Context<'_>) -> Result<Change, Refusal> {
    if let Some(nodes) = set.nodes {
        let most = known_hardware(own.hardware, ctx)?.nodes;
        if nodes.is_some_and(|nodes| !(1..=most).contains(&nodes)) {
            return Err(bad("nodes", "1 to the nodes of the hardware; all without"));
        }
        own.nodes = nodes;
    }
    own.valid = window(own.valid, set.from.map(Some), set.until)?;
    take(&mut own.reason, set.reason.as_ref());
    if own.valid.start.is_none() {
        return Err(bad("from", "when the nodes went down"));
    }
    text("reason", &own.reason)?;
    if own.reason.trim().is_empty() {
        return Err(bad("reason", "why the nodes are down"));
    }
    Ok(Change {
        detail: shown(&own),
        row: DirectoryRow::Downtime(own.clone()),
        outcome: Outcome::Downtime(Box::new(own)),
    })
}

/// A downtime as the journal has it.
fn shown(own: &Downtime) -> String {
    let nodes = own
        .nodes
        .map_or("all".to_owned(), |nodes| nodes.to_string());
    format!(
        "downtime={} hardware={} nodes={nodes} {} reason={}",
        own.id.0,
        own.hardware.0,
        shown_window(&own.valid),
        own.reason
    )
}
