//! `[attention]`: thresholds of alerts. The targets are in `deliver`.

use std::collections::BTreeMap;

use bank_core::attention::{ATTENTION_KINDS, AttentionKind, Rules, Step, THERE};
use serde::{Deserialize, Serialize};

/// Thresholds of one kind at most.
const STEPS_MAX: usize = 16;

/// `[attention]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one switch of the settings"
)]
pub struct Attention {
    /// Whether anything is watched.
    pub on: bool,
    /// Seconds from one look to the next, 1 to 86,400.
    pub every_s: i64,
    /// Percent used of the allocated amount: 1 to 1,000, at most 16 values.
    pub used: Vec<i64>,
    /// Percent points below a threshold at which it clears, 0 to 100.
    pub used_clear: i64,
    /// Days before the end of an allocation with money: 0 to 3,650, at most 16 of them.
    pub expiring_days: Vec<i64>,
    /// Accounts below zero.
    pub negative: bool,
    /// Jobs that a fallback account paid.
    pub fallback_used: bool,
    /// Seconds without another one after which that clears, 60 to 31,536,000.
    pub fallback_clear_s: i64,
    /// Seconds that a lien may hold beyond the time that was asked for, 60 to 31,536,000; 0: any.
    pub lien_stuck_s: i64,
    /// Collectors that are silent.
    pub collector_silent: bool,
    /// Seconds that a message may wait for a partner bank, 60 to 31,536,000; 0: any.
    pub partner_waiting_s: i64,
    /// Running jobs that the money of their account does not cover.
    pub job_unfunded: bool,
    /// Events sent immediately also to targets with a digest: a kind, or `used:95`, `expiring:0`.
    pub urgent: Vec<String>,
    /// When digests are made each day, `HH:MM` in UTC.
    pub digest_at: String,
    /// Days for which notices are kept that were sent or given up, 1 to 3,650.
    pub keep_days: i64,
}

impl Default for Attention {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            on: false,
            every_s: 60,
            used: vec![50, 80, 95, 100],
            used_clear: 5,
            expiring_days: vec![30, 14, 7, 0],
            negative: true,
            fallback_used: true,
            fallback_clear_s: 86_400,
            lien_stuck_s: 1800,
            collector_silent: true,
            partner_waiting_s: 900,
            job_unfunded: false,
            urgent: words(&["negative", "lien_stuck", "collector_silent", "used:100"]),
            digest_at: "06:00".to_owned(),
            keep_days: 30,
        }
    }
}

impl Attention {
    pub(super) fn check(&self) -> Result<(), String> {
        for (key, value, least, most) in [
            ("every_s", self.every_s, 1, 86_400),
            ("used_clear", self.used_clear, 0, 100),
            ("fallback_clear_s", self.fallback_clear_s, 60, 31_536_000),
            ("keep_days", self.keep_days, 1, 3650),
        ] {
            within(key, value, least, most)?;
        }
        for (key, value) in [
            ("lien_stuck_s", self.lien_stuck_s),
            ("partner_waiting_s", self.partner_waiting_s),
        ] {
            if value != 0 {
                within(key, value, 60, 31_536_000)?;
            }
        }
        for (key, values, least, most) in [
            ("used", &self.used, 1, 1000),
            ("expiring_days", &self.expiring_days, 0, 3650),
        ] {
            if values.len() > STEPS_MAX {
                return Err(format!("attention.{key}: at most {STEPS_MAX} of them"));
            }
            for value in values {
                within(key, *value, least, most)?;
            }
        }
        for word in &self.urgent {
            if urgent(word).is_none() {
                let kinds = ATTENTION_KINDS.map(|(_, word)| word).join(", ");
                return Err(format!(
                    "attention.urgent: {word:?} is none of {kinds}, and none with a threshold, such \
                     as \"used:95\""
                ));
            }
        }
        if self.digest_minute().is_none() {
            return Err(format!(
                "attention.digest_at: {:?} is not HH:MM",
                self.digest_at
            ));
        }
        Ok(())
    }

    /// The minute of the day at which digests are made.
    pub fn digest_minute(&self) -> Option<i64> {
        let (hour, minute) = self.digest_at.split_once(':')?;
        let number = |text: &str, below: i64| {
            let plain = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
            let number = text.parse::<i64>().ok().filter(|_| plain)?;
            (number < below).then_some(number)
        };
        Some(number(hour, 24)? * 60 + number(minute, 60)?)
    }

