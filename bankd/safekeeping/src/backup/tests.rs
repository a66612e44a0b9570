use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use bank_core::amount::Precision;
use bankd_config::Config;
use bankd_store::SqliteStore;

use super::restore::{Choices, restore};
use super::*;
use crate::init::{self, init};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        let choices = init::Choices {
            precision: Precision::DEFAULT,
            unit: "SU".to_owned(),
            test: false,
        };
        init(&place.data(), &choices).unwrap();
        place
    }

    fn data(&self) -> DataDir {
        DataDir::new(&self.folder.path().join("data"))
    }

    fn elsewhere(&self) -> DataDir {
        DataDir::new(&self.folder.path().join("elsewhere"))
    }

    fn plan(&self) -> Plan {
        Plan {
            out: self.folder.path().join("out"),
            with_keys: false,
            reason: Reason::Requested,
            keep: 0,
            keep_days: 0,
        }
    }

    fn choices(from: &Path) -> Choices {
        Choices {
            from: from.to_owned(),
            force: false,
            rekey: false,
        }
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

/// Every file below a folder with its bytes.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(tree(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_backup_is_whole_private_and_proven() {
    let place = Place::new();
    let made = make(&place.data(), &place.plan()).unwrap();
    let manifest = &made.manifest;
    assert_eq!(
        (manifest.transactions, manifest.proof.as_str()),
        (2, "journal")
    );
    assert_eq!(manifest.unit, "SU");
    assert_eq!(manifest.head.len(), 64);
    let names: Vec<_> = manifest.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["bank.db", "bankd.toml"]);
    assert_eq!(mode(&made.path), 0o700);
    for path in tree(&made.path).keys() {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
    assert_eq!(folder::read(&made.path.join(MANIFEST)).unwrap(), *manifest);
    let last = last(&place.data()).unwrap();
    assert_eq!(last.path, made.path.display().to_string());
    // A second one of the same second has a name of its own.
    let second = make(&place.data(), &place.plan()).unwrap();
    assert_ne!(second.path, made.path);
    assert_eq!(list(&place.plan().out).unwrap().len(), 2);
}

#[test]
fn a_bank_comes_back_elsewhere_as_it_was() {
    let place = Place::new();
    let mut plan = place.plan();
    plan.with_keys = true;
    let made = make(&place.data(), &plan).unwrap();
    let elsewhere = place.elsewhere();
    let restored = restore(&elsewhere, &Place::choices(&made.path)).unwrap();
    assert!(restored.aside.is_none() && restored.secrets);
    assert_eq!(restored.proof, "journal");
    assert_eq!(mode(elsewhere.path()), 0o711);
    assert_eq!(mode(&elsewhere.keys()), 0o700);
    assert_eq!(mode(&elsewhere.database()), 0o600);
    let same = |of: fn(&DataDir) -> PathBuf| {
        assert_eq!(
            fs::read(of(&elsewhere)).unwrap(),
            fs::read(of(&place.data())).unwrap()
        );
    };
    same(DataDir::config);
    same(|data| data.keys().join("admin"));
    assert!(
        verify::run(&elsewhere.database())
            .unwrap()
            .findings
            .is_empty()
    );
    let holding = store::holding(&elsewhere.database()).unwrap();
    assert_eq!(holding, store::holding(&place.data().database()).unwrap());
    assert!(last(&elsewhere).is_none());
}

#[test]
fn what_is_there_is_never_lost() {
    let place = Place::new();
    let made = make(&place.data(), &place.plan()).unwrap();
    let before = tree(place.data().path());
    let mut choices = Place::choices(&made.path.join("bank.db"));
    let error = restore(&place.data(), &choices).unwrap_err().to_string();
    assert!(error.contains("bank.db is there already"), "{error}");
    assert_eq!(tree(place.data().path()), before);
    choices.force = true;
    let restored = restore(&place.data(), &choices).unwrap();
    let aside = restored.aside.unwrap();
    let database = place.data().database();
    assert_eq!(fs::read(aside.join("bank.db")).unwrap(), before[&database]);
    assert!(
        !aside.join("keys").exists(),
        "the backup has no secrets to replace them"
    );
    assert!(place.data().keys().join("admin").exists());
    // A bank that is served is not replaced at all.
    let _lock = bankd_config::data_dir::lock(&place.data()).unwrap();
    let error = restore(&place.data(), &choices).unwrap_err().to_string();
    assert!(error.starts_with("another bankd serves"), "{error}");
}

