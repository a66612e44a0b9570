use super::*;
use crate::amount::Precision;
use crate::book::suspense_account;
use crate::directory::{Bank, Policy, SelectionOrder};
use crate::model::{Constraint, Link, Overflow};

fn directory(policy: Policy) -> Directory {
    let bank = Bank {
        uuid: "u".into(),
        precision: Precision::DEFAULT,
        unit: "SU".into(),
    };
    let mut directory = Directory::new(bank, policy);
    directory.put_project(Project {
        id: ProjectId(1),
        name: "chem".into(),
        parent: None,
        active: true,
        deleted: false,
        mode: None,
        description: String::new(),
        organization: String::new(),
        machines: Vec::new(),
    });
    directory
}

/// An account below another one; `listed` for the project chem.
fn account(id: i64, parent: Option<(i64, u8, Overflow)>, listed: &str) -> Account {
    let row = Constraint {
        dimension: Dimension::Project,
        value: listed.into(),
        allow: true,
        subtree: false,
    };
    Account {
        id: AccountId(id),
        name: format!("a{id}"),
        constraints: vec![row],
        link: parent.map(|(parent, share, overflow)| Link {
            parent: AccountId(parent),
            share,
            overflow,
        }),
        ..suspense_account()
    }
}

#[test]
fn no_part_of_a_deposit_is_lost_and_none_is_made() {
    for (first, second) in [(0, 0), (33, 33), (50, 50), (1, 99), (100, 0), (7, 13)] {
        let mut directory = directory(Policy::default());
        directory.put_account(account(1, None, "chem"));
        directory.put_account(account(2, Some((1, first, Overflow::No)), "chem"));
        directory.put_account(account(3, Some((1, second, Overflow::No)), "chem"));
        directory.put_account(account(4, Some((3, 50, Overflow::No)), "chem"));
        for amount in (0..300).chain([i64::MAX - 1, i64::MAX]) {
            let parts = spread(&directory, AccountId(1), amount);
            let sum: i128 = parts.iter().map(|(_, part)| i128::from(*part)).sum();
            assert_eq!(sum, i128::from(amount), "{first} {second}");
            let own = |id| parts.iter().find(|(a, _)| a.0 == id).map_or(0, |p| p.1);
            if first > 0 && second > 0 {
                let share = i128::from(amount) * i128::from(first) / 100;
                assert_eq!(i128::from(own(2)), share, "{first} {second} {amount}");
            }
            if first + second == 100 && amount > 0 {
                assert_eq!(own(1), 0);
            }
        }
    }
}

#[test]
fn those_above_pay_one_step_after_those_below() {
    let candidates = |order, links: [Overflow; 2], lists: [&str; 3]| {
        let mut directory = directory(Policy {
            order,
            ..Policy::default()
        });
        directory.put_account(account(1, None, lists[2]));
        directory.put_account(account(2, Some((1, 0, links[1])), lists[1]));
        directory.put_account(account(3, Some((2, 0, links[0])), lists[0]));
        let whose = Whose {
            project: Some("chem".into()),
            ..Whose::default()
        };
        let payer = find(&directory, &whose);
        let mut found: Vec<(i64, usize, usize)> = matching(&directory, &payer, User::AsIs)
            .iter()
            .map(|c| (c.account.0, c.distance, c.level))
            .collect();
        found.sort_unstable();
        let loaded = possible_payers(&directory, &whose);
        assert!(
            found
                .iter()
                .all(|(id, ..)| loaded.contains(&AccountId(*id)))
        );
        found
    };
    let (expiry, hierarchy) = (SelectionOrder::ExpiryFirst, SelectionOrder::HierarchyFirst);
    let (no, listed, any) = (Overflow::No, Overflow::Listed, Overflow::Any);
    let all = ["chem"; 3];
    for (order, links, lists, expected) in [
        (expiry, [no, no], all, vec![(1, 0, 0), (2, 0, 0), (3, 0, 0)]),
        (
            expiry,
            [listed, listed],
            all,
            vec![(1, 2, 0), (2, 1, 0), (3, 0, 0)],
        ),
        (
            hierarchy,
            [listed, any],
            all,
            vec![(1, 2, 2), (2, 1, 1), (3, 0, 0)],
        ),
        // The middle one's lists do not match: it is passed over, and the line goes on.
        (
            expiry,
            [listed, listed],
            ["chem", "bio", "chem"],
            vec![(1, 2, 0), (3, 0, 0)],
        ),
        (
            expiry,
            [any, listed],
            ["chem", "bio", "bio"],
            vec![(2, 1, 0), (3, 0, 0)],
        ),
        (expiry, [no, any], ["chem", "bio", "bio"], vec![(3, 0, 0)]),
    ] {
        let got = candidates(order, links, lists);
        assert_eq!(got, expected, "{order:?} {links:?} {lists:?}");
    }
}
