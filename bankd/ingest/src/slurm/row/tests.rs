use super::*;

#[test]
fn rows_are_judged_in_the_order_of_their_rendering() {
    let at = |text: &str| Moment::read(text, Tz::UTC);
    let day = |hour: &str| format!("2026-01-01T{hour}:00:00");
    for (order, state, start, end, hosts, elapsed, expected) in [
        (
            Order::EndStartState,
            "COMPLETED",
            "01",
            "03",
            "n1",
            None,
            "01 7200",
        ),
        (
            Order::EndStartState,
            "CANCELLED by 7",
            "01",
            "03",
            "n1",
            None,
            "01 7200",
        ),
        (
            Order::EndStartState,
            "RUNNING",
            "01",
            "",
            "n1",
            None,
            "not_ended",
        ),
        (
            Order::EndStartState,
            "CANCELLED",
            "",
            "03",
            "n1",
            None,
            "never_started",
        ),
        (
            Order::EndStartState,
            "CANCELLED",
            "01",
            "03",
            "None assigned",
            None,
            "never_started",
        ),
        (
            Order::EndStartState,
            "SUSPENDED",
            "01",
            "03",
            "n1",
            None,
            "live_state",
        ),
        (
            Order::EndStartState,
            "DREAMING",
            "01",
            "03",
            "n1",
            None,
            "unknown_state",
        ),
        (
            Order::StateFirst,
            "RUNNING",
            "01",
            "",
            "n1",
            None,
            "live_state",
        ),
        (
            Order::StateFirst,
            "COMPLETED",
            "01",
            "",
            "n1",
            None,
            "never_started",
        ),
        (
            Order::EndStartState,
            "COMPLETED",
            "05",
            "03",
            "n1",
            None,
            "05 0",
        ),
        (
            Order::EndStartState,
            "COMPLETED",
            "05",
            "03",
            "n1",
            Some(3600),
            "02 3600 repaired",
        ),
    ] {
        let time = |hour: &str| match hour {
            "" => at("Unknown"),
            hour => at(&day(hour)),
        };
        let row = Row {
            id: "1".into(),
            state: state.into(),
            start: time(start),
            end: time(end),
            hosts: hosts.into(),
            elapsed: elapsed.map(|seconds: i64| Number::whole(seconds)),
            ..Row::default()
        };
        let result = row.found(order).shown(|job| {
            let hour = job.start_us / 3_600_000_000 % 24;
            let flags = job.flags.iter().flat_map(|flag| [" ", flag]);
            let flags = flags.collect::<String>();
            format!("{hour:02} {}{flags}", job.wall)
        });
        assert_eq!(result, expected, "{state} {start} {end}");
    }
}

/// `sacct` prints a record for each size of a job, all with the start of the job.
#[test]
fn parts_of_a_resized_job_touch_each_other() {
    let at = |minute: i64| Moment::At(Instant::exact(minute * 60_000_000));
    let twice = |minute: i64| {
        let us = minute * 60_000_000;
        Moment::At(Instant::repeated(us, us + 3_600_000_000))
    };
    for (order, state, submit, end, elapsed, expected) in [
        (
            Order::EndStartState,
            "RESIZING",
            at(0),
            at(11),
            10,
            "1 600 600",
        ),
        (
            Order::EndStartState,
            "COMPLETED",
            at(11),
            at(25),
            24,
            "11 840 840",
        ),
        (
            Order::EndStartState,
            "CANCELLED by 7",
            at(25),
            at(25),
            24,
            "25 0 0",
        ),
        // It was suspended for longer than the last part.
        (
            Order::EndStartState,
            "COMPLETED",
            at(20),
            at(25),
            14,
            "20 300 0",
        ),
        (
            Order::EndStartState,
            "COMPLETED",
            at(30),
            at(25),
            24,
            "1 1440 1440",
        ),
        (
            Order::EndStartState,
            "COMPLETED",
            twice(11),
            at(25),
            24,
            "11 840 840",
        ),
        (
            Order::EndStartState,
            "RESIZING",
            at(0),
            Moment::None,
            10,
            "not_ended",
        ),
        (
            Order::StateFirst,
            "RESIZING",
            at(0),
            at(11),
            10,
            "live_state",
        ),
        (
            Order::EndStartState,
            "RESIZING",
            Moment::None,
            at(11),
            10,
            "live_state",
        ),
    ] {
        let row = Row {
            id: "1".into(),
            state: state.into(),
            submit,
            start: at(1),
            end,
            elapsed: Some(Number::whole(elapsed * 60)),
            ..Row::default()
        };
        let result = match row.found(order) {
            Found::Jobs(jobs) => {
                let job = &jobs[0];
                let elapsed = job.quantities.iter().find(|(name, _)| *name == "elapsed_s");
                let elapsed = elapsed.map(|(_, value)| value.to_string());
                let start = job.start_us / 60_000_000;
                format!("{start} {} {}", job.wall, elapsed.unwrap_or_default())
            }
            Found::Skipped(label) => label.to_string(),
            found => format!("{found:?}"),
        };
        assert_eq!(result, expected, "{state} {submit:?} {end:?}");
    }
}

