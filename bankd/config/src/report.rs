//! `[report]`: the report program, and power factors.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;
use bank_core_figures::contribution::efficiency::Factors;
use serde::{Deserialize, Serialize};

/// `[report]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Report {
    /// The program `bank`, by its absolute path; empty: that beside `bankd`, else in `/usr/bin`.
    pub program: String,
    /// Watts of one processor, an exact decimal from 0 on; empty: unknown.
    pub watts: String,
    /// Grams of CO2 per kilowatt-hour, an exact decimal from 0 on; empty: unknown.
    pub co2_g_per_kwh: String,
    /// Those of machines that differ, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, MachinePower>,
}

/// `[report.machine.NAME]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MachinePower {
    /// Watts of one processor; empty: as everywhere.
    pub watts: String,
    /// Grams of CO2 of a kilowatt-hour; empty: as everywhere.
    pub co2_g_per_kwh: String,
}

impl Report {
    /// Power of a processor of a machine, and its CO2 factor.
    pub fn factors(&self, machine: &str) -> Factors {
        let own = self.machine.get(machine);
        let known = |own: Option<&str>, usual: &str| {
            let text = own.filter(|own| !own.is_empty()).unwrap_or(usual);
            Decimal::parse(text)
        };
        Factors {
            watts: known(own.map(|own| own.watts.as_str()), &self.watts),
            grams: known(
                own.map(|own| own.co2_g_per_kwh.as_str()),
                &self.co2_g_per_kwh,
            ),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let mut all = vec![
            ("report.watts".to_owned(), &self.watts),
            ("report.co2_g_per_kwh".to_owned(), &self.co2_g_per_kwh),
        ];
        for (name, own) in &self.machine {
            all.push((format!("report.machine.{name}.watts"), &own.watts));
            let key = format!("report.machine.{name}.co2_g_per_kwh");
            all.push((key, &own.co2_g_per_kwh));
        }
        for (key, text) in all {
            let number = Decimal::parse(text).filter(|number| !number.is_negative());
            if !text.is_empty() && number.is_none() {
                return Err(format!("{key}: {text:?} is not a decimal number from 0 on"));
            }
        }
        let program = &self.program;
        if !(program.is_empty() || program.starts_with('/')) {
            return Err("report.program: an absolute path".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_that_of_the_machine_if_it_has_one() {
        let text = "watts = \"4.5\"\nco2_g_per_kwh = \"380\"\n[machine.colony]\nwatts = \"9\"\n";
        let report: Report = toml::from_str(text).unwrap();
        report.check().unwrap();
        let shown = |machine: &str| {
            let Factors { watts, grams } = report.factors(machine);
            [watts, grams].map(|number| number.map(|number| number.billionths() / 1_000_000))
        };
        assert_eq!(shown("colony"), [Some(9_000), Some(380_000)]);
        assert_eq!(shown("moon"), [Some(4_500), Some(380_000)]);
        assert_eq!(Report::default().factors("moon"), Factors::default());
        for wrong in [
            "watts = \"-1\"",
            "[machine.x]\nco2_g_per_kwh = \"much\"",
            "program = \"bank\"",
        ] {
            let report: Report = toml::from_str(wrong).unwrap();
            let error = report.check().unwrap_err();
            assert!(error.starts_with("report."), "{error}");
        }
    }
}
