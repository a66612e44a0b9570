//! Tables of the older program, as far as they are read without a daemon.

use std::collections::BTreeMap;

use serde_json::json;

use super::import::{new_contribution, new_hardware};
use super::pattern::patterns;
use super::table::{Cells, Table};

#[test]
fn expressions_become_patterns_or_say_why_not() {
    for (expression, expected) in [
        ("old", &["old*"][..]),
        ("^old", &["old*"]),
        ("old.*", &["old*"]),
        ("old.+", &["old?*"]),
        ("n\\d+", &["n[0-9]*"]),
        ("n[0-9]+$", &[]),
        ("n[0-9]{2}$", &["n[0-9][0-9]"]),
        ("n1|n2", &["n1*", "n2*"]),
        ("n(1|2)x", &["n1x*", "n2x*"]),
        ("(?:a|b)?c$", &["c", "ac", "bc"]),
        ("n[^0-9]", &["n[!0-9]*"]),
        ("a.*b", &["a*b*"]),
        ("node-1\\.x", &["node-1.x*"]),
        ("n\\d+-ib", &[]),
        ("(ab)+", &[]),
        ("(?i)n", &[]),
        ("a\\b", &[]),
        ("n(", &[]),
        ("n)", &[]),
        ("*", &[]),
        ("a$b", &[]),
        ("a**", &[]),
        ("[", &[]),
        ("n x", &[]),
    ] {
        let got = patterns(expression);
        assert_eq!(got.is_err(), expected.is_empty(), "{expression}: {got:?}");
        assert_eq!(got.unwrap_or_default(), expected, "{expression}");
    }
    let many = "(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)";
    assert!(patterns(many).is_err());
    let deep = "(".repeat(5_000);
    assert!(patterns(&deep).is_err());
}

fn cells(text: &str) -> (Vec<String>, Vec<(u64, Vec<String>)>) {
    Table::of("t.csv", text.as_bytes(), &[]).unwrap().take()
}

#[test]
fn a_row_of_processor_type_is_hardware() {
    let (heads, rows) = cells(
        "id;date_installed;regex;processor_type;processor_qty;node_qty;su_charge;cluster;disabled\r\n\
         3;2012-01-31;quad[0-9];Xeon 5160;4.0;12;1.9;scluster;0\r\n\
         4;0000-00-00;;Xeon;4;12;1.9;;1\r\n\
         5;1325376000;p\\d+;Opteron;x;12;1;;1\r\n",
    );
    let machines = BTreeMap::from([("scluster".to_owned(), "colony".to_owned())]);
    let of = |place: usize| new_hardware(Cells::new(&heads, &rows[place].1), &machines);
    let own = of(0).unwrap();
    assert_eq!(own["hosts"], json!(["quad[0-9]*"]));
    assert_eq!(own["machine"], "colony");
    let size = [&own["processors"], &own["nodes"], &own["counts"]];
    assert_eq!(size, [&json!(4), &json!(12), &json!(true)]);
    assert_eq!(own["from"], "2012-01-31T00:00:00Z");
    assert!(of(1).unwrap_err().contains("regex is empty"));
    assert!(
        of(2)
            .unwrap_err()
            .contains("processor_qty is not a whole number")
    );
}

#[test]
fn a_row_of_contribution_is_credited_by_the_table_of_people() {
    let (heads, rows) = cells(
        "id,date_contributed,contributor_userid,credited_to_userid,host_name,processor_type,\
         no_of_processors,split_percentage,su_charge\n\
         1,10/1/2012,z1,z2,quad1,Xeon,12,100,1.9\n\
         2,2012-10-01 12:30:00.0,NULL,z9,quad1,Xeon,12,100,1.9\n\
         3,soon,NULL,z2,quad1,Xeon,12,100,1.9\n",
    );
    let names = BTreeMap::from([("z2".to_owned(), "amy".to_owned())]);
    let of = |place: usize| new_contribution(Cells::new(&heads, &rows[place].1), &names);
    let own = of(0).unwrap();
    assert_eq!(own["contributor"], "amy");
    assert_eq!(own["processors"], 12);
    assert_eq!(own["from"], "2012-10-01T00:00:00Z");
    assert_eq!(own["what"], "quad1 Xeon");
    assert!(of(1).unwrap_err().contains("z9"));
    assert!(
        of(2)
            .unwrap_err()
            .contains("date_contributed is not a date")
    );
}

#[test]
fn a_table_without_its_columns_is_refused_as_a_whole() {
    let refused = Table::of("t.csv", b"a,b\n1,2\n", &["regex"]);
    assert!(refused.unwrap_err().contains("no column \"regex\""));
    let short = Table::of("t.csv", b"a,b\n1\n1,2\n", &["a"]).unwrap();
    assert_eq!((short.rows.len(), short.bad.len()), (1, 1));
    assert_eq!(short.bad[0].line, 2);
}
