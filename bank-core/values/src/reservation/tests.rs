use super::*;

#[test]
fn days_are_whole() {
    let day = 86_400;
    let span = Span {
        start: Timestamp::from_seconds(day - 1),
        end: Timestamp::from_seconds(2 * day),
    };
    let all: Vec<Span> = days(whole_days(span)).collect();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].start, Timestamp(0));
    assert_eq!(all[1].end, Timestamp::from_seconds(2 * day));
}
