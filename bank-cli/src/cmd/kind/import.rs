//! Tables of Cluster Accountant (reports.md 1.1): what is there already is left alone, so that the same
//! import again does nothing; what cannot be taken in is told by its line.

use std::collections::BTreeMap;

use bank_api::exit::bank as exit;
use bank_api::text;
use bank_api::v1::{ImportedTable, List, Project, Written};
use serde_json::{Value, json};
use ureq::http::Method;

use super::table::{Cells, Table};
use super::{Record, pattern};
use crate::{
    cli::{ImportTable, ImportTables, TakeArgs, WriteArgs},
    context::Context,
    fail::Failure,
};

/// `bank hardware import`
pub(super) fn hardware(context: &Context, args: &ImportTable) -> Result<String, Failure> {
    let mut machines = BTreeMap::new();
    for text in &args.machines {
        let (cluster, machine) = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("{text:?} is not of the form CLUSTER=MACHINE"))
        })?;
        machines.insert(cluster.to_owned(), machine.to_owned());
    }
    let needed = [
        "regex",
        "processor_type",
        "processor_qty",
        "node_qty",
        "su_charge",
    ];
    let mut table = Table::read(&args.file, &needed)?;
    let known: List<Record> = context.all(&["hardware"], &())?;
    let mut known = known.items;
    let mut taken = ImportedTable::default();
    let (heads, rows) = table.take();
    for (line, cells) in rows {
        match new_hardware(Cells::new(&heads, &cells), &machines) {
            Err(why) => table.reject(line, "bad_line", why),
            Ok(new) => {
                if gone(&mut known, |own| is_same(own, &new)) {
                    taken.known += 1;
                } else if added(context, "hardware", &new, &args.take, &mut table, line)? {
                    taken.added += 1;
                }
            }
        }
    }
    end(
        context,
        &args.take,
        &[filled(taken, "processor_type", table)],
    )
}

/// A row of `processor_type`; its regular expression as patterns, its number as a remark.
pub(super) fn new_hardware(
    cells: Cells<'_>,
    machines: &BTreeMap<String, String>,
) -> Result<Record, String> {
    let cluster = cells.get("cluster").unwrap_or_default();
    let machine = machines.get(cluster).map_or(cluster, String::as_str);
    let expression = cells.need("regex")?;
    let hosts = pattern::patterns(expression).map_err(|why| {
        format!(
            "the regular expression {expression:?} is not a pattern of hosts: {why}; add it by hand"
        )
    })?;
    Ok(record(json!({
        "name": cells.need("processor_type")?,
        "machine": Some(machine).filter(|name| !name.is_empty()),
        "hosts": hosts,
        "factor": cells.need("su_charge")?,
        "processors": cells.whole("processor_qty")?,
        "nodes": cells.whole("node_qty")?,
        "counts": !cells.flag("disabled")?,
        "from": cells.time("date_installed")?,
        "description": cells.get("id").map(|id| format!("processor_type {id}")),
    })))
}

fn record(value: Value) -> Record {
    match value {
        Value::Object(record) => record,
        _ => Record::new(),
    }
}

/// Whether a record has the values of a new one. Of hardware that was switched off since, it has too.
fn is_same(own: &Record, new: &Record) -> bool {
    let same = |name: &String, value: &Value| match (own.get(name), value) {
        (Some(Value::String(own)), Value::String(new)) if name == "factor" || name == "split" => {
            same_number(own, new)
        }
        (own, value) => own.unwrap_or(&Value::Null) == value,
    };
    let mut compared = new.iter().filter(|(name, _)| *name != "counts");
    compared.all(|(name, value)| same(name, value))
}

/// `bank contribution import`
pub(super) fn contributions(context: &Context, args: &ImportTables) -> Result<String, Failure> {
    let Some(file) = &args.investigators else {
        return Err(Failure::usage("no table is named")
            .hint("--investigators FILE, with --projects FILE and --contributions FILE"));
    };
    let mut people = Table::read(file, &["userid", "alias"])?;
    let mut taken = Vec::new();
    let (heads, rows) = people.take();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut wanted: Vec<(u64, Contributor)> = Vec::new();
    for (line, cells) in rows {
        match new_contributor(Cells::new(&heads, &cells)) {
            Err(why) => people.reject(line, "bad_line", why),
            Ok((user, new)) => {
                names.insert(user, new.name.clone());
                wanted.push((line, new));
            }
        }
    }
    if let Some(file) = &args.projects {
        let mut projects = Table::read(file, &["groupid", "pi_owner_userid"])?;
        let there: List<Project> = context.all(&["projects"], &())?;
        own_projects(&mut projects, &there.items, &names, &mut wanted);
        taken.push(filled(ImportedTable::default(), "project", projects));
    }
    let first = people_in(context, &args.take, people, wanted, args.projects.is_some())?;
    taken.insert(0, first);
    if let Some(file) = &args.contributions {
        taken.push(contributions_in(context, &args.take, file, &names)?);
    }
    end(context, &args.take, &taken)
}

