//! The cases of ledger.md 11 about trees, money that moves, lists, quotes, windows and modes, as an
//! operator types them.

use super::play::play;

/// A parent with two children of these shares.
fn tree(first: u8, second: u8, script: &str) -> String {
    format!(
        "+ account add Q --projects P
         + account add F1 --projects P --parent Q --share {first}
         + account add F2 --projects P --parent Q --share {second}
         {script}"
    )
}

#[test]
fn ledger_case_018_the_last_child_takes_the_rest_through_bank() {
    play(&tree(
        50,
        50,
        "+ deposit Q 101
         = F1 50 0 50
         = F2 51 0 51
         = Q 0 0 0
         > deposit F1 50, F2 51",
    ));
}

#[test]
fn ledger_case_021_a_tree_overflows_as_a_whole_through_bank() {
    play(&tree(
        50,
        50,
        "+ deposit F1 9223372036854775807
         1 deposit Q 2
         = F2 0 0 0
         = Q 0 0 0",
    ));
}

#[test]
fn ledger_case_025_credit_is_used_unless_it_must_not_be_through_bank() {
    play(
        "+ deposit P 100 --limit 500
         3 withdraw P 400 --no-credit
         + withdraw P 400
         = P -300 0 200
         > withdraw P -400",
    );
}

#[test]
fn ledger_case_026_a_withdrawal_takes_the_earlier_end_first_through_bank() {
    play(
        "+ deposit P 50 --start 2026-01-01 --end 2026-12-01
         + deposit P 100
         + withdraw P 120
         = P 30 0 30
         > withdraw P -50, P -70",
    );
}

#[test]
fn ledger_case_027_a_transfer_through_bank() {
    play(
        "+ project add G
         + deposit P 750
         + deposit G 7532
         + transfer P G 250
         = P 500 0 500
         = G 7782 0 7782
         > transfer_out P -250
         > transfer_in G 250",
    );
}

#[test]
fn ledger_case_031_debt_is_not_transferred_through_bank() {
    play(
        "+ project add G
         + deposit P 10 --start 2026-01-01 --end 2027-01-01
         + C x 25
         + deposit P 100 --start 2026-01-01 --end 2028-01-01
         + transfer P G 50
         = P 35 0 35
         = G 50 0 50
         > transfer_out P -50
         > transfer_in G 50
         + allocation show {G.1}
         ~ 2028-01-01",
    );
}

#[test]
fn ledger_case_032_a_transfer_keeps_its_window_through_bank() {
    play(
        "+ project add G
         + deposit P 100 --start 2026-01-01 --end 2027-01-01
         + transfer P G 40
         = P 60 0 60
         = G 40 0 40
         + allocation show {G.1}
         ~ 2027-01-01",
    );
}

/// An interim charge of s for a window from T0.
const WINDOW: &str = "charge s -A P -u amy -m colony --procs 1 --interim --start 2026-06-01 --end";

#[test]
fn ledger_case_058_a_window_is_billed_once_through_bank() {
    play(&format!(
        "+ deposit P 1000
         @ 100
         + {WINDOW} 2026-06-01T00:01:40Z
         = P 900 0 900
         + {WINDOW} 2026-06-01T00:01:40Z
         = P 900 0 900
         > charge P -100, P 0"
    ));
}

#[test]
fn ledger_case_059_windows_and_totals_bill_what_is_new_through_bank() {
    play(&format!(
        "+ deposit P 1000
         @ 100
         + {WINDOW} 2026-06-01T00:01:40Z
         @ 250
         + {WINDOW} 2026-06-01T00:04:10Z
         = P 750 0 750
         > charge P -100, P -150"
    ));
    play(
        "+ deposit P 1000
         + CI s 300 --total
         = P 700 0 700
         + CI s 250 --total
         = P 750 0 750
         > charge P -300
         > refund P 50",
    );
}

