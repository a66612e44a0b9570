//! Bins of job sizes and wall times.

/// How many processors: `1`, `2`, `3-4`, `5-8` and so on, each twice as wide.
pub fn size_bin(millis: i64) -> String {
    let processors = millis.max(0).saturating_add(999) / 1000;
    if processors <= 2 {
        return processors.to_string();
    }
    let above = u64::try_from(processors)
        .unwrap_or(u64::MAX)
        .checked_next_power_of_two()
        .unwrap_or(u64::MAX);
    let from = (above / 2).saturating_add(1);
    format!("{from}-{above}")
}

/// The upper ends of bins of wall time in seconds, exclusive, with their names.
const WALLS: [(i64, &str); 8] = [
    (1, "0-1s"),
    (30, "1-30s"),
    (1_800, "30s-30min"),
    (3_600, "30-60min"),
    (18_000, "1-5h"),
    (36_000, "5-10h"),
    (64_800, "10-18h"),
    (i64::MAX, "18h+"),
];

/// How long it ran.
pub fn wall_bin(wall_us: i64) -> &'static str {
    let seconds = wall_us.max(0) / 1_000_000;
    let bin = WALLS.iter().find(|(until, _)| seconds < *until);
    bin.map_or("18h+", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binned_by_powers_of_two() {
        for (millis, bin) in [
            (0, "0"),
            (1, "1"),
            (1000, "1"),
            (1001, "2"),
            (3000, "3-4"),
            (4000, "3-4"),
            (5000, "5-8"),
            (8001, "9-16"),
            (1_024_000, "513-1024"),
            (i64::MAX, "9007199254740993-18014398509481984"),
        ] {
            assert_eq!(size_bin(millis), bin, "{millis}");
        }
    }

    #[test]
    fn walls_are_binned_as_people_name_them() {
        for (seconds, bin) in [
            (0, "0-1s"),
            (29, "1-30s"),
            (30, "30s-30min"),
            (3_599, "30-60min"),
            (3_600, "1-5h"),
            (64_800, "18h+"),
        ] {
            assert_eq!(wall_bin(seconds * 1_000_000), bin, "{seconds}");
        }
    }
}
