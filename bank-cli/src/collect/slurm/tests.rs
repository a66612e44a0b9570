use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::*;
use crate::config::collect::Collect;

const T0: i64 = 1_767_225_600_000_000;
const HOUR: i64 = 3_600_000_000;

/// A queue, and a program in the place of `sacct`.
struct World {
    folder: tempfile::TempDir,
    queue: Queue,
    slurm: Slurm,
}

impl World {
    /// `script` is what the program does; `$F` is a folder of its own, `$HEADER` the columns.
    fn new(script: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sacct");
        // The program is written by another process: one of our own that forks meanwhile would keep it
        // open for writing.
        let text = format!(
            "#!/bin/sh\nF={}\necho \"$TZ $*\" >>$F/calls\nfor a; do case $a in --delimiter=*) \
             d=${{a#--delimiter=}};; *,NodeList,JobName) c=$a;; esac; done\n\
             HEADER=$(printf %s \"$c\" | sed \"s/,/$d/g\")\n{script}\n",
            folder.path().display()
        );
        let draft = folder.path().join("draft");
        fs::write(&draft, text).unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
        let copied = Command::new("cp")
            .arg(&draft)
            .arg(&program)
            .status()
            .unwrap();
        assert!(copied.success());
        let toml = format!(
            "folder = \"/x\"\n[slurm]\nsacct = {program:?}\nstart = \"2026-01-01\"\n{more}\n\
             [[slurm.clusters]]\nname = \"colony\"\nmachine = \"m\"\n"
        );
        let settings: Collect = toml::from_str(&toml).unwrap();
        let queue = Queue::open(&folder.path().join("queue"), 1 << 30)
            .unwrap()
            .unwrap();
        Self {
            folder,
            queue,
            slurm: Slurm::new(settings.slurm.unwrap()),
        }
    }

    fn fetch(&mut self, position: Option<i64>, now_us: i64) -> Result<Next, Failure> {
        self.slurm.fetch(&self.queue, "colony", position, now_us)
    }

    /// From and until of what waits, with the bytes.
    fn batches(&self) -> Vec<(String, String, String)> {
        let waiting = self.queue.list().unwrap();
        let text = |batch| {
            let mut text = String::new();
            self.queue
                .body(batch)
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            text
        };
        waiting
            .iter()
            .map(|one| (one.head.from.clone(), one.head.until.clone(), text(one)))
            .collect()
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }
}

const ONE: &str = "echo \"$HEADER\"; echo job";

#[test]
fn windows_touch_and_read_the_overlap_again() {
    let mut world = World::new(ONE, "window = \"6h\"\noverlap = \"1h\"");
    let now = T0 + 10 * HOUR;
    assert!(matches!(world.fetch(None, now), Ok(Next::Batch(_))));
    world.fetch(Some(T0 + 6 * HOUR), now).unwrap();
    assert_eq!(world.fetch(Some(now), now).unwrap(), Next::UpToDate);
    let batches = world.batches();
    let spans: Vec<_> = batches
        .iter()
        .map(|(from, to, _)| (&from[11..16], &to[11..16]))
        .collect();
    assert_eq!(spans, [("00:00", "06:00"), ("05:00", "10:00")]);
    assert!(batches[0].2.ends_with("JobName\njob\n"), "{}", batches[0].2);
    let calls = world.calls();
    assert!(
        calls[0].starts_with("UTC --allusers --parsable2 --duplicates"),
        "{}",
        calls[0]
    );
    for part in [
        "--clusters colony",
        "--starttime 2026-01-01T00:00:00 --endtime 2026-01-01T06:00:00",
        "--allocations",
        "--delimiter=~",
    ] {
        assert!(calls[0].contains(part), "{part}: {}", calls[0]);
    }
    let head = &world.queue.list().unwrap()[0].head;
    assert_eq!(
        (head.source.as_str(), head.format.as_str()),
        ("slurm:colony", "sacct")
    );
    assert_eq!(head.delimiter.as_deref(), Some("\u{241f}"));
    assert_eq!(head.machine.as_deref(), Some("m"));
    // Another delimiter for each call.
    let delimiter = |call: &str| call.split("--delimiter=").nth(1).unwrap()[..14].to_owned();
    assert_ne!(delimiter(&calls[0]), delimiter(&calls[1]));
    let header = COLUMNS.replace(',', "\u{241f}");
    assert!(batches[0].2.starts_with(&header), "{}", batches[0].2);
}

