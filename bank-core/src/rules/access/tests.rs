//! Roles, limits and proposals over the book in memory.

use crate::amount::{Amount, Precision};
use crate::book::Book;
use crate::command::{
    Access, After, Approve, Command, Deposit, GrantRole, Propose, Reject, RevokeRole, Scope,
    SetAccount, SetLimit, SetMember, Start, Transfer, Withdraw,
};
use crate::directory::{Approval, Bank, Policy};
use crate::effects::Outcome;
use crate::ids::ProposalId;
use crate::ledger::execute;
use crate::model::{Constraint, Dimension, LimitOf, MemberRole, ProposalState};
use crate::refusal::Refusal;
use crate::role::{Role, Roles, Who};
use crate::time::{Seconds, Timestamp};
use std::sync::Arc;

mod eyes;

const DAY: i64 = 86_400 * 1_000_000;

/// Projects `top` > `mid` > `low`, and `other`; each with its account and 1000 in it.
struct Bench {
    book: Book,
    now: Timestamp,
}

impl Bench {
    fn new(approval: Approval) -> Bench {
        let bank = Bank {
            uuid: "u".to_owned(),
            precision: Precision::new(0).unwrap(),
            unit: "credits".to_owned(),
        };
        let policy = Policy {
            approval,
            ..Policy::default()
        };
        let mut bench = Bench {
            book: Book::new(bank, policy),
            now: Timestamp(20_000 * DAY),
        };
        for user in ["amy", "bob"] {
            bench.bank(Command::add_record("user", user, &[]));
        }
        for (name, parent) in [
            ("top", None),
            ("mid", Some("top")),
            ("low", Some("mid")),
            ("other", None),
        ] {
            bench.bank(Command::add_record(
                "project",
                name,
                &[("parent", parent.into())],
            ));
            bench.bank(deposit(name, 1000));
        }
        bench
    }

    /// The bank itself may do everything.
    fn bank(&mut self, command: Command) {
        self.by(&Scope::default(), command).unwrap();
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "commands are made where they are given"
    )]
    fn by(&mut self, scope: &Scope, command: Command) -> Result<Outcome, Refusal> {
        match execute(&mut self.book, &command, scope, self.now, false) {
            Ok(decision) => decision,
            Err(never) => match never {},
        }
    }

    /// `done`, or the code of the refusal.
    fn outcome(&mut self, scope: &Scope, command: Command) -> &'static str {
        self.by(scope, command).err().map_or("done", |r| r.code())
    }

    fn amount(&self, account: &str) -> i64 {
        let id = self.book.reference().account_named(account).unwrap().id;
        let own = self.book.allocations.values().filter(|a| a.account == id);
        own.map(|a| a.amount.0).sum()
    }
}

fn deposit(name: &str, amount: i64) -> Command {
    Command::Deposit(Deposit {
        name: name.to_owned(),
        amount: Amount(amount),
        ..Deposit::default()
    })
}

fn withdraw(name: &str, amount: i64) -> Command {
    Command::Withdraw(Withdraw {
        name: name.to_owned(),
        amount: Amount(amount),
        ..Withdraw::default()
    })
}

fn transfer(from: &str, to: &str, amount: i64) -> Command {
    Command::After(After::Transfer(Transfer {
        from: from.to_owned(),
        to: to.to_owned(),
        amount: Amount(amount),
        ..Transfer::default()
    }))
}

fn member(project: &str, user: &str, role: Option<MemberRole>) -> Command {
    Command::SetMember(SetMember {
        project: project.to_owned(),
        user: user.to_owned(),
        active: Some(true),
        role,
    })
}

fn account(name: &str, projects: &[&str]) -> SetAccount {
    let row = |project: &&str| Constraint {
        dimension: Dimension::Project,
        value: (*project).to_owned(),
        allow: true,
        subtree: false,
    };
    SetAccount {
        name: name.to_owned(),
        constraints: Some(projects.iter().map(row).collect()),
        ..SetAccount::default()
    }
}

