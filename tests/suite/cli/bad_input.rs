//! Bad input of every command: one line that says what is wrong, the right exit code, and no
//! journal entry.
//!
//! A new command gets its rows here: one line in `AMOUNTS` for every amount that it takes, one in
//! `WINDOWS` for every window, one in `NAMES` for every name that it gives, and in `MISTAKES`
//! what else can be wrong about it. `{…}` is put in by the tables.

use super::bad_input_after::MORE;
use crate::harness::Bank;

/// Where an amount is typed.
const AMOUNTS: &[&str] = &[
    "deposit chemistry {amount}",
    "withdraw chemistry {amount}",
    "deposit chemistry 5 --limit {amount}",
    "allocation set 2 --limit {amount}",
    "transfer chemistry physics {amount}",
    "refund done {amount}",
    "charge j -A chemistry -u amy --procs 1 --amount {amount}",
    "cycle add c -a chemistry --every month --amount {amount}",
];

/// What is no amount of a bank without decimals, and the exit code.
const AMOUNT_FORMS: &[(&str, i32)] = &[
    ("-5", 1),
    ("1.5", 1),
    ("99999999999999999999999", 1),
    ("9223372036854775808", 1),
    ("abc", 2),
    ("1e3", 2),
    ("1,000", 2),
    ("0x10", 2),
    ("--5", 2),
    ("1.2.3", 2),
    (".", 2),
    ("{empty}", 2),
    ("NaN", 2),
    ("½", 2),
];

/// Where a window is typed.
const WINDOWS: &[&str] = &[
    "deposit chemistry 5 {window}",
    "allocation set 2 {window}",
    "charge j -A chemistry -u amy --procs 1 {window}",
    "reserve j -A chemistry -u amy --procs 1 --wall 10 {window}",
];

const WINDOW_FORMS: &[(&str, i32)] = &[
    ("--start 2031-01-01 --end 2030-01-01", 1),
    ("--start 2031-01-01 --end 2031-01-01", 1),
    ("--start nonsense", 2),
    ("--end 2026-13-45", 2),
    ("--start {empty}", 2),
];

/// Where a name is given to something new.
const NAMES: &[&str] = &[
    "project add {name}",
    "user add {name}",
    "machine add {name}",
    "account add {name}",
    "key add {name} --role scheduler",
    "attr add {name}",
    "cycle add {name} -a chemistry --every month --amount 5",
];

/// What cannot be a name.
const NAME_FORMS: &[&str] = &["{empty}", "{long}", "{control}", "{feed}", "{blank}"];

