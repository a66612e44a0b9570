//! `gmk…`, `gch…` and `grm…`: objects and their members are created, modified and deleted.
//!
//! A change is data ([`Record`]); the changes are in `records`, and the parts of one are in `shape`.

use super::{
    account::Purpose,
    request::Request,
    response::Response,
    session::{Session, Stop},
    shape::{Change, Members, Purge, Record},
};

/// Changes an object, then its members.
pub(super) fn run(session: &mut Session<'_>, record: &Record) -> Result<u8, Stop> {
    let keys = keys(session, record)?;
    let is_purge = record.purge != Purge::Nothing && session.given.flag("inactive");
    if keys.is_empty() && !is_purge {
        return Err(Stop::Usage(None));
    }
    let request = session.given.supplemented(request(session, record, &keys));
    let mut exit = 0;
    let is_optional = record.action == "Modify" && !record.members.is_empty();
    if !(is_optional && request.sets_nothing()) {
        let response = send(session, &request, record.numbered)?;
        exit = response.exit();
        if record.action == "Create" && response.is_failure {
            return Ok(exit);
        }
    }
    let owner = keys.first().map_or("", |(_, value)| value.as_str());
    for members in record.members {
        let failed = members.run(session, owner)?;
        exit = if exit == 0 { failed } else { exit };
    }
    Ok(exit)
}

/// Sends the change. A new object with a number is named by it.
fn send(session: &mut Session<'_>, request: &Request, numbered: &str) -> Result<Response, Stop> {
    if numbered.is_empty() {
        return session.change(request);
    }
    let mut response = session.ask(request)?;
    let id = response.first("Id").filter(|_| !response.is_failure);
    if let Some(id) = id {
        response.message = format!("Successfully created {numbered} {id}");
    }
    session.show(&response, session.given.flag("verbose"));
    Ok(response)
}

/// Attributes and values that name the object.
fn keys(session: &mut Session<'_>, record: &Record) -> Result<Vec<(&'static str, String)>, Stop> {
    if let Some(account) = chosen_account(session, record)? {
        return Ok(vec![("Id", account)]);
    }
    let mut keys = Vec::new();
    for (option, attribute) in record.keys {
        let value = if *option == "account" {
            session.given_account()?
        } else {
            session.given.value(option).map(str::to_owned)
        };
        keys.extend(value.map(|value| (*attribute, value)));
    }
    Ok(keys)
}

/// `gchaccount` finds the account of a project, a user and a machine too.
fn chosen_account(session: &mut Session<'_>, record: &Record) -> Result<Option<String>, Stop> {
    if (record.action, record.object) != ("Modify", "Account") {
        return Ok(None);
    }
    let scope = session.scope();
    if scope.is_empty() {
        return Ok(None);
    }
    let purpose = Purpose {
        scope: "user/machine/project",
        command: "gchaccount with",
        end: "",
        by_rules: false,
    };
    let account = session.given_account()?;
    session
        .one_account(&scope, account.as_deref(), &purpose)
        .map(Some)
}

fn request(session: &Session<'_>, record: &Record, keys: &[(&str, String)]) -> Request {
    let given = &session.given;
    let mut request = Request::new(record.action, record.object);
    let is_new = record.action == "Create";
    for (attribute, value) in keys {
        request = if is_new {
            request.set(attribute, value)
        } else {
            request.filter(attribute, value)
        };
    }
    if record.action == "Delete" {
        return match record.purge {
            _ if !given.flag("inactive") => request,
            Purge::Nothing => request,
            Purge::Window => request.window(false),
            Purge::End => request.filter_op("EndTime", "LT", "now"),
        };
    }
    if given.flag("active") {
        request = request.set("Active", "True");
    }
    if given.flag("inactive") {
        request = request.set("Active", "False");
    }
    for (option, attribute) in record.sets {
        if let Some(value) = given.text(option) {
            let value = match *option {
                "creditLimit" => given.credits(value),
                _ => value.to_owned(),
            };
            request = request.set(attribute, &value);
        }
    }
    for (name, value) in given.pairs() {
        request = request.set(name, value);
    }
    if is_new && record.object == "Project" {
        if let Some(choice) = given.text("createAccount") {
            request = request.option("CreateAccount", choice);
        }
        if given.text("user").is_some() {
            request = request.option("AccountUsers", "MEMBERS");
        }
    }
    request
}

/// The names of a list, each with false if a minus is before it.
fn names(list: &str) -> impl Iterator<Item = (&str, bool)> {
    let names = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    names.map(|name| match name.strip_prefix('-') {
        Some(name) => (name, false),
        None => (name.strip_prefix('+').unwrap_or(name), true),
    })
}

