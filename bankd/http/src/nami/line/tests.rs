use std::sync::Arc;

use bank_core::amount::{Amount, Precision};
use bank_core::command::{Command, Scope};
use bank_core::directory::{Bank, Policy};
use bank_core::effects::Closed;
use bank_core::ids::{InstanceId, TxId};
use bank_core::ledger::Decision;
use bank_core::model::{Account, Closing};
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, Timestamp};
use bankd_ledger::writer::Render;

use super::*;

fn directory() -> Arc<Directory> {
    let bank = Bank {
        uuid: "8f1c2d3a-0000-4000-8000-000000000000".to_owned(),
        precision: Precision::new(1).unwrap(),
        unit: "credits".to_owned(),
    };
    let mut directory = Directory::new(bank, Policy::default());
    for (id, name) in [(2, "chemistry"), (3, "freecycle")] {
        directory.put_account(Account {
            id: AccountId(id),
            name: name.to_owned(),
            priority: 0,
            fallback: None,
            blocked: false,
            deleted: false,
            description: String::new(),
            constraints: Vec::new(),
            link: None,
            discrete: false,
        });
    }
    Arc::new(directory)
}

/// The answer to a command with this result.
fn answered(render: Render, directory: &Arc<Directory>, decision: &Decision) -> Answer {
    let command = Command::remove_record("user", "amy");
    render(&Decided {
        directory,
        command: &command,
        scope: &Scope::default(),
        decision,
        now: Timestamp(0),
        transaction: None,
        dry_run: false,
        request_id: "r",
        fingerprint: "",
    })
}

fn a_charge() -> Charged {
    Charged {
        instance: InstanceId(1),
        tx: TxId(1),
        amount: Amount(35_712),
        debt: Amount::ZERO,
        billing: Billing::Billed,
        account: Some(AccountId(2)),
        shares: vec![(AccountId(2), 35_712)],
        balance: Amount(64_288),
        project: "chemistry".to_owned(),
        lien_missing: false,
        late: false,
        quote_invalid: false,
        against_liens: Amount::ZERO,
        by_fallback: Amount::ZERO,
        counted: Seconds(3600),
        unpriced: false,
        disputed: Seconds(0),
        repeats: false,
        kept_for: None,
        would_refuse: None,
    }
}

fn a_reserve() -> Reserved {
    Reserved {
        number: 1,
        instance: InstanceId(1),
        lien: None,
        held: Amount(576_000),
        added_to: Amount(0),
        fallback_from: None,
        would_refuse: None,
        outlives_allocation: false,
        quote_invalid: false,
        absorbed: false,
        accounts: vec![AccountId(2)],
    }
}

fn parts(answer: &Answer) -> (u16, String) {
    (
        answer.status,
        String::from_utf8(answer.body.clone()).unwrap(),
    )
}

#[test]
fn charges() {
    let directory = directory();
    for (charge, expected) in [
        (a_charge(), "ok charged 3571.2 credits, balance 6428.8\n"),
        (
            Charged {
                amount: Amount::ZERO,
                kept_for: Some("pbs:colony".to_owned()),
                would_refuse: None,
                ..a_charge()
            },
            "warning kept: not charged, pbs:colony charges this use (bank machine set --source)\n",
        ),
        (
            Charged {
                lien_missing: true,
                late: true,
                ..a_charge()
            },
            "ok charged 3571.2 credits, balance 6428.8, after the close\n",
        ),
        (
            Charged {
                billing: Billing::Unbilled,
                amount: Amount(600),
                project: "nosuch".to_owned(),
                ..a_charge()
            },
            "warning unbilled: no project \"nosuch\": 60 credits kept in #unbilled\n",
        ),
        (
            Charged {
                billing: Billing::Shadow,
                amount: Amount::ZERO,
                ..a_charge()
            },
            "ok recorded 0 credits\n",
        ),
        (
            Charged {
                amount: Amount::ZERO,
                balance: Amount(10),
                unpriced: true,
                ..a_charge()
            },
            "warning unpriced: no rate matches this usage, charged 0 credits, balance 1\n",
        ),
        (
            Charged {
                disputed: Seconds(3300),
                ..a_charge()
            },
            "warning disputed: charged 3571.2 credits, balance 6428.8, 3300 s are more than can \
             have been used\n",
        ),
        (
            Charged {
                debt: Amount(5),
                balance: Amount(-5),
                ..a_charge()
            },
            "warning charge_debt: chemistry: charged 3571.2 credits, balance -0.5, 0.5 not \
             covered\n",
        ),
    ] {
        let answer = answered(charged, &directory, &Ok(Outcome::Charged(charge)));
        assert_eq!(parts(&answer), (200, expected.to_owned()));
    }
}

#[test]
fn reserves() {
    let directory = directory();
    for (reserve, expected) in [
        (
            Reserved {
                held: Amount::ZERO,
                ..a_reserve()
            },
            "ok nothing to hold\n",
        ),
        (
            Reserved {
                absorbed: true,
                ..a_reserve()
            },
            "ok start after the end, nothing held\n",
        ),
        (
            Reserved {
                fallback_from: Some(AccountId(2)),
                accounts: vec![AccountId(3)],
                ..a_reserve()
            },
            "warning fallback: chemistry is short, lien 57600 credits on freecycle\n",
        ),
        (
            Reserved {
                would_refuse: Some(Refusal::NoDefaultProject),
                held: Amount::ZERO,
                ..a_reserve()
            },
            "ok lien 0 credits, strict mode would refuse: no_default_project\n",
        ),
    ] {
        let answer = answered(reserved, &directory, &Ok(Outcome::Reserved(reserve)));
        assert_eq!(parts(&answer), (200, expected.to_owned()));
    }
}

#[test]
fn refusals_have_the_status_of_the_table() {
    let directory = directory();
    for (refusal, status, expected) in [
        (
            Refusal::InsufficientFunds {
                needed: Amount(576_000),
                available: Amount(424_000),
                whose: "chemistry".to_owned(),
            },
            402,
            "refused insufficient_funds: need 57600, have 42400 credits\n",
        ),
        (
            Refusal::NotAllowed {
                what: "machine blue".to_owned(),
            },
            403,
            "refused not_allowed: machine blue\n",
        ),
        (
            Refusal::AmountOverflow,
            422,
            "error amount_overflow: the result is larger than the bank can hold\n",
        ),
    ] {
        let answer = answered(quoted, &directory, &Err(refusal));
        assert_eq!(parts(&answer), (status, expected.to_owned()));
    }
}

#[test]
fn quotes_and_deletes() {
    let directory = directory();
    let quote = Quoted {
        cost: Amount(576_000),
        available: Amount(0),
        quote: None,
        at: Timestamp(0),
        undefined_instance: false,
        account: None,
        unpriced: false,
    };
    let answer = answered(quoted, &directory, &Ok(Outcome::Quoted(quote)));
    assert_eq!(parts(&answer), (200, "57600\n".to_owned()));
    for (released, expected) in [
        (0, "ok deleted\n"),
        (15, "ok deleted, 1.5 credits released\n"),
    ] {
        let closed = Closed {
            instance: None,
            by: Closing::Delete,
            released: Amount(released),
        };
        let answer = answered(deleted, &directory, &Ok(Outcome::Closed(closed)));
        assert_eq!(parts(&answer), (200, expected.to_owned()));
    }
    let other = answered(created, &directory, &Ok(Outcome::Swept));
    assert_eq!(other.status, 500);
}
