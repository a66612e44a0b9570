//! Scripts of what an operator types, with what must come of it: the cases of ledger.md 11 as far
//! as they are typed.
//!
//! A script has one step a line:
//! - `+ WORDS` succeeds; `3 WORDS` is refused with that exit code in one line and writes nothing;
//! - `~ TEXT` was said by the step before;
//! - `= ACCOUNT AMOUNT HELD AVAILABLE`;
//! - `> KIND ACCOUNT AMOUNT, …` are the last entries of that kind in the journal, and `> KIND` says
//!   that there is none;
//! - `@ N` moves the clock to T0+N.
//!
//! `C j 50`, `CI j 50` and `R j 50` charge, charge in between and reserve one processor for so many
//! seconds for amy of P, with what else follows. `{2}` is the transaction of the second step that
//! wrote one, `{P.1}` the first allocation of P, `{tid}` the TID of the first quote.

use crate::harness::{Bank, Ran, Setup, T0};

/// 2026-06-01T00:00:00Z, the T0 of the cases.
const BEGIN: i64 = T0 + 151 * 86_400;

/// A bank under a script.
struct Play {
    bank: Bank,
    written: Vec<String>,
    said: String,
}

/// Plays a script on a new bank: project P with its account and the members amy and bob, and the
/// machines colony and blue. At the end the ledger is verified.
#[track_caller]
pub(super) fn play(script: &str) {
    let bank = Setup::new().start();
    bank.set_clock(BEGIN);
    for line in ["machine add blue", "project add P --members amy"] {
        bank.bank_ok(&line.split_whitespace().collect::<Vec<_>>());
    }
    let mut play = Play {
        bank,
        written: Vec::new(),
        said: String::new(),
    };
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        play.step(line);
    }
    play.bank.verify();
}

impl Play {
    #[track_caller]
    fn step(&mut self, line: &str) {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        match sign {
            "+" => self.done(rest),
            "~" => assert!(self.said.contains(rest), "no {rest:?} in {}", self.said),
            "=" => self.figures(rest),
            ">" => self.journal(rest),
            "@" => self.bank.set_clock(BEGIN + rest.parse::<i64>().unwrap()),
            exit => self.refused(rest, exit.parse().unwrap()),
        }
    }

    fn type_it(&mut self, line: &str) -> Ran {
        let line = self.filled(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = self.bank.bank(&words);
        self.said = format!("{}{}", ran.stdout, ran.stderr);
        ran
    }

    #[track_caller]
    fn done(&mut self, line: &str) {
        let ran = self.type_it(line);
        assert_eq!(ran.exit, 0, "{line}: {}", self.said);
        let number = |line: &str| {
            let words = line.strip_prefix("transaction ")?;
            Some(words.split(' ').next()?.to_owned())
        };
        self.written.extend(ran.stdout.lines().find_map(number));
    }

    #[track_caller]
    fn refused(&mut self, line: &str, exit: i32) {
        let before = self.bank.transactions();
        let ran = self.type_it(line);
        assert_eq!(ran.exit, exit, "{line}: {}", self.said);
        assert!(ran.stderr.starts_with("bank: "), "{line}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{line}");
        assert_eq!(self.bank.transactions(), before, "{line} wrote something");
    }

    #[track_caller]
    fn figures(&self, line: &str) {
        let (name, figures) = line.split_once(' ').unwrap();
        let want: Vec<i64> = figures.split(' ').map(|n| n.parse().unwrap()).collect();
        let (amount, held, available) = self.bank.figures(name);
        assert_eq!([amount, held, available], want[..], "{name}");
    }

    #[track_caller]
    fn journal(&self, line: &str) {
        let (kind, rows) = line.split_once(' ').unwrap_or((line, ""));
        let row = |row: &str| {
            let (account, amount) = row.trim().rsplit_once(' ').unwrap();
            (account.to_owned(), amount.parse().unwrap())
        };
        let want: Vec<(String, i64)> = rows.split_terminator(',').map(row).collect();
        let all = self.bank.entries(kind);
        let from = if want.is_empty() {
            0
        } else {
            all.len().saturating_sub(want.len())
        };
        assert_eq!(all[from..], want[..], "{kind}");
    }

    /// The line with its short words and its places filled.
    fn filled(&self, line: &str) -> String {
        let job = |verb: &str, time: &str, rest: &str, more: &str| {
            let mut words = rest.splitn(3, ' ');
            let (job, seconds) = (words.next().unwrap(), words.next().unwrap());
            let rest = words.next().unwrap_or_default();
            format!("{verb} {job} -A P -u amy -m colony --procs 1 {time} {seconds} {more} {rest}")
        };
        let mut line = match line.split_once(' ') {
            Some(("C", rest)) => job("charge", "--duration", rest, ""),
            Some(("CI", rest)) => job("charge", "--duration", rest, "--interim"),
            Some(("R", rest)) => job("reserve", "--wall", rest, ""),
            _ => line.to_owned(),
        };
        while let Some((before, rest)) = line.split_once('{') {
            let (place, after) = rest.split_once('}').unwrap();
            line = format!("{before}{}{after}", self.place(place));
        }
        line
    }

    fn place(&self, place: &str) -> String {
        if place == "tid" {
            let columns = ["quote", "show", "1", "-P", "-n", "--columns", "tid"];
            return self.bank.bank_ok(&columns).trim().to_owned();
        }
        let Some((account, number)) = place.split_once('.') else {
            return self.written[place.parse::<usize>().unwrap() - 1].clone();
        };
        let all = self.bank.items(&["allocation", "ls", "-a", account]);
        let mut ids: Vec<i64> = all.iter().map(|a| a["id"].as_i64().unwrap()).collect();
        ids.sort_unstable();
        ids[number.parse::<usize>().unwrap() - 1].to_string()
    }
}
