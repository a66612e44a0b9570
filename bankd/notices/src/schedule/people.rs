//! The people who get a page each: principal investigators, managers or members.

use std::collections::BTreeMap;

use bank_core::directory::Directory;
use bank_core::model::MemberRole;
use bank_core::role::Role;
use bank_core::time::Timestamp;
use bankd_config::{EachWord, is_address};

/// A person, and the mail address or why there is none.
pub type Person = (String, Result<String, &'static str>);

/// The people of a definition at an instant, by login name. Members count in projects that exist, grants
/// until they end. The users of contributors are principal investigators too.
pub fn of(directory: &Directory, each: EachWord, now: Timestamp) -> Vec<Person> {
    let place = match each {
        EachWord::Pi => Some(MemberRole::Pi),
        EachWord::Manager => Some(MemberRole::Manager),
        EachWord::User => None,
    };
    let mut found: BTreeMap<String, Result<String, &'static str>> = BTreeMap::new();
    let exists = |id| {
        directory
            .project(id)
            .is_some_and(|project| !project.deleted)
    };
    for member in directory.members() {
        let fits = member.active && place.is_none_or(|place| place == member.role);
        if let Some(user) = directory
            .user(member.user)
            .filter(|_| fits && exists(member.project))
        {
            found
                .entry(user.name.clone())
                .or_insert_with(|| address(directory, &user.name));
        }
    }
    let role = match each {
        EachWord::Pi => Some(Role::Pi),
        EachWord::Manager => Some(Role::Manager),
        EachWord::User => None,
    };
    let mut named: Vec<&str> = Vec::new();
    for grant in directory.grants() {
        let fits = Some(grant.role) == role && grant.counts(now);
        if fits && grant.project.is_some_and(exists) {
            named.push(&grant.name);
        }
    }
    if each == EachWord::Pi {
        let contributors = directory.records.all("contributor");
        let users = contributors.map(|own| own.text("user"));
        named.extend(users.filter(|name| !name.is_empty()));
    }
    for name in named {
        let address = || address(directory, name);
        found.entry(name.to_owned()).or_insert_with(address);
    }
    // A user who is switched off or removed gets nothing.
    found.retain(|name, _| {
        let user = directory.user_named(name);
        user.is_none_or(|user| user.active && !user.deleted)
    });
    found.into_iter().collect()
}

fn address(directory: &Directory, name: &str) -> Result<String, &'static str> {
    let user = directory
        .user_named(name)
        .ok_or("not a registered user, so no mail address")?;
    match user.email.as_str() {
        "" => Err("no mail address"),
        email if is_address(email) => Ok(email.to_owned()),
        _ => Err("the mail address is not usable"),
    }
}
