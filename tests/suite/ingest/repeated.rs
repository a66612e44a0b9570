//! Local times in the hour that clocks repeat.

use bankd_ingest::Options;

use super::nasty::read;

/// On 2026-10-25 the clocks of Berlin go back from 03:00 to 02:00.
#[test]
fn sacct_in_the_hour_that_clocks_repeat() {
    let options = Options {
        zone: "Europe/Berlin".parse().unwrap(),
        ..Options::default()
    };
    for (start, end, elapsed, wall) in [
        ("01:30", "02:30", "02:00:00", 7_200),
        ("01:30", "02:30", "01:00:00", 3_600),
        ("02:30", "02:15", "00:45:00", 2_700),
        ("02:30", "03:30", "02:00:00", 7_200),
        ("02:30", "03:30", "01:00:00", 3_600),
        // Suspended for 30 minutes of two hours.
        ("01:30", "02:30", "01:30:00", 7_200),
        // Nothing decides: the earlier time.
        ("01:30", "02:30", "", 3_600),
    ] {
        let text = format!(
            "JobID|User|Account|Start|End|Elapsed|State|NCPUS\n\
             1|amy|chem|2026-10-25T{start}:00|2026-10-25T{end}:00|{elapsed}|COMPLETED|4\n"
        );
        let found = read("sacct", text.as_bytes(), &options);
        let meant = format!("1 amy chem {wall} 4 0");
        assert_eq!(found, meant, "{start} to {end}, elapsed {elapsed}");
    }
}