/// Everything else: the command, its exit code, and a part of what it says.
const MISTAKES: &[(&str, i32, &str)] = &[
    // Names that are not there.
    ("balance nochem", 4, "nochem"),
    ("balance -u nobody", 4, "nobody"),
    ("balance -m nowhere", 4, "nowhere"),
    ("balance -a nofund", 4, "nofund"),
    ("deposit nochem 5", 4, "nochem"),
    ("withdraw nochem 5", 4, "nochem"),
    ("deposit chemistry 5 -i 999", 4, "999"),
    ("withdraw chemistry 5 -i 999", 4, "999"),
    ("quote --procs 1 --wall 5 -A nochem", 4, "nochem"),
    (
        "quote --procs 1 --wall 5 -A chemistry -u nobody",
        4,
        "nobody",
    ),
    (
        "quote --procs 1 --wall 5 -A chemistry -m nowhere",
        4,
        "nowhere",
    ),
    ("jobs nojob", 4, "nojob"),
    ("jobs -A nochem", 4, "nochem"),
    ("journal -A nochem", 4, "nochem"),
    ("journal -a nofund", 4, "nofund"),
    ("lien ls -A nochem", 4, "nochem"),
    ("project show nochem", 4, "nochem"),
    ("project set nochem --active no", 4, "nochem"),
    ("project rm nochem --yes", 4, "nochem"),
    ("project tree nochem", 4, "nochem"),
    ("project add child --parent nochem", 4, "nochem"),
    ("project add child --members nobody", 4, "nobody"),
    ("project members ls nochem", 4, "nochem"),
    ("project members add nochem amy", 4, "nochem"),
    ("project members add chemistry nobody", 4, "nobody"),
    ("project members rm nochem amy --yes", 4, "nochem"),
    ("user show nobody", 4, "nobody"),
    ("user set nobody --active no", 4, "nobody"),
    ("user rm nobody --yes", 4, "nobody"),
    ("user add new --default-project nochem", 4, "nochem"),
    ("machine show nowhere", 4, "nowhere"),
    ("machine set nowhere --active no", 4, "nowhere"),
    ("machine rm nowhere --yes", 4, "nowhere"),
    ("machine set colony --fallback nofund", 4, "nofund"),
    ("account show nofund", 4, "nofund"),
    ("account set nofund --priority 1", 4, "nofund"),
    ("account rm nofund --yes", 4, "nofund"),
    ("account add x --fallback nofund", 4, "nofund"),
    ("account add x --projects nochem", 4, "nochem"),
    ("account set chemistry --users nobody", 4, "nobody"),
    ("allocation ls -a nofund", 4, "nofund"),
    ("allocation show 999", 4, "999"),
    ("allocation set 999 --limit 5", 4, "999"),
    ("rate rm 999 --yes", 4, "999"),
    ("rate set VBR Processors 1 -m nowhere", 4, "nowhere"),
    ("key show nokey", 4, "nokey"),
    ("key set nokey --active no", 4, "nokey"),
    ("key rm nokey --yes", 4, "nokey"),
    ("explain {empty}", 4, "a name in the path is empty"),
    ("project show {empty}", 4, "a name in the path is empty"),
    // Names that documents of schedulers use for no value.
    ("project add NONE", 1, "NONE"),
    ("project add [NONE]", 1, "[NONE]"),
    ("user add [DEFAULT]", 1, "[DEFAULT]"),
    ("machine add NONE", 1, "NONE"),
    // Names that are there already.
    ("project add chemistry", 7, "chemistry"),
    ("user add amy", 7, "amy"),
    ("machine add colony", 7, "colony"),
    ("account add chemistry", 7, "chemistry"),
    ("key add moab", 7, "moab"),
    // What is missing, or means nothing.
    ("deposit chemistry", 2, "AMOUNT"),
    ("frobnicate", 2, "frobnicate"),
    ("balance --nonsense", 2, "--nonsense"),
    ("balance --columns nonsense", 2, "nonsense"),
    ("balance -O xml", 2, "xml"),
    ("balance --units furlongs", 2, "furlongs"),
    ("quote --procs 1 --wall 5 --units hours", 2, "--units"),
    ("deposit chemistry 5 --key {long}", 2, "255"),
    ("withdraw chemistry 0", 1, "bad amount"),
    ("withdraw chemistry 999999999", 3, "insufficient funds"),
    ("project set chemistry", 2, "nothing to change"),
    ("user set amy", 2, "nothing to change"),
    ("machine set colony", 2, "nothing to change"),
    ("account set chemistry", 2, "nothing to change"),
    ("allocation set 2", 2, "nothing to change"),
    ("project set chemistry --active perhaps", 2, "perhaps"),
    ("project set chemistry --mode nonsense", 2, "mode"),
    ("machine set colony --mode nonsense", 2, "--mode"),
    ("project set chemistry --parent chemistry", 1, "cycle"),
    ("machine set colony --flush-interval soon", 2, "soon"),
    ("user rm amy", 2, "not confirmed"),
    ("lien ls --state nonsense", 1, "state"),
    ("allocation ls --state nonsense", 1, "state"),
    ("allocation show abc", 2, "abc"),
    ("jobs --state nonsense", 1, "state"),
    ("jobs --limit 0", 1, "limit"),
    ("jobs --after nonsense", 1, "after"),
    ("journal --limit 0", 2, "limit"),
    ("journal --after nonsense", 1, "after"),
    ("journal --since nonsense", 2, "nonsense"),
    ("rate set XYZ Processors 1", 1, "kind"),
    ("rate set VBR Processors -1", 1, "bad rate"),
    ("rate set VBR Processors abc", 2, "abc"),
    ("rate set VBR Processors 0.0000000001", 1, "bad rate"),
    ("rate set VBR Processors 1 --per fortnight", 1, "per"),
    (
        "rate set VBR Processors 1 --from 2031-01-01 --until 2030-01-01",
        1,
        "bad window",
    ),
    ("key add new --role king", 1, "role"),
    (
        "key add new --secret-file /no/such/file",
        6,
        "/no/such/file",
    ),
    ("quote --procs many --wall 5", 2, "many"),
    ("quote --procs 1 --wall soon", 2, "soon"),
    (
        "quote --procs 1 --wall 99999999999 -A chemistry",
        2,
        "duration",
    ),
    (
        "quote --procs -4 --wall 600 -A chemistry -u amy",
        1,
        "negative",
    ),
    ("quote --procs 99999999999999999999 --wall 5", 2, "--procs"),
    ("quote --procs 1 --gres gpu --wall 5", 2, "NAME=VALUE"),
    (
        "quote --procs 1 --gres gpu=x --wall 5 -A chemistry",
        1,
        "gres",
    ),
    ("quote --procs 1", 2, "--wall"),
];

