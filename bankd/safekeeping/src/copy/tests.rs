//! The new node's end of a copy: what it refuses, and what it leaves.

use super::*;

fn offered(bytes: u64) -> Copy {
    Copy {
        copy: "c1".to_owned(),
        bank: "0192f7c4-0000-7000-8000-000000000001".to_owned(),
        version: "1.2.3".to_owned(),
        schema: store::replica::schema(),
        position: 7,
        bytes,
        sha256: hex(&Sha256::digest(b"abcdef")),
    }
}

fn text(error: &anyhow::Error) -> String {
    format!("{error:#}")
}

#[test]
fn a_copy_that_does_not_fit_is_refused_before_anything_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::new(folder.path());
    let newer = Copy {
        schema: store::replica::schema() + 1,
        ..offered(6)
    };
    let error = text(&Receiver::begin(&data, newer).unwrap_err());
    let expected = format!(
        "the node runs bankd 1.2.3 with schema version {}, this program has {}: install the version of that node",
        store::replica::schema() + 1,
        store::replica::schema()
    );
    assert_eq!(error, expected);
    let error = text(&Receiver::begin(&data, offered(u64::MAX / 2)).unwrap_err());
    assert!(error.contains(" MiB are free, the copy needs "), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_copy_is_no_bank() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::new(folder.path());
    let mut receiver = Receiver::begin(&data, offered(6)).unwrap();
    receiver.add(b"abc").unwrap();
    for wrong in [&b""[..], b"defg"] {
        let error = text(&receiver.add(wrong).unwrap_err());
        assert!(error.contains("another length"), "{error}");
    }
    receiver.add(b"deg").unwrap();
    assert_eq!((receiver.bytes(), receiver.size()), (6, 6));
    let error = text(&receiver.finish().unwrap_err());
    assert!(error.starts_with("the digest of the copy is "), "{error}");
    assert!(
        error.ends_with("the copy is damaged, start again"),
        "{error}"
    );
    assert!(!data.database().exists());
    // The next one begins without what is left; its digest fits, and it is no bank.
    let mut receiver = Receiver::begin(&data, offered(6)).unwrap();
    receiver.add(b"abcdef").unwrap();
    assert!(receiver.finish().is_err());
    clear(&data).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_node_gives_one_copy_at_a_time_and_none_of_no_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::new(folder.path());
    let copies = Copies::new(&data);
    let own = |id: &'static str| move || Ok((id.to_owned(), "1.2.3"));
    assert!(copies.answer("n2", CopyPart::Make, own("a")).is_err());
    assert!(!folder.path().join(GIVEN).exists(), "nothing stays");
    *copies.lock() = Some(Given {
        to: "n2".to_owned(),
        id: "a".to_owned(),
        is_made: true,
        used: Instant::now(),
    });
    let error = text(&copies.answer("n3", CopyPart::Make, own("b")).unwrap_err());
    assert_eq!(error, "node n2 is copying this node now");
    let piece = CopyPart::Piece {
        copy: "b".to_owned(),
        from: 0,
    };
    let error = text(&copies.answer("n3", piece, own("b")).unwrap_err());
    assert_eq!(error, "this copy is not there any more: start again");
    let remove = CopyPart::Remove {
        copy: "a".to_owned(),
    };
    copies.answer("n2", remove, own("a")).unwrap();
    assert!(copies.lock().is_none());
}
