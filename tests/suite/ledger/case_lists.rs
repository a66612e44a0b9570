//! Lists of every kind (ledger.md 4): who may spend an account, and how closely it fits; defect D18.

use super::ask::{Ask, c, ci, quote, r};
use super::bench::{Bench, on_both};
use bank_core::command::{Command, SetAccount};
use bank_core::model::{Constraint, Dimension};

const REFUSED: &str = "refused no_usable_account, exit 1";

fn member_machines(t: &mut Bench<'_>, project: &str, machines: &[&str]) {
    t.admin(Command::set_record(
        "project",
        project,
        &[(
            "machines",
            machines
                .iter()
                .map(|m| (*m).to_owned())
                .collect::<Vec<_>>()
                .into(),
        )],
    ));
}

#[test]
fn lists_look_at_class_qos_group_and_attributes() {
    on_both(|t| {
        t.given(
            "F{a=1000; --class batch,debug --qos -high --group staff,ANY --Zone Asia --GPUs 2}",
        );
        let fits = || -> Ask {
            let ask = quote(10).class("batch").attribute("zone", "Asia");
            ask.attribute("gpus", "2.0")
        };
        t.expect(fits(), "cost 10", "");
        t.expect(fits().group("students"), "cost 10", "");
        t.expect(fits().qos("low"), "cost 10", "");
        t.expect(fits().qos("high"), REFUSED, "");
        t.expect(fits().class("Batch"), REFUSED, "");
        t.expect(quote(10).attribute("Zone", "Asia"), REFUSED, "");
        t.expect(quote(10).class("batch").attribute("GPUs", "2"), REFUSED, "");
    });
}

#[test]
fn a_later_document_need_not_repeat_what_the_lists_ask_for() {
    on_both(|t| {
        t.given("F{a=1000; --class batch}, G{b=1000; --class debug}");
        t.expect(r("j", 10).class("debug"), "lien 10", "lien b 0/+10");
        t.expect(ci("j", 4), "charged 4, balance 990", "charge b -4/-4");
        t.expect(c("j", 10), "charged 10, balance 986", "charge b -10/-6");
        // Usage is never lost: a class that no list names bills the project all the same.
        t.expect(
            c("k", 10).class("fast"),
            "charged 10, balance 990",
            "charge a -10",
        );
    });
}

#[test]
fn lists_look_at_the_organisation_of_the_project_or_of_the_user() {
    on_both(|t| {
        t.given("F{a=1000; --organization physics}");
        t.expect(quote(10), REFUSED, "");
        let of_amy =
            |name: &str| Command::set_record("user", "amy", &[("organization", name.into())]);
        t.admin(of_amy("physics"));
        t.expect(quote(10), "cost 10", "");
        t.admin(of_amy(""));
        t.expect(quote(10), REFUSED, "");
        t.admin(Command::set_record(
            "project",
            "P",
            &[("organization", "physics".into())],
        ));
        t.expect(quote(10), "cost 10", "");
    });
}

#[test]
fn member_machines_are_those_of_the_project() {
    on_both(|t| {
        t.given("F{a=1000; -m MEMBERS}, G{b=1000; -m -MEMBERS -u bob}");
        t.member("P", "bob", true);
        t.expect(quote(10), REFUSED, "");
        member_machines(t, "P", &["colony"]);
        t.expect(quote(10), "cost 10", "");
        t.expect(quote(10).machine("blue"), REFUSED, "");
        t.expect(
            r("j", 10).user("bob").machine("blue"),
            "lien 10",
            "lien b 0/+10",
        );
        t.admin(Command::remove_record("machine", "colony"));
        t.expect(quote(10), "refused machine_unknown, exit 4", "");
    });
}

/// Where an account is for any project, its members are those of any project, and a user and a
/// machine that must both be members must be so of the same one (ledger.md 4).
#[test]
fn members_of_any_project_are_members_of_one_and_the_same() {
    on_both(|t| {
        t.project("Q", None);
        t.project("S", None);
        t.member("Q", "bob", true);
        t.given("F{a=1000; -p ANY -u MEMBERS -m MEMBERS}");
        member_machines(t, "S", &["colony"]);
        let bob = || quote(10).user("bob");
        t.expect(bob(), "refused not_a_member, exit 1", "");
        t.member("S", "bob", true);
        t.expect(bob(), "cost 10", "");
        t.expect(quote(10).user("dave"), "refused not_a_member, exit 1", "");
    });
}

#[test]
fn a_list_of_denials_lets_all_others_in() {
    on_both(|t| {
        t.project("SUB", Some("P"));
        t.member("SUB", "amy", true);
        t.given("F{a=1000; -p ANY,-P/ -u -bob -m -blue}");
        t.project("FREE", None);
        t.expect(quote(10).project("FREE").user("dave"), "cost 10", "");
        t.expect(quote(10).project("FREE").user("bob"), REFUSED, "");
        t.expect(
            quote(10).project("FREE").user("dave").machine("blue"),
            REFUSED,
            "",
        );
        t.expect(quote(10), REFUSED, "");
        t.expect(quote(10).project("SUB"), REFUSED, "");
    });
}

#[test]
fn who_asks_for_more_properties_is_closer() {
    on_both(|t| {
        t.given("F{a=10}, G{b=10; --class batch}, H{c=10; --class batch --qos high}");
        t.expect(
            c("j", 30).class("batch").qos("high"),
            "charged 30, balance 0",
            "charge c -10, charge b -10, charge a -10",
        );
    });
}

#[test]
fn lists_name_what_there_is() {
    on_both(|t| {
        t.given("F{}");
        let list = |dimension: Dimension, value: &str, subtree: bool| -> Ask {
            Command::SetAccount(SetAccount {
                name: "F".to_owned(),
                constraints: Some(vec![Constraint {
                    dimension,
                    value: value.to_owned(),
                    allow: true,
                    subtree,
                }]),
                ..SetAccount::default()
            })
            .into()
        };
        let unknown = "refused not_found, exit 4";
        t.expect(list(Dimension::Project, "nosuch", false), unknown, "");
        t.expect(list(Dimension::User, "nosuch", false), unknown, "");
        t.expect(list(Dimension::Machine, "nosuch", false), unknown, "");
        let bad = "refused bad_name, exit 1";
        t.expect(list(Dimension::Class, "MEMBERS", false), bad, "");
        t.expect(list(Dimension::Qos, "", false), bad, "");
        t.expect(
            list(Dimension::User, "amy", true),
            "refused bad_value, exit 1",
            "",
        );
        t.expect(list(Dimension::Project, "MEMBERS", false), "done", "");
        t.expect(list(Dimension::Group, "anything", false), "done", "");
    });
    assert!(Dimension::parse("").is_err() && Dimension::parse("a\tb").is_err());
    assert_eq!(Dimension::parse("QualityOfService"), Ok(Dimension::Qos));
}

/// Gold's job commands sent `UserId` where the list looked at `User`, so that it never matched.
#[test]
fn defect_d18_a_list_of_users_matches_whoever_is_named() {
    on_both(|t| {
        t.member("P", "bob", true);
        t.given("F{a=1000; -u bob}, G{b=1000; -u amy}");
        t.expect(r("j", 10), "lien 10", "lien b 0/+10");
        t.expect(r("k", 10).user("bob"), "lien 10", "lien a 0/+10");
        t.expect(r("l", 10).user("dave"), REFUSED, "");
    });
    for name in ["User", "user", "UserId"] {
        assert_eq!(Dimension::parse(name), Ok(Dimension::User));
    }
}
