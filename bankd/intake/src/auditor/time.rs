//! Times of AUDITOR's records (`auditor-api.md` 2): RFC 3339 with a zone in, UTC out.
//!
//! A record keeps microseconds; how long it took is counted from the times as they were sent, in
//! nanoseconds. Years are 1 to 9999 in UTC: beyond that there is no text that every client reads.

const NANOS: i128 = 1_000_000_000;
const MICROS: i64 = 1_000_000;
const DAY_S: i64 = 86_400;
/// The first second of the year 1, and the first after the year 9999.
const RANGE_S: (i64, i64) = (-62_135_596_800, 253_402_300_800);

/// A time as it was sent, in nanoseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(i128);

impl Time {
    /// `2024-01-02T03:04:05.678+01:00`; also `t` or a blank between date and time, `z`, and
    /// ` UTC` behind it. A second of 60 is the first of the next minute.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, offset_s) = zone(text)?;
        let (date, clock) = text.split_at_checked(10)?;
        let clock = clock.strip_prefix(['T', 't', ' '])?;
        let (year, month, day) = match date.as_bytes() {
            [y @ .., b'-', m1, m2, b'-', d1, d2] if y.len() == 4 => {
                (digits(y)?, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?)
            }
            _ => return None,
        };
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let (clock, fraction) = match clock.split_once('.') {
            Some((clock, fraction)) => (clock, nanoseconds(fraction)?),
            None => (clock, 0),
        };
        let (hour, minute, second) = match clock.as_bytes() {
            [h1, h2, b':', m1, m2, b':', s1, s2] => (
                digits(&[*h1, *h2])?,
                digits(&[*m1, *m2])?,
                digits(&[*s1, *s2])?,
            ),
            _ => return None,
        };
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = days(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
        let seconds = seconds.checked_sub(offset_s)?;
        let (first, behind) = RANGE_S;
        (first..behind)
            .contains(&seconds)
            .then(|| Time(i128::from(seconds) * NANOS + i128::from(fraction)))
    }

    /// A time that was kept.
    pub fn of_micros(micros: i64) -> Self {
        Time(i128::from(micros) * 1000)
    }

    /// Microseconds since 1970 UTC; finer parts are cut off.
    pub fn micros(self) -> i64 {
        i64::try_from(self.0.div_euclid(1000)).unwrap_or(i64::MAX)
    }

    /// Whole seconds from one to another, cut towards zero.
    pub fn seconds_since(self, start: Time) -> i64 {
        i64::try_from((self.0 - start.0) / NANOS).unwrap_or(i64::MAX)
    }
}

/// Adds a kept time to a text, as it is answered: `2024-01-02T03:04:05Z`, with a fraction of 3 or 6
/// digits where there is one.
pub fn write(micros: i64, text: &mut Vec<u8>) {
    let (seconds, fraction) = (micros.div_euclid(MICROS), micros.rem_euclid(MICROS));
    let (day, second) = (seconds.div_euclid(DAY_S), seconds.rem_euclid(DAY_S));
    let (year, month, date) = civil(day);
    number(text, year, 4);
    for (before, value) in [
        (b'-', month),
        (b'-', date),
        (b'T', second / 3600),
        (b':', second / 60 % 60),
        (b':', second % 60),
    ] {
        text.push(before);
        number(text, value, 2);
    }
    if fraction > 0 {
        text.push(b'.');
        if fraction % 1000 == 0 {
            number(text, fraction / 1000, 3);
        } else {
            number(text, fraction, 6);
        }
    }
    text.push(b'Z');
}

/// A number of 0 or above with so many digits at least.
pub(crate) fn number(text: &mut Vec<u8>, value: i64, width: usize) {
    let mut backwards = [b'0'; 20];
    let mut rest = value.unsigned_abs();
    let mut length = 0;
    for digit in &mut backwards {
        if rest == 0 && length >= width {
            break;
        }
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        length += 1;
    }
    text.extend(backwards.iter().take(length).rev());
}

