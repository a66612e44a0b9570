use super::*;
use bank_core::amount::Amount;
use bank_core::ids::AccountId;
use bank_core::time::Window;

const DAY: i64 = DAY_US;

fn money(id: i64, amount: i64, start: Option<i64>, end: Option<i64>) -> Allocation {
    let window = Window {
        start: start.map(|day| Timestamp(day * DAY)),
        end: end.map(|day| Timestamp(day * DAY)),
    };
    let mut made = Allocation::empty(
        AllocationId(id),
        AccountId(1),
        window,
        Amount::ZERO,
        Timestamp(0),
    );
    made.amount = Amount(amount);
    made
}

/// 10 a day.
const TEN: Speed = Speed {
    charged: 300,
    span_us: 30 * DAY,
};

fn unused(found: &Forecast) -> Vec<(i64, i64, i128)> {
    let ends = found.ends.iter();
    ends.map(|end| (end.allocation.0, end.end.0 / DAY, end.unused))
        .collect()
}

#[test]
fn what_ends_first_is_spent_first() {
    let both = [
        money(1, 500, None, Some(100)),
        money(2, 100, None, Some(20)),
    ];
    let found = forecast(&both, TEN, 0, Timestamp(0));
    // The second lasts 10 days, the first from then on 50.
    assert_eq!(unused(&found), [(2, 20, 0), (1, 100, 0)]);
    assert_eq!(found.empty_at, Some(Timestamp(60 * DAY)));
    assert!(found.is_spent);
}

#[test]
fn what_is_too_much_ends_unused() {
    let both = [money(1, 500, None, Some(40)), money(2, 300, None, Some(20))];
    let found = forecast(&both, TEN, 0, Timestamp(0));
    // 200 of the 300 in 20 days, then 200 of the 500.
    assert_eq!(unused(&found), [(2, 20, 100), (1, 40, 300)]);
    assert_eq!(found.first_unused().unwrap().allocation, AllocationId(2));
    assert_eq!(found.empty_at, Some(Timestamp(40 * DAY)));
    assert!(!found.is_spent, "it ends, it is not spent");
}

#[test]
fn what_has_not_begun_is_not_spent_before() {
    let later = [
        money(1, 50, None, Some(100)),
        money(2, 200, Some(10), Some(20)),
    ];
    let found = forecast(&later, TEN, 0, Timestamp(0));
    // 50 in five days, nothing for five, then 100 of the 200.
    assert_eq!(unused(&found), [(2, 20, 100), (1, 100, 0)]);
    assert_eq!(found.empty_at, Some(Timestamp(5 * DAY)));
    assert_eq!(found.again_at, Some(Timestamp(10 * DAY)));
    assert!(found.is_spent);
}

/// An account with nothing today is empty today, even if money arrives later.
#[test]
fn who_is_below_zero_now_is_empty_now() {
    let now = Timestamp(0);
    let owed = money(1, -600, None, None);
    let later = money(2, 20_000, Some(40), Some(400));
    let found = forecast(&[owed, later], TEN, 0, now);
    assert_eq!(found.empty_at, Some(now));
    assert_eq!(found.again_at, Some(Timestamp(40 * DAY)));
    // The first allocation can be spent in full, despite the debt of another one.
    let little = money(3, 500, Some(20), None);
    let found = forecast(&[owed, later, little], TEN, 0, now);
    assert_eq!(found.again_at, Some(Timestamp(20 * DAY)));
    // A credit that lasts until there is money again, and one that does not.
    let found = forecast(&[later], TEN, 500, now);
    assert_eq!(found.empty_at, Some(Timestamp(400 * DAY + 50 * DAY)));
    assert_eq!(found.again_at, None);
    let found = forecast(&[later], TEN, 300, now);
    assert_eq!(
        (found.empty_at, found.again_at),
        (Some(Timestamp(30 * DAY)), Some(Timestamp(40 * DAY)))
    );
    // No allocation begins later, so nothing is forecast.
    let found = forecast(&[owed], Speed::default(), 0, now);
    assert_eq!((found.empty_at, found.again_at), (Some(now), None));
}

