//! Callers and their permissions: roles, and the people behind the Unix socket (decisions.md 21,
//! `http-auth.md` 4).
//!
//! Nothing here decides about money or single projects: rules and handlers do that. A uid that the system
//! does not list gets no permissions.

pub mod right;

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use crate::clock::Stopwatch;

pub use bank_core::role::{ROLES, Role, Roles};

use bank_core::command::Scope;
use bank_core::role::Who;
use bankd_config as config;
use std::sync::Arc;

/// Somebody on the Unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Login name; `uid:N` if the system has none.
    pub name: String,
    /// Whether `name` is a login name.
    pub known: bool,
    /// Their roles.
    pub roles: Roles,
}

impl Person {
    /// Their scope and identity.
    pub fn scope(&self) -> Scope {
        Scope {
            who: Some(Arc::new(Who {
                actor: self.name.clone(),
                client: format!("unix:{}", self.name),
                roles: self.roles,
                person: self.known.then(|| self.name.clone()),
            })),
            ..Scope::default()
        }
    }
}

/// The lifetime of a cached name for a uid.
const KNOWN_FOR: Duration = Duration::from_mins(5);
/// The lifetime of a cached result for a uid without a name.
const UNKNOWN_FOR: Duration = Duration::from_secs(10);
/// Most uids remembered; more empties the memory.
const REMEMBERED: usize = 10_000;

/// The people behind uids, with a memory so that a directory service is asked seldom.
#[derive(Debug)]
pub struct People {
    init_uid: u32,
    /// The uid of the daemon itself, if the system reports it.
    own_uid: Option<u32>,
    access: RwLock<config::Access>,
    memory: Mutex<HashMap<u32, (Person, Stopwatch)>>,
}

impl People {
    /// `init_uid` is the user who ran `bankd init`.
    pub fn new(init_uid: u32, access: config::Access) -> Self {
        Self {
            init_uid,
            own_uid: std::fs::metadata("/proc/self").ok().map(|own| own.uid()),
            access: RwLock::new(access),
            memory: Mutex::default(),
        }
    }

    /// Replaces the lists; everybody is looked up again.
    pub fn set(&self, access: config::Access) {
        let mut lists = self.access.write().unwrap_or_else(PoisonError::into_inner);
        if *lists != access {
            *lists = access;
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            memory.clear();
        }
    }

    /// The person of a uid, from the cache.
    pub fn remembered(&self, uid: u32) -> Option<Person> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let (person, since) = memory.get(&uid)?;
        let kept = if person.known { KNOWN_FOR } else { UNKNOWN_FOR };
        (since.elapsed() < kept).then(|| person.clone())
    }

    /// The person with a name, as in [`Person::name`]; none if nobody has it any more. Asks the system.
    pub fn find_named(&self, name: &str) -> Option<Person> {
        let uid = match name.strip_prefix("uid:") {
            Some(number) => number.parse().ok()?,
            None => uid_of(name)?,
        };
        Some(self.find(uid)).filter(|person| person.name == name)
    }

    /// The person of a uid; asks the system, so it may wait for a directory service.
    pub fn find(&self, uid: u32) -> Person {
        if let Some(person) = self.remembered(uid) {
            return person;
        }
        // Held until it is remembered: what other lists empty must not be filled from these.
        let access = self.access.read().unwrap_or_else(PoisonError::into_inner);
        let login = login_of(uid);
        let mut roles = Roles::of(&[Role::User]);
        if let Some(login) = &login {
            roles = roles_of(&access, login, roles);
        }
        if uid == 0 || uid == self.init_uid {
            roles = roles.with(Role::Admin);
        }
        // The daemon's own user can read its database anyway; scheduled reports use this.
        if Some(uid) == self.own_uid {
            roles = roles.with(Role::Auditor);
        }
        let person = Person {
            known: login.is_some(),
            name: login.map_or_else(|| format!("uid:{uid}"), |login| login.name),
            roles,
        };
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() >= REMEMBERED {
            memory.clear();
        }
        memory.insert(uid, (person.clone(), Stopwatch::start()));
        person
    }
}