/// A contributor of the table.
#[derive(Debug)]
struct Contributor {
    name: String,
    user: String,
    exempt: bool,
    projects: Vec<String>,
    description: String,
}

/// A row of `principal_investigator`: the id that the other tables name, and the contributor.
fn new_contributor(cells: Cells<'_>) -> Result<(String, Contributor), String> {
    let user = cells.need("userid")?.to_owned();
    let names = [cells.get("first_name"), cells.get("last_name")];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let new = Contributor {
        name: cells.need("alias")?.to_owned(),
        user: user.clone(),
        exempt: cells.flag("exempt")?,
        projects: Vec::new(),
        description: names.join(" "),
    };
    Ok((user, new))
}

/// Gives projects to whom the table says.
fn own_projects(
    table: &mut Table,
    there: &[Project],
    names: &BTreeMap<String, String>,
    wanted: &mut [(u64, Contributor)],
) {
    let (heads, rows) = table.take();
    for (line, cells) in rows {
        let cells = Cells::new(&heads, &cells);
        let (project, owner) = match (cells.need("groupid"), cells.need("pi_owner_userid")) {
            (Ok(project), Ok(owner)) => (project, owner),
            (Err(why), _) | (_, Err(why)) => {
                table.reject(line, "bad_line", why);
                continue;
            }
        };
        let name = names.get(owner);
        let own = wanted.iter_mut().find(|(_, new)| Some(&new.name) == name);
        if !there.iter().any(|known| known.name == project) {
            let why = format!("no project {project:?}: bank project add {project}, then again");
            table.reject(line, "not_found", why);
        } else if let Some((_, own)) = own {
            own.projects.push(project.to_owned());
        } else {
            let why = format!("the principal investigator {owner:?} is not in their table");
            table.reject(line, "not_found", why);
        }
    }
}

fn people_in(
    context: &Context,
    take: &TakeArgs,
    mut table: Table,
    wanted: Vec<(u64, Contributor)>,
    with_projects: bool,
) -> Result<ImportedTable, Failure> {
    let known: List<Record> = context.all(&["contributors"], &())?;
    let mut taken = ImportedTable::default();
    for (line, mut new) in wanted {
        new.projects.sort();
        new.projects.dedup();
        let name = Value::from(new.name.as_str());
        let own = known
            .items
            .iter()
            .find(|own| own.get("name") == Some(&name));
        let Some(own) = own else {
            let body = json!({
                "name": new.name,
                "user": new.user,
                "exempt": new.exempt,
                "projects": new.projects,
                "description": new.description,
            });
            if added(
                context,
                "contributors",
                &record(body),
                take,
                &mut table,
                line,
            )? {
                taken.added += 1;
            }
            continue;
        };
        let mut patch = record(json!({"user": new.user, "exempt": new.exempt}));
        if with_projects {
            patch.insert("projects".to_owned(), new.projects.into());
        }
        if is_same(own, &patch) {
            taken.known += 1;
            continue;
        }
        let target = ["contributors", new.name.as_str()];
        let sent: Result<Written<Record>, Failure> =
            context.send(Method::PATCH, &target, &patch, &write(take));
        if checked(sent.map(|_| ()), &mut table, line)? {
            taken.changed += 1;
        }
    }
    Ok(filled(taken, "principal_investigator", table))
}