#[test]
fn without_a_speed_there_is_no_forecast() {
    let some = [money(1, 50, None, None), money(2, 70, None, Some(9))];
    for speed in [
        Speed::default(),
        Speed {
            charged: 5000,
            span_us: DAY - 1,
        },
        Speed {
            charged: -5,
            span_us: 30 * DAY,
        },
    ] {
        let found = forecast(&some, speed, 0, Timestamp(0));
        assert_eq!(found.empty_at, None, "{speed:?}");
        assert_eq!(unused(&found), [(2, 9, 70)]);
    }
    let none = forecast(&[], TEN, 0, Timestamp(7));
    assert_eq!(none.empty_at, Some(Timestamp(7)));
}

#[test]
fn a_credit_limit_comes_last() {
    let some = [money(1, 50, None, None)];
    let found = forecast(&some, TEN, 30, Timestamp(0));
    assert_eq!(found.empty_at, Some(Timestamp(8 * DAY)));
    let rounded = Speed {
        charged: 7,
        span_us: DAY,
    };
    assert_eq!(
        rounded.spent_at(50, Timestamp(0)),
        Some(Timestamp((50 * DAY + 6) / 7))
    );
}

/// For any input: the money equals the spent part and the unused part, and spending never exceeds the speed.
#[test]
fn random_purses_add_up() {
    let mut state = 20_261_122_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        i64::try_from((state >> 33) % below).unwrap()
    };
    for round in 0..2000 {
        let count = next(6);
        let all: Vec<Allocation> = (1..=count)
            .map(|id| {
                let start = next(40) - 20;
                let end = (next(4) > 0).then(|| start + 1 + next(60));
                let mut made = money(id, next(1000) - 100, Some(start), end);
                made.phase = Phase::of(&made.window, Timestamp(0));
                made
            })
            .collect();
        let speed = Speed {
            charged: next(900).into(),
            span_us: 30 * DAY,
        };
        let found = forecast(&all, speed, 0, Timestamp(0));
        for end in &found.ends {
            assert!(
                (0..=end.left).contains(&end.unused),
                "round {round}: {end:?}"
            );
            let begin = all.iter().find(|a| a.id == end.allocation).unwrap();
            let start = begin.window.start.map_or(0, |s| s.0.max(0));
            let most = speed.in_time(end.end.0 - start);
            assert!(end.left - end.unused <= most + 1, "round {round}: too fast");
            let spent: i128 = found
                .ends
                .iter()
                .filter(|e| e.end <= end.end)
                .map(|e| e.left - e.unused)
                .sum();
            let ends = i128::try_from(found.ends.len()).unwrap();
            assert!(
                spent <= speed.in_time(end.end.0) + 2 * ends,
                "round {round}"
            );
        }
        let with_end = all
            .iter()
            .filter(|a| a.amount.0 > 0 && a.window.end.is_some_and(|end| end.0 > 0));
        assert_eq!(found.ends.len(), with_end.count(), "round {round}: {all:?}");
    }
}

#[test]
fn what_is_held_or_owed_is_not_there_to_spend() {
    let mut held = money(1, 500, None, Some(100));
    held.held = Amount(300);
    let found = forecast(&[held], TEN, 0, Timestamp(0));
    assert_eq!(found.empty_at, Some(Timestamp(20 * DAY)));
    // Another is below zero: that takes nothing of the 200.
    let debt = money(2, -50, None, None);
    let found = forecast(&[held, debt], TEN, 0, Timestamp(0));
    assert_eq!(found.empty_at, Some(Timestamp(20 * DAY)));
    assert_eq!(
        unused(&forecast(&[held, debt], Speed::default(), 0, Timestamp(0))),
        [(1, 100, 200)]
    );
    // Of a credit of 70 it has 20 left: 220 with the other, 20 alone.
    let found = forecast(&[held, debt], TEN, 70, Timestamp(0));
    assert_eq!(found.empty_at, Some(Timestamp(22 * DAY)));
    let found = forecast(&[debt], TEN, 70, Timestamp(0));
    assert_eq!(found.empty_at, Some(Timestamp(2 * DAY)));
}
