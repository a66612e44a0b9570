//! Jobs that run without money: a command of the site runs once for each.

use super::*;

/// Fails at first, then appends a line of its facts.
const SITE: &str = "#!/bin/sh\n\
    cat > /dev/null\n\
    cd \"$(dirname \"$0\")\" || exit 1\n\
    echo tried >> attempts\n\
    [ \"$(wc -l < attempts)\" -gt 1 ] || exit 1\n\
    echo \"$BANK_TURN $BANK_KIND $BANK_JOB $BANK_MACHINE $BANK_USER $BANK_PROJECT $BANK_ACCOUNT \
    $BANK_AMOUNT: $BANK_MESSAGE\" >> ran\n";

const TARGET: &str = "\n[[deliver]]\nname = \"site\"\nby = \"command\"\n\
    command = [\"FOLDER/site\"]\nkinds = [\"job_unfunded\"]\ncleared = false\nretry_s = 1\n";

const ON: [(&str, &str); 1] = [("BANKD_ATTENTION_JOB_UNFUNDED", "true")];

/// Holds a unit a second for a job of chemistry, which has 100,000.
fn reserve(bank: &Bank, job: &str, seconds: &str) {
    let line = format!("reserve {job} --procs 1 --wall {seconds} -A chemistry -u amy -m colony");
    bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
}

/// What the site's program recorded, once it is so many lines.
fn ran(bank: &Bank, count: usize) -> Vec<String> {
    until(&format!("the program ran {count} times"), || {
        let text = fs::read_to_string(bank.folder().join("ran")).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (lines.len() >= count).then_some(lines)
    })
}

/// The open alerts of such jobs, once there are so many.
fn unfunded(bank: &Bank, count: usize) -> Vec<Value> {
    until(&format!("{count} jobs without money"), || {
        let list = bank.json(&["attention", "ls", "--kind", "job_unfunded"]);
        let items = list["items"].as_array().unwrap().clone();
        (items.len() == count).then_some(items)
    })
}

#[test]
fn the_command_of_a_site_runs_once_for_the_job_that_started_last() {
    let mut bank = watching(&ON, TARGET);
    program(&bank, "site", SITE);
    reserve(&bank, "first", "40000");
    bank.set_clock(T0 + 60);
    reserve(&bank, "second", "30000");
    // 55,000 are left for holds of 70,000: 15,000 of the second job's are not covered.
    charge(&bank, "third", 45_000);
    let short = "raised job_unfunded second colony amy chemistry chemistry 15000: job second on \
                 colony runs without money: chemistry lacks 15,000 credits for it";
    assert_eq!(ran(&bank, 1), [short]);
    let event = &unfunded(&bank, 1)[0];
    assert_eq!(
        (&event["job"], &event["user"]),
        (&"second".into(), &"amy".into())
    );
    // A deposit pays for it, and the next charge takes that: it is still the same job.
    bank.bank_ok(&["deposit", "chemistry", "20000"]);
    bank.stop();
    bank.start();
    charge(&bank, "fourth", 30_000);
    charge(&bank, "fifth", 30_000);
    // 15,000 are left, and the first job has no money either: it is another job.
    assert_eq!(ran(&bank, 2).len(), 2);
    assert!(ran(&bank, 2)[1].starts_with("raised job_unfunded first "));
    let end = |job: &str| {
        let line = format!("charge {job} --procs 1 --wall 10 -A chemistry -u amy -m colony");
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    };
    end("first");
    end("second");
    unfunded(&bank, 0);
    assert_eq!(ran(&bank, 2).len(), 2);
    bank.verify();
}

#[test]
fn a_job_that_used_up_its_hold_needs_available_money() {
    let mut bank = watching(&ON, TARGET);
    program(&bank, "site", SITE);
    reserve(&bank, "long", "1000");
    charge(&bank, "other", 99_000);
    bank.set_clock(T0 + 1000);
    let part = "charge long --interim --procs 1 --wall 1000 -A chemistry -u amy -m colony";
    bank.bank_ok(&part.split(' ').collect::<Vec<_>>());
    let lines = ran(&bank, 1);
    let why = "its hold is used up, and chemistry has nothing available";
    assert!(lines[0].ends_with(why), "{lines:?}");
    assert!(
        lines[0].starts_with("raised job_unfunded long "),
        "{lines:?}"
    );
    bank.verify();
}

/// A job whose lien expired is still watched, until it ends.
#[test]
fn a_job_that_outlives_its_lien_needs_available_money() {
    let mut bank = watching(&ON, TARGET);
    program(&bank, "site", SITE);
    reserve(&bank, "long", "1000");
    charge(&bank, "other", 99_000);
    unfunded(&bank, 0);
    // A lien is open for ten minutes more than its job's limit.
    bank.set_clock(T0 + 1700);
    until("the lien has expired", || {
        bank.held().is_empty().then_some(())
    });
    unfunded(&bank, 0);
    charge(&bank, "more", 1000);
    let lines = ran(&bank, 1);
    assert!(
        lines[0].starts_with("raised job_unfunded long colony amy chemistry chemistry 0: "),
        "{lines:?}"
    );
    let why = "its lien has ended, and chemistry has nothing available";
    assert!(lines[0].ends_with(why), "{lines:?}");
    assert_eq!(unfunded(&bank, 1)[0]["job"], "long");
    let end = "charge long --procs 1 --wall 1001 -A chemistry -u amy -m colony";
    bank.bank_ok(&end.split(' ').collect::<Vec<_>>());
    unfunded(&bank, 0);
    assert_eq!(ran(&bank, 1).len(), 1);
    bank.verify();
}