fn grant(name: &str, role: Role, project: Option<&str>, until: Option<Timestamp>) -> Command {
    Command::Access(Access::Grant(GrantRole {
        name: name.to_owned(),
        role,
        project: project.map(str::to_owned),
        until,
    }))
}

/// Somebody on the socket.
fn person(name: &str) -> Scope {
    Scope {
        who: Some(Arc::new(Who {
            actor: name.to_owned(),
            client: format!("unix:{name}"),
            roles: Roles::of(&[Role::User]),
            person: Some(name.to_owned()),
        })),
        ..Scope::default()
    }
}

/// A key of a client.
fn key(id: &str, client: &str, roles: &[Role], projects: &[&str]) -> Scope {
    Scope {
        projects: projects.iter().map(|p| (*p).to_owned()).collect(),
        who: Some(Arc::new(Who {
            actor: id.to_owned(),
            client: client.to_owned(),
            roles: Roles::of(roles),
            person: None,
        })),
        ..Scope::default()
    }
}

#[test]
fn what_nobody_was_given_is_refused() {
    let mut bench = Bench::new(Approval::default());
    for role in [
        Role::Pi,
        Role::Auditor,
        Role::Scheduler,
        Role::Collector,
        Role::User,
    ] {
        for who in [
            key("k", "k", &[role], &["top"]),
            key("k", "k", &[role], &[]),
        ] {
            for command in [
                deposit("top", 1),
                withdraw("top", 1),
                transfer("top", "mid", 1),
                member("top", "amy", None),
                Command::AddAccount(account("new", &["top"])),
                Command::remove_record("project", "other"),
                grant("amy", Role::Admin, None, None),
            ] {
                let outcome = bench.outcome(&who, command.clone());
                assert_eq!(outcome, "not_allowed", "{role:?} {command:?}");
            }
        }
    }
    let nobody = key("k", "k", &[], &[]);
    assert_eq!(bench.outcome(&nobody, deposit("top", 1)), "not_allowed");
}

#[test]
fn an_operator_has_the_money_of_a_subtree_only() {
    let mut bench = Bench::new(Approval::default());
    let by_key = key("op", "op", &[Role::Operator], &["mid"]);
    let amy = person("amy");
    assert_eq!(bench.outcome(&amy, deposit("mid", 5)), "not_allowed");
    bench.bank(grant("amy", Role::Operator, Some("mid"), None));
    for who in [&by_key, &amy] {
        assert_eq!(bench.outcome(who, deposit("mid", 5)), "done");
        assert_eq!(bench.outcome(who, withdraw("low", 5)), "done");
        assert_eq!(bench.outcome(who, transfer("mid", "low", 5)), "done");
        assert_eq!(
            bench.outcome(who, member("low", "bob", Some(MemberRole::Manager))),
            "done"
        );
        for command in [
            deposit("top", 5),
            deposit("other", 5),
            // Missing objects and objects of others get the same answer.
            deposit("nosuch", 5),
            withdraw("top", 5),
            transfer("mid", "other", 5),
            transfer("other", "mid", 5),
            member("top", "bob", None),
            Command::remove_record("project", "low"),
        ] {
            assert_eq!(
                bench.outcome(who, command.clone()),
                "not_allowed",
                "{command:?}"
            );
        }
    }
    // Without a project it is held over none.
    let unbound = key("op", "op", &[Role::Operator], &[]);
    assert_eq!(bench.outcome(&unbound, deposit("mid", 5)), "not_allowed");
    assert_eq!((bench.amount("mid"), bench.amount("low")), (1000, 1000));
}

