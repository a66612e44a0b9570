//! One sheet in every form.

pub(crate) mod every_screen;
mod every_table;

use super::*;

fn sheet() -> Sheet {
    let columns = vec![
        column("name", "Name", Kind::Tree),
        column("amount", "Amount", Kind::Amount),
        column("share", "Share", Kind::Number).on_screen(),
        column("until", "Until", Kind::Date),
        column("note", "Note", Kind::Text),
        column("id", "Id", Kind::Number).on_request(),
    ];
    let rows = [
        serde_json::json!({"name": "chem", "amount": "1000000.000", "share": "65%", "depth": 0,
            "until": "2027-03-31T22:00:00Z", "note": "a|b, \"c\"", "id": 1}),
        serde_json::json!({"name": "chem/gpu", "amount": "-12.500", "share": "7%", "depth": 1,
            "until": null, "note": null, "id": 2}),
    ];
    Sheet::new(columns, &rows, "nothing").unit("SU")
}

fn shown(form: &Form) -> String {
    let sheet = sheet();
    let list = bank_api::v1::List::whole(sheet.rows.clone());
    form.list(&list, &sheet).unwrap()
}

fn form(format: Format) -> Form {
    Form {
        format,
        ..test_form()
    }
}

#[test]
fn every_form_of_a_list() {
    let cases = [
        (
            Format::Table,
            "Name               Amount  Share  Until                Note\n\
             chem        1,000,000.000    65%  2027-03-31 23:00:00  a|b, \"c\"\n\
             \u{20} chem/gpu        −12.500     7%\n\
             Amounts in SU.\n",
        ),
        (
            Format::Parsable,
            "name|amount|until|note|\n\
             chem|1000000.000|2027-03-31T22:00:00Z|a\\|b, \"c\"|\n\
             chem/gpu|-12.500|||\n",
        ),
        (
            Format::Parsable2,
            "name|amount|until|note\n\
             chem|1000000.000|2027-03-31T22:00:00Z|a\\|b, \"c\"\n\
             chem/gpu|-12.500||\n",
        ),
        (
            Format::Csv,
            "name,amount,until,note\n\
             chem,1000000.000,2027-03-31T22:00:00Z,\"a|b, \"\"c\"\"\"\n\
             chem/gpu,-12.500,,\n",
        ),
        (
            Format::Jsonl,
            "{\"amount\":\"1000000.000\",\"depth\":0,\"id\":1,\"name\":\"chem\",\
             \"note\":\"a|b, \\\"c\\\"\",\"share\":\"65%\",\"until\":\"2027-03-31T22:00:00Z\"}\n\
             {\"amount\":\"-12.500\",\"depth\":1,\"id\":2,\"name\":\"chem/gpu\",\"note\":null,\
             \"share\":\"7%\",\"until\":null}\n",
        ),
    ];
    for (format, expected) in cases {
        assert_eq!(shown(&form(format)), expected, "{format:?}");
    }
}

#[test]
fn columns_can_be_chosen_in_every_form() {
    let only = |format| Form {
        columns: vec!["id".into(), "Amount".into()],
        ..form(format)
    };
    assert_eq!(
        shown(&Form {
            header: false,
            ..only(Format::Parsable2)
        }),
        "1|1000000.000\n2|-12.500\n"
    );
    assert_eq!(
        shown(&only(Format::Json)),
        "{\n  \"items\": [\n    {\n      \"amount\": \"1000000.000\",\n      \"id\": 1\n    },\n    \
         {\n      \"amount\": \"-12.500\",\n      \"id\": 2\n    }\n  ],\n  \"next\": null\n}\n"
    );
    let wrong = Form {
        columns: vec!["amuont".into()],
        ..form(Format::Table)
    };
    let failure = wrong.list(&Vec::<u8>::new(), &sheet()).unwrap_err();
    assert_eq!(failure.exit, 2);
    assert_eq!(
        failure.hint.as_deref(),
        Some("the columns are name, amount, share, until, note, id")
    );
}

#[test]
fn a_record_and_an_empty_list() {
    let mut sheet = sheet();
    sheet.rows.truncate(1);
    let text = test_form().one(&sheet.rows[0], &sheet).unwrap();
    let expected = "\
Name    chem
Amount  1,000,000
Share   65%
Until   2027-03-31 23:00:00
Note    a|b, \"c\"
Whole SU.
";
    assert_eq!(text, expected);
    sheet.rows.clear();
    let list = bank_api::v1::List::whole(Vec::<Row>::new());
    assert_eq!(test_form().list(&list, &sheet).unwrap(), "nothing\n");
    assert_eq!(
        form(Format::Csv).list(&list, &sheet).unwrap(),
        "name,amount,until,note\n"
    );
}

#[test]
fn sentences_below_a_table_are_folded_between_words() {
    let mut sheet = sheet();
    let remark = "Held = running jobs. Rows without sub-projects. Used first: what ends first.";
    remark.clone_into(&mut sheet.remark);
    let line =
        "chem/gpu: ends in 42 days; at 1,310 SU/day it is empty on 2026-12-04, before its end";
    sheet.attention.push(line.to_owned());
    let list = bank_api::v1::List::whole(sheet.rows.clone());
    let text = test_form().list(&list, &sheet).unwrap();
    let text = anstream::adapter::strip_str(&text).to_string();
    let below: Vec<&str> = text.lines().skip(3).collect();
    assert_eq!(
        below,
        [
            "Amounts in SU. Held = running jobs. Rows without sub-projects. Used first: what",
            "ends first.",
            "! chem/gpu: ends in 42 days; at 1,310 SU/day it is empty on 2026-12-04, before",
            "  its end",
        ]
    );
}

#[test]
fn names_cannot_drive_a_terminal() {
    let rows = [serde_json::json!({"name": "x\u{1b}[2J\ny"})];
    let sheet = Sheet::new(vec![column("name", "Name", Kind::Text)], &rows, "");
    let list = bank_api::v1::List::whole(sheet.rows.clone());
    assert_eq!(
        test_form().list(&list, &sheet).unwrap(),
        "Name\nx\\u{1b}[2J\\ny\n"
    );
    assert_eq!(
        form(Format::Parsable2).list(&list, &sheet).unwrap(),
        "name\nx [2J y\n"
    );
}

#[test]
fn no_text_is_a_formula_without_raw_text() {
    let columns = vec![
        column("name", "Name", Kind::Tree),
        column("note", "Note", Kind::Text),
        column("amount", "Amount", Kind::Amount),
    ];
    let rows = ["=1+1", "+a", "-1", "@SUM(A1)", "a=1", "'=1", ""]
        .map(|text| serde_json::json!({"name": text, "note": text, "amount": "-1.000"}));
    let sheet = Sheet::new(columns, &rows, "nothing");
    let shown = |raw_text: bool| {
        let form = Form {
            raw_text,
            header: false,
            ..form(Format::Csv)
        };
        let list = bank_api::v1::List::whole(sheet.rows.clone());
        form.list(&list, &sheet).unwrap()
    };
    assert_eq!(
        shown(false),
        "'=1+1,'=1+1,-1.000\n'+a,'+a,-1.000\n-1,-1,-1.000\n'@SUM(A1),'@SUM(A1),-1.000\n\
         a=1,a=1,-1.000\n'=1,'=1,-1.000\n,,-1.000\n"
    );
    assert!(
        shown(true).starts_with("=1+1,=1+1,-1.000\n+a,"),
        "{}",
        shown(true)
    );
}