#[test]
fn a_damaged_backup_is_refused_and_leaves_nothing() {
    let place = Place::new();
    let mut plan = place.plan();
    plan.with_keys = true;
    let made = make(&place.data(), &plan).unwrap();
    let whole = tree(&made.path);
    for (file, what) in [
        ("bank.db", "digest"),
        ("bankd.toml", "digest"),
        ("keys/admin", "digest"),
        (MANIFEST, MANIFEST),
    ] {
        let path = made.path.join(file);
        let mut bytes = whole[&path].clone();
        let middle = bytes.len() / 2;
        if file == MANIFEST {
            bytes.truncate(middle);
        } else {
            bytes[middle] ^= 0x20;
        }
        fs::write(&path, &bytes).unwrap();
        let error = restore(&place.elsewhere(), &Place::choices(&made.path)).unwrap_err();
        assert!(format!("{error:#}").contains(what), "{file}: {error:#}");
        assert!(!place.elsewhere().path().exists(), "{file}");
        fs::write(&path, &whole[&path]).unwrap();
    }
    restore(&place.elsewhere(), &Place::choices(&made.path)).unwrap();
}

#[test]
fn a_manifest_names_no_file_elsewhere() {
    let place = Place::new();
    let made = make(&place.data(), &place.plan()).unwrap();
    for name in [
        "../bank.db",
        "/etc/passwd",
        "keys/../../x",
        "keys/.",
        "keys",
        "other",
        "keys/a/b",
    ] {
        let mut manifest = made.manifest.clone();
        manifest.files[1].name = name.to_owned();
        let text = serde_json::to_string(&manifest).unwrap();
        fs::write(made.path.join(MANIFEST), text).unwrap();
        let error = restore(&place.elsewhere(), &Place::choices(&made.path)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("is not a file of a bank"), "{name}: {error}");
    }
    for change in [
        |m: &mut Backup| m.format = 2,
        |m: &mut Backup| m.files.clear(),
        |m: &mut Backup| m.files.extend(m.files.clone()),
        |m: &mut Backup| m.bank = "another".to_owned(),
        |m: &mut Backup| m.head = "00".repeat(32),
    ] {
        let mut manifest = made.manifest.clone();
        change(&mut manifest);
        let text = serde_json::to_string(&manifest).unwrap();
        fs::write(made.path.join(MANIFEST), text).unwrap();
        assert!(restore(&place.elsewhere(), &Place::choices(&made.path)).is_err());
        assert!(!place.elsewhere().path().exists());
    }
}

#[test]
fn a_copy_beside_the_original_takes_nobodys_word() {
    let place = Place::new();
    let mut plan = place.plan();
    plan.with_keys = true;
    let made = make(&place.data(), &plan).unwrap();
    let mut choices = Place::choices(&made.path);
    choices.rekey = true;
    let restored = restore(&place.elsewhere(), &choices).unwrap();
    assert_eq!(restored.rekeyed, ["admin"]);
    assert!(
        !restored.secrets,
        "the original's secrets stay where they are"
    );
    let database = place.elsewhere().database();
    assert!(verify::run(&database).unwrap().findings.is_empty());
    let store = SqliteStore::open(&database, Config::default().policy()).unwrap();
    assert!(store.reference().key("admin").unwrap().disabled);
    let original = place.data().database();
    let store = SqliteStore::open(&original, Config::default().policy()).unwrap();
    assert!(!store.reference().key("admin").unwrap().disabled);
}

#[test]
fn old_backups_go_and_nothing_else() {
    let place = Place::new();
    let mut plan = place.plan();
    for _ in 0..4 {
        make(&place.data(), &plan).unwrap();
    }
    plan.reason = Reason::Migration;
    make(&place.data(), &plan).unwrap();
    plan.reason = Reason::Requested;
    // Foreign contents: files, folders, a backup of another bank.
    let foreign = plan.out.join("bank-of-somebody");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("x"), "x").unwrap();
    let all = list(&plan.out).unwrap();
    let other = plan.out.join("bank-19990101T000000Z");
    fs::create_dir(&other).unwrap();
    let mut manifest = all[0].manifest.clone();
    manifest.bank = "another".to_owned();
    let text = serde_json::to_string(&manifest).unwrap();
    fs::write(other.join(MANIFEST), text).unwrap();

    plan.keep = 2;
    let made = make(&place.data(), &plan).unwrap();
    assert_eq!(made.removed.len(), 3);
    let left = list(&plan.out).unwrap();
    let of = |reason: &str| {
        let own = left
            .iter()
            .filter(|b| b.manifest.bank == made.manifest.bank);
        own.filter(|b| b.manifest.reason == reason).count()
    };
    assert_eq!((of("asked"), of("migration")), (2, 1));
    assert!(foreign.join("x").exists() && other.exists());
    // By age: the newest one remains, whatever its age.
    plan.keep = 0;
    plan.keep_days = 1;
    let in_ten_days = clock::real_us() + 10 * 86_400_000_000;
    let found = list(&plan.out).unwrap();
    let own = found.iter().find(|one| one.path == made.path).unwrap();
    let gone = folder::retire(&plan.out, own, &plan, in_ten_days).unwrap();
    assert_eq!(gone.len(), 1);
    assert!(made.path.exists());
}