#[test]
fn a_manager_looks_after_their_own_projects() {
    let mut bench = Bench::new(Approval::default());
    bench.bank(member("mid", "amy", Some(MemberRole::Manager)));
    bench.bank(member("other", "amy", Some(MemberRole::Manager)));
    let amy = person("amy");
    assert_eq!(bench.outcome(&amy, member("mid", "bob", None)), "done");
    assert_eq!(bench.outcome(&amy, transfer("mid", "low", 7)), "done");
    // Both are theirs, and money stays inside one all the same.
    assert_eq!(
        bench.outcome(&amy, transfer("mid", "other", 7)),
        "not_allowed"
    );
    for command in [
        deposit("mid", 1),
        withdraw("mid", 1),
        member("mid", "bob", Some(MemberRole::Manager)),
        member("top", "bob", None),
    ] {
        assert_eq!(
            bench.outcome(&amy, command.clone()),
            "not_allowed",
            "{command:?}"
        );
    }
    // A pi reads and changes nothing, and a disabled user manages nothing.
    bench.bank(member("mid", "amy", Some(MemberRole::Pi)));
    assert_eq!(
        bench.outcome(&amy, member("mid", "bob", None)),
        "not_allowed"
    );
    bench.bank(member("mid", "amy", Some(MemberRole::Manager)));
    bench.bank(Command::SetMember(SetMember {
        project: "mid".to_owned(),
        user: "amy".to_owned(),
        active: Some(false),
        role: None,
    }));
    assert_eq!(
        bench.outcome(&amy, transfer("mid", "low", 7)),
        "not_allowed"
    );
}

#[test]
fn an_account_stays_with_the_projects_of_who_makes_it() {
    let mut bench = Bench::new(Approval::default());
    let who = key("boss", "boss", &[Role::Manager], &["mid"]);
    let with_parent = |parent: &str| SetAccount {
        parent: Some(Some(parent.to_owned())),
        ..account("child", &["mid"])
    };
    let with_fallback = |fallback: &str| SetAccount {
        fallback: Some(Some(fallback.to_owned())),
        ..account("child", &["mid"])
    };
    let open = SetAccount {
        name: "open".to_owned(),
        ..SetAccount::default()
    };
    for set in [
        account("open", &[]),
        account("open", &["ANY"]),
        account("open", &["mid", "other"]),
        account("open", &["top"]),
        open,
        with_parent("other"),
        with_parent("top"),
        with_fallback("other"),
    ] {
        let outcome = bench.outcome(&who, Command::AddAccount(set.clone()));
        assert_eq!(outcome, "not_allowed", "{set:?}");
    }
    assert_eq!(
        bench.outcome(&who, Command::AddAccount(with_parent("mid"))),
        "done"
    );
    let wider = account("child", &["mid", "other"]);
    assert_eq!(
        bench.outcome(&who, Command::SetAccount(wider)),
        "not_allowed"
    );
    let lists = SetAccount {
        name: "child".to_owned(),
        lists: vec![(Dimension::Project, Vec::new())],
        ..SetAccount::default()
    };
    assert_eq!(
        bench.outcome(&who, Command::SetAccount(lists)),
        "not_allowed"
    );
    let priority = |name: &str| {
        Command::SetAccount(SetAccount {
            name: name.to_owned(),
            priority: Some(3),
            ..SetAccount::default()
        })
    };
    assert_eq!(bench.outcome(&who, priority("child")), "done");
    assert_eq!(bench.outcome(&who, priority("other")), "not_allowed");
    // One that is of theirs and of others too is not theirs alone.
    bench.bank(Command::AddAccount(account("shared", &["mid", "other"])));
    assert_eq!(bench.outcome(&who, priority("shared")), "not_allowed");
    assert_eq!(
        bench.outcome(&who, transfer("mid", "shared", 1)),
        "not_allowed"
    );
    assert_eq!(
        bench.outcome(&who, Command::RemoveAccount("child".to_owned())),
        "done"
    );
}

