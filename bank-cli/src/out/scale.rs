//! Amounts in other units: `--units`, where a unit of the bank is a span of time.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Form, Kind, Sheet, text};
use bank_picture::figure::Scale;

use crate::fail::Failure;

/// Members of the reports' answers that are amounts of the bank.
const AMOUNTS: [&str; 21] = [
    "activations",
    "amount",
    "available",
    "burn_per_day",
    "charged",
    "charges",
    "closing",
    "credit_limit",
    "deposits",
    "expiries",
    "held",
    "needed",
    "opening",
    "other",
    "refunds",
    "shadow_charged",
    "unused",
    "unused_total",
    "usage",
    "used",
    "withdrawals",
];

/// The sheet with every amount in these units.
pub(super) fn apply(scale: Scale, sheet: &Sheet) -> Sheet {
    let mut sheet = sheet.clone();
    let amounts = sheet.columns.iter().filter(|c| c.kind == Kind::Amount);
    let keys: Vec<_> = amounts.map(|column| column.key.clone()).collect();
    for row in &mut sheet.rows {
        for key in &keys {
            if let Some(scaled) = scale.of(&text(row, key)) {
                row.insert(key.clone().into_owned(), scaled.into());
            }
        }
    }
    scale.word.clone_into(&mut sheet.unit);
    sheet
}

/// Every amount of an answer, at whatever depth, and the unit that it names.
fn walk(scale: Scale, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(scale, item)),
        Value::Object(map) => {
            for (key, value) in map {
                let Value::String(text) = value else {
                    walk(scale, value);
                    continue;
                };
                if key == "unit" {
                    scale.word.clone_into(text);
                } else if AMOUNTS.contains(&key.as_str())
                    && let Some(scaled) = scale.of(text)
                {
                    *text = scaled;
                }
            }
        }
        _ => {}
    }
}

impl Form {
    /// The answer of a report in the units that were asked for, before it becomes rows or a picture.
    pub(crate) fn in_units<T: Serialize + DeserializeOwned>(
        &self,
        answer: T,
    ) -> Result<T, Failure> {
        let Some(scale) = self.report_scale else {
            return Ok(answer);
        };
        let failed = |e: serde_json::Error| Failure::internal(format!("units: {e}"));
        let mut value = serde_json::to_value(answer).map_err(failed)?;
        walk(scale, &mut value);
        serde_json::from_value(value).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::test_form;

    #[test]
    fn answers_are_scaled_at_every_depth_and_nothing_else_of_them() {
        let answer = serde_json::json!({"unit": "SU", "held": "1.500", "complete": true,
            "items": [{"charged": "7200.000", "job": "12", "from": "chem", "share": "50.00",
                "unused": null, "days_left": 3}]});
        assert_eq!(test_form().in_units(answer.clone()).unwrap(), answer);
        let form = Form {
            report_scale: Some(Scale {
                word: "hours",
                up: 1,
                down: 3600,
                decimals: 2,
            }),
            ..test_form()
        };
        let expected = serde_json::json!({"unit": "hours", "held": "0.00", "complete": true,
            "items": [{"charged": "2.00", "job": "12", "from": "chem", "share": "50.00",
                "unused": null, "days_left": 3}]});
        assert_eq!(form.in_units(answer).unwrap(), expected);
    }
}
