//! Local times in the hour that clocks repeat, and states of a use that come together.

use bankd_ingest::{Found, Options, Record, formats};

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

/// The last snapshot in the order of names counts, as it does if the snapshots come one by one.
#[test]
fn the_last_state_of_an_allocation_counts() {
    let snapshot = |owner: &str, cores: u32, status: &str, end: &str| {
        format!(
            r#"{{"chem":[{{"job_ID":"j","name":"module-x","status":"{status}","owner":"{owner}","resources":{{"cpu_num":{cores},
            "cpu_MHz":0,"gpu_num":0,"memory_MB":1024,"disk_MB":10}},"alloc_ID":"a","datacenter":"dc",
            "alloc_start":"2026-11-01T00:00:00Z","alloc_end":{end}}}]}}"#
        )
    };
    let (amy, bob) = (
        snapshot("amy", 1, "running", "null"),
        snapshot("bob", 4, "running", "null"),
    );
    let dead = snapshot("bob", 2, "dead", "\"2026-11-01T03:00:00Z\"");
    for (files, expected) in [
        ([&amy, &bob], "bob 4 14400"),
        ([&bob, &amy], "amy 1 14400"),
        ([&amy, &dead], "bob 2 10800"),
        // An older state of a use that has ended.
        ([&dead, &amy], "bob 2 10800"),
    ] {
        let mut reader = (formats::named("nomad").unwrap().reader)(&Options::default()).unwrap();
        let mut found = Vec::new();
        let mut sink = |record: Record| {
            if let Found::Jobs(jobs) = record.found {
                let job = &jobs[0];
                let (user, procs) = (job.user.clone().unwrap(), job.procs.unwrap());
                found.push(format!("{user} {procs} {}", job.wall));
            }
            Ok(())
        };
        for (file, hour) in files.into_iter().zip(["02", "04"]) {
            let name = format!("2026-11-01T{hour}:00:00.json");
            reader.file(&name, &mut file.as_bytes(), &mut sink).unwrap();
        }
        reader.finish(&mut sink).unwrap();
        assert_eq!(found, [expected]);
    }
}
