//! Keys and the text of checkpoints.

use bankd_store::checkpoint::Facts;

use super::*;

fn facts() -> Facts {
    let mut facts = Facts {
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
        transactions: 7,
        entries: 9,
        usages: 3,
        head: "ab".repeat(32),
        ..Facts::default()
    };
    let sums = [-5, i128::from(i64::MAX) * 3, 0, 1, -1];
    facts.kinds.insert("charge".to_owned(), (4, sums));
    facts.tables.insert("rate".to_owned(), (2, "cd".repeat(32)));
    facts
}

#[test]
fn a_checkpoint_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.key");
    let public = SigningKey::create(&path).unwrap();
    assert_eq!(PublicKey::read(&public_of(&path)).unwrap(), public);
    let key = SigningKey::read(&path).unwrap();
    let text = write(&facts(), 1_780_272_000_000_000, &key);
    let read = parse(&path, &text, &public).unwrap();
    assert_eq!(read.facts, facts());
    assert_eq!(read.made_at, 1_780_272_000_000_000);
}

#[test]
fn no_byte_of_a_checkpoint_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.key");
    let public = SigningKey::create(&path).unwrap();
    let text = write(
        &facts(),
        1_780_272_000_000_000,
        &SigningKey::read(&path).unwrap(),
    );
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(changed) = String::from_utf8(bytes) else {
            continue;
        };
        assert!(parse(&path, &changed, &public).is_err(), "byte {at}");
    }
    let other = SigningKey::create(&folder.path().join("other.key")).unwrap();
    let message = parse(&path, &text, &other).unwrap_err().to_string();
    assert!(
        message.contains(&public.id()) && message.contains(&other.id()),
        "{message}"
    );
    assert!(parse(&path, text.trim_end(), &public).is_err());
    assert!(parse(&path, "", &public).is_err());
}

#[test]
fn a_key_is_never_overwritten_and_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.key");
    SigningKey::create(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(SigningKey::create(&path), Err(Error::Exists(_))));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(SigningKey::read(&public_of(&path)).is_err());
    assert!(PublicKey::read(&path).is_err());
}