fn filled(word: &str) -> String {
    match word {
        "{empty}" => String::new(),
        "{long}" => "x".repeat(300),
        "{control}" => "a\u{1b}[31mb".to_owned(),
        "{feed}" => "a\nb".to_owned(),
        "{blank}" => " a".to_owned(),
        other => other.to_owned(),
    }
}

/// What is wrong with how a mistake was told; empty where nothing is.
fn mistake(bank: &Bank, line: &str, exit: i32, part: &str) -> Option<String> {
    let words: Vec<String> = line.split_whitespace().map(filled).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = bank.bank(&words);
    let mut lines = ran.stderr.lines();
    let first = lines.next().unwrap_or_default();
    let rest = lines.all(|line| line.starts_with("hint: ") || line.starts_with("request "));
    let good = ran.exit == exit
        && first.starts_with("bank: ")
        && rest
        && first.to_lowercase().contains(&part.to_lowercase())
        && !ran.stderr.contains('\u{1b}');
    (!good).then(|| {
        format!(
            "{line}: exit {} (not {exit}): {}{}",
            ran.exit, ran.stdout, ran.stderr
        )
    })
}

#[test]
fn every_command_reports_bad_input_in_one_line_and_writes_nothing() {
    let mut bank = Bank::new();
    let done = "charge done -A chemistry -u amy --procs 1 --duration 10";
    bank.bank_ok(&done.split_whitespace().collect::<Vec<_>>());
    let before = bank.transactions();
    let mut wrong: Vec<String> = Vec::new();
    let mut check = |table: &str, rows: Vec<(String, i32, &str)>| {
        for (line, exit, part) in rows {
            wrong.extend(mistake(&bank, &line, exit, part));
        }
        if bank.transactions() != before {
            wrong.push(format!("something of {table} was written"));
        }
    };
    let each = |commands: &[&str], place: &str, forms: &[(&str, i32)], part: &'static str| {
        let rows = commands.iter().flat_map(|command| {
            let row = |(form, exit): &(&str, i32)| (command.replace(place, form), *exit, part);
            forms.iter().map(row).collect::<Vec<_>>()
        });
        rows.collect::<Vec<_>>()
    };
    check("AMOUNTS", each(AMOUNTS, "{amount}", AMOUNT_FORMS, ""));
    check("WINDOWS", each(WINDOWS, "{window}", WINDOW_FORMS, ""));
    let names: Vec<(&str, i32)> = NAME_FORMS.iter().map(|form| (*form, 1)).collect();
    check("NAMES", each(NAMES, "{name}", &names, "name"));
    let rest = MISTAKES.iter().chain(MORE);
    check(
        "MISTAKES",
        rest.map(|(line, exit, part)| ((*line).to_owned(), *exit, *part))
            .collect(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    bank.verify();
}
