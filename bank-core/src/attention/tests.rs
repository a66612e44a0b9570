use super::*;

fn rules() -> Rules {
    let step = |threshold| Step {
        threshold,
        raise: threshold,
        clear: threshold - 5,
        urgent: threshold == 100,
    };
    let days = |days: i64| Step {
        threshold: days,
        raise: -days,
        clear: -days - 1,
        urgent: days == 0,
    };
    BTreeMap::from([
        (AttentionKind::Used, vec![step(50), step(80), step(100)]),
        (
            AttentionKind::Expiring,
            [30, 14, 7, 0].into_iter().map(days).collect(),
        ),
    ])
}

fn used(level: i64) -> Observed {
    Observed {
        kind: AttentionKind::Used,
        subject: "account:2".into(),
        level,
        concern: Concern::default(),
        amount: None,
        message: format!("{level} %"),
    }
}

/// Keeps what is open, as the journal would: each event gets the next number.
#[derive(Default)]
struct Desk {
    open: Vec<Open>,
    tx: i64,
}

impl Desk {
    /// The changes, as `+80!` (raised and notified), `+50` (raised), `-80` (cleared).
    fn look(&mut self, observed: &[Observed]) -> String {
        let mut words = Vec::new();
        for event in judge(observed, &self.open, &rules()) {
            self.tx += 1;
            let topic = event.topic;
            let mark = if event.is_notified { "!" } else { "" };
            if event.turn == Turn::Raised {
                words.push(format!("+{}{mark}", topic.threshold));
                self.open.push(Open {
                    topic,
                    tx: TxId(self.tx),
                    acked: None,
                    concern: event.concern,
                    urgent: event.urgent,
                    is_notified: event.is_notified,
                });
            } else {
                words.push(format!("-{}", topic.threshold));
                let before = self.open.len();
                self.open.retain(|open| Some(open.tx) != event.of);
                assert_eq!(self.open.len(), before - 1, "{topic:?}");
            }
        }
        words.join(" ")
    }
}

#[test]
fn each_threshold_is_raised_once_until_it_clears() {
    let mut desk = Desk::default();
    for (level, expected) in [
        (49, ""),
        (50, "+50!"),
        (79, ""),
        (80, "+80!"),
        (80, ""),
        // A level that hovers about a threshold does not notify again.
        (76, ""),
        (81, ""),
        (75, ""),
        // A deposit: the share falls below the lower bound.
        (74, "-80"),
        (80, "+80!"),
        (46, "-80"),
        (44, "-50"),
        // Passed together: the last one notifies.
        (130, "+50 +80 +100!"),
        (94, "-100"),
    ] {
        assert_eq!(desk.look(&[used(level)]), expected, "at {level}");
    }
    assert_eq!(desk.look(&[]), "-50 -80", "the account is gone");
}

#[test]
fn days_count_down() {
    let mut desk = Desk::default();
    let expiring = |days: i64| Observed {
        kind: AttentionKind::Expiring,
        subject: "allocation:7".into(),
        level: -days,
        ..used(0)
    };
    for (days, expected) in [
        (31, ""),
        (30, "+30!"),
        (31, ""),
        (32, "-30"),
        (13, "+30 +14!"),
        (0, "+7 +0!"),
        (365, "-30 -14 -7 -0"),
    ] {
        let mut changes = desk.look(&[expiring(days)]);
        // Cleared ones come in the order of their numbers.
        if changes == "-0 -7 -14 -30" {
            changes = "-30 -14 -7 -0".to_owned();
        }
        assert_eq!(changes, expected, "{days} days");
    }
}

#[test]
fn what_nobody_watches_any_more_clears() {
    let mut desk = Desk::default();
    desk.look(&[used(90)]);
    let none = Rules::new();
    let events = judge(&[used(90)], &desk.open, &none);
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|e| e.turn == Turn::Cleared));
    assert!(events[0].message.contains("not watched"), "{events:?}");
}

/// Against the plainest reading: after each look exactly those thresholds are open that were reached
/// since the level was last below their lower bound.
#[test]
fn random_levels_leave_what_they_reached() {
    let mut desk = Desk::default();
    let mut expected: BTreeSet<i64> = BTreeSet::new();
    let mut state = 0x9e37_79b9_u64;
    for round in 0..5000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let level = i64::try_from((state >> 33) % 120).unwrap();
        desk.look(&[used(level)]);
        for threshold in [50, 80, 100] {
            if level >= threshold {
                expected.insert(threshold);
            } else if level < threshold - 5 {
                expected.remove(&threshold);
            }
        }
        let open: BTreeSet<i64> = desk.open.iter().map(|o| o.topic.threshold).collect();
        assert_eq!(open, expected, "round {round}, level {level}");
        assert_eq!(open.len(), desk.open.len(), "twice open");
    }
}
