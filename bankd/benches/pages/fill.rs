//! The bank that is measured: made by `bankd init` and the ledger's own commands, over the last year.

use anyhow::{Context, Result, bail, ensure};
use bank_core::amount::Amount;
use bank_core::command::{Access, Charge, Command, Deposit, GrantRole, Request, Scope, Whose};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::ledger;
use bank_core::role::Role;
use bank_core::time::{Seconds, Timestamp};
use bankd_ledger::clock::{LedgerClock, SystemClock};
use bankd_store::{SqliteStore, Stamp};
use std::path::Path;
use std::process;

use super::visitor::SETTINGS;

/// Who sees everything.
pub(crate) const ADMIN: &str = "grace";
/// A member of one project in ten thousand.
pub(crate) const USER: &str = "u0";
/// The manager of the first tree.
pub(crate) const LEADER: &str = "lea";

const YEAR_S: i64 = 365 * 86_400;
/// Projects of a tree.
const TREE: u64 = 100;
/// Commands in a commit.
const BATCH: usize = 1000;
/// In minor units.
const MONEY: Amount = Amount(10_000_000_000_000);

/// What is made.
pub(crate) struct Plan {
    pub(crate) rows: u64,
    pub(crate) accounts: u64,
    pub(crate) users: u64,
    pub(crate) seed: u64,
}

/// Makes the bank.
pub(crate) fn bank(data: &Path, plan: &Plan) -> Result<()> {
    let mut init = process::Command::new(env!("CARGO_BIN_EXE_bankd"));
    let made = init.arg("init").arg("--data").arg(data).output()?;
    ensure!(
        made.status.success(),
        "bankd init: {}",
        String::from_utf8_lossy(&made.stderr)
    );
    std::fs::write(data.join("bankd.toml"), SETTINGS)?;
    let path = data.join("bank.db");
    let mut store = SqliteStore::open(&path, Policy::default())?;
    let start = SystemClock::default().now().minus(Seconds(YEAR_S));
    let commands = reference(plan);
    run(&mut store, commands.into_iter().map(|one| (one, start)))?;
    let rows = plan.rows.cast_signed();
    let each = YEAR_S
        .saturating_mul(1_000_000)
        .checked_div(rows)
        .unwrap_or(0);
    let jobs = (0..rows).map(|n| {
        let at = Timestamp(start.0.saturating_add(n.saturating_mul(each)));
        (job(n, plan), at)
    });
    run(&mut store, jobs)?;
    // A daemon does these after the commits.
    store.add_up_blocks(SystemClock::default().now())?;
    store.checkpoint()?;
    Ok(())
}

/// People, machines, projects in trees, and money.
fn reference(plan: &Plan) -> Vec<Command> {
    let mut all: Vec<Command> = ["colony", "aurora", "cirrus"]
        .map(|machine| Command::add_record("machine", machine, &[]))
        .into();
    all.extend((0..plan.users).map(|n| Command::add_record("user", &format!("u{n}"), &[])));
    all.extend([ADMIN, LEADER].map(|name| Command::add_record("user", name, &[])));
    for n in 0..plan.accounts {
        let member = format!("u{}", n % plan.users.max(1));
        let mut fields = vec![("members", vec![member].into())];
        if n % TREE != 0 {
            fields.push(("parent", format!("p{}", n - n % TREE).into()));
        }
        all.push(Command::add_record("project", &format!("p{n}"), &fields));
    }
    all.extend((0..plan.accounts).map(|n| {
        Command::Deposit(Deposit {
            name: format!("p{n}"),
            amount: MONEY,
            ..Deposit::default()
        })
    }));
    let grant = |name: &str, role: Role, project: Option<&str>| {
        Command::Access(Access::Grant(GrantRole {
            name: name.to_owned(),
            role,
            project: project.map(str::to_owned),
            until: None,
        }))
    };
    all.push(grant(ADMIN, Role::Admin, None));
    all.push(grant(LEADER, Role::Manager, Some("p0")));
    all
}

/// A finished job.
fn job(n: i64, plan: &Plan) -> Command {
    let dice = mixed(n.cast_unsigned() ^ plan.seed);
    let project = dice % plan.accounts.max(1);
    let mut request = Request {
        object_id: format!("Moab.{n}"),
        whose: Whose {
            project: Some(format!("p{project}")),
            user: Some(format!("u{}", project % plan.users.max(1))),
            machine: "colony".to_owned(),
            ..Whose::default()
        },
        ..Request::default()
    };
    request.facts.usage.processors = Some(Decimal::whole(1 + ((dice >> 32) % 128).cast_signed()));
    Command::Charge(Charge {
        request,
        duration: Some(Seconds(60 + ((dice >> 40) % 7200).cast_signed())),
        closes: true,
        ..Charge::default()
    })
}

/// A number out of another one (`SplitMix64`).
fn mixed(n: u64) -> u64 {
    let z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Carries commands out, many in a commit.
fn run(
    store: &mut SqliteStore,
    commands: impl Iterator<Item = (Command, Timestamp)>,
) -> Result<()> {
    let scope = Scope::default();
    let mut open = 0;
    for (command, now) in commands {
        if open == 0 {
            store.begin()?;
        }
        store.stamp(Stamp {
            now,
            request_id: "seed".to_owned(),
            actor: ADMIN.to_owned(),
            client: ADMIN.to_owned(),
            origin: "cli",
            key: None,
        });
        if let Err(refusal) = ledger::execute(store, &command, &scope, now, false)? {
            bail!("{}: refused: {}", command.op(), refusal.code());
        }
        open += 1;
        if open == BATCH {
            store.commit()?;
            open = 0;
        }
    }
    if open > 0 {
        store.commit().context("the last commit")?;
    }
    Ok(())
}
