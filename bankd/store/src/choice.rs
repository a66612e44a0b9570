//! Inputs of choices among accounts, and the settings that decide them, reading and writing
//! (decision note 0082).

use super::chain::Chain;
use super::{Error, SqliteStore, codec};
use bank_core::directory::{FallbackMode, Policy, SelectionOrder};
use bank_core::effects::{Choice, Settings, Traces};
use bank_core::ids::{AccountId, MachineId, ProjectId, TxId, UserId};
use bank_core::model::{Mode, Traits};
use bank_core::terms::Shortfall;
use bank_core::usage::text;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::BTreeMap;

/// The columns of a choice, as the hash of its transaction covers them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// Project, user, machine, the only account, whether any member would do, the job's own account.
    numbers: [Option<i64>; 6],
    /// Inputs of the lists, the processors, the group.
    texts: [Option<String>; 3],
}

impl Stored {
    /// As it is written.
    pub(super) fn of(choice: &Choice) -> Stored {
        let traits = choice.traits.as_ref();
        let processors = traits.and_then(|t| t.usage.processors);
        Stored {
            numbers: [
                choice.project.map(|id| id.0),
                choice.user.map(|id| id.0),
                choice.machine.map(|id| id.0),
                choice.only.map(|id| id.0),
                Some(choice.any_member.into()),
                choice.own.map(|id| id.0),
            ],
            texts: [
                traits.map(|t| text::write(&t.usage)),
                processors.map(|number| number.to_string()),
                traits.map(|t| t.group.clone()),
            ],
        }
    }

    fn read(row: &Row<'_>) -> Result<Stored, Error> {
        let mut stored = Stored::default();
        for (place, number) in stored.numbers.iter_mut().enumerate() {
            *number = row.get(place.saturating_add(1))?;
        }
        for (place, text) in stored.texts.iter_mut().enumerate() {
            *text = row.get(place.saturating_add(7))?;
        }
        Ok(stored)
    }

    /// Into the hash.
    pub(super) fn hash(&self, chain: &mut Chain) {
        chain.text("choice");
        for number in self.numbers {
            chain.optional(number);
        }
        for text in &self.texts {
            chain.optional_text(text.as_deref());
        }
    }

    fn choice(self) -> Result<Choice, Error> {
        let [project, user, machine, only, any_member, own] = self.numbers;
        let [facts, processors, group] = self.texts;
        let processors = codec::decimal("choice.processors", processors)?;
        let usage = |facts: String| {
            codec::word("choice.facts", &facts, |facts| {
                text::read(facts, processors)
            })
        };
        let usage = facts.map(usage).transpose()?;
        let traits = usage.map(|usage| {
            let group = group.unwrap_or_default();
            Box::new(Traits { usage, group })
        });
        Ok(Choice {
            project: project.map(ProjectId),
            user: user.map(UserId),
            machine: machine.map(MachineId),
            only: only.map(AccountId),
            any_member: any_member == Some(1),
            own: own.map(AccountId),
            traits,
        })
    }
}

const COLUMNS: &str = "tx, project, user, machine, only_account, any_member, own, facts,
    processors, group_name";

/// Writes the choice and the settings of a transaction.
pub(super) fn write(connection: &Connection, tx: TxId, traces: &Traces) -> Result<(), Error> {
    if let Some(settings) = &traces.settings {
        insert(connection, tx.0, **settings)?;
    }
    let Some(choice) = &traces.choice else {
        return Ok(());
    };
    let Stored { numbers, texts } = Stored::of(choice);
    let sql =
        format!("INSERT INTO choice ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    let [project, user, machine, only, any_member, own] = numbers;
    let [facts, processors, group] = texts;
    let row = rusqlite::params![
        tx.0, project, user, machine, only, any_member, own, facts, processors, group
    ];
    connection.prepare_cached(&sql)?.execute(row)?;
    Ok(())
}

/// The inputs of a transaction's choice; none if its entries contain them.
pub(super) fn read(connection: &Connection, tx: i64) -> Result<Option<Choice>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM choice WHERE tx = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([tx])?;
    let stored = rows.next()?.map(Stored::read).transpose()?;
    stored.map(Stored::choice).transpose()
}

