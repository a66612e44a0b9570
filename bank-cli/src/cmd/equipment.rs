//! `bank hardware`, `bank contribution`, `bank contributor`: what clusters are made of, who paid for
//! it, and whose projects use it.

mod downtime;
mod import;
mod pattern;
mod table;
#[cfg(test)]
mod tests;

use bank_api::v1::{
    Contribution, Contributor, Hardware, List, NewContribution, NewContributor, NewHardware,
    PatchContribution, PatchContributor, PatchHardware, Written,
};
use serde::{Serialize, de::DeserializeOwned};
use ureq::http::Method;

use super::nothing_to_set;
use crate::{
    cli::{
        AddContribution, AddHardware, ContributionCommand, ContributorArgs, ContributorCommand,
        HardwareCommand, RemoveArgs, SetContribution, SetHardware, ValidArgs,
    },
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

/// Rows of a kind, which are listed, shown and removed alike.
struct Rows<T: 'static> {
    /// What one is called.
    word: &'static str,
    /// Where they are.
    path: &'static str,
    /// Their columns.
    sheet: fn(&[T]) -> Sheet,
}

const HARDWARE: Rows<Hardware> = Rows {
    word: "hardware",
    path: "hardware",
    sheet: of_hardware,
};
const CONTRIBUTIONS: Rows<Contribution> = Rows {
    word: "contribution",
    path: "contributions",
    sheet: of_contributions,
};
const CONTRIBUTORS: Rows<Contributor> = Rows {
    word: "contributor",
    path: "contributors",
    sheet: of_contributors,
};

impl<T: Serialize + DeserializeOwned> Rows<T> {
    fn list(&self, context: &Context) -> Result<String, Failure> {
        let list: List<T> = context.all(&[self.path], &())?;
        context.form.list(&list, &(self.sheet)(&list.items))
    }

    /// One, by its number or its name.
    fn show(&self, context: &Context, id: &str) -> Result<String, Failure> {
        let own: T = context.get(&[self.path, id], &())?;
        let sheet = (self.sheet)(std::slice::from_ref(&own));
        context.form.one(&own, &sheet)
    }

    fn remove(&self, context: &Context, id: &str, args: &RemoveArgs) -> Result<String, Failure> {
        let what = format!("{} {id}", self.word);
        let answer = context.remove(&[self.path, id], &format!("remove {what}"), args)?;
        context.removed(&answer, &format!("{what} removed"))
    }
}

/// `bank hardware`
pub(super) fn hardware(context: &Context, command: HardwareCommand) -> Result<String, Failure> {
    match command {
        HardwareCommand::Add(args) => add_hardware(context, args),
        HardwareCommand::Ls => HARDWARE.list(context),
        HardwareCommand::Show { id } => HARDWARE.show(context, &id.to_string()),
        HardwareCommand::Set(args) => set_hardware(context, args),
        HardwareCommand::Rm { id, remove } => HARDWARE.remove(context, &id.to_string(), &remove),
        HardwareCommand::Import(args) => import::hardware(context, &args),
        HardwareCommand::Downtime(command) => downtime::run(context, command),
    }
}

fn add_hardware(context: &Context, args: AddHardware) -> Result<String, Failure> {
    let (from, until) = valid(context, &args.more.valid)?;
    let more = args.more;
    let body = NewHardware {
        name: args.name,
        machine: more.machine,
        hosts: without_empty(more.hosts),
        factor: more.factor,
        processors: args.processors,
        nodes: args.nodes,
        counts: more.counts.map(bool::from),
        from,
        until,
        priority: more.priority,
        description: more.description,
    };
    let answer: Written<Hardware> =
        context.send(Method::POST, &["hardware"], &body, &args.write)?;
    let own = &answer.object;
    context.written(
        &answer,
        &format!("hardware {} added: {}", own.id, said(own)),
    )
}

fn set_hardware(context: &Context, args: SetHardware) -> Result<String, Failure> {
    let (from, until) = valid(context, &args.more.valid)?;
    let more = args.more;
    let body = PatchHardware {
        name: args.name,
        machine: more.machine,
        hosts: Some(more.hosts)
            .filter(|hosts| !hosts.is_empty())
            .map(without_empty),
        factor: more.factor,
        processors: args.processors,
        nodes: args.nodes,
        counts: more.counts.map(bool::from),
        from,
        until,
        priority: more.priority,
        description: more.description,
    };
    if body == PatchHardware::default() {
        return Err(nothing_to_set());
    }
    let id = args.id.to_string();
    let answer: Written<Hardware> =
        context.send(Method::PATCH, &["hardware", &id], &body, &args.write)?;
    context.written(
        &answer,
        &format!("hardware {id} changed: {}", said(&answer.object)),
    )
}

/// Hardware in words.
fn said(own: &Hardware) -> String {
    let machine = own.machine.as_deref().unwrap_or("any machine");
    format!(
        "{} × {} processors of {} on {machine}, factor {}",
        own.nodes, own.processors, own.name, own.factor
    )
}

/// `bank contribution`
pub(super) fn contribution(
    context: &Context,
    command: ContributionCommand,
) -> Result<String, Failure> {
    match command {
        ContributionCommand::Add(args) => add_contribution(context, args),
        ContributionCommand::Ls => CONTRIBUTIONS.list(context),
        ContributionCommand::Show { id } => CONTRIBUTIONS.show(context, &id.to_string()),
        ContributionCommand::Set(args) => set_contribution(context, args),
        ContributionCommand::Rm { id, remove } => {
            CONTRIBUTIONS.remove(context, &id.to_string(), &remove)
        }
        ContributionCommand::Import(args) => import::contributions(context, &args),
    }
}

