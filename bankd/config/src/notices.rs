//! The settings of alerts, of their delivery and of scheduled reports. They come from several sections.

use bank_core::time::Seconds;

use super::{Attention, Config, Deliver, ScheduledReport};

/// The settings of the crate `bankd-notices`.
#[derive(Clone, Debug)]
pub struct Notices {
    /// Thresholds of alerts.
    pub attention: Attention,
    /// Targets of notifications.
    pub deliver: Vec<Deliver>,
    /// Reports with schedule and recipients.
    pub scheduled_report: Vec<ScheduledReport>,
    /// The program that makes reports; empty for an installed one.
    pub program: String,
    /// Time without a report after which a collector counts as silent; 0 for never.
    pub silent_after: Seconds,
}

impl Notices {
    /// The targets that are in use: all while alerts are on, else those of reports.
    pub fn targets_in_use(&self) -> impl Iterator<Item = &Deliver> {
        self.deliver.iter().filter(|target| {
            let brings = |report: &ScheduledReport| report.deliver.contains(&target.name);
            self.attention.on || self.scheduled_report.iter().any(brings)
        })
    }

    /// How long notices and texts of reports are kept.
    pub fn keep(&self) -> Seconds {
        Seconds(self.attention.keep_days.saturating_mul(86_400))
    }
}

impl Config {
    /// The settings of notices.
    pub fn notices(&self) -> Notices {
        Notices {
            attention: self.attention.clone(),
            deliver: self.deliver.clone(),
            scheduled_report: self.scheduled_report.clone(),
            program: self.report.program.clone(),
            silent_after: Seconds(self.sources.silent_after_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_alerts_only_targets_of_reports_are_in_use() {
        let target = |name: &str| Deliver {
            name: name.to_owned(),
            ..Deliver::default()
        };
        let report = ScheduledReport {
            deliver: vec!["archive".to_owned()],
            ..ScheduledReport::default()
        };
        let config = Config {
            deliver: vec![target("staff"), target("archive")],
            scheduled_report: vec![report],
            ..Config::default()
        };
        let mut settings = config.notices();
        let in_use = |settings: &Notices| -> Vec<String> {
            let names = settings.targets_in_use().map(|target| target.name.clone());
            names.collect()
        };
        assert_eq!(in_use(&settings), ["archive"]);
        settings.attention.on = true;
        assert_eq!(in_use(&settings), ["staff", "archive"]);
    }
}
