//! Scripts of what an operator types, with what must come of it: the cases of ledger.md 11 as far
//! as they are typed.
//!
//! A script has one step a line:
//! - `+ WORDS` succeeds; `3 WORDS` is refused with that exit code in one line and writes nothing;
//! - `~ TEXT` was said by the step before;
//! - `= ACCOUNT AMOUNT HELD AVAILABLE`;
//! - `> KIND ACCOUNT AMOUNT, …` are the last entries of that kind in the journal, and `> KIND` says
//!   that there is none; `AMOUNT/HELD`, `active N` and `shadow CHARGED/HELD` say what else they
//!   change, `-` is the account of an entry without one;
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
    output: String,
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
        output: String::new(),
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

/// A journal entry as a script wants it: what is not said is not looked at.
struct Row {
    account: String,
    /// Amount, held, active, shadow, shadow held.
    deltas: [Option<i64>; 5],
}

impl Row {
    fn read(text: &str) -> Row {
        let mut words = text.split_whitespace();
        let account = words.next().unwrap().trim_start_matches('-').to_owned();
        let mut deltas = [None; 5];
        let mut take = |at: usize, text: &str| {
            let (first, second) = text
                .split_once('/')
                .map_or((text, None), |(a, b)| (a, Some(b)));
            deltas[at] = first.parse().ok();
            if let Some(second) = second {
                deltas[at + 1] = second.parse().ok();
            }
        };
        take(0, words.next().unwrap());
        while let (Some(word), Some(value)) = (words.next(), words.next()) {
            match word {
                "active" => take(2, value),
                "shadow" => take(3, value),
                other => panic!("{other} is no part of an entry"),
            }
        }
        Row { account, deltas }
    }

    fn fits(&self, (account, deltas): &(String, [i64; 5])) -> bool {
        let mut pairs = self.deltas.iter().zip(deltas);
        *account == self.account && pairs.all(|(want, is)| want.is_none_or(|want| want == *is))
    }
}

impl Play {
    #[track_caller]
    fn step(&mut self, line: &str) {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        match sign {
            "+" => self.done(rest),
            "~" => assert!(self.output.contains(rest), "no {rest:?} in {}", self.output),
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
        self.output = format!("{}{}", ran.stdout, ran.stderr);
        ran
    }

    #[track_caller]
    fn done(&mut self, line: &str) {
        let ran = self.type_it(line);
        assert_eq!(ran.exit, 0, "{line}: {}", self.output);
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
        assert_eq!(ran.exit, exit, "{line}: {}", self.output);
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
        let want: Vec<Row> = rows.split_terminator(',').map(Row::read).collect();
        let all = self.bank.deltas(kind);
        let from = if want.is_empty() {
            0
        } else {
            all.len().saturating_sub(want.len())
        };
        let last = &all[from..];
        let fits = last.len() == want.len() && want.iter().zip(last).all(|(w, got)| w.fits(got));
        assert!(fits, "{kind}: should be {rows}, is {last:?}");
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
