//! Random lines: mostly about a few jobs, so that steps meet each other.

mod registry;

use super::{SITES, Script};
use proptest::prelude::*;
use proptest::sample::select;
use registry::{registry, rules};

type Text = BoxedStrategy<String>;

/// Who asks, those of project P more often.
const BY: [&str; 27] = [
    "amy/P/colony",
    "amy/P/colony",
    "amy/P/colony",
    "amy/P/colony",
    "amy/P/colony",
    "amy/P/colony",
    "amy/P/blue",
    "amy/P/blue",
    "bob/P/colony",
    "bob/P/colony",
    "bob/-/colony",
    "dave/P/colony",
    "amy/N/colony",
    "amy/N/colony",
    "amy/T/blue",
    "amy/T/blue",
    "amy/X/colony",
    "amy/X/colony",
    "amy/W/blue",
    "amy/W/blue",
    "amy/W/blue",
    "amy/W/blue",
    "bob/TOP/colony",
    "amy/nosuch/blue",
    "amy/B/colony",
    "eve/P/blue",
    "bob/P/grey",
];

const ACCOUNTS: [&str; 28] = [
    "A",
    "A",
    "A",
    "A",
    "A",
    "B",
    "B",
    "B",
    "B",
    "C",
    "C",
    "D",
    "D",
    "E",
    "E",
    "F",
    "F",
    "Q",
    "Q",
    "Q",
    "N",
    "N",
    "T",
    "X",
    "X",
    "Z",
    "P",
    "#unbilled",
];

const WINDOWS: [&str; 11] = [
    "[,)",
    "[,)",
    "[,)",
    "[2026,T0+900)",
    "[2026,T0+900)",
    "[T0+300,T0+3000)",
    "[T0+300,T0+3000)",
    "[2026,2027)",
    "[2026,2027)",
    "[2026,)",
    "[,T0-100)",
];

/// Lists that an account may be given.
const LISTS: [&str; 14] = [
    "-p P",
    "-p P -u ANY",
    "-p P -u MEMBERS,-amy",
    "-p ANY,-N -u MEMBERS",
    "-p MEMBERS -u -bob -m -blue",
    "-p TOP/ -u ANY,-dave",
    "-p -P/ -u ANY",
    "-p P -u ANY -m MEMBERS",
    "-p ANY -u MEMBERS -m MEMBERS",
    "-p P -u dave,-MEMBERS -m colony",
    "-p P --class batch --qos -Premium",
    "-p P,N -u ANY --organization lab",
    "-p P --group staff",
    "-p P -u amy --zone Asia",
];

fn one(all: &'static [&'static str]) -> Text {
    select(all).prop_map(str::to_owned).boxed()
}

/// One of these behind a blank, or nothing so many times more often than each of them.
fn maybe(nothing: usize, all: &'static [&'static str]) -> Text {
    let mut choices = vec![String::new(); nothing];
    choices.extend(all.iter().map(|word| format!(" {word}")));
    select(choices).boxed()
}

fn account() -> Text {
    one(&ACCOUNTS)
}

/// One of the newest liens.
fn lien() -> Text {
    one(&["~0", "~0", "~0", "~1", "~1", "~2", "~3", "~5", "1", "99"])
}

/// Who does what: `ID by=WHO 2p 30s`; a job's id begins with its project, so that those of one never
/// mean another's.
fn job() -> Text {
    let number = prop_oneof![9 => Just(1), 2 => Just(2), 1 => Just(3)];
    (select(&BY[..]), number, usage())
        .prop_map(|(by, n, usage)| format!("{}{n} by={by} {usage}", project(by)))
        .boxed()
}

fn project(by: &str) -> &str {
    match by.split('/').nth(1) {
        Some("-") | None => "P",
        Some(project) => project,
    }
}

fn usage() -> Text {
    let seconds = prop_oneof![1 => 0..3_i64, 6 => 3..60_i64];
    let more = maybe(
        14,
        &[
            "qos=Premium",
            "qos=low",
            "class=batch",
            "group=staff",
            "Zone=Asia",
            "Power=3",
            "Power=x",
        ],
    );
    (select(&["1p", "2p", "3p", "3p"][..]), seconds, more)
        .prop_map(|(processors, seconds, more)| format!("{processors} {seconds}s{more}"))
        .boxed()
}

/// `ID at=MACHINE` of a job that there may be.
fn known_job() -> Text {
    let job = select(
        &[
            "P1", "P1", "P1", "P2", "P3", "N1", "T1", "X1", "W1", "nosuch1",
        ][..],
    );
    let machine = select(&["colony", "colony", "blue"][..]);
    (job, machine)
        .prop_map(|(job, machine)| format!("{job} at={machine}"))
        .boxed()
}

