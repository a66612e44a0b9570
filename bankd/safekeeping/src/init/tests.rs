use bankd_config::Config;

use super::*;

fn choices() -> Choices {
    Choices {
        precision: Precision::new(2).unwrap(),
        unit: "SU".to_owned(),
        test: false,
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_bank_is_made_whole_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::new(&folder.path().join("bank"));
    let output = init(&data, &choices()).unwrap();
    assert!(
        output.contains("rate  VBR Processors 1 per second"),
        "{output}"
    );
    assert_eq!(mode(data.path()), 0o711);
    assert_eq!(mode(&data.database()), 0o600);
    assert_eq!(mode(&data.keys()), 0o700);
    assert_eq!(mode(&data.keys().join("admin")), 0o600);
    let secret = keys::read_secret(&data.keys(), "admin").unwrap();
    assert!(output.contains(&SigningKey::new(&secret).fingerprint()));
    assert!(!output.contains(secret.to_text().as_str()));
    assert_eq!(Config::load(&data.config()).unwrap(), Config::default());

    let store = SqliteStore::open(&data.database(), Config::default().policy()).unwrap();
    let directory = store.reference();
    assert_eq!(directory.bank.unit, "SU");
    assert_eq!(directory.rates.len(), 1);
    assert_eq!(directory.key("admin").unwrap().roles, ["admin"]);
    let report = bankd_store::verify::run(&data.database()).unwrap();
    assert_eq!((report.transactions, report.findings.len()), (2, 0));
}

#[test]
fn a_failure_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::new(&folder.path().join("bank"));
    let mut made = Made::default();
    make(&data, &choices(), clock::for_bank, &mut made).unwrap();
    made.undo();
    assert!(!data.path().exists());

    let bad = Choices {
        unit: " SU".to_owned(),
        ..choices()
    };
    assert!(init(&data, &bad).is_err());
    assert!(!data.path().exists());
    let nowhere = DataDir::new(&folder.path().join("a/b"));
    assert!(init(&nowhere, &choices()).is_err());
    assert!(!folder.path().join("a").exists());
}