/// The text without its zone, and the zone in seconds east.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(rest) = text.strip_suffix(" UTC") {
        return Some((rest, 0));
    }
    if let Some(rest) = text.strip_suffix(['Z', 'z']) {
        return Some((rest, 0));
    }
    let (rest, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let [sign, h1, h2, b':', m1, m2] = zone.as_bytes() else {
        return None;
    };
    let (hours, minutes) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let offset = hours * 3600 + minutes * 60;
    match sign {
        b'+' => Some((rest, offset)),
        b'-' => Some((rest, -offset)),
        _ => None,
    }
}

/// One to nine digits behind the point.
fn nanoseconds(fraction: &str) -> Option<i64> {
    if !(1..=9).contains(&fraction.len()) {
        return None;
    }
    let missing = u32::try_from(9 - fraction.len()).ok()?;
    Some(digits(fraction.as_bytes())? * 10_i64.pow(missing))
}

/// Digits only, at most nine of them.
fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        Some(number * 10 + digit)
    })
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, which is thought to begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a day since 1970-01-01.
fn civil(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        let mut out = Vec::new();
        write(Time::parse(text)?.micros(), &mut out);
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn times_are_read_with_a_zone_and_written_in_utc() {
        for (text, expected) in [
            ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02t03:04:05z", "2024-01-02T03:04:05Z"),
            ("2024-01-02 03:04:05Z", "2024-01-02T03:04:05Z"),
            ("2022-01-01 00:00:00 UTC", "2022-01-01T00:00:00Z"),
            ("2022-01-01T00:00:00 UTC", "2022-01-01T00:00:00Z"),
            ("2024-01-02T03:04:05+01:30", "2024-01-02T01:34:05Z"),
            ("2024-01-02T03:04:05-01:30", "2024-01-02T04:34:05Z"),
            ("2024-01-02T03:04:05.5Z", "2024-01-02T03:04:05.500Z"),
            (
                "2024-01-02T03:04:05.678900+00:00",
                "2024-01-02T03:04:05.678900Z",
            ),
            (
                "2024-01-02T03:04:05.123456789Z",
                "2024-01-02T03:04:05.123456Z",
            ),
            ("2024-01-02T03:04:05.000000999Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05.000Z", "2024-01-02T03:04:05Z"),
            ("2024-02-29T23:59:60Z", "2024-03-01T00:00:00Z"),
            ("2016-12-31T23:59:60.25Z", "2017-01-01T00:00:00.250Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"),
        ] {
            assert_eq!(written(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2024-01-02",
            "2024-01-02T03:04:05",
            "2024-01-02T03:04Z",
            "2024-01-02T24:00:00Z",
            "2024-01-02T03:60:05Z",
            "2024-01-02T03:04:61Z",
            "2023-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-01-02T03:04:05.Z",
            "2024-01-02T03:04:05.1234567891Z",
            "2024-01-02T03:04:05,5Z",
            "2024-01-02T03:04:05 +00:00",
            "2024-01-02T03:04:05+24:00",
            "2024-01-02T03:04:05+0100",
            "2024-01-02X03:04:05Z",
            "0000-12-31T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:60Z",
            "+12000-01-01T00:00:00Z",
            "-001-01-01T00:00:00Z",
            "1704164645",
            "2024-01-02T03:04:05 utc",
            "２024-01-02T03:04:05Z",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_comes_back() {
        for day in (-719_162..2_932_896).step_by(7) {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, month, date), day);
            assert!((1..=days_in(year, month)).contains(&date));
        }
    }

    #[test]
    fn seconds_are_cut_towards_zero() {
        for (start, stop, seconds) in [
            ("2024-01-01T00:00:00Z", "2024-01-01T00:00:01.999999999Z", 1),
            ("2024-01-01T00:00:01.999999999Z", "2024-01-01T00:00:00Z", -1),
            ("2024-01-01T00:00:00.000000001Z", "2024-01-01T00:00:01Z", 0),
            ("2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z", 86_400),
        ] {
            let time = |text| Time::parse(text).unwrap();
            assert_eq!(
                time(stop).seconds_since(time(start)),
                seconds,
                "{start} {stop}"
            );
        }
    }
}
