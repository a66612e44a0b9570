//! Names in questions about what was used. A slip of the fingers is told: an empty answer would hide it.
//!
//! A user or a machine need not be registered: usage may name them all the same, and so it may name a
//! project that nobody made. So a name is known that is registered and in view, or that usage in view
//! carries. To whom something is hidden both are the same: what is not there, and what is not theirs.

use bank_core::refusal::Refusal;

use super::call::Call;
use super::report_usage::sees;
use super::view::View;
use crate::http::error::Failure;
use crate::store::read::report::{self, Owner};

/// Whom a question names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) user: Option<&'a str>,
    pub(super) machine: Option<&'a str>,
}

/// One of them.
#[derive(Clone, Debug)]
struct Name {
    kind: Kind,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Project,
    User,
    Machine,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Project => "project",
            Kind::User => "user",
            Kind::Machine => "machine",
        }
    }

    /// Whether the bank has one of the name that the caller sees.
    fn is_registered(self, view: &View, name: &str) -> bool {
        match self {
            Kind::Project => view.project(name).is_ok(),
            Kind::User => view.user(name).is_ok(),
            Kind::Machine => view.machine(name).is_ok(),
        }
    }
}

impl Name {
    /// Whether usage of these is its, as far as the caller sees whose it is.
    fn is_of(&self, view: &View, owner: &Owner<'_>) -> bool {
        match (self.kind, sees(view, owner)) {
            (_, None) | (Kind::User, Some(false)) => false,
            (Kind::Project, Some(_)) => owner.project == self.name,
            (Kind::User, Some(true)) => owner.user == self.name,
            (Kind::Machine, Some(_)) => owner.machine == self.name,
        }
    }
}

impl Names<'_> {
    /// # Errors
    /// 404 for the first that the caller cannot know, with the nearest one in view; if the store cannot
    /// be read.
    pub(super) async fn check(self, call: &Call) -> Result<(), Failure> {
        match self.stranger(call).await? {
            Some(name) => Err(call.view.unknown(name.kind.word(), &name.name)),
            None => Ok(()),
        }
    }

    /// The first that is neither registered nor met.
    async fn stranger(self, call: &Call) -> Result<Option<Name>, Failure> {
        let all = [
            (Kind::Project, self.project),
            (Kind::User, self.user),
            (Kind::Machine, self.machine),
        ];
        let view = &call.view;
        let unknown = all.into_iter().filter_map(|(kind, name)| {
            let name = name
                .filter(|name| !kind.is_registered(view, name))?
                .to_owned();
            Some(Name { kind, name })
        });
        let unknown: Vec<Name> = unknown.collect();
        if unknown.is_empty() {
            return Ok(None);
        }
        let view = view.clone();
        let found = call.ask(move |connection| {
            let mut strangers = unknown;
            report::each_owner(connection, |owner| {
                strangers.retain(|name| !name.is_of(&view, owner));
                !strangers.is_empty()
            })?;
            Ok(strangers)
        });
        Ok(found.await?.into_iter().next())
    }
}

/// A project that is registered and in view, and below it only what is.
///
/// # Errors
/// 404 for any other, and a refusal where no project is named for those below it.
pub(super) fn tree(call: &Call, project: Option<&str>) -> Result<(), Failure> {
    let Some(name) = project else {
        return Err(call.refused(&Refusal::BadValue {
            field: "tree",
            expected: "a project beside it",
        }));
    };
    call.view.project(name).map(|_| ())
}