#[test]
fn a_role_ends_by_itself_and_when_it_is_taken_back() {
    let mut bench = Bench::new(Approval::default());
    let amy = person("amy");
    let until = Timestamp(bench.now.0 + DAY);
    bench.bank(grant("amy", Role::Operator, Some("top"), Some(until)));
    assert_eq!(bench.outcome(&amy, deposit("low", 1)), "done");
    bench.now = until;
    assert_eq!(bench.outcome(&amy, deposit("low", 1)), "not_allowed");
    bench.bank(grant("amy", Role::Operator, Some("top"), None));
    assert_eq!(bench.outcome(&amy, deposit("low", 1)), "done");
    let revoke = |project: Option<&str>| {
        Command::Access(Access::Revoke(RevokeRole {
            name: "amy".to_owned(),
            role: Role::Operator,
            project: project.map(str::to_owned),
        }))
    };
    let everything = Scope::default();
    assert_eq!(bench.outcome(&everything, revoke(None)), "not_found");
    assert_eq!(bench.outcome(&everything, revoke(Some("top"))), "done");
    assert_eq!(bench.outcome(&everything, revoke(Some("top"))), "not_found");
    assert_eq!(bench.outcome(&amy, deposit("low", 1)), "not_allowed");
    for (command, code) in [
        (grant("amy", Role::User, None, None), "bad_value"),
        (grant("amy", Role::Pi, None, None), "missing_field"),
        (grant("amy", Role::Pi, Some("nosuch"), None), "not_found"),
        (grant("", Role::Auditor, None, None), "bad_name"),
        (
            grant("amy", Role::Auditor, None, Some(bench.now)),
            "window_in_past",
        ),
        (grant("amy", Role::Auditor, None, None), "done"),
        (grant("amy", Role::Auditor, None, None), "already_exists"),
    ] {
        assert_eq!(
            bench.outcome(&everything, command.clone()),
            code,
            "{command:?}"
        );
    }
}

/// A small generator, good enough to choose among a few.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// For any caller and request: nothing changes outside of the caller's roles, and nobody is refused an action
/// that the same rules, expressed differently, allow.
#[test]
fn random_callers_stay_where_they_hold_a_role() {
    let seed = 0x5eed_0006;
    println!("seed {seed:#x}");
    let mut chance = Chance(seed);
    let names = ["top", "mid", "low", "other"];
    let below = |name: &str, root: &str| {
        let line: &[&str] = match name {
            "low" => &["low", "mid", "top"],
            "mid" => &["mid", "top"],
            "top" => &["top"],
            _ => &["other"],
        };
        line.contains(&root)
    };
    let mut counts = [0_usize; 2];
    let mut bench = Bench::new(Approval::default());
    for _ in 0..20_000 {
        let role = [Role::Operator, Role::Manager, Role::Pi, Role::User][chance.below(4)];
        let roots: Vec<&str> = names
            .iter()
            .copied()
            .filter(|_| chance.below(3) == 0)
            .collect();
        let who = key("k", "k", &[role], &roots);
        let (a, b) = (names[chance.below(4)], names[chance.below(4)]);
        let covered = |name: &str| roots.iter().any(|root| below(name, root));
        let (command, allowed, touched) = match chance.below(4) {
            0 => (deposit(a, 3), role == Role::Operator && covered(a), vec![a]),
            1 => (
                withdraw(a, 1),
                role == Role::Operator && covered(a),
                vec![a],
            ),
            2 => {
                let one = roots.iter().any(|root| below(a, root) && below(b, root));
                let allowed = match role {
                    Role::Operator => covered(a) && covered(b),
                    Role::Manager => one,
                    _ => false,
                };
                (transfer(a, b, 1), allowed, vec![a, b])
            }
            _ => {
                let may = matches!(role, Role::Operator | Role::Manager);
                (member(a, "amy", None), may && covered(a), Vec::new())
            }
        };
        let before = names.map(|name| bench.amount(name));
        let outcome = bench.outcome(&who, command.clone());
        counts[usize::from(allowed)] += 1;
        assert_eq!(
            outcome != "not_allowed",
            allowed,
            "{role:?} over {roots:?}: {command:?}"
        );
        for (name, before) in names.iter().zip(before) {
            let may_change = allowed && touched.contains(name);
            assert!(
                may_change || bench.amount(name) == before,
                "{command:?} changed {name}"
            );
        }
    }
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
    assert!(bench.book.findings().is_empty());
}
