//! A bank made from nothing, as a site makes one, and people at terminals in its time zone.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::bank::{Bank, T0};
use super::programs::programs;
use super::script::Ran;

/// One hour east of Greenwich, the whole year.
pub(crate) const ZONE: &str = "CET-1";

impl Bank {
    /// A new bank with these options, at this second; its daemon is not started.
    pub(crate) fn initialized(env: Vec<(String, String)>, clock: i64, options: &[&str]) -> Self {
        let bank = Self::bare(env);
        bank.set_clock(clock);
        let mut init = Command::new(programs().bankd());
        init.args(["init", "--test"])
            .args(options)
            .arg("--data")
            .arg(bank.data())
            .env("BANKD_TEST_CLOCK", bank.clock());
        let ran = Ran::of(&mut init, b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        bank
    }

    /// A bank with three decimals and the unit SU, in which nothing is but the rate of one SU for
    /// a processor's hour, for a week; the clock shows [`super::T0`].
    pub(crate) fn site() -> Self {
        let options = ["--precision", "3", "--unit", "SU"];
        let mut bank = Self::initialized(Vec::new(), T0 - 7 * 86_400, &options);
        bank.start();
        bank.bank_ok(&["rate", "set", "VBR", "Processors", "1", "--per", "hour"]);
        bank.set_clock(T0);
        bank
    }

    /// Runs a program by this path with these words, at a terminal of [`ZONE`].
    pub(crate) fn typed(&self, program: &Path, words: &[&str]) -> Ran {
        let mut command = Command::new(program);
        command
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder())
            .env("TZ", ZONE)
            .env("LOGNAME", "amy")
            .env("BANK_TEST_CLOCK", self.clock())
            .env("BANK_SERVER", format!("unix:{}", self.socket().display()));
        Ran::of(&mut command, b"")
    }

    /// Runs `bank` at a terminal of [`ZONE`]; what it prints, then what it says on standard error
    /// without the request's id, then its exit code where that is not 0.
    pub(crate) fn screen(&self, words: &[&str]) -> String {
        let ran = self.typed(&programs().bank(), words);
        let output = ran
            .stderr
            .lines()
            .filter(|line| !line.starts_with("request "));
        let mut screen = ran.stdout.clone();
        for line in output {
            screen.push_str(line);
            screen.push('\n');
        }
        if ran.exit != 0 {
            let _ = writeln!(screen, "{}", ran.exit);
        }
        screen
    }

    /// What the scheduler says of a job: `what` is the event, then project, user, processors, and
    /// the seconds that it asks for or bills.
    #[track_caller]
    pub(crate) fn job_event(
        &self,
        event: &str,
        job: &str,
        whose: (&str, &str),
        size: (i64, i64),
        more: &str,
    ) {
        let ((project, user), (processors, seconds)) = (whose, size);
        let body = format!(
            "<Job><ObjectID>{job}</ObjectID><User>{user}</User><Account>{project}</Account>\
             <Processors>{processors}</Processors><ChargeDuration>{seconds}</ChargeDuration>\
             {more}</Job>"
        );
        let ran = self
            .call(event)
            .set("machine=ia64")
            .body(body.as_bytes())
            .run();
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    }
}
