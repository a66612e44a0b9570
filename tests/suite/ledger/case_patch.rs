//! Changes that meet: what two people ask for at once is both done, and nothing that an open job
//! names can be removed.

use super::ask::{Ask, c, r};
use super::bench::on_both;
use super::fixture::time;
use bank_core::command::{Command, SetAccount, SetKey};
use bank_core::model::{Constraint, Dimension, Key};
use bank_core::time::Window;

fn list(dimension: Dimension, value: &str) -> Ask {
    let row = Constraint {
        dimension: dimension.clone(),
        value: value.to_owned(),
        allow: true,
        subtree: false,
    };
    Command::SetAccount(SetAccount {
        name: "F".to_owned(),
        lists: vec![(dimension, vec![row])],
        ..SetAccount::default()
    })
    .into()
}

#[test]
fn two_lists_of_an_account_that_are_set_at_once_are_both_set() {
    on_both(|t| {
        t.given("F{a=100; -u MEMBERS -m ANY}");
        // Both were asked for before either was done.
        let asks = [
            list(Dimension::User, "bob"),
            list(Dimension::Machine, "blue"),
        ];
        t.after(asks);
        let account = t.ground.directory();
        let account = account.account_named("F").unwrap();
        let rows = account.constraints.iter().map(|c| c.value.as_str());
        assert_eq!(rows.collect::<Vec<_>>(), ["P", "bob", "blue"]);
        t.expect(
            list(Dimension::User, "nobody"),
            "refused not_found, exit 4",
            "",
        );
    });
}

#[test]
fn two_changes_of_a_key_that_are_made_at_once_are_both_made() {
    on_both(|t| {
        let key = |id: &str| Key {
            id: id.to_owned(),
            client: "moab".to_owned(),
            roles: vec!["scheduler".to_owned()],
            projects: Vec::new(),
            machines: Vec::new(),
            window: Window::ALWAYS,
            disabled: false,
            deleted: false,
            token: None,
        };
        t.admin(Command::AddKey(key("k1")));
        let set = SetKey {
            id: "k1".to_owned(),
            ..SetKey::default()
        };
        let off = SetKey {
            disabled: Some(true),
            ..set.clone()
        };
        let until = SetKey {
            until: Some(Some(time("2027"))),
            ..set.clone()
        };
        let machines = SetKey {
            machines: Some(vec!["blue".to_owned()]),
            ..set
        };
        for change in [off, until, machines.clone()] {
            t.admin(Command::SetKey(change));
        }
        let directory = t.ground.directory();
        let changed = directory.key("k1").unwrap();
        let end = changed.window.end.unwrap();
        assert!(changed.disabled && end == time("2027") && changed.machines == ["blue"]);
        // Roles and scopes belong to the client.
        t.admin(Command::AddKey(key("k2")));
        t.expect(
            Command::SetKey(machines).into(),
            "refused bad_value, exit 1",
            "",
        );
    });
}

#[test]
fn nothing_that_an_open_job_names_can_be_removed() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300)]);
        let machine = || Command::remove_record("machine", "colony").into();
        let user = || Command::remove_record("user", "amy").into();
        t.expect(machine(), "refused in_use, exit 1", "");
        t.expect(user(), "refused in_use, exit 1", "");
        t.after([c("j", 300)]);
        t.expect(machine(), "removed", "");
        t.expect(user(), "removed", "");
    });
}
