//! Everything that happens to a file, in any order: each job is taken once.

use super::*;

/// A small generator: the same seed gives the same file's life.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Moves the numbers of rotated files on, as logrotate does; some are compressed.
fn make_room(f: &Follower, chance: &mut Chance) {
    for number in (1..20).rev() {
        for ending in ["", ".gz"] {
            let old = format!("acct.{number}{ending}");
            if f.path(&old).exists() {
                f.rename(&old, &format!("acct.{}{ending}", number + 1));
            }
        }
    }
    if f.path("acct.2").exists() && chance.below(2) == 0 {
        f.pack("acct.2", "acct.2.gz");
    }
}

fn life(seed: u64, can_restart: bool) {
    let mut chance = Chance(seed);
    let mut f = Follower::new("acct", "pbs", Options::default());
    let (mut written, mut waiting) = (1, String::new());
    // Files rotated before the first start are not read.
    f.append("acct", &job(0));
    f.look().unwrap();
    let mut story = Vec::new();
    for _ in 0..60 {
        let event = chance.below(10);
        story.push((event, written));
        match event {
            0..=3 => {
                let more = usize::try_from(chance.below(40)).unwrap() + 1;
                waiting.push_str(&jobs(written..written + more));
                written += more;
                // Writers flush where their buffer ends, not where a line does.
                let kept = usize::try_from(chance.below(30)).unwrap();
                let cut = waiting.len() - kept.min(waiting.len());
                f.append("acct", &waiting[..cut]);
                waiting.drain(..cut);
            }
            4..=6 => {
                f.look().unwrap();
            }
            7 if f.path("acct").exists() => {
                f.append("acct", &std::mem::take(&mut waiting));
                make_room(&f, &mut chance);
                f.rename("acct", "acct.1");
            }
            8 if f.path("acct").exists() => {
                f.append("acct", &std::mem::take(&mut waiting));
                f.settle();
                make_room(&f, &mut chance);
                fs::copy(f.path("acct"), f.path("acct.1")).unwrap();
                f.date("acct.1");
                fs::write(f.path("acct"), "").unwrap();
                f.date("acct");
            }
            9 if can_restart => f.restart(),
            _ => f.now_us += SETTLE_US,
        }
    }
    f.append("acct", &waiting);
    (0..3).for_each(|_| f.settle());
    let ids = f.ids();
    let counts = counts(&ids);
    let all = expected(0..written);
    let missing: Vec<&String> = all
        .iter()
        .filter(|id| !counts.contains_key(id.as_str()))
        .collect();
    assert_eq!(
        missing, [""; 0],
        "seed {seed}: missing of {written} after {story:?}"
    );
    assert_eq!(counts.len(), written, "seed {seed}");
    let often: Vec<_> = counts.iter().filter(|(_, count)| **count != 1).collect();
    assert!(often.is_empty(), "seed {seed}: {often:?}");
}

#[test]
fn each_job_is_taken_once_whatever_happens() {
    for seed in 1..=30 {
        life(seed * 0x9e37_79b9, true);
        life(seed * 0x85eb_ca6b, false);
    }
}
