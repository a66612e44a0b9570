//! What lies between script and daemon: keys, several objects in one body, signatures.

use crate::harness::{Bank, Documents, Request, Signing, verify};

fn chemistry(held: i64) -> [(String, i64); 1] {
    [("chemistry".to_owned(), held)]
}

pub(super) fn nami_case_13_one_key_is_one_charge(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    let mut request = Request::nami("charge", "one-key", &documents.get(4));
    request.target.push_str("?machine=colony");
    let first = bank.over_socket(&request);
    let second = bank.over_socket(&request);
    assert_eq!((first.status, first.text()), (200, second.text()));
    assert_eq!(
        (first.header("idempotent-replay"), second.status),
        (None, 200)
    );
    assert_eq!(second.header("idempotent-replay"), Some("true"));
    assert_eq!(bank.debits(), chemistry(28_800));
    assert_eq!(bank.held(), chemistry(28_800));
    bank.verify();
}

pub(super) fn nami_case_36_two_objects_in_one_call(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("charge", &documents.get(34)).expect(0, "");
    assert_eq!(
        bank.debits(),
        [("chemistry".to_owned(), 60), ("physics".to_owned(), 120)]
    );
    let sql = "SELECT idem_key FROM tx WHERE idem_key LIKE '%#%' ORDER BY id";
    let keys = bank.query(sql).concat();
    let parts: Vec<_> = keys
        .iter()
        .map(|key| key.split_once('#').unwrap())
        .collect();
    assert_eq!(
        parts.iter().map(|part| part.1).collect::<Vec<_>>(),
        ["1", "2"]
    );
    assert_eq!(parts[0].0, parts[1].0);
    bank.verify();
}

pub(super) fn nami_case_47_only_what_is_signed_counts(documents: &Documents) {
    wrong_key(documents);
    let mut bank = Bank::new();
    let body = documents.get(4);
    let request = || Request::nami("charge", "case-47", &body);

    let old = Signing {
        created: bankd_ledger::clock::auth_now_s() - 301,
        ..Signing::new()
    };
    assert_eq!(bank.over_tcp(&old.sign(request())).status, 401);

    let signing = Signing::new();
    let signed = signing.sign(request());
    let answer = bank.over_tcp(&signed);
    assert_eq!(
        (answer.status, answer.header("idempotent-replay")),
        (200, None)
    );
    verify(&signed, &answer, &signing.secret).unwrap();
    assert_eq!(bank.over_tcp(&signed).status, 401, "one nonce counts once");

    let mut changed = Signing::new().sign(request());
    changed.body = documents.get(5);
    assert_eq!(bank.over_tcp(&changed).status, 401);
    assert_eq!(bank.debits(), chemistry(28_800));
    bank.verify();
}

fn wrong_key(documents: &Documents) {
    let mut bank = Bank::new();
    let wrong = bank.folder().join("wrong.key");
    std::fs::copy(bank.key_file(), &wrong).unwrap();
    std::fs::write(&wrong, "another secret").unwrap();
    for (event, number, exit) in [("reserve", 3, 42), ("charge", 4, 0)] {
        let call = bank.call(event).over_tcp(&bank.tcp());
        let call = call.set(format!("key_file={}", wrong.display()));
        let ran = call.body(&documents.get(number)).run();
        ran.expect(exit, "").expect_stderr(&["not authenticated"]);
    }
    assert_eq!((bank.spooled(), bank.jobs().len()), (1, 0));
    bank.verify();
}
