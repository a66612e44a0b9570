//! A bank behind the gateway as the captured conversations found it (`gold-captures/README.md`).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::bank::Bank;

/// 2026-11-20T23:06:50Z: when the first message comes.
pub(crate) const GOLD_T0: i64 = 1_795_216_010;

impl Bank {
    /// The base state of the captures: projects and users, and a peer `maui` for the machine cluster1
    /// with the key `sss`; `peer` are further settings of it.
    pub(crate) fn behind_gold(peer: &str) -> Self {
        let listen = ("BANKD_GOLD_LISTEN".to_owned(), "127.0.0.1:0".to_owned());
        let options = ["--precision", "0", "--unit", "credits"];
        let mut bank = Self::initialized(vec![listen], GOLD_T0, &options);
        bank.settings(&format!(
            "\n[gold.peer.maui]\naddresses = [\"127.0.0.1\"]\n{peer}"
        ));
        bank.start();
        bank.bank_ok(&["machine", "add", "cluster1", "--mode", "strict"]);
        for project in ["chem", "physics", "freebie", "R&D", "broke"] {
            bank.bank_ok(&["project", "add", project]);
            if project != "broke" {
                bank.bank_ok(&["deposit", project, "1000000"]);
            }
        }
        for (user, default, projects) in [
            ("amy", "chem", &["chem", "R&D"][..]),
            ("bob", "physics", &["physics"]),
            ("eve", "broke", &["broke", "freebie"]),
        ] {
            bank.bank_ok(&["user", "add", user, "--default-project", default]);
            for project in projects {
                bank.bank_ok(&["project", "members", "add", project, user]);
            }
        }
        let secret = bank.folder().join("maui.key");
        fs::write(&secret, "sss").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let secret = secret.to_str().unwrap();
        let key = ["key", "add", "maui", "--gold", "--machine", "cluster1"];
        bank.bank_ok(&[&key[..], &["--secret-file", secret]].concat());
        bank
    }
}
