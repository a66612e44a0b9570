//! The project, user and PI of usage: mappings, then other names of users, then the names as reported.

use super::Directory;
use crate::ids::UserId;
use crate::mapping::{Mapped, Naming};
use crate::model::User;

impl Directory {
    /// The project, user and PI of usage. The first mapping with a project decides the project, else the
    /// account names it. The user comes from a mapping, else from the user with that other name, else as named.
    /// The PI comes from a mapping only, and may be another name of a user too.
    pub fn mapped(&self, naming: &Naming<'_>) -> Mapped {
        let named = [naming.account, naming.user, ""];
        let mut given = self.mappings.ask(naming).into_iter().zip(named);
        let mut next = || match given.next() {
            Some((Some((name, id)), _)) => (name, Some(id.0)),
            Some((None, named)) => (named.to_owned(), None),
            None => Default::default(),
        };
        let ((project, rule), (user, user_rule), (pi, pi_rule)) = (next(), next(), next());
        let known = |name: String| match self.user_known_as(&name) {
            Some(own) => own.name.clone(),
            None => name,
        };
        Mapped {
            project,
            user: known(user),
            pi: known(pi),
            rule,
            user_rule,
            pi_rule,
        }
    }

    /// A user by name or by another name of theirs, unless they were removed. The name goes first.
    pub fn user_known_as(&self, name: &str) -> Option<&User> {
        let alias = || {
            let user = self.user(*self.aliases.get(name)?)?;
            (!user.deleted).then_some(user)
        };
        self.user_named(name).or_else(alias)
    }

    /// The user with this other name, unless removed.
    pub fn user_with_alias(&self, alias: &str) -> Option<&User> {
        let user = self.user(*self.aliases.get(alias)?)?;
        (!user.deleted).then_some(user)
    }

    pub(super) fn put_aliases(&mut self, user: &User) {
        let old = self.users.get(&user.id).map(|old| old.aliases.clone());
        for alias in old.unwrap_or_default() {
            let own = |id: &UserId| *id == user.id;
            if self.aliases.get(&alias).is_some_and(own) {
                self.aliases.remove(&alias);
            }
        }
        if user.deleted {
            return;
        }
        for alias in &user.aliases {
            self.aliases.insert(alias.clone(), user.id);
        }
    }
}
