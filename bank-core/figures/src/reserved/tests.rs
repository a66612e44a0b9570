use super::*;
use bank_core::decimal::Decimal;
use bank_core::ids::TxId;
use bank_core::reservation::{ReservationKey, in_force};
use bank_core::time::Timestamp;

fn time(
    instance: i64,
    start: i64,
    end: i64,
    processors: i64,
    is_reserved: bool,
) -> ReservationTime {
    ReservationTime {
        tx: TxId(instance),
        instance: InstanceId(instance),
        key: ReservationKey {
            machine: "blue".to_owned(),
            reservation: "r".to_owned(),
        },
        span: Span {
            start: Timestamp::from_seconds(start),
            end: Timestamp::from_seconds(end),
        },
        processors: Decimal::whole(processors),
        facts: is_reserved.then(String::new),
        back: false,
        exact: 0,
        idle: Some(0),
        at: Timestamp::from_seconds(end),
    }
}

fn whole(billionths: i128) -> i128 {
    billionths / 1_000_000_000
}

fn shown(times: &[ReservationTime], instance: i64) -> (i128, i128, Vec<(i64, i128)>) {
    let shares = shares(times, InstanceId(instance));
    let jobs = shares.jobs.iter();
    (
        whole(shares.reserved),
        whole(shares.idle),
        jobs.map(|(job, used)| (job.0, whole(*used))).collect(),
    )
}

#[test]
fn only_the_overlap_of_a_job_counts() {
    let own = time(1, 100, 200, 8, true);
    for (start, end, used) in [
        (0, 100, 0),
        (50, 150, 50),
        (120, 130, 10),
        (150, 300, 50),
        (0, 300, 100),
    ] {
        let job = time(2, start, end, 2, false);
        let (reserved, idle, jobs) = shown(&[job, own.clone()], 1);
        assert_eq!((reserved, idle), (800, 800 - 2 * used), "{start} to {end}");
        let expected = if used > 0 {
            vec![(2, 2 * used)]
        } else {
            vec![]
        };
        assert_eq!(jobs, expected);
    }
}

#[test]
fn jobs_use_no_more_than_there_is() {
    let times = [
        time(1, 0, 10, 4, true),
        time(2, 0, 10, 3, false),
        time(3, 5, 15, 3, false),
    ];
    assert_eq!(shown(&times, 1), (40, 5, vec![(2, 30), (3, 5)]));
}

#[test]
fn time_that_was_taken_back_does_not_count() {
    let job = time(2, 0, 10, 3, false);
    let back = job.taken_back(TxId(9));
    let again = back.taken_back(TxId(10));
    let own = time(1, 0, 10, 4, true);
    let all = [own, job, back, again];
    assert_eq!(shown(&all[..2], 1).1, 10);
    assert_eq!(shown(&all[..3], 1).1, 40);
    assert_eq!(shown(&all, 1).1, 10);
    assert_eq!(in_force(&all[..3], InstanceId(2)).len(), 0);
    assert_eq!(in_force(&all, InstanceId(2)).len(), 1);
}

#[test]
fn a_second_of_a_job_is_taken_from_one_use_of_the_id() {
    let times = [
        time(1, 0, 10, 4, true),
        time(2, 5, 15, 4, true),
        time(3, 0, 15, 6, false),
    ];
    let (_, idle, _) = shown(&times, 1);
    assert_eq!(idle, 0);
    // From 5 to 10 the first use has 4 of 6 processors.
    let (reserved, idle, jobs) = shown(&times, 2);
    assert_eq!((reserved, idle, jobs), (40, 10, vec![(3, 10 + 20)]));
}