    /// The thresholds in the form of the rules.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::new();
        if !self.on {
            return rules;
        }
        let urgent: Vec<(AttentionKind, Option<i64>)> =
            self.urgent.iter().filter_map(|word| urgent(word)).collect();
        let step = |kind, threshold: i64, raise: i64, clear: i64| Step {
            threshold,
            raise,
            clear,
            urgent: urgent
                .iter()
                .any(|(k, t)| *k == kind && t.is_none_or(|t| t == threshold)),
        };
        let used = self.used.iter();
        let used = used.map(|t| step(AttentionKind::Used, *t, *t, t - self.used_clear));
        rules.insert(AttentionKind::Used, distinct(used));
        let days = self.expiring_days.iter();
        // A day more clears: whoever moves an end moves it by more than that.
        let days = days.map(|t| step(AttentionKind::Expiring, *t, -t, -t - 1));
        rules.insert(AttentionKind::Expiring, distinct(days));
        for (on, kind) in [
            (self.negative, AttentionKind::Negative),
            (self.fallback_used, AttentionKind::FallbackUsed),
            (self.lien_stuck_s > 0, AttentionKind::LienStuck),
            (self.collector_silent, AttentionKind::CollectorSilent),
            (self.partner_waiting_s > 0, AttentionKind::PartnerWaiting),
        ] {
            if on {
                rules.insert(kind, vec![step(kind, 0, THERE, THERE)]);
            }
        }
        if self.job_unfunded {
            // It stays raised until the job ends, so that it is raised once for each job.
            let kind = AttentionKind::JobUnfunded;
            rules.insert(kind, vec![step(kind, 0, THERE, THERE - 1)]);
        }
        rules
    }
}

/// Each threshold once.
fn distinct(steps: impl Iterator<Item = Step>) -> Vec<Step> {
    let by_threshold: BTreeMap<i64, Step> = steps.map(|step| (step.threshold, step)).collect();
    by_threshold.into_values().collect()
}

/// A kind, or one of its thresholds.
fn urgent(word: &str) -> Option<(AttentionKind, Option<i64>)> {
    let (kind, threshold) = match word.split_once(':') {
        Some((kind, threshold)) => (kind, Some(threshold.parse().ok()?)),
        None => (word, None),
    };
    Some((AttentionKind::parse(kind)?, threshold))
}

fn within(key: &str, value: i64, least: i64, most: i64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!(
        "attention.{key}: {value} is not in {least} to {most}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_what_the_settings_say() {
        let on = Attention {
            on: true,
            ..Attention::default()
        };
        on.check().unwrap();
        assert!(Attention::default().rules().is_empty());
        let rules = on.rules();
        let used: Vec<(i64, i64, bool)> = rules[&AttentionKind::Used]
            .iter()
            .map(|s| (s.raise, s.clear, s.urgent))
            .collect();
        assert_eq!(
            used,
            [
                (50, 45, false),
                (80, 75, false),
                (95, 90, false),
                (100, 95, true)
            ]
        );
        let none = Attention {
            negative: false,
            lien_stuck_s: 0,
            ..on
        };
        assert!(!none.rules().contains_key(&AttentionKind::Negative));
        assert!(!none.rules().contains_key(&AttentionKind::LienStuck));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let plain = Attention::default;
        for (wrong, message) in [
            (
                Attention {
                    every_s: 0,
                    ..plain()
                },
                "every_s",
            ),
            (
                Attention {
                    used: vec![0],
                    ..plain()
                },
                "used",
            ),
            (
                Attention {
                    used: vec![5; 17],
                    ..plain()
                },
                "at most 16",
            ),
            (
                Attention {
                    lien_stuck_s: 5,
                    ..plain()
                },
                "lien_stuck_s",
            ),
            (
                Attention {
                    digest_at: "24:00".into(),
                    ..plain()
                },
                "HH:MM",
            ),
            (
                Attention {
                    digest_at: "+1:00".into(),
                    ..plain()
                },
                "HH:MM",
            ),
            (
                Attention {
                    urgent: vec!["usd".into()],
                    ..plain()
                },
                "\"usd\"",
            ),
            (
                Attention {
                    urgent: vec!["used:x".into()],
                    ..plain()
                },
                "used:x",
            ),
        ] {
            let error = wrong.check().unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        assert_eq!(plain().digest_minute(), Some(360));
    }
}