/// The same, or `ID` on whatever machine knows it.
fn past_job() -> Text {
    prop_oneof![1 => known_job(), 1 => one(&["P1", "P1", "P1", "P2", "X1", "W1", "N1"])].boxed()
}

fn money() -> Text {
    let windows = select(&WINDOWS[..]);
    let how = maybe(9, &["L=0", "L=20", "new", "past", "alone", "on=3", "on=5"]);
    let on = || maybe(16, &["on=2", "on=3", "on=5", "on=14"]);
    prop_oneof![
        5 => (account(), 0..60_i64, windows, how).prop_map(|(a, n, window, how)| {
            let window = if how.starts_with(" on") { "[,)" } else { window };
            format!("deposit {a} {n} {window}{how}")
        }),
        3 => (account(), 0..40_i64, on(), maybe(1, &["no-credit"]))
            .prop_map(|(a, n, on, how)| format!("withdraw {a} {n}{on}{how}")),
        4 => (account(), account(), 0..25_i64, on())
            .prop_map(|(a, b, n, on)| format!("transfer {a} {b} {n}{on}")),
        2 => (account(), -30..40_i64, on()).prop_map(|(a, n, on)| format!("adjust {a} {n}{on}")),
    ]
    .boxed()
}

fn hold() -> Text {
    let at = || {
        maybe(
            9,
            &[
                "ago=30",
                "ago=700",
                "nami",
                "resume",
                "nami ran=-40,-",
                "resume ran=-700,-5",
            ],
        )
    };
    let tid = || maybe(12, &["tid=t0", "tid=t1", "tid=t2", "tid=t3", "tid=t5"]);
    let when = maybe(
        12,
        &[
            "start=+300",
            "adds",
            "end=+500",
            "end=-5",
            "start=+400 end=+350",
            "hold=25",
            "hold=0",
        ],
    );
    let promise = maybe(4, &["tid", "guarantee", "tid uses=2", "cost-only"]);
    prop_oneof![
        4 => (job(), promise).prop_map(|(job, how)| {
            let (_, by) = job.split_once(' ').unwrap();
            format!("quote {by}{how}")
        }),
        2 => (job(), at(), tid(), maybe(1, &["promise"]))
            .prop_map(|(job, at, tid, how)| format!("create {job}{at}{tid}{how}")),
        1 => (job(), at()).prop_map(|(job, at)| format!("modify {job}{at}")),
        1 => known_job().prop_map(|job| format!("again {job}")),
        12 => (job(), at(), tid(), when)
            .prop_map(|(job, at, tid, when)| format!("reserve {job}{at}{tid}{when}")),
        3 => (select(&["delete", "delete", "end"][..]), known_job(), maybe(4, &["ago=30"]))
            .prop_map(|(verb, job, ago)| format!("{verb} {job}{ago}")),
        4 => (lien(), select(&["+5", "+500", "+2000", "-5"][..]))
            .prop_map(|(lien, end)| format!("lien extend {lien} {end}")),
        2 => lien().prop_map(|lien| format!("lien rm {lien}")),
    ]
    .boxed()
}

fn charge() -> Text {
    let terms = maybe(
        14,
        &[
            "total",
            "total",
            "total",
            "amount=7",
            "amount=30",
            "amount=5 total",
            "short=reject",
            "short=fallback",
            "short=debt",
            "window=-60,-20",
            "window=-40,+0",
            "window=-100,-50",
            "window=-40,-10 amount=9",
            "checked",
            "checked",
            "checked total",
            "checked amount=40",
            "checked ran=-20,+0",
            "checked 9000s",
            "checked 9000s total",
            "checked 9000s amount=90",
            "checked newest from=gold ran=-20,+0",
            "checked newest from=gold ran=-60,-10",
            "checked newest from=gold 9000s",
            "from=nami",
            "from=nami total",
            "from=slurm",
            "newest named",
            "named",
            "idle=300",
        ],
    );
    let at = maybe(7, &["ago=30", "ago=700"]);
    let tid = maybe(12, &["tid=t0", "tid=t1", "tid=t2"]);
    (job(), maybe(2, &["last", "pause"]), at, tid, terms)
        .prop_map(|(job, last, at, tid, terms)| format!("charge {job}{last}{at}{tid}{terms}"))
        .boxed()
}