#[test]
fn ledger_case_066_lists_that_deny_through_bank() {
    play(
        "+ project members add P bob
         + account set P --users MEMBERS,-bob --machines ANY,-colony
         + deposit P 1000
         1 quote -A P -u amy -m colony --procs 1 --wall 10
         ~ no usable account
         + quote -A P -u amy -m blue --procs 1 --wall 10
         ~ 10
         1 quote -A P -u bob -m colony --procs 1 --wall 10
         ~ no usable account
         1 quote -A P -u bob -m blue --procs 1 --wall 10
         ~ no usable account
         = P 1000 0 1000",
    );
}

#[test]
fn ledger_case_067_members_denied_by_name_through_bank() {
    play(
        "+ user add dave
         + account set P --users dave,-MEMBERS
         + deposit P 1000
         + quote -A P -u dave -m colony --procs 1 --wall 10
         ~ 10
         1 quote -A P -u amy -m colony --procs 1 --wall 10
         ~ no usable account
         = P 1000 0 1000",
    );
}

/// A guaranteed price for 16 processors and an hour, then dearer processors.
const GUARANTEED: &str = "+ deposit P 1000000
    + quote -A P -u amy -m colony --procs 16 --wall 3600 --guarantee
    + rate set VBR Processors 2";

#[test]
fn ledger_case_074_a_quote_keeps_its_price_through_bank() {
    play(&format!(
        "{GUARANTEED}
         + reserve j -A P -u amy -m colony --procs 16 --wall 3600 --quote {{tid}}
         = P 1000000 57600 942400
         + charge j -A P -u amy -m colony --procs 16 --duration 1000 --interim
         = P 984000 41600 942400
         > charge P -16000"
    ));
}

#[test]
fn ledger_case_077_a_new_rate_is_not_in_a_quote_through_bank() {
    play(
        "+ deposit P 1000000
         + quote -A P -u amy -m colony --procs 16 --wall 3600 -X Zone=Asia --guarantee
         + rate set NBF Zone Asia 200
         + charge j -A P -u amy -m colony --procs 16 --duration 1000 -X Zone=Asia --quote {tid}
         = P 984000 0 984000
         > charge P -16000",
    );
}

#[test]
fn ledger_case_078_a_quote_is_over_through_bank() {
    play(&format!(
        "{GUARANTEED}
         @ 608400
         + charge j -A P -u amy -m colony --procs 16 --duration 1000 --quote {{tid}}
         ~ quote_invalid
         = P 968000 0 968000"
    ));
}

#[test]
fn ledger_case_100_an_attribute_counts_when_a_rate_names_it_through_bank() {
    play(
        "+ deposit P 1000
         + C j 10 -X colour=red
         + attr add colour
         + rate set NBF colour red 5
         @ 100
         + C k 10 -X colour=red
         = P 975 0 975
         > charge P -10, P -15",
    );
}

#[test]
fn ledger_case_105_a_project_that_is_only_watched_through_bank() {
    play(
        "+ deposit P 1
         + withdraw P 1
         + project set P --mode track
         + quote -A P -u amy -m colony --procs 1 --wall 7200 --json
         ~ \"cost\": \"0\"
         + R j 7200
         = P 0 0 0
         > would_refuse - 0/0
         > lien P 0/0 active 0 shadow 0/7200
         + C j 7200
         = P 0 0 0
         > charge
         > charge_debt
         > charge_notional P 0/0 active 0 shadow -7200/-7200
         + jobs j --json
         ~ \"charged_s\": 7200",
    );
}

#[test]
fn ledger_case_109_a_value_without_a_rate_through_bank() {
    let quote = "quote -A P -u amy -m colony --procs 1 --wall 10 --qos Unknown -P -n";
    play(&format!(
        "+ deposit P 1000
         + rate set NBM QualityOfService Premium 2
         + {quote}
         ~ undefined_instance
         + quote -A P -u amy -m colony --procs 1 --wall 10 --qos Unknown --json
         ~ \"cost\": \"10\"
         + rate set NBM QualityOfService 3
         + quote -A P -u amy -m colony --procs 1 --wall 10 --qos Unknown --json
         ~ \"cost\": \"30\"
         = P 1000 0 1000"
    ));
}