#[test]
fn one_at_a_time_and_what_broke_off_goes() {
    let place = Place::new();
    let plan = place.plan();
    files::private_folder(&plan.out).unwrap();
    let held = folder::lock(&place.data(), &plan.out).unwrap();
    let error = make(&place.data(), &plan).unwrap_err().to_string();
    assert!(error.starts_with("another backup is being made"), "{error}");
    let partial = folder::fresh_partial(&plan.out).unwrap();
    fs::write(partial.join("bank.db"), "half").unwrap();
    drop(held);
    make(&place.data(), &plan).unwrap();
    assert!(!partial.exists());
    assert_eq!(list(&plan.out).unwrap().len(), 1);
}

#[test]
fn a_bank_that_is_not_sound_makes_no_backup() {
    let place = Place::new();
    let holding = store::holding(&place.data().database()).unwrap();
    assert_eq!(holding.transactions, 2);
    // A balance that differs from the journal, as a direct write to the file would leave it.
    let database = rusqlite::Connection::open(place.data().database()).unwrap();
    database
        .execute_batch("UPDATE allocation SET amount = amount + 1")
        .unwrap();
    drop(database);
    let error = make(&place.data(), &place.plan()).unwrap_err().to_string();
    assert!(error.contains("not sound"), "{error}");
    assert!(list(&place.plan().out).unwrap().is_empty());
}

#[test]
fn the_bank_is_kept_before_its_schema_changes() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::new(folder.path());
    fs::create_dir(data.keys()).unwrap();
    store::old_bank(&data.database(), 12).unwrap();
    let config = Config::default();
    let mut without = config.clone();
    without.backup.before_migration = false;
    assert!(before_migration(&data, &without.backup).unwrap().is_none());
    // Without room for it, or a place, nothing is changed.
    let mut nowhere = config.clone();
    nowhere.backup.folder = "/proc/none".to_owned();
    let error = before_migration(&data, &nowhere.backup).unwrap_err();
    assert!(
        format!("{error:#}").contains("nothing was changed"),
        "{error:#}"
    );
    assert!(store::outdated(&data.database()).unwrap().is_some());

    let path = before_migration(&data, &config.backup).unwrap().unwrap();
    let found = list(&folder.path().join("backups")).unwrap();
    assert_eq!((found.len(), &found[0].path), (1, &path));
    let manifest = &found[0].manifest;
    assert_eq!(
        (manifest.schema, manifest.reason.as_str()),
        (12, "migration")
    );
    assert_eq!(manifest.proof, "pages");
    drop(SqliteStore::open(&data.database(), config.policy()).unwrap());
    assert!(before_migration(&data, &config.backup).unwrap().is_none());
    // The way back to the old program.
    let elsewhere = DataDir::new(&folder.path().join("elsewhere"));
    let restored = restore(&elsewhere, &Place::choices(&path)).unwrap();
    assert_eq!(restored.proof, "pages");
    assert_eq!(store::holding(&elsewhere.database()).unwrap().schema, 12);
}

#[test]
fn a_backup_counts_where_the_note_of_it_cannot_be_written() {
    let place = Place::new();
    let data = place.data();
    let plan = Plan {
        keep: 1,
        ..place.plan()
    };
    let first = make(&data, &plan).unwrap();
    assert_eq!(first.unnoted, None);
    // A folder in its place, as on a disk that is full or read-only.
    fs::remove_file(data.last_backup()).unwrap();
    fs::create_dir(data.last_backup()).unwrap();
    let second = make(&data, &plan).unwrap();
    let why = second.unnoted.unwrap();
    assert!(why.contains("backup.json"), "{why}");
    assert_eq!(second.removed, [first.path]);
    let there = list(&plan.out).unwrap();
    let there: Vec<PathBuf> = there.into_iter().map(|one| one.path).collect();
    assert_eq!(there, [second.path]);
}