/// A finished use; the same often comes twice.
fn used() -> Text {
    // Records of the same start amend each other, however much later they come.
    let ran = select(
        &[
            "-30,-10",
            "-30,-5",
            "-700,-20",
            "-,-",
            "-20,-",
            "T0-30,T0-10",
            "T0-30,T0-10",
            "T0-30,T0-5",
            "T0-30,T0-22",
        ][..],
    );
    let how = maybe(
        6,
        &[
            "ended=failed",
            "ended=removed",
            "ended=rejected",
            "ended=suspended",
            "ended=running",
            "exit=1",
            "cpu=7",
            "cpu=50",
            "from=pbs",
        ],
    );
    let by = select(
        &[
            "amy/P/colony",
            "amy/P/colony",
            "bob/P/colony",
            "amy/N/colony",
            "amy/X/colony",
            "amy/W/colony",
            "amy/P/blue",
        ][..],
    );
    // A record of P1 comes again in the name of somebody else.
    let id = prop_oneof![6 => Just(None), 1 => Just(Some("P"))];
    (
        (by, id),
        select(&["1p", "2p"][..]),
        select(&["15s", "60s"][..]),
        ran,
        how,
    )
        .prop_map(|((by, id), processors, limit, ran, how)| {
            let id = id.unwrap_or_else(|| project(by));
            format!("usage {id}1 by={by} {processors} {limit} ran={ran}{how}")
        })
        .boxed()
}

fn after() -> Text {
    let how = maybe(
        6,
        &[
            "part=5",
            "part=12",
            "part=60",
            "of=A",
            "of=B",
            "until=+5000",
        ],
    );
    prop_oneof![
        6 => (past_job(), how).prop_map(|(job, how)| format!("refund {job}{how}")),
        9 => (1..6_usize, maybe(2, &["debt"])).prop_map(|(back, debt)| format!("undo {back}{debt}")),
        1 => (40..90_i64, maybe(2, &["debt"])).prop_map(|(tx, debt)| format!("undo tx={tx}{debt}")),
        2 => (select(&["W1", "nosuch1", "W1", "P1"][..]), select(&["P", "P", "X", "W", "S"][..]))
            .prop_map(|(job, project)| format!("settle {job} {project}")),
    ]
    .boxed()
}

fn reshape() -> Text {
    let window = maybe(
        1,
        &[
            "end=+100",
            "end=+1000",
            "end=none",
            "end=-50",
            "start=+200",
            "start=none",
            "L=20",
            "L=0",
        ],
    );
    let account = || select(&["A", "B", "C", "D", "E", "F", "Q", "N", "X", "Z"][..]);
    let place = maybe(
        1,
        &[
            "parent=Q share=40",
            "parent=A overflow=any",
            "parent=none",
            "share=70",
            "overflow=no",
            "overflow=any",
            "priority=2",
            "priority=-1",
            "fallback=F",
            "fallback=none",
            "fallback=E",
            "discrete=on",
            "discrete=off",
            "parent=Q overflow=yes",
        ],
    );
    prop_oneof![
        4 => (2..15_i64, window).prop_map(|(id, window)| format!("allocation set {id}{window}")),
        2 => (2..15_i64, maybe(1, &["force"])).prop_map(|(id, f)| format!("allocation rm {id}{f}")),
        1 => (1..20_i64).prop_map(|id| format!("allocation fix {id}")),
        4 => (account(), place).prop_map(|(a, place)| format!("account set {a}{place}")),
        4 => (account(), one(&LISTS)).prop_map(|(a, lists)| format!("account set {a} ; {lists}")),
        1 => one(&LISTS).prop_map(|lists| format!("account add Z ; {lists}")),
        3 => (account(), maybe(1, &["force", "force"])).prop_map(|(a, f)| format!("account rm {a}{f}")),
        3 => account().prop_map(|a| format!("account back {a}")),
    ]
    .boxed()
}

/// A command.
pub(crate) fn step() -> Text {
    prop_oneof![
        6 => money(),
        9 => hold(),
        10 => charge(),
        4 => used(),
        6 => after(),
        3 => reshape(),
        2 => registry(),
        2 => rules(),
    ]
    .boxed()
}

fn any_step() -> Text {
    let ticks = prop_oneof![
        6 => select(&[1_i64, 60, 299, 300][..]),
        6 => select(&[601_i64, 650, 900][..]),
        1 => select(&[4000_i64, 7 * 86_400, 40 * 86_400][..]),
    ];
    prop_oneof![
        20 => step(),
        4 => ticks.prop_map(|seconds| format!("tick {seconds}")),
        1 => (1..6_usize).prop_map(|back| format!("repeat {back}")),
        1 => (1..6_usize).prop_map(|back| format!("reuse {back}")),
        1 => Just("reopen".to_owned()),
    ]
    .boxed()
}

/// Random scripts.
pub(crate) fn script(longest: usize) -> impl Strategy<Value = Script> {
    let site = prop_oneof![3 => Just(0), 3 => 1..SITES.len()];
    let steps = prop::collection::vec(any_step(), 1..longest);
    (site, steps).prop_map(|(site, steps)| Script { site, steps })
}
