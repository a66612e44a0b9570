//! What clusters are made of, who paid for it, and whose projects use it (reports.md 1.7): added,
//! changed, removed. None of it moves money.

mod contributor;
mod downtime;

use crate::command::{Equipment, SetContribution, SetHardware};
use crate::contribution::host::Pattern;
use crate::decimal::Decimal;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::{ContributionId, HardwareId, NAME_BYTES_MAX};
use crate::model::{Contribution, Hardware};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};

/// Most rows of each kind, removed ones too.
const ROWS_MAX: usize = 10_000;
/// Most host patterns of one kind of nodes.
const HOSTS_MAX: usize = 64;
/// Highest priority of a kind of nodes.
const PRIORITY_MAX: i64 = 1_000_000;
/// Priority of new hardware.
const PRIORITY: i64 = 100;
/// Most processors of a node, and most nodes.
const NODES_MAX: i64 = 1_000_000;
/// Most processors of a contribution.
const PROCESSORS_MAX: i64 = 10_000_000;
/// The highest factor, in billionths.
const FACTOR_MAX: i128 = 1_000_000_000_000;
/// All of a contribution, in hundredths of a percent.
const WHOLE: i64 = 10_000;

/// Decides a command about hardware, contributions and contributors.
pub(super) fn decide(
    equipment: &Equipment,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let change = match equipment {
        Equipment::AddHardware(set) => hardware(new_hardware(ctx)?, set, ctx)?,
        Equipment::SetHardware(id, set) => hardware(known_hardware(*id, ctx)?, set, ctx)?,
        Equipment::RemoveHardware(id) => remove_hardware(*id, ctx)?,
        Equipment::AddDowntime(hardware, set) => downtime::add(*hardware, set, ctx)?,
        Equipment::SetDowntime(id, set) => downtime::set(*id, set, ctx)?,
        Equipment::RemoveDowntime(id) => downtime::remove(*id, ctx)?,
        Equipment::AddContribution(set) => contribution(new_contribution(ctx)?, set, ctx)?,
        Equipment::SetContribution(id, set) => {
            contribution(known_contribution(*id, ctx)?, set, ctx)?
        }
        Equipment::RemoveContribution(id) => remove_contribution(*id, ctx)?,
        Equipment::AddContributor(set) => contributor::add(set, ctx)?,
        Equipment::SetContributor(set) => contributor::set(set, ctx)?,
        Equipment::RemoveContributor(name) => contributor::remove(name, ctx)?,
    };
    let mut postings = Postings::new(view);
    postings.begin(equipment.op(), ctx.now);
    postings.remark(&change.detail);
    postings.directory.push(change.row);
    Ok(postings.finish(change.outcome))
}

/// A change, and what the journal says of it.
struct Change {
    row: DirectoryRow,
    outcome: Outcome,
    detail: String,
}

fn new_hardware(ctx: &Context<'_>) -> Result<Hardware, Refusal> {
    let [rows, _, _, _] = ctx.directory.equipment.rows();
    has_room(rows)?;
    Ok(Hardware {
        id: ctx.directory.equipment.next_hardware(),
        priority: PRIORITY,
        name: String::new(),
        machine: String::new(),
        hosts: Vec::new(),
        factor: 1_000_000_000,
        processors: 0,
        nodes: 0,
        counts: true,
        valid: Window::ALWAYS,
        description: String::new(),
        deleted: false,
    })
}

fn known_hardware(id: HardwareId, ctx: &Context<'_>) -> Result<Hardware, Refusal> {
    let known = ctx.directory.equipment.hardware(id);
    let unknown = || Refusal::not_found("hardware", &id.0.to_string());
    known.cloned().ok_or_else(unknown)
}