/// The choices of so many transactions from one on.
pub(super) fn between(
    connection: &Connection,
    tx: i64,
    most: i64,
) -> Result<BTreeMap<i64, Stored>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM choice WHERE tx >= ?1 AND tx < ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((tx, tx.saturating_add(most)))?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        found.insert(row.get(0)?, Stored::read(row)?);
    }
    Ok(found)
}

fn insert(connection: &Connection, tx: i64, settings: Settings) -> Result<(), Error> {
    let sql = "INSERT INTO settings (tx, mode, fallback, spend_order, require_cover, shortfall)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.execute(
        sql,
        (
            tx,
            settings.mode.word(),
            settings.fallback.word(),
            settings.order.word(),
            settings.require_cover,
            settings.shortfall.word(),
        ),
    )?;
    Ok(())
}

/// Writes down the settings that a new bank is made with, as of transaction 0.
pub(super) fn seed(connection: &Connection, policy: &Policy) -> Result<(), Error> {
    insert(connection, 0, Settings::of(policy))
}

/// Adds the settings recorded by transactions from a number on.
pub(super) fn settings_since(
    connection: &Connection,
    tx: i64,
    found: &mut BTreeMap<i64, Traces>,
) -> Result<(), Error> {
    let sql = "SELECT mode, fallback, spend_order, require_cover, shortfall, tx FROM settings
               WHERE tx >= ?1 ORDER BY tx";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([tx])?;
    while let Some(row) = rows.next()? {
        let settings = Box::new(settings(row)?);
        found.entry(row.get(5)?).or_default().settings = Some(settings);
    }
    Ok(())
}

/// The settings after a transaction; none if unknown.
pub(super) fn settings_at(connection: &Connection, tx: i64) -> Result<Option<Settings>, Error> {
    let sql = "SELECT mode, fallback, spend_order, require_cover, shortfall FROM settings
               WHERE tx <= ?1 ORDER BY tx DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([tx])?;
    rows.next()?.map(settings).transpose()
}

/// The transaction after which the inputs of choices are recorded; none if never.
pub(super) fn known_since(connection: &Connection) -> Result<Option<i64>, Error> {
    let sql = "SELECT min(tx) FROM settings";
    let first = connection.query_row(sql, [], |r| r.get(0)).optional()?;
    Ok(first.flatten())
}

fn settings(row: &Row<'_>) -> Result<Settings, Error> {
    let word = |column: usize| row.get::<_, String>(column);
    let require_cover: i64 = row.get(3)?;
    if !(0..=1).contains(&require_cover) {
        return Err(Error::Value {
            what: "settings.require_cover",
            value: require_cover.to_string(),
        });
    }
    Ok(Settings {
        mode: codec::word("settings.mode", &word(0)?, Mode::parse)?,
        fallback: codec::word("settings.fallback", &word(1)?, FallbackMode::parse)?,
        order: codec::word("settings.spend_order", &word(2)?, SelectionOrder::parse)?,
        require_cover: require_cover == 1,
        shortfall: codec::word("settings.shortfall", &word(4)?, Shortfall::parse)?,
    })
}

/// Adds the settings of transaction 0 to its traces; no change if there are none.
pub(super) fn origin(connection: &Connection) -> Result<Option<String>, Error> {
    let sql = "SELECT json_array(mode, fallback, spend_order, require_cover, shortfall)
               FROM settings WHERE tx = 0";
    let found = connection.query_row(sql, [], |r| r.get(0));
    Ok(found.optional()?)
}

impl SqliteStore {
    /// Whether the latest settings in the journal are those of this store.
    ///
    /// # Errors
    /// If the store fails.
    pub fn settings_are_recorded(&self) -> Result<bool, Error> {
        let recorded = settings_at(&self.connection, i64::MAX)?;
        Ok(recorded == Some(Settings::of(&self.directory.policy)))
    }
}
