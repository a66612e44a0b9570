//! Names in queries of usage. A misspelt name is an error, because an empty answer would hide it.
//!
//! Usage may name users, machines and projects that are not registered. Queues and qualities of service are
//! never registered. A name is therefore valid if it is registered and in view, or if visible usage or a
//! visible job in a snapshot contains it. For a restricted caller, hidden and missing names give the same
//! error.

use std::collections::BTreeSet;

use bank_api::text::suggest;
use bank_core::refusal::Refusal;
use bankd_store::read::report::{self, Owner};

use super::call::Call;
use super::owner::{CurrentNames, sees};
use super::view::Lookup as _;
use super::view::View;
use crate::error::Failure;

/// Most names among which the nearest is looked for.
const NAMES_MAX: usize = 10_000;

/// The names in a query.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) user: Option<&'a str>,
    pub(super) machine: Option<&'a str>,
    pub(super) queue: Option<&'a str>,
    pub(super) qos: Option<&'a str>,
}

/// One of them.
#[derive(Clone, Debug)]
struct Sought {
    kind: Kind,
    name: String,
    /// Names of this kind in visible usage, for unregistered kinds.
    others: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Project,
    User,
    Machine,
    Queue,
    Qos,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Project => "project",
            Kind::User => "user",
            Kind::Machine => "machine",
            Kind::Queue => "queue",
            Kind::Qos => "qos",
        }
    }

    /// Whether the name is registered and visible.
    fn is_registered(self, view: &View, name: &str) -> bool {
        match self {
            Kind::Project => view.project(name).is_ok(),
            Kind::User => view.user(name).is_ok(),
            Kind::Machine => view.machine(name).is_ok(),
            Kind::Queue | Kind::Qos => false,
        }
    }
}

impl Sought {
    /// The name of this kind in the usage of an owner, as far as the caller sees it.
    fn met<'o>(&self, view: &View, owner: &Owner<'o>) -> Option<&'o str> {
        match (self.kind, sees(view, owner)?) {
            (Kind::User, false) => None,
            (Kind::Project, _) => Some(owner.project),
            (Kind::User, true) => Some(owner.user),
            (Kind::Machine, _) => Some(owner.machine),
            (Kind::Queue, _) => Some(owner.queue),
            (Kind::Qos, _) => Some(owner.qos),
        }
    }

    /// Stores a name from usage, if its kind is not registered.
    fn notice(&mut self, view: &View, owner: &Owner<'_>) {
        let is_unregistered = matches!(self.kind, Kind::Queue | Kind::Qos);
        let room = is_unregistered && self.others.len() < NAMES_MAX;
        let other = self
            .met(view, owner)
            .filter(|name| room && !name.is_empty());
        if let Some(other) = other.filter(|name| !self.others.contains(*name)) {
            self.others.insert(other.to_owned());
        }
    }
}

impl Names<'_> {
    /// # Errors
    /// 404 for the first invalid name, with the nearest visible one. Fails if the store cannot be read.
    pub(super) async fn check(self, call: &Call) -> Result<(), Failure> {
        match self.stranger(call).await? {
            Some(Sought { kind, name, others }) if matches!(kind, Kind::Queue | Kind::Qos) => {
                Err(nowhere(call, kind.word(), &name, &others))
            }
            Some(name) => Err(call.view.unknown(name.kind.word(), &name.name)),
            None => Ok(()),
        }
    }

    /// The first that is neither registered nor met.
    async fn stranger(self, call: &Call) -> Result<Option<Sought>, Failure> {
        let all = [
            (Kind::Project, self.project),
            (Kind::User, self.user),
            (Kind::Machine, self.machine),
            (Kind::Queue, self.queue),
            (Kind::Qos, self.qos),
        ];
        let view = &call.view;
        let unknown = all.into_iter().filter_map(|(kind, name)| {
            let name = name
                .filter(|name| !kind.is_registered(view, name))?
                .to_owned();
            Some(Sought {
                kind,
                name,
                others: BTreeSet::new(),
            })
        });
        let unknown: Vec<Sought> = unknown.collect();
        if unknown.is_empty() {
            return Ok(None);
        }
        let view = view.clone();
        let found = call.ask(move |connection| {
            let mut strangers = unknown;
            let mut meet = |owner: &Owner<'_>| {
                strangers.retain_mut(|name| {
                    name.notice(&view, owner);
                    name.met(&view, owner) != Some(name.name.as_str())
                });
                !strangers.is_empty()
            };
            report::each_owner(connection, &mut meet)?;
            report::each_counted(connection, |whose| {
                let names = CurrentNames::of(&view, whose);
                meet(&names.owner(whose))
            })?;
            Ok(strangers)
        });
        Ok(found.await?.into_iter().next())
    }
}

/// 404 for a name that no usage in view has, with the nearest that one has.
fn nowhere(call: &Call, kind: &'static str, name: &str, others: &BTreeSet<String>) -> Failure {
    let failure = call.refused(&Refusal::not_found(kind, name));
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let list = format!("`bank usage --by {kind}` shows those that were used");
    failure.hint(match suggest(name, &others) {
        Some(near) => format!("did you mean {near:?}? {list}"),
        None => list,
    })
}

/// A registered and visible project, with visible subprojects only.
///
/// # Errors
/// 404 for any other name, and a refusal of `tree` without a project.
pub(super) fn tree(call: &Call, project: Option<&str>) -> Result<(), Failure> {
    let Some(name) = project else {
        return Err(call.refused(&Refusal::bad_value("tree", "a project in the same request")));
    };
    call.view.project(name).map(|_| ())
}