fn hardware(mut own: Hardware, set: &SetHardware, ctx: &Context<'_>) -> Result<Change, Refusal> {
    take(&mut own.priority, set.priority.as_ref());
    take(&mut own.name, set.name.as_ref());
    if let Some(machine) = &set.machine {
        own.machine = machine.clone().unwrap_or_default();
    }
    take(&mut own.hosts, set.hosts.as_ref());
    if let Some(factor) = set.factor {
        own.factor = checked_factor(factor)?;
    }
    take(&mut own.processors, set.processors.as_ref());
    take(&mut own.nodes, set.nodes.as_ref());
    take(&mut own.counts, set.counts.as_ref());
    own.valid = window(own.valid, set.from, set.until)?;
    take(&mut own.description, set.description.as_ref());

    crate::ids::check_name(&own.name)?;
    text("description", &own.description)?;
    if !own.machine.is_empty() && ctx.directory.machine_named(&own.machine).is_none() {
        return Err(Refusal::not_found("machine", &own.machine));
    }
    if own.hosts.len() > HOSTS_MAX {
        return Err(bad("hosts", "at most 64 patterns such as node[0-9]*"));
    }
    between(
        "priority",
        own.priority,
        PRIORITY_MAX,
        "0 to 1000000; lower is asked first",
    )?;
    check_size(set)?;
    Ok(Change {
        detail: shown_hardware(&own),
        row: DirectoryRow::Hardware(own.clone()),
        outcome: Outcome::Hardware(Box::new(own)),
    })
}

/// Nodes without a processor, and none of them, are no hardware. What older versions took stays.
fn check_size(set: &SetHardware) -> Result<(), Refusal> {
    let is_size = |size: Option<i64>| size.is_none_or(|size| (1..=NODES_MAX).contains(&size));
    if !is_size(set.processors) {
        return Err(bad("processors", "1 to 1000000 processors of a node"));
    }
    if !is_size(set.nodes) {
        return Err(bad("nodes", "1 to 1000000 nodes"));
    }
    Ok(())
}

fn remove_hardware(id: HardwareId, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let mut own = known_hardware(id, ctx)?;
    own.deleted = true;
    Ok(Change {
        detail: shown_hardware(&own),
        row: DirectoryRow::Hardware(own),
        outcome: Outcome::Removed(id.0.to_string()),
    })
}

fn new_contribution(ctx: &Context<'_>) -> Result<Contribution, Refusal> {
    let [_, _, rows, _] = ctx.directory.equipment.rows();
    has_room(rows)?;
    Ok(Contribution {
        id: ctx.directory.equipment.next_contribution(),
        contributor: String::new(),
        paid_by: String::new(),
        what: String::new(),
        processors: 0,
        split: WHOLE,
        factor: 1_000_000_000,
        valid: Window::ALWAYS,
        description: String::new(),
        deleted: false,
    })
}

fn known_contribution(id: ContributionId, ctx: &Context<'_>) -> Result<Contribution, Refusal> {
    let known = ctx.directory.equipment.contribution(id);
    let unknown = || Refusal::not_found("contribution", &id.0.to_string());
    known.cloned().ok_or_else(unknown)
}

fn contribution(
    mut own: Contribution,
    set: &SetContribution,
    ctx: &Context<'_>,
) -> Result<Change, Refusal> {
    take(&mut own.contributor, set.contributor.as_ref());
    take(&mut own.paid_by, set.paid_by.as_ref());
    take(&mut own.what, set.what.as_ref());
    take(&mut own.processors, set.processors.as_ref());
    if let Some(split) = set.split {
        own.split = checked_split(split)?;
    }
    if let Some(factor) = set.factor {
        own.factor = checked_factor(factor)?;
    }
    own.valid = window(own.valid, set.from, set.until)?;
    take(&mut own.description, set.description.as_ref());

    if ctx
        .directory
        .equipment
        .contributor(&own.contributor)
        .is_none()
    {
        return Err(Refusal::not_found("contributor", &own.contributor));
    }
    text("paid_by", &own.paid_by)?;
    text("what", &own.what)?;
    text("description", &own.description)?;
    between(
        "processors",
        own.processors,
        PROCESSORS_MAX,
        "0 to 10000000 processors",
    )?;
    Ok(Change {
        detail: shown_contribution(&own),
        row: DirectoryRow::Contribution(own.clone()),
        outcome: Outcome::Contribution(Box::new(own)),
    })
}