/// The roles of a login beside those it has anyway.
fn roles_of(access: &config::Access, login: &Login, mut roles: Roles) -> Roles {
    let named = |list: &[String]| list.contains(&login.name);
    if named(&access.scheduler_users) {
        roles = roles.with(Role::Scheduler);
    }
    if named(&access.auditor_users) {
        roles = roles.with(Role::Auditor);
    }
    let group = &access.admin_group;
    if !group.is_empty() && is_in_group(login, group) {
        roles = roles.with(Role::Admin);
    }
    roles
}

/// A line of the system's user list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Login {
    name: String,
    gid: String,
}

fn login_of(uid: u32) -> Option<Login> {
    parse_login(&ask("getent", &["passwd", &uid.to_string()])?, uid)
}

fn uid_of(name: &str) -> Option<u32> {
    // A name that begins with `-` would be an option, and a number would be a uid.
    let may_be = !name.starts_with('-') && name.parse::<u32>().is_err();
    let text = ask("getent", &["passwd", "--", name]).filter(|_| may_be)?;
    let mut fields = text.lines().next()?.split(':');
    let is_same = fields.next()? == name;
    let uid = fields.nth(1)?.parse().ok()?;
    is_same.then_some(uid)
}

/// `name:x:uid:gid:…`; a name that begins with `-` would be taken for an option later.
fn parse_login(text: &str, uid: u32) -> Option<Login> {
    let mut fields = text.lines().next()?.split(':');
    let name = fields.next()?;
    let found = fields.nth(1)?.parse::<u32>().ok()?;
    let gid = fields.next()?;
    let usable = !name.is_empty() && !name.starts_with('-') && !name.contains(char::is_control);
    (usable && found == uid).then(|| Login {
        name: name.to_owned(),
        gid: gid.to_owned(),
    })
}

fn gid_of(group: &str) -> Option<String> {
    let text = ask("getent", &["group", group])?;
    let gid = text.lines().next()?.split(':').nth(2)?;
    Some(gid.to_owned())
}

/// The users and the group of the settings that the system does not list: nobody has their permissions.
pub fn unknown(access: &config::Access) -> Vec<String> {
    let users = access.scheduler_users.iter().chain(&access.auditor_users);
    let users = users.filter(|name| uid_of(name).is_none());
    let group = Some(&access.admin_group).filter(|group| !group.is_empty());
    let group = group.filter(|group| gid_of(group).is_none());
    let users = users.map(|name| format!("user {name}"));
    users
        .chain(group.map(|name| format!("group {name}")))
        .collect()
}

/// Compares by number, since a group's own list omits users with it as primary group.
fn is_in_group(login: &Login, group: &str) -> bool {
    let Some(gid) = gid_of(group) else {
        return false;
    };
    if login.gid == gid {
        return true;
    }
    let groups = ask("id", &["-G", &login.name]).unwrap_or_default();
    groups.split_whitespace().any(|of| of == gid)
}

fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8(output.stdout).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_allow_what_they_say() {
        let admin = Roles::from_words(&["admin"]);
        let auditor = Roles::from_words(&["auditor", "nonsense"]);
        let user = Roles::of(&[Role::User]);
        for (roles, needed, allowed) in [
            (admin, Role::Scheduler, true),
            (auditor, Role::Auditor, true),
            (auditor, Role::Scheduler, false),
            (user, Role::Admin, false),
            (user, Role::User, true),
            (Roles::default(), Role::User, false),
        ] {
            assert_eq!(roles.allow(needed), allowed, "{roles:?} {needed:?}");
        }
    }

    #[test]
    fn a_line_of_the_user_list() {
        for (text, expected) in [
            ("amy:x:1000:100:Amy:/home/amy:/bin/sh\n", Some("amy")),
            ("amy:x:1001:100::/:/bin/sh\n", None),
            ("-rf:x:1000:100::/:/bin/sh\n", None),
            (":x:1000:100::/:/bin/sh\n", None),
            ("", None),
        ] {
            let found = parse_login(text, 1000).map(|login| login.name);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn root_and_who_ran_init_are_admin() {
        let people = People::new(4_000_000_001, config::Access::default());
        assert!(people.find(0).roles.allow(Role::Admin));
        let founder = people.find(4_000_000_001);
        assert_eq!(founder.name, "uid:4000000001");
        assert!(founder.roles.allow(Role::Admin) && !founder.known);
        assert!(!people.find(4_000_000_002).roles.allow(Role::Admin));
        assert_eq!(
            people.remembered(0).map(|p| p.name),
            Some(people.find(0).name)
        );
    }
}