impl Members {
    /// Changes each member. Returns the exit code of the first change that failed, else 0: a later change that
    /// succeeds does not hide it.
    fn run(&self, session: &mut Session<'_>, owner: &str) -> Result<u8, Stop> {
        let Some(list) = session.given.text(self.option).map(str::to_owned) else {
            return Ok(0);
        };
        let is_one_of_several = self.change == Change::Initial || names(&list).count() > 1;
        let mut exit = 0;
        for (name, is_in) in names(&list) {
            let request = self.request(owner, name, is_in);
            let response = session.ask(&request)?;
            if response.is_failure {
                session.show(&response, false);
                if is_one_of_several {
                    session.complain(&self.failed(owner, name));
                }
                exit = if exit == 0 { response.exit() } else { exit };
            } else if self.change != Change::Initial {
                session.show(&response, session.given.flag("verbose"));
            }
        }
        Ok(exit)
    }

    /// Names the change that failed: the others are done.
    fn failed(&self, owner: &str, name: &str) -> String {
        let verb = match self.change {
            Change::Initial | Change::Add => "added to",
            Change::Remove => "removed from",
            Change::Activate | Change::Deactivate => "changed in",
        };
        let kind = self.object.strip_prefix(self.parent);
        let (kind, parent) = (kind.unwrap_or(self.object), self.parent);
        let line = format!("{kind} {name} was not {verb} {parent} {owner}.");
        bank_picture::printable::printable(&line)
    }

    fn request(&self, owner: &str, name: &str, is_in: bool) -> Request {
        let of = |action| Request::new(action, self.object);
        let found = |request: Request| request.filter(self.parent, owner).filter("Name", name);
        match self.change {
            Change::Initial | Change::Add => {
                let request = of("Create").set(self.parent, owner).set("Name", name);
                if is_in {
                    return request;
                }
                request.set(self.sign, "False")
            }
            Change::Remove => found(of("Delete")),
            Change::Activate => found(of("Modify")).set(self.sign, "True"),
            Change::Deactivate => found(of("Modify")).set(self.sign, "False"),
        }
    }
}

/// `gmkaccount`: its members are options of the request.
pub(super) fn make_account(session: &mut Session<'_>) -> Result<u8, Stop> {
    let given = &session.given;
    let members = [
        ("Project", given.text("project")),
        ("User", given.text("user")),
        ("Machine", given.text("machine")),
    ];
    let mut request = Request::new("Create", "Account");
    let name = given.text("name").map(str::to_owned);
    if let Some(name) = name.or_else(|| default_name(&members)) {
        request = request.set("Name", &name);
    }
    if let Some(text) = given.text("description") {
        request = request.set("Description", text);
    }
    for (name, value) in given.pairs() {
        request = request.set(name, value);
    }
    for (kind, list) in members {
        for (name, is_in) in names(list.unwrap_or("ANY")) {
            let operator = if is_in { "" } else { "Not" };
            request = request.option_op(kind, operator, name);
        }
    }
    let request = given.supplemented(request);
    Ok(send(session, &request, "Account")?.exit())
}

/// The name of an account that got none: `chem on colony for amy`.
fn default_name(members: &[(&str, Option<&str>); 3]) -> Option<String> {
    let [(_, project), (_, user), (_, machine)] = *members;
    let plain = |list: Option<&str>, special: &[&str], before: &str| {
        let list = list.filter(|list| !special.iter().any(|word| list.contains(word)))?;
        Some(format!("{before}{list}"))
    };
    let names = [
        plain(project, &["ANY", "NONE"], ""),
        plain(machine, &["ANY", "MEMBERS", "NONE"], "on "),
        plain(user, &["ANY", "MEMBERS", "NONE"], "for "),
    ];
    let names: Vec<String> = names.into_iter().flatten().collect();
    (!names.is_empty()).then(|| names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_members_has_signs() {
        let read: Vec<_> = names("amy,-bob, +eve,").collect();
        assert_eq!(read, [("amy", true), ("bob", false), ("eve", true)]);
    }

    #[test]
    fn an_account_without_a_name_is_named_by_its_members() {
        let name =
            |project, user, machine| default_name(&[("", project), ("", user), ("", machine)]);
        let full = name(Some("chem"), Some("amy"), Some("colony"));
        assert_eq!(full.as_deref(), Some("chem on colony for amy"));
        assert_eq!(name(Some("ANY"), Some("MEMBERS"), None), None);
    }
}