fn remove_contribution(id: ContributionId, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let mut own = known_contribution(id, ctx)?;
    own.deleted = true;
    Ok(Change {
        detail: shown_contribution(&own),
        row: DirectoryRow::Contribution(own),
        outcome: Outcome::Removed(id.0.to_string()),
    })
}

fn take<T: Clone>(own: &mut T, new: Option<&T>) {
    if let Some(new) = new {
        own.clone_from(new);
    }
}

/// An end of a window; none is without a bound.
type Bound = Option<Timestamp>;

fn window(own: Window, from: Option<Bound>, until: Option<Bound>) -> Result<Window, Refusal> {
    let window = Window {
        start: from.unwrap_or(own.start),
        end: until.unwrap_or(own.end),
    };
    if window.is_proper() {
        return Ok(window);
    }
    Err(Refusal::BadWindow)
}

fn checked_factor(factor: Decimal) -> Result<u64, Refusal> {
    let billionths = Some(factor.billionths()).filter(|b| (1..=FACTOR_MAX).contains(b));
    let billionths = billionths.and_then(|b| u64::try_from(b).ok());
    billionths.ok_or_else(|| bad("factor", "a decimal number above 0, at most 1000"))
}

fn checked_split(split: Decimal) -> Result<i64, Refusal> {
    let hundredths = split.billionths().checked_mul(100);
    let whole = hundredths
        .map(Decimal::from_billionths)
        .and_then(Decimal::as_whole);
    let whole = whole.filter(|split| (0..=WHOLE).contains(split));
    whole.ok_or_else(|| bad("split", "0 to 100 percent with at most two decimals"))
}

fn between(
    field: &'static str,
    value: i64,
    most: i64,
    expected: &'static str,
) -> Result<(), Refusal> {
    if (0..=most).contains(&value) {
        return Ok(());
    }
    Err(bad(field, expected))
}

fn text(field: &'static str, text: &str) -> Result<(), Refusal> {
    if text.len() <= NAME_BYTES_MAX && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(bad(field, "at most 256 bytes without control characters"))
}

fn has_room(rows: usize) -> Result<(), Refusal> {
    if rows < ROWS_MAX {
        return Ok(());
    }
    Err(bad("id", "at most 10000 rows, removed ones too"))
}

fn bad(field: &'static str, expected: &'static str) -> Refusal {
    Refusal::BadValue { field, expected }
}

fn shown_window(valid: &Window) -> String {
    let at = |bound: Option<Timestamp>| bound.map_or("-".to_owned(), |at| at.0.to_string());
    format!("from={} until={}", at(valid.start), at(valid.end))
}

/// Hardware as the journal has it.
fn shown_hardware(own: &Hardware) -> String {
    let hosts: Vec<&str> = own.hosts.iter().map(Pattern::text).collect();
    format!(
        "hardware={} name={} machine={} hosts={} factor={} processors={} nodes={} counts={} {}",
        own.id.0,
        own.name,
        own.machine,
        hosts.join(","),
        Decimal::from_billionths(own.factor.into()),
        own.processors,
        own.nodes,
        own.counts,
        shown_window(&own.valid)
    )
}

/// A contribution as the journal has it.
fn shown_contribution(own: &Contribution) -> String {
    format!(
        "contribution={} contributor={} processors={} split={} factor={} {}",
        own.id.0,
        own.contributor,
        own.processors,
        own.split,
        Decimal::from_billionths(own.factor.into()),
        shown_window(&own.valid)
    )
}

#[cfg(test)]
mod tests;