/// A name with line feeds and the delimiter of the manual is one name.
#[test]
fn a_line_feed_in_a_name_makes_no_record() {
    let forged = "999\u{241f}999\u{241f}colony";
    let script = format!(
        "echo \"$HEADER\"; echo \"7$d\"\"x\"; echo '{forged}'; echo '{forged}'; echo \"8$d\"y"
    );
    let mut world = World::new(&script, "");
    world.fetch(None, T0 + HOUR).unwrap();
    let body = &world.batches()[0].2;
    let records = body.lines().skip(1).collect::<Vec<_>>();
    let forged = forged.replace('\u{241f}', " ");
    let name = format!("7\u{241f}x {forged} {forged}");
    assert_eq!(records, [name.as_str(), "8\u{241f}y"]);
}

#[test]
fn steps_are_requested_where_the_site_wants_them() {
    let mut world = World::new(ONE, "steps = true");
    world.fetch(None, T0 + HOUR).unwrap();
    let call = &world.calls()[0];
    assert!(call.contains("Elapsed,TotalCPU,ExitCode"), "{call}");
    assert!(!call.contains("--allocations"), "{call}");
}

#[test]
fn a_call_that_fails_leaves_nothing() {
    for (script, wanted) in [
        (
            "echo \"$HEADER\"; echo half; echo 'sacct: error: no database' >&2; exit 1",
            "no database",
        ),
        ("echo 'JobID|User'", "not the columns asked for"),
        ("exit 0", "not the columns asked for"),
    ] {
        let mut world = World::new(script, "");
        let failure = world.fetch(None, T0 + HOUR).unwrap_err();
        assert!(failure.what.contains(wanted), "{}", failure.what);
        assert!(world.batches().is_empty(), "{script}");
    }
    let mut world = World::new(ONE, "");
    world.slurm.settings.sacct = PathBuf::from("/no/such/sacct");
    assert!(
        world
            .fetch(None, T0 + HOUR)
            .unwrap_err()
            .what
            .contains("/no/such/sacct")
    );
}

#[test]
fn a_window_that_gives_too_much_is_halved() {
    // Endless for more than three hours, one job else.
    let script = "case \"$*\" in *'--endtime 2026-01-01T0'[0-3]*) echo \"$HEADER\"; echo job;; \
                  *) echo \"$HEADER\"; while :; do echo job job job job job job job job job; done;; esac";
    let mut world = World::new(script, "window = \"12h\"\nbatch_mib = 1");
    world.fetch(None, T0 + 20 * HOUR).unwrap();
    let spans: Vec<_> = world.batches().into_iter().map(|(_, to, _)| to).collect();
    assert_eq!(spans, ["2026-01-01T03:00:00Z"]);
    assert_eq!(world.calls().len(), 3, "12, 6 and 3 hours");
}

#[test]
fn too_much_in_the_least_window_is_reported() {
    let script = "echo \"$HEADER\"; while :; do echo job job job job job job job job job job; done";
    let mut world = World::new(script, "window = \"2m\"\nbatch_mib = 1");
    let failure = world.fetch(None, T0 + HOUR).unwrap_err();
    assert!(failure.what.contains("gives too much"), "{}", failure.what);
    assert!(world.batches().is_empty());
    assert_eq!(world.calls().len(), 2);
}

#[test]
fn a_program_that_hangs_is_given_up() {
    let mut world = World::new(
        "echo \"$HEADER\"; while :; do :; done",
        "window = \"1m\"\ntimeout = \"1\"",
    );
    let failure = world.fetch(None, T0 + HOUR).unwrap_err();
    assert!(failure.what.contains("longer than 1 s"), "{}", failure.what);
    assert!(world.batches().is_empty());
}