/// 02:30 of the day on which clocks go back is 00:30 or 01:30 UTC.
#[test]
fn parts_touch_each_other_in_the_hour_that_clocks_repeat() {
    const HEAD: &str = "JobID|State|Submit|Start|End|Elapsed";
    let parts = |zone: Tz, lines: &[&str]| {
        let keys: Vec<&str> = HEAD.split('|').collect();
        let mut parts = Parts::default();
        let found = lines.iter().map(|line| {
            let words: Vec<&str> = line.split('|').collect();
            let word = |key: &str| words[keys.iter().position(|own| *own == key).unwrap()];
            let moment = |key| Moment::read(word(key), zone);
            let row = Row {
                id: word("JobID").into(),
                state: word("State").into(),
                submit: moment("Submit"),
                start: moment("Start"),
                end: moment("End"),
                elapsed: clock(word("Elapsed")),
                ..Row::default()
            };
            match parts.found(row) {
                Found::Jobs(jobs) => format!("{}{}", jobs[0].wall, jobs[0].flags.concat()),
                found => format!("{found:?}"),
            }
        });
        found.collect::<Vec<_>>().join(" ")
    };
    let (day, night) = ("2026-10-24T", "2026-10-25T");
    for (resize, end, first, whole, expected) in [
        // The end of the last part: 14.5 or 15.5 hours behind the resize.
        (
            "24T12:00:00",
            "25T02:30:00",
            "02:00:00",
            "16:30:00",
            "7200 52200",
        ),
        (
            "24T12:00:00",
            "25T02:30:00",
            "02:00:00",
            "17:30:00",
            "7200 55800",
        ),
        // The resize: the run time of the first part decides for both.
        (
            "25T02:30:00",
            "25T04:00:00",
            "16:30:00",
            "19:00:00",
            "59400 9000",
        ),
        (
            "25T02:30:00",
            "25T04:00:00",
            "17:30:00",
            "19:00:00",
            "63000 5400",
        ),
        // Both.
        (
            "25T02:30:00",
            "25T02:40:00",
            "16:30:00",
            "17:40:00",
            "59400 4200",
        ),
        (
            "25T02:40:00",
            "25T02:10:00",
            "16:40:00",
            "17:10:00",
            "60000 1800",
        ),
        // Nothing decides, and no hour counts twice.
        (
            "25T02:30:00",
            "25T04:00:00",
            "",
            "",
            "59400ambiguous-time 9000",
        ),
    ] {
        let [resize, end] = [resize, end].map(|at| format!("2026-10-{at}"));
        let start = format!("{day}10:00:00");
        let first = format!("1|RESIZING|{start}|{start}|{resize}|{first}");
        let last = format!("1|COMPLETED|{resize}|{start}|{end}|{whole}");
        let found = parts(Tz::Europe__Berlin, &[&first, &last]);
        assert_eq!(found, expected, "{first} {last}");
    }
    // By itself the last part takes the earlier reading. A job that was submitted in the first of the two hours, and
    // started in the second, was not resized.
    let lone = format!("1|COMPLETED|{night}02:30:00|{day}10:00:00|{night}04:00:00|19:00:00");
    let waited = format!("1|COMPLETED|{night}02:40:00|{night}02:10:00|{night}04:00:00|01:50:00");
    for (line, expected) in [(lone, "9000ambiguous-time"), (waited, "6600")] {
        assert_eq!(parts(Tz::Europe__Berlin, &[&line]), expected, "{line}");
    }
}

/// One short line with a long name must not become gigabytes.
#[test]
fn an_array_is_bounded_by_its_tasks_and_their_texts() {
    let at = Moment::At(Instant::exact(0));
    let row = |id: String, name: usize, user: usize| Row {
        id: id.into(),
        state: "COMPLETED".into(),
        user: "u".repeat(user).into(),
        name: "n".repeat(name).into(),
        start: at,
        end: at,
        ..Row::default()
    };
    let result = |row: Row<'_>| match row.found(Order::EndStartState) {
        Found::Jobs(jobs) => jobs.len().to_string(),
        found => format!("{found:?}"),
    };
    let all = "1_[0-99999]".to_owned();
    assert_eq!(result(row(all.clone(), 500, 3)), "100000");
    let much = result(row(all.clone(), 200_000, 3));
    assert!(
        much.contains("more than 67108864 bytes in one record"),
        "{much}"
    );
    let user = result(row(all, 1, 200_000));
    assert!(user.contains("user: 200000 bytes"), "{user}");
    let base = result(row(format!("{}_[0-99999]", "1".repeat(2_000)), 1, 1));
    assert!(
        base.contains("more than 67108864 bytes in one record"),
        "{base}"
    );
    assert_eq!(result(row("1".to_owned(), 200_000, 3)), "1");
}

#[test]
fn arrays_expand_to_their_tasks() {
    for (id, tasks) in [
        ("123", Some("123")),
        ("123_7", Some("123_7")),
        ("123+1", Some("123+1")),
        ("9_[1-3,7]", Some("9_1 9_2 9_3 9_7")),
        ("9_[0-6:3%2]", Some("9_0 9_3 9_6")),
        ("9_[1-3", None),
        ("9_[a]", None),
        ("9_", None),
        ("_9", None),
        ("9_[1-200000]", None),
    ] {
        let found = expand(id).ok().map(|ids| ids.join(" "));
        assert_eq!(found.as_deref(), tasks, "{id}");
    }
}
