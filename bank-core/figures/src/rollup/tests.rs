use super::grid::{Every, Grid};
use super::*;
use bank_core::calendar::Zone;

/// A small generator: the same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 11
    }

    fn below(&mut self, most: i64) -> i64 {
        i64::try_from(self.next() % u64::try_from(most).unwrap()).unwrap()
    }
}

fn some_use(dice: &mut Dice) -> Use {
    let start = 1_600_000_000_000_000 + dice.below(200_000_000_000_000);
    let longest =
        [3_600_000_000, 90_000_000_000, 5_000_000_000_000][usize::try_from(dice.below(3)).unwrap()];
    let wall = if dice.below(9) == 0 {
        0
    } else {
        dice.below(longest)
    };
    let mut totals = Sums::default();
    for figure in totals.0.iter_mut().take(SPREAD) {
        let bits = 1 + dice.below(52);
        let size = dice.below(1 << bits);
        *figure = i128::from(if dice.below(5) == 0 { -size } else { size });
    }
    Use::new(Timestamp(start), Timestamp(start + wall), totals)
}

#[test]
fn hours_are_the_parts_of_the_whole() {
    let seed = 31;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    for _ in 0..2_000 {
        let whole = some_use(&mut dice);
        let mut sum = Sums::default();
        let mut next = None;
        whole.hours(|hour, part| {
            let from = Timestamp(hour * HOUR);
            assert_eq!(*part, whole.between(from, Timestamp(from.0 + HOUR)));
            assert!(next.is_none_or(|next| next == hour));
            next = Some(hour + 1);
            sum.add(part, Sign::Plus);
        });
        assert_eq!(sum, *whole.totals());
    }
}

/// Zones with their changes of the clock, all sizes of buckets, ends within hours.
#[test]
fn buckets_of_any_size_and_zone_add_up() {
    let seed = 17;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let berlin = Zone {
        first: 3600,
        changes: (0..12)
            .flat_map(|year| {
                let year = year * 31_556_952;
                [(1_585_443_600 + year, 7200), (1_603_587_600 + year, 3600)]
            })
            .collect(),
    };
    let kolkata = Zone {
        first: 19_800,
        changes: Vec::new(),
    };
    let lord_howe = Zone {
        first: 37_800,
        changes: vec![(1_601_740_800, 39_600), (1_617_462_000, 37_800)],
    };
    for zone in [Zone::default(), berlin, kolkata, lord_howe] {
        for every in [
            Every::Hour,
            Every::Day,
            Every::Week,
            Every::Month,
            Every::Quarter,
            Every::Year,
            Every::All,
        ] {
            for _ in 0..12 {
                let whole = some_use(&mut dice);
                let from = Timestamp(whole.start().0 - dice.below(90_000_000_000));
                let until = Timestamp(whole.end().0 + 1 + dice.below(90_000_000_000));
                let grid = Grid::new(from, until, every, &zone, 100_000).unwrap();
                let mut sum = Sums::default();
                for (from, until) in grid.buckets() {
                    assert!(from < until);
                    sum.add(&whole.between(from, until), Sign::Plus);
                }
                assert_eq!(sum, *whole.totals(), "{every:?} {zone:?}");
                assert_eq!(grid.edges.first(), Some(&from));
                assert_eq!(grid.edges.last(), Some(&until));
            }
        }
    }
}

#[test]
fn what_is_taken_away_is_what_had_counted() {
    let mut dice = Dice(5);
    for _ in 0..200 {
        let whole = some_use(&mut dice);
        let mut back = *whole.totals();
        back.0 = back.0.map(|figure| -figure);
        let back = Use::new(whole.start(), whole.end(), back);
        let mut both = std::collections::BTreeMap::new();
        for one in [whole, back] {
            one.hours(|hour, part| {
                let sum: &mut Sums = both.entry(hour).or_default();
                sum.add(part, Sign::Plus);
            });
        }
        assert!(both.values().all(Sums::is_zero));
    }
}

#[test]
fn a_use_of_a_hundred_years_counts_in_its_last_thousand_days() {
    let end = 1_700_000_000_000_000;
    let totals = Sums::default().with(Measure::Core, 1_000_003);
    let long = Use::new(Timestamp(end - 100 * 365 * DAY), Timestamp(end), totals);
    let (mut hours, mut sum) = (0, 0);
    long.hours(|_, part| {
        hours += 1;
        sum += part.get(Measure::Core);
    });
    assert_eq!((hours, sum), (24_001, 1_000_003));
    let (first, last) = Presence::new(long.start(), long.end(), true).hours();
    assert_eq!(last - first, 24_000);
}

#[test]
fn a_job_counts_where_it_begins_ends_and_runs() {
    let job = Presence::new(Timestamp(HOUR), Timestamp(3 * HOUR), true);
    let counts = |from: i64, until: i64| {
        let sums = job.between(Timestamp(from * HOUR), Timestamp(until * HOUR));
        let all = [Measure::Started, Measure::Ended, Measure::Running];
        all.map(|measure| sums.get(measure))
    };
    assert_eq!(counts(0, 1), [0, 0, 0]);
    assert_eq!(counts(1, 2), [1, 0, 1]);
    assert_eq!(counts(2, 3), [0, 0, 1]);
    // It ended on the hour: that is the next one's, in which it did not run.
    assert_eq!(counts(3, 4), [0, 1, 0]);
    assert_eq!(counts(0, 9), [1, 1, 1]);
    assert_eq!(job.hours(), (1, 2));
    let moment = Presence::new(Timestamp(HOUR), Timestamp(HOUR), true);
    let sums = moment.between(Timestamp(HOUR), Timestamp(HOUR + 1));
    assert_eq!(sums.get(Measure::Running), 1);
}

#[test]
fn totals_beyond_all_reason_are_bounded() {
    let totals = Sums::default().with(Measure::Core, i128::MAX);
    let whole = Use::new(Timestamp(0), Timestamp(DAY), totals);
    let mut sum = 0;
    whole.hours(|_, part| sum += part.get(Measure::Core));
    assert_eq!(sum, 1 << 80);
}