fn add_contribution(context: &Context, args: AddContribution) -> Result<String, Failure> {
    let (from, until) = valid(context, &args.more.valid)?;
    let more = args.more;
    let body = NewContribution {
        contributor: args.contributor,
        paid_by: more.paid_by,
        what: more.what,
        processors: args.processors,
        split: more.split,
        factor: more.factor,
        from,
        until,
        description: more.description,
    };
    let answer: Written<Contribution> =
        context.send(Method::POST, &["contributions"], &body, &args.write)?;
    let own = &answer.object;
    context.written(
        &answer,
        &format!("contribution {} added: {}", own.id, credited(own)),
    )
}

fn set_contribution(context: &Context, args: SetContribution) -> Result<String, Failure> {
    let (from, until) = valid(context, &args.more.valid)?;
    let more = args.more;
    let body = PatchContribution {
        contributor: args.contributor,
        paid_by: more.paid_by,
        what: more.what,
        processors: args.processors,
        split: more.split,
        factor: more.factor,
        from,
        until,
        description: more.description,
    };
    if body == PatchContribution::default() {
        return Err(nothing_to_set());
    }
    let id = args.id.to_string();
    let answer: Written<Contribution> =
        context.send(Method::PATCH, &["contributions", &id], &body, &args.write)?;
    context.written(
        &answer,
        &format!("contribution {id} changed: {}", credited(&answer.object)),
    )
}

/// A contribution in words.
fn credited(own: &Contribution) -> String {
    format!(
        "{} % of {} processors credited to {}, factor {}",
        own.split, own.processors, own.contributor, own.factor
    )
}

/// `bank contributor`
pub(super) fn contributor(
    context: &Context,
    command: ContributorCommand,
) -> Result<String, Failure> {
    match command {
        ContributorCommand::Add(args) => {
            let body = NewContributor {
                name: args.name,
                user: args.user,
                exempt: args.exempt.map(bool::from),
                projects: without_empty(args.projects),
                description: args.description,
            };
            let answer: Written<Contributor> =
                context.send(Method::POST, &["contributors"], &body, &args.write)?;
            let name = &answer.object.name;
            context.written(&answer, &format!("contributor {name} added"))
        }
        ContributorCommand::Ls => CONTRIBUTORS.list(context),
        ContributorCommand::Show { name } => CONTRIBUTORS.show(context, &name),
        ContributorCommand::Set(args) => set_contributor(context, args),
        ContributorCommand::Rm { name, remove } => CONTRIBUTORS.remove(context, &name, &remove),
    }
}

fn set_contributor(context: &Context, args: ContributorArgs) -> Result<String, Failure> {
    let body = PatchContributor {
        user: args.user,
        exempt: args.exempt.map(bool::from),
        projects: Some(args.projects)
            .filter(|projects| !projects.is_empty())
            .map(without_empty),
        description: args.description,
    };
    if body == PatchContributor::default() {
        return Err(nothing_to_set());
    }
    let answer: Written<Contributor> = context.send(
        Method::PATCH,
        &["contributors", &args.name],
        &body,
        &args.write,
    )?;
    context.written(&answer, &format!("contributor {} changed", args.name))
}

/// One empty word says that there are none.
fn without_empty(mut words: Vec<String>) -> Vec<String> {
    words.retain(|word| !word.is_empty());
    words
}

/// Bounds as the daemon takes them; the empty text is none.
fn valid(
    context: &Context,
    valid: &ValidArgs,
) -> Result<(Option<String>, Option<String>), Failure> {
    Ok((
        bound(context, valid.from.as_ref())?,
        bound(context, valid.until.as_ref())?,
    ))
}

fn bound(context: &Context, text: Option<&String>) -> Result<Option<String>, Failure> {
    match text.map(String::as_str) {
        Some("") => Ok(Some(String::new())),
        _ => context.time(text),
    }
}

fn of_hardware(rows: &[Hardware]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("priority", "Priority", Kind::Number),
        column("name", "Name", Kind::Text),
        column("machine", "Machine", Kind::Text),
        column("hosts", "Hosts", Kind::Text),
        column("factor", "Factor", Kind::Number),
        column("processors", "Processors", Kind::Number),
        column("nodes", "Nodes", Kind::Number),
        column("counts", "Counts", Kind::Text),
        column("from", "From", Kind::Date),
        column("until", "Until", Kind::Date),
        column("description", "Description", Kind::Text)
            .on_screen_if(rows.iter().any(|own| own.description.is_some())),
    ];
    Sheet::new(columns, rows, "no hardware: every host counts 1")
}

fn of_contributions(rows: &[Contribution]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("contributor", "Contributor", Kind::Text),
        column("processors", "Processors", Kind::Number),
        column("split", "Split %", Kind::Number),
        column("factor", "Factor", Kind::Number),
        column("from", "From", Kind::Date),
        column("until", "Until", Kind::Date),
        column("paid_by", "Paid by", Kind::Text),
        column("what", "What", Kind::Text),
        column("description", "Description", Kind::Text)
            .on_screen_if(rows.iter().any(|own| own.description.is_some())),
    ];
    Sheet::new(columns, rows, "no contributions")
}

fn of_contributors(rows: &[Contributor]) -> Sheet {
    let columns = vec![
        column("name", "Name", Kind::Text),
        column("user", "User", Kind::Text),
        column("exempt", "Exempt", Kind::Text),
        column("projects", "Projects", Kind::Text),
        column("description", "Description", Kind::Text)
            .on_screen_if(rows.iter().any(|own| own.description.is_some())),
    ];
    Sheet::new(columns, rows, "no contributors")
}
