//! The order of the sources.

use super::*;

const USER: &str = "/home/amy/.config/bank/bank.toml";

/// Flag, environment, user file, system file -> the server that is asked.
#[test]
fn the_first_source_that_speaks_wins() {
    let cases: [([Option<&str>; 4], &str); 6] = [
        ([Some("a"), Some("b"), Some("c"), Some("d")], "a"),
        ([None, Some("b"), Some("c"), Some("d")], "b"),
        ([None, None, Some("c"), Some("d")], "c"),
        ([None, None, None, Some("d")], "d"),
        ([Some("a"), None, None, Some("d")], "a"),
        ([None, None, None, None], DEFAULT_SERVER),
    ];
    for ([flag, env, user, system], expected) in cases {
        let flags = Global {
            server: flag.map(str::to_owned),
            ..Global::default()
        };
        let env = |name: &str| match name {
            "BANK_SERVER" => env.map(str::to_owned),
            "HOME" => Some("/home/amy".to_owned()),
            _ => None,
        };
        let read = |path: &Path| {
            let server = if path == Path::new(USER) {
                user
            } else if path == Path::new(SYSTEM_FILE) {
                system
            } else {
                None
            };
            Ok(server.map(|server| format!("server = \"{server}\"\n")))
        };
        assert_eq!(resolve(&flags, &env, &read).unwrap().server(), expected);
    }
}

#[test]
fn each_setting_has_its_own_order() {
    let flags = Global {
        csv: true,
        ..Global::default()
    };
    let env = |name: &str| match name {
        "BANK_CONFIG" => Some("/tmp/other.toml".to_owned()),
        "BANK_FORMAT" => Some("json".to_owned()),
        "BANK_KEY_ID" => Some("ops".to_owned()),
        _ => None,
    };
    let read = |path: &Path| {
        assert_eq!(
            path,
            Path::new("/tmp/other.toml"),
            "a named file is the only one"
        );
        Ok(Some(
            "key_id = \"moab\"\nkey_file = \"/k\"\nproject = \"chem\"\n".to_owned(),
        ))
    };
    let expected = Settings {
        server: None,
        key_id: Some("ops".into()),
        key_file: Some("/k".into()),
        ca_file: None,
        token: None,
        format: Some("csv".into()),
        project: Some("chem".into()),
    };
    assert_eq!(resolve(&flags, &env, &read).unwrap(), expected);
}

#[test]
fn a_wrong_file_is_named_with_its_line() {
    let flags = Global {
        config: Some("/tmp/b.toml".into()),
        ..Global::default()
    };
    let none = |_: &str| None;
    let wrong = |_: &Path| Ok(Some("server = \"a\"\nsevrer = \"b\"\n".to_owned()));
    let failure = resolve(&flags, &none, &wrong).unwrap_err();
    assert_eq!(failure.exit, 2);
    assert!(
        failure.what.contains("/tmp/b.toml line 2"),
        "{}",
        failure.what
    );
    let absent = |_: &Path| Ok(None);
    let failure = resolve(&flags, &none, &absent).unwrap_err();
    assert_eq!(
        failure.what,
        "cannot read settings: /tmp/b.toml does not exist"
    );
}
