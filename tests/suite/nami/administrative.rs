//! Moab's administrative reservations belong to `root`, who is no user of the bank, and name the account
//! that pays: the same rule at quote, reserve and charge.

use crate::harness::{Bank, Setup};

/// A document about the reservation of root on 8 processors.
fn document(account: &str, more: &str) -> Vec<u8> {
    format!(
        "<Reservation><ObjectID>maint.1</ObjectID><Owner>root</Owner><Account>{account}</Account>\
         <Processors>8</Processors>{more}</Reservation>"
    )
    .into_bytes()
}

const WALL: &str = "<WallDuration>600</WallDuration>";
const USED: &str = "<WallDuration>600</WallDuration><ChargeDuration>60</ChargeDuration>";

/// Its life: what is quoted, held, charged and given back.
fn live(bank: &mut Bank, call: impl Fn(&Bank, &str, &[u8]) -> crate::harness::Ran) {
    call(bank, "quote", &document("chemistry", WALL)).expect(0, "4800\n");
    call(bank, "create", &document("chemistry", WALL)).expect(0, "");
    call(bank, "reserve", &document("chemistry", WALL)).expect(0, "");
    assert_eq!(bank.held(), [("chemistry".to_owned(), 4800)]);
    call(bank, "charge", &document("chemistry", USED)).expect(0, "");
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 480)]);
    assert_eq!(bank.held(), [("chemistry".to_owned(), 4320)]);
    call(bank, "end", &document("chemistry", USED)).expect(0, "");
    assert_eq!(bank.figures("chemistry"), (99_040, 0, 99_040));
    bank.verify();
}

#[test]
fn an_administrative_reservation_is_quoted_held_and_charged() {
    live(&mut Bank::new(), |bank, event, body| {
        bank.script(event, body)
    });
}

#[test]
fn a_key_of_its_project_may_do_the_same() {
    let mut bank = Bank::new();
    let file = bank.folder().join("narrow.key");
    let key = [
        "key",
        "add",
        "narrow",
        "--role",
        "scheduler",
        "-A",
        "chemistry",
    ];
    bank.bank_ok(&[&key[..], &["--out", file.to_str().unwrap()]].concat());
    let tcp = bank.tcp();
    let call = |bank: &Bank, event: &str, body: &[u8]| {
        let call = bank.call(event).body(body).over_tcp(&tcp);
        let key_file = format!("key_file={}", file.display());
        call.set("key_id=narrow").set(key_file).run()
    };
    live(&mut bank, call);
}

/// Where the account is short the bank's own fallback holds the money, and pays.
#[test]
fn the_fallback_pays_where_the_account_is_short() {
    let setup = Setup::new().chemistry(0).env("BANKD_FALLBACK_MODE", "bank");
    let mut bank = setup.start();
    bank.bank_ok(&["account", "set", "chemistry", "--fallback", "freecycle"]);
    bank.script("quote", &document("chemistry", WALL))
        .expect(0, "4800\n");
    bank.script("reserve", &document("chemistry", WALL))
        .expect(0, "");
    assert_eq!(bank.held(), [("freecycle".to_owned(), 4800)]);
    bank.script("end", &document("chemistry", USED))
        .expect(0, "");
    assert_eq!(bank.debits(), [("freecycle".to_owned(), 480)]);
    bank.verify();
}

/// Reserve and charge ask the same accounts: both those for members, and those open to anybody.
#[test]
fn reserve_and_charge_take_the_same_money() {
    let mut bank = Setup::new().chemistry(1000).start();
    let open = [
        "account",
        "add",
        "open",
        "--projects",
        "chemistry",
        "--users",
        "ANY",
    ];
    bank.bank_ok(&open);
    bank.bank_ok(&["deposit", "open", "4000"]);
    bank.script("reserve", &document("chemistry", WALL))
        .expect(0, "");
    bank.script("delete", &document("chemistry", WALL))
        .expect(0, "");
    // Without a lien: from the account for members too, not as a debt of the open one.
    let all = "<WallDuration>600</WallDuration><ChargeDuration>600</ChargeDuration>";
    bank.set_clock(crate::harness::T0 + 700);
    bank.script("end", &document("chemistry", all))
        .expect(0, "");
    let left: Vec<i64> = ["chemistry", "open"].map(|a| bank.figures(a).0).to_vec();
    assert_eq!(left.iter().sum::<i64>(), 200, "{left:?}");
    assert!(left.iter().all(|amount| *amount >= 0), "{left:?}");
    bank.verify();
}

/// One without an account uses the account that the machine has for reservations.
#[test]
fn an_account_of_the_machine_pays_for_a_reservation_of_root() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--reservation-account",
        "chemistry",
    ]);
    let own = |more: &str| {
        let document = String::from_utf8(document("chemistry", more)).unwrap();
        document
            .replace("<Account>chemistry</Account>", "")
            .into_bytes()
    };
    bank.script("quote", &own(WALL)).expect(0, "4800\n");
    bank.script("create", &own(WALL)).expect(0, "");
    bank.script("reserve", &own(WALL)).expect(0, "");
    assert_eq!(bank.held(), [("chemistry".to_owned(), 4800)]);
    bank.script("end", &own(USED)).expect(0, "");
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 480)]);
    bank.verify();
}

/// Of a reservation only: a job of root's needs an account that root may use, and one without an account
/// belongs to nobody.
#[test]
fn root_has_no_rights_besides() {
    let mut bank = Bank::new();
    let job = String::from_utf8(document("chemistry", WALL)).unwrap();
    let job = job.replace("Reservation>", "Job>");
    for event in ["quote", "reserve"] {
        bank.script(event, job.as_bytes()).expect(74, "");
        let nobody = document("nosuch", WALL);
        bank.script(event, &nobody).expect(74, "");
    }
    assert_eq!(bank.held(), []);
    bank.verify();
}