fn contributions_in(
    context: &Context,
    take: &TakeArgs,
    file: &str,
    names: &BTreeMap<String, String>,
) -> Result<ImportedTable, Failure> {
    let needed = [
        "credited_to_userid",
        "no_of_processors",
        "split_percentage",
        "su_charge",
    ];
    let mut table = Table::read(file, &needed)?;
    let known: List<Record> = context.all(&["contributions"], &())?;
    let mut known = known.items;
    let mut taken = ImportedTable::default();
    let (heads, rows) = table.take();
    for (line, cells) in rows {
        match new_contribution(Cells::new(&heads, &cells), names) {
            Err(why) => table.reject(line, "bad_line", why),
            Ok(new) => {
                if gone(&mut known, |own| is_same(own, &new)) {
                    taken.known += 1;
                } else if added(context, "contributions", &new, take, &mut table, line)? {
                    taken.added += 1;
                }
            }
        }
    }
    Ok(filled(taken, "contribution", table))
}

/// A row of `contribution`.
pub(super) fn new_contribution(
    cells: Cells<'_>,
    names: &BTreeMap<String, String>,
) -> Result<Record, String> {
    let credited = cells.need("credited_to_userid")?;
    let contributor = names
        .get(credited)
        .ok_or_else(|| format!("the principal investigator {credited:?} is not in their table"))?;
    let what = [cells.get("host_name"), cells.get("processor_type")];
    let what: Vec<&str> = what.into_iter().flatten().collect();
    Ok(record(json!({
        "contributor": contributor,
        "paid_by": cells.get("contributor_userid"),
        "what": Some(what.join(" ")).filter(|text| !text.is_empty()),
        "processors": cells.whole("no_of_processors")?,
        "split": cells.need("split_percentage")?,
        "factor": cells.need("su_charge")?,
        "from": cells.time("date_contributed")?,
        "description": cells.get("id").map(|id| format!("contribution {id}")),
    })))
}

/// `1.9` and `1.900`.
fn same_number(own: &str, new: &str) -> bool {
    let plain = |text: &str| match text.split_once('.') {
        Some((whole, rest)) => {
            let rest = rest.trim_end_matches('0');
            let point = if rest.is_empty() { "" } else { "." };
            format!("{whole}{point}{rest}")
        }
        None => text.to_owned(),
    };
    plain(own) == plain(new)
}

/// Takes one row that is like it out of those that are known: two equal rows are two.
fn gone<T>(known: &mut Vec<T>, like: impl Fn(&T) -> bool) -> bool {
    let place = known.iter().position(like);
    place.map(|place| known.swap_remove(place)).is_some()
}

fn write(take: &TakeArgs) -> WriteArgs {
    WriteArgs {
        dry_run: take.dry_run,
        key: None,
    }
}

fn added(
    context: &Context,
    noun: &str,
    new: &Record,
    take: &TakeArgs,
    table: &mut Table,
    line: u64,
) -> Result<bool, Failure> {
    let sent: Result<Written<Record>, Failure> =
        context.send(Method::POST, &[noun], new, &write(take));
    checked(sent.map(|_| ()), table, line)
}

/// What the bank refused belongs to its line; anything else ends the import.
fn checked(sent: Result<(), Failure>, table: &mut Table, line: u64) -> Result<bool, Failure> {
    let Err(failure) = sent else {
        return Ok(true);
    };
    let of_the_row = [exit::REFUSED, exit::USAGE, exit::NOT_FOUND, exit::CONFLICT];
    match &failure.problem {
        Some(problem) if of_the_row.contains(&failure.exit) => {
            let detail = problem.detail.as_ref().unwrap_or(&problem.title).clone();
            table.reject(line, &problem.code.clone(), detail);
            Ok(false)
        }
        _ => {
            let file = &table.file;
            Err(failure.hint(format!(
                "stopped at {file}:{line}; the same import again goes on"
            )))
        }
    }
}

fn filled(mut taken: ImportedTable, name: &str, table: Table) -> ImportedTable {
    name.clone_into(&mut taken.table);
    taken.bad = table.bad;
    taken
}

fn end(context: &Context, take: &TakeArgs, taken: &[ImportedTable]) -> Result<String, Failure> {
    let lines: Vec<String> = taken
        .iter()
        .map(|own| {
            let ImportedTable {
                table,
                added,
                changed,
                known,
                bad,
            } = own;
            let bad = bad.len();
            format!("{table}: {added} added, {changed} changed, {known} unchanged, {bad} rejected")
        })
        .collect();
    let bad: usize = taken.iter().map(|own| own.bad.len()).sum();
    let left_out =
        (bad > 0 && take.strict).then(|| format!("{} not imported", text::counted(bad, "row")));
    context.imported(&taken, &lines.join("\n"), take.dry_run, left_out)
}
