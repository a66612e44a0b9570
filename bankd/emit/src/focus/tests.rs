//! Rows of costs, cell by cell.

use super::*;

fn money(price: &str) -> Money {
    Money {
        currency: "EUR".to_owned(),
        price: Decimal::parse(price).unwrap(),
        unit: "SU".to_owned(),
        precision: 3,
        issuer: "EXAMPLE-SITE".to_owned(),
        bank: "8f1c2d3a".to_owned(),
        names: false,
    }
}

/// Two hours of four processors, in January 2026.
fn used() -> Row {
    let start = 1_767_225_600_000_000;
    let some = |text: &str| Some(text.to_owned());
    Row {
        description: "Charge",
        credits: 8_000,
        start,
        end: start + 7_200_000_000 + 999_999,
        month: start,
        month_end: start + 31 * 86_400_000_000,
        top: "science".to_owned(),
        project: "chemistry".to_owned(),
        account: "chemistry".to_owned(),
        processor_seconds: Some(4 * 7_200 * 1_000_000_000),
        machine: "colony".to_owned(),
        object_id: some("job.1"),
        object_type: "Job",
        job_name: some("a, \"b\"\nc & < > % = | : %% ä"),
        user: some("=amy"),
        qos: some("premium"),
        class: some("batch"),
        record: Some(412),
        tx: 77,
        ..Row::default()
    }
}

/// The cells of a row by their columns, quotes taken away.
fn cells(text: &str) -> BTreeMap<&'static str, String> {
    let mut found = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = text.strip_suffix('\n').unwrap().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                found.last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => found.push(String::new()),
            other => found.last_mut().unwrap().push(other),
        }
    }
    assert_eq!(found.len(), COLUMNS.len(), "{text}");
    COLUMNS.into_iter().zip(found).collect()
}

#[test]
fn a_charge_is_a_usage() {
    assert_eq!(
        head() + &line(&used(), &money("0.0125"), false).unwrap(),
        include_str!("golden.csv")
    );
}

#[test]
fn names_are_exported_only_where_configured() {
    let named = Money {
        names: true,
        ..money("1")
    };
    let hidden = line(&used(), &money("1"), false).unwrap();
    assert!(
        !hidden.contains("amy") && !hidden.contains("\"b\""),
        "{hidden}"
    );
    let line = line(&used(), &named, true).unwrap();
    let found = cells(&line);
    assert_eq!(found["ResourceName"], "a, \"b\"\nc & < > % = | : %% ä");
    assert_eq!(
        found["Tags"],
        r#"{"class":"batch","qos":"premium","user":"=amy"}"#
    );
    let odd = Row {
        project: "=1+1".to_owned(),
        top: "@x".to_owned(),
        ..used()
    };
    let found = super::line(&odd, &named, true).unwrap();
    let found = cells(&found);
    assert_eq!(found["SubAccountId"], "'=1+1");
    assert_eq!(found["BillingAccountId"], "'@x");
}

#[test]
fn costs_are_exact() {
    let of = |credits: i128, price: &str, list: Option<(i128, i128)>| {
        let row = Row {
            credits,
            list,
            ..used()
        };
        let line = line(&row, &money(price), true).unwrap();
        let found = cells(&line);
        assert_eq!(found["BilledCost"], found["EffectiveCost"]);
        assert_eq!(found["BilledCost"], found["ContractedCost"]);
        (found["BilledCost"].clone(), found["ListCost"].clone())
    };
    let both = |billed: &str, list: &str| (billed.to_owned(), list.to_owned());
    assert_eq!(
        of(1, "0.000000001", None),
        both("0.000000000001", "0.000000000001")
    );
    assert_eq!(of(-500, "0.3", None), both("-0.15", "-0.15"));
    assert_eq!(of(8_000, "0", None), both("0", "0"));
    // Half the list price, and a third of it.
    assert_eq!(of(1_000, "1", Some((2, 1))), both("1", "2"));
    assert_eq!(of(1_000, "1", Some((1, 3))), both("1", "0.333333333333"));
    // 10^12 credits at a price of nine places.
    let large = of(1_000_000_000_000_000, "0.123456789", None).0;
    assert_eq!(large, "123456789000");
    let beyond = Row {
        credits: i128::MAX,
        ..used()
    };
    assert_eq!(line(&beyond, &money("2"), false), None);
}

#[test]
fn money_that_goes_back_and_purchases_have_no_hours() {
    let back = Row {
        credits: -2_000,
        processor_seconds: None,
        is_correction: true,
        description: "Refund",
        ..used()
    };
    let text = line(&back, &money("1"), true).unwrap();
    let found = cells(&text);
    for (column, value) in [
        ("BilledCost", "-2"),
        ("ChargeCategory", "Usage"),
        ("ChargeClass", "Correction"),
        ("ConsumedQuantity", ""),
        ("ConsumedUnit", ""),
        ("x_Unit", ""),
        ("PricingQuantity", "-2"),
    ] {
        assert_eq!(found[column], value, "{column}");
    }
    let bought = Row {
        category: Category::Purchase,
        description: "Deposit",
        credits: 50_000,
        start: 1_767_225_600_000_000,
        end: 1_767_225_600_000_000,
        month: 1_767_225_600_000_000,
        month_end: 1_769_904_000_000_000,
        account: "chemistry".to_owned(),
        tx: 2,
        ..Row::default()
    };
    let text = line(&bought, &money("2"), false).unwrap();
    let found = cells(&text);
    for (column, value) in [
        ("BilledCost", "0"),
        ("ListCost", "0"),
        ("PricingQuantity", "50"),
        ("ChargeCategory", "Purchase"),
        ("BillingAccountId", "chemistry"),
        ("SubAccountId", "chemistry"),
        ("ResourceId", ""),
        ("ResourceType", ""),
        ("ServiceName", "SU"),
        ("Tags", ""),
        ("x_RecordId", ""),
        ("ChargePeriodEnd", "2026-01-01T00:00:00Z"),
        ("BillingPeriodEnd", "2026-02-01T00:00:00Z"),
    ] {
        assert_eq!(found[column], value, "{column}");
    }
}

/// Every column that FOCUS 1.2 requires is there, and the bank's own columns are marked as such.
#[test]
fn mandatory_columns_are_there_and_are_never_empty() {
    let line = line(&used(), &money("1"), false).unwrap();
    let found = cells(&line);
    for column in [
        "BilledCost",
        "BillingAccountId",
        "BillingCurrency",
        "BillingPeriodStart",
        "BillingPeriodEnd",
        "ChargeCategory",
        "ChargePeriodStart",
        "ChargePeriodEnd",
        "ContractedCost",
        "EffectiveCost",
        "InvoiceIssuerName",
        "ListCost",
        "ProviderName",
        "PublisherName",
        "ServiceCategory",
        "ServiceName",
    ] {
        assert!(!found[column].is_empty(), "{column}");
    }
    for column in [
        "BillingAccountName",
        "ChargeClass",
        "ChargeDescription",
        "PricingQuantity",
        "PricingUnit",
    ] {
        assert!(found.contains_key(column), "{column}");
    }
    let own = [
        "x_Account",
        "x_Credits",
        "x_RecordId",
        "x_Transaction",
        "x_Unit",
    ];
    assert!(own.iter().all(|column| found.contains_key(column)));
}
