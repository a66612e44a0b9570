//! What a known caller may do: roles and scopes of keys.

use super::{billed, charge};
use crate::harness::{Bank, Request, Signing};

fn key(bank: &Bank, id: &str, options: &[&str]) -> Signing {
    let file = bank.folder().join(format!("{id}.key"));
    let path = file.to_str().unwrap();
    bank.bank_ok(&[&["key", "add", id, "--out", path][..], options].concat());
    let text = std::fs::read_to_string(&file).unwrap();
    let secret = bank_api::sign::Secret::parse(&text).unwrap();
    Signing {
        keyid: id.to_owned(),
        secret: secret.bytes().to_vec(),
        ..Signing::new()
    }
}

#[test]
fn a_role_allows_what_it_lists() {
    let mut bank = Bank::new();
    let auditor = key(&bank, "auditor", &["--role", "auditor"]);
    let admin = key(&bank, "second-admin", &["--role", "admin"]);
    let user = key(&bank, "amy", &["--role", "user"]);
    let deposit = || {
        let body = br#"{"name": "chemistry", "amount": "1"}"#;
        Request {
            target: "/api/v1/deposits".to_owned(),
            ..Request::nami("x", "deposit", body)
        }
    };
    let chemistry = || Request::get("/api/v1/projects/chemistry");
    let physics = || Request::get("/api/v1/projects/physics");
    for (who, request, status) in [
        (&auditor, chemistry(), 200),
        (&auditor, deposit(), 403),
        (&auditor, charge("auditor"), 403),
        (&user, chemistry(), 200),
        // Not hers: as if it were not there.
        (&user, physics(), 404),
        (&user, deposit(), 403),
        (&user, charge("user"), 403),
        (&Signing::new(), chemistry(), 200),
        (&Signing::new(), deposit(), 403),
        (&admin, deposit(), 201),
    ] {
        let what = format!("{}: {} {}", who.keyid, request.method, request.target);
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        let signing = Signing {
            nonce,
            ..who.clone()
        };
        let answer = bank.over_tcp(&signing.sign_all(request));
        let fine = answer.status == status || (status == 201 && answer.status == 200);
        assert!(fine, "{what}: {} {}", answer.status, answer.text());
    }
    assert_eq!(billed(&bank), 0);
    assert_eq!(bank.figures("chemistry"), (100_001, 0, 100_001));
    bank.verify();
}

#[test]
fn a_key_names_its_machines() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "add", "other"]);
    let elsewhere = key(
        &bank,
        "other-moab",
        &["--role", "scheduler", "--machine", "other"],
    );
    // Without a machine in the document it is the caller's own.
    let answer = bank.over_tcp(&elsewhere.sign(charge("key-1")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(bank.job("Moab.1024")["machine"], "other");
    let mut foreign = charge("key-2");
    foreign.target.push_str("?machine=colony");
    let nonce = "another nonce".to_owned();
    let signing = Signing { nonce, ..elsewhere };
    let answer = bank.over_tcp(&signing.sign_all(foreign));
    assert_eq!(answer.status, 403, "{}", answer.text());
    assert_eq!(billed(&bank), 28_800);
    bank.verify();
}
