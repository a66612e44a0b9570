//! The lists of an account, and its parent: in requests and answers.

use std::collections::BTreeMap;

use bank_api::v1;
use bank_core::directory::Directory;
use bank_core::model::{Account, Constraint, Dimension, Figures, Overflow};
use bank_core::refusal::Refusal;

use super::json::{some, sum};
use super::view::View;

/// An account with its figures. `view` hides data that the caller may not read; without it, everything is
/// included.
pub(super) fn account(
    directory: &Directory,
    account: &Account,
    figures: &Figures,
    view: Option<&View>,
) -> v1::Account {
    let bank = &directory.bank;
    let parent = directory.parent_of(account);
    let parent = parent.filter(|p| view.is_none_or(|v| v.sees_account(p)));
    let link = account.link.filter(|_| parent.is_some());
    v1::Account {
        id: account.id.0,
        name: account.name.clone(),
        removed: account.deleted,
        description: some(&account.description),
        projects: rows(account, &Dimension::Project, view),
        users: rows(account, &Dimension::User, view),
        machines: rows(account, &Dimension::Machine, view),
        constraints: further(account, view),
        parent: parent.map(|p| p.name.clone()),
        share: link.map_or(0, |l| l.share.into()),
        overflow: link.map_or(Overflow::No, |l| l.overflow).word().to_owned(),
        discrete: account.discrete,
        priority: account.priority,
        fallback: account.fallback.clone(),
        blocked: account.blocked,
        amount: sum(figures.amount, bank),
        held: sum(figures.held, bank),
        balance: sum(figures.balance(), bank),
        credit_limit: sum(figures.credit_limit, bank),
        available: sum(figures.available(), bank),
        allocated: None,
        capacity: None,
        used: None,
        used_percent: None,
        unit: bank.unit.clone(),
    }
}

fn rows(account: &Account, dimension: &Dimension, view: Option<&View>) -> Vec<v1::Constraint> {
    let own = account
        .constraints
        .iter()
        .filter(|c| c.dimension == *dimension);
    let seen = own.filter(|c| view.is_none_or(|v| v.readable(c)));
    let shape = |c: &Constraint| v1::Constraint {
        value: c.value.clone(),
        allow: c.allow,
        subtree: c.subtree,
    };
    seen.map(shape).collect()
}

/// The lists of other properties, by name.
fn further(account: &Account, view: Option<&View>) -> BTreeMap<String, Vec<v1::Constraint>> {
    let others = account.constraints.iter().map(|c| &c.dimension);
    let others = others.filter(|d| !d.is_ordinary());
    others
        .map(|d| (d.word().to_owned(), rows(account, d, view)))
        .collect()
}

/// The lists in a request, each with all its rows. Other lists are unchanged.
pub(super) fn given(
    ordinary: [(Dimension, Option<Vec<v1::Constraint>>); 3],
    further: Option<BTreeMap<String, Vec<v1::Constraint>>>,
) -> Result<Vec<(Dimension, Vec<Constraint>)>, Refusal> {
    let mut lists = Vec::new();
    for (dimension, rows) in ordinary {
        lists.extend(rows.map(|rows| list(dimension, rows)));
    }
    for (name, rows) in further.into_iter().flatten() {
        lists.push(list(Dimension::parse(&name)?, rows));
    }
    Ok(lists)
}

fn list(dimension: Dimension, rows: Vec<v1::Constraint>) -> (Dimension, Vec<Constraint>) {
    let rows = rows.into_iter().map(|row| Constraint {
        dimension: dimension.clone(),
        value: row.value,
        allow: row.allow,
        subtree: row.subtree,
    });
    let rows = rows.collect();
    (dimension, rows)
}

/// The word of an overflow in a request.
pub(super) fn read_overflow(word: Option<&str>) -> Result<Option<Overflow>, Refusal> {
    let bad = Refusal::bad_value("overflow", "no, yes or any");
    word.map(|w| Overflow::parse(w).ok_or(bad)).transpose()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bank_core::ids::AccountId;
    use bank_core::model::Link;

    use super::super::tests::directory;
    use super::*;

    fn row(value: &str) -> v1::Constraint {
        v1::Constraint {
            value: value.into(),
            allow: true,
            subtree: false,
        }
    }

    #[test]
    fn only_the_lists_that_a_request_gives_are_changed() {
        let ordinary = |users: Option<&str>| {
            [
                (Dimension::Project, None),
                (Dimension::User, users.map(|name| vec![row(name)])),
                (Dimension::Machine, None),
            ]
        };
        let further = |name: &str, values: &[&str]| {
            let list = values.iter().map(|value| row(value)).collect();
            Some(BTreeMap::from([(name.to_owned(), list)]))
        };
        let shown = |lists: &[(Dimension, Vec<Constraint>)]| {
            let list = |(dimension, rows): &(Dimension, Vec<Constraint>)| {
                let values: Vec<&str> = rows.iter().map(|row| row.value.as_str()).collect();
                format!("{}:{}", dimension.word(), values.join(","))
            };
            lists.iter().map(list).collect::<Vec<_>>()
        };
        assert_eq!(given(ordinary(None), None), Ok(Vec::new()));
        let both = given(ordinary(Some("amy")), further("Queue", &["batch"])).unwrap();
        assert_eq!(shown(&both), ["user:amy", "class:batch"]);
        let emptied = given(ordinary(None), further("Zone", &[])).unwrap();
        assert_eq!(shown(&emptied), ["zone:"]);
        assert!(given(ordinary(None), further("", &[])).is_err());
        assert!(read_overflow(Some("perhaps")).is_err());
    }

    /// A parent that pays by overflow is visible to a member, even if its lists do not contain the member.
    #[test]
    fn who_may_spend_by_overflow_sees_the_account() {
        for (overflow, seen) in [
            (Overflow::No, false),
            (Overflow::Listed, false),
            (Overflow::Any, true),
        ] {
            let mut directory = directory();
            let bank = Arc::make_mut(&mut directory);
            let chem = bank.account_named("chem").unwrap().clone();
            let bio = bank.account_named("bio").unwrap().id;
            bank.put_account(Account {
                link: Some(Link {
                    parent: bio,
                    share: 25,
                    overflow,
                }),
                ..chem.clone()
            });
            let view = View::of_user(Arc::clone(&directory), Some("amy"));
            let parent = directory.account(bio).unwrap();
            assert_eq!(view.sees_account(parent), seen, "{overflow:?}");
            let chem = directory.account(AccountId(chem.id.0)).unwrap();
            let shape = account(&directory, chem, &Figures::default(), Some(&view));
            assert_eq!(shape.parent, seen.then(|| "bio".to_owned()));
            assert_eq!(shape.share, if seen { 25 } else { 0 });
        }
    }
}
