use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use bank_core::amount::Precision;
use bankd_safekeeping::init::{self, init};

use super::*;

fn bank() -> (tempfile::TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::new(&folder.path().join("data"));
    let choices = init::Choices {
        precision: Precision::DEFAULT,
        unit: "SU".to_owned(),
        test: false,
    };
    init(&data, &choices).unwrap();
    (folder, data)
}

fn states(data: &DataDir) -> Vec<(&'static str, State)> {
    let found = examine(data);
    found.iter().map(|one| (one.name, one.state)).collect()
}

fn state(data: &DataDir, name: &str) -> State {
    let all = states(data);
    all.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn a_new_bank_lacks_a_backup_and_a_daemon_only() {
    let (_folder, data) = bank();
    for (name, state) in states(&data) {
        match name {
            "backup" | "daemon" => assert_eq!(state, State::Warn, "{name}"),
            // Those are the machine's, not the bank's.
            "disk" | "clock" | "spool" => {}
            _ => assert_eq!(state, State::Ok, "{name}"),
        }
    }
    let text = screen(&examine(&data));
    assert!(
        text.contains("warn  backup      no backup exists\n"),
        "{text}"
    );
}

#[test]
fn what_is_wrong_is_found() {
    let (_folder, data) = bank();
    let open = |path: &std::path::Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let secret = data.keys().join("admin");
    for (path, mode, right, name) in [
        (data.database(), 0o644, 0o600, "directory"),
        (data.path().to_owned(), 0o777, 0o711, "directory"),
        (data.config(), 0o644, 0o640, "directory"),
        (data.keys(), 0o711, 0o700, "keys"),
        (secret.clone(), 0o640, 0o600, "keys"),
    ] {
        open(&path, mode);
        let found = examine(&data);
        let found = found.iter().find(|one| one.name == name).unwrap();
        assert_eq!(found.state, State::Fail, "{}", path.display());
        assert!(
            found.todo.contains(&format!("chmod {right:o}")) || path == data.path(),
            "{found:?}"
        );
        open(&path, right);
        // The log has the mode that the database had when it was made.
        let log = data.database().with_extension("db-wal");
        if log.exists() {
            open(&log, 0o600);
        }
        assert_eq!(state(&data, name), State::Ok);
    }
    // Only root gives files away.
    if std::os::unix::fs::chown(&secret, Some(12_345), None).is_ok() {
        let found = examine(&data);
        let found = found.iter().find(|one| one.name == "keys").unwrap();
        assert_eq!(found.state, State::Fail, "{found:?}");
        assert!(found.todo.contains("it is of 12345"), "{found:?}");
        let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(data.path()).unwrap());
        std::os::unix::fs::chown(&secret, Some(owner), None).unwrap();
    }
    let kept = fs::read(&secret).unwrap();
    fs::remove_file(&secret).unwrap();
    assert_eq!(state(&data, "keys"), State::Warn);
    fs::write(&secret, kept).unwrap();
    open(&secret, 0o600);
    let config = fs::read_to_string(data.config()).unwrap();
    fs::write(data.config(), "[htp]\n").unwrap();
    assert_eq!(state(&data, "settings"), State::Fail);
    let more = "[[follow]]\nsource = \"s\"\npath = \"/nowhere/x\"\nformat = \"pbs\"\n\
                [[sink]]\nname = \"s\"\npath = \"nowhere/x\"\n";
    fs::write(data.config(), config + more).unwrap();
    assert_eq!(state(&data, "follow"), State::Warn);
    assert_eq!(state(&data, "records"), State::Fail);
    let lock = bankd_config::data_dir::lock(&data).unwrap();
    assert_eq!(
        state(&data, "daemon"),
        State::Fail,
        "it serves, and does not answer"
    );
    drop(lock);
    let bytes = fs::read(data.database()).unwrap();
    fs::write(data.database(), &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(state(&data, "database"), State::Fail);
    fs::remove_file(data.database()).unwrap();
    assert_eq!(state(&data, "database"), State::Fail);
}

/// Files named in the settings are needed although no key refers to them: no advice to remove them.
#[test]
fn a_secret_that_the_settings_name_is_no_stranger() {
    let (_folder, data) = bank();
    let put = |name: &str, mode| {
        let path = data.keys().join(name);
        fs::write(&path, "0123456789abcdef").unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    put("chat.secret", 0o600);
    assert_eq!(state(&data, "keys"), State::Warn);
    let webhook = "\n[[deliver]]\nname = \"chat\"\nby = \"webhook\"\nurl = \"https://hooks.example/\"\n\
        secret = \"keys/chat.secret\"\nca = \"keys/ca.pem\"\n";
    let settings = fs::read_to_string(data.config()).unwrap();
    fs::write(data.config(), settings + webhook).unwrap();
    put("ca.pem", 0o644);
    assert_eq!(state(&data, "keys"), State::Ok);
    put("chat.secret", 0o644);
    assert_eq!(state(&data, "keys"), State::Fail, "others may read it");
    put("chat.secret", 0o600);
    put("left.over", 0o600);
    assert_eq!(state(&data, "keys"), State::Warn);
}

#[test]
fn a_backup_is_seen() {
    let (folder, data) = bank();
    let config = Config::default();
    let mut plan = bankd_safekeeping::backup::Plan::of(
        &data,
        &config.backup,
        bankd_safekeeping::backup::Reason::Requested,
    );
    plan.out = folder.path().join("out");
    let made = bankd_safekeeping::backup::make(&data, &plan).unwrap();
    assert_eq!(state(&data, "backup"), State::Ok);
    fs::remove_dir_all(made.path).unwrap();
    assert_eq!(state(&data, "backup"), State::Warn);
}

#[test]
fn an_empty_database_is_no_old_one() {
    let (_folder, data) = bank();
    fs::write(data.database(), b"").unwrap();
    let found = examine(&data);
    let found = found.iter().find(|one| one.name == "database").unwrap();
    assert_eq!(found.state, State::Fail, "{found:?}");
    assert!(found.finding.contains("is empty"), "{found:?}");
    let error = store::verify::run(&data.database()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("bankd restore") && !message.contains("up to date"),
        "{message}"
    );
}

#[test]
fn only_a_file_can_be_followed() {
    let (folder, data) = bank();
    let path = folder.path().join("log");
    let config = fs::read_to_string(data.config()).unwrap();
    let more = format!(
        "[[follow]]\nsource = \"s\"\npath = \"{}\"\nformat = \"pbs\"\n",
        path.display()
    );
    fs::write(data.config(), config + &more).unwrap();
    assert_eq!(state(&data, "follow"), State::Ok, "it is waited for");
    fs::create_dir(&path).unwrap();
    assert_eq!(state(&data, "follow"), State::Fail);
    fs::remove_dir(&path).unwrap();
    fs::write(&path, b"").unwrap();
    assert_eq!(state(&data, "follow"), State::Ok);
}

#[test]
fn a_backup_that_the_daemon_could_not_make_is_reported() {
    let (_folder, data) = bank();
    fs::write(data.failed_backup(), "2026-11-22T00:00:00Z no room\n").unwrap();
    let found = examine(&data);
    let found = found.iter().find(|one| one.name == "backup").unwrap();
    assert_eq!(found.state, State::Fail, "{found:?}");
    assert!(
        found.finding.ends_with("2026-11-22T00:00:00Z no room"),
        "{found:?}"
    );
}
