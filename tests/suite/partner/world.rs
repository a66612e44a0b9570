//! Banks that are partners of each other: each a daemon, with a link to each of the others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::link::{Link, State};
use crate::harness::{Bank, Setup, amount, until};

/// The month of the tests' ledger clock.
pub(super) const MONTH: &str = "2026-01";

/// Several banks. Each has the project `chemistry` with the member amy, the machine colony, and for each
/// partner the account `owed-by-N`.
pub(super) struct World {
    pub(super) banks: Vec<Bank>,
    /// From one bank to another.
    links: Vec<(usize, usize, Link)>,
}

/// The name of a bank.
pub(super) fn name(bank: usize) -> String {
    format!("bank{bank}.example")
}

impl World {
    /// Partners of each other, with further settings of partners, such as `--away accept`.
    pub(super) fn new(count: usize, more: &[&str]) -> World {
        let banks: Vec<Bank> = (0..count).map(|_| Setup::new().start()).collect();
        let mut world = World {
            banks,
            links: Vec::new(),
        };
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                world.befriend(from, to, more);
            }
        }
        world
    }

    /// `from` may hold and charge at `to`, and lets projects of `to` run.
    fn befriend(&mut self, from: usize, to: usize, more: &[&str]) {
        let link = Link::new();
        let key = format!("of-{}", name(from));
        let secret = format!("the secret of bank {from} at bank {to}");
        let file = self.banks[to].folder().join("partner.secret");
        let file = file.to_str().unwrap();
        let client = name(from);
        for path in [
            self.banks[from]
                .data()
                .join(format!("keys/partner-{}", name(to))),
            file.into(),
        ] {
            fs::write(&path, &secret).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let scope = [
            "--client",
            &client,
            "--role",
            "partner",
            "--secret-file",
            file,
        ];
        self.banks[to].bank_ok(&[&["key", "add", key.as_str()][..], &scope].concat());
        let account = format!("owed-by-{to}");
        let url = format!("http://{}", link.address());
        let partner = name(to);
        self.links.push((from, to, link));
        // Before the first attempt, after whose failure no reserve would wait for messages.
        self.open(from, to);
        let bank = &self.banks[from];
        bank.bank_ok(&["project", "add", &account]);
        bank.bank_ok(&["deposit", &account, "0", "--limit", "50000", "--new"]);
        let add = ["partner", "add", &partner, "--account", &account];
        let way = ["--url", &url, "--signing-key", &key, "--timeout", "1500"];
        bank.bank_ok(&[&add[..], &way, more].concat());
    }

    pub(super) fn link(&self, from: usize, to: usize, state: State) {
        let mut links = self.links.iter();
        let found = links.find(|(one, other, _)| (*one, *other) == (from, to));
        found.unwrap().2.set(state);
    }

    /// Opens the link to a bank that runs.
    pub(super) fn open(&self, from: usize, to: usize) {
        self.link(from, to, State::Open(self.banks[to].tcp()));
    }

    pub(super) fn open_all(&self) {
        for (from, to, _) in &self.links {
            self.open(*from, *to);
        }
    }

    pub(super) fn cut_all(&self) {
        for (_, _, link) in &self.links {
            link.set(State::Cut);
        }
    }

    /// Messages of a bank to all partners that are in flight.
    pub(super) fn in_flight(&self, bank: usize) -> i64 {
        let sql = "SELECT count(*) FROM partner_entry WHERE sent = 1 AND counterpart IS NULL";
        self.banks[bank].query(sql)[0][0].parse().unwrap()
    }

    /// Waits until every message is confirmed.
    pub(super) fn deliver(&self) {
        until("all messages are confirmed", || {
            let all = (0..self.banks.len()).map(|bank| self.in_flight(bank));
            (all.sum::<i64>() == 0).then_some(())
        });
    }

    /// The settlement of the month, as a bank prints it.
    pub(super) fn settlement(&self, bank: usize, with: usize) -> Value {
        self.banks[bank].json(&["settlement", &name(with), "--month", MONTH])
    }

    /// Delivers everything, compares all settlements and figures, and verifies every bank.
    pub(super) fn settle(&mut self) {
        self.deliver();
        let count = self.banks.len();
        for one in 0..count {
            for other in (0..count).filter(|other| *other != one) {
                let (here, there) = (self.settlement(one, other), self.settlement(other, one));
                assert_eq!(here["agrees"], true, "{here:#}");
                assert_eq!(
                    here["partner_owes"], there["partner_gets"],
                    "{here:#}\n{there:#}"
                );
                assert_eq!(amount(&here, "net"), -amount(&there, "net"));
                let account = format!("owed-by-{other}");
                let owed = -self.banks[one].figures(&account).0;
                assert_eq!(amount(&here["partner_owes"], "total"), owed, "{here:#}");
            }
        }
        for bank in &mut self.banks {
            bank.verify();
        }
    }
}

/// A document of a job of a project, on two processors: each second costs two credits.
pub(super) fn job(id: &str, project: &str, seconds: i64) -> Vec<u8> {
    format!(
        "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>{project}</Account>\
         <Processors>2</Processors><WallDuration>{seconds}</WallDuration>\
         <ChargeDuration>{seconds}</ChargeDuration></Job>"
    )
    .into_bytes()
}
