//! Seeded mutations of every sample: no reader panics, every line is accounted for, and no record
//! grows beyond its limits.
//!
//! `BANK_FUZZ_ROUNDS` says how many mutations of each sample (40 without it, 20,000 for the long run),
//! `BANK_FUZZ_SEED` where the chance begins; both are printed.

use std::io;
use std::path::Path;

use bankd::ingest::job::RAW_MAX;
use bankd::ingest::{Found, Options, Record, formats};
use serde_json::Value;

use super::expected::asked;
use super::setting;
use crate::harness::{shared_folder, skip};

/// Most of a sample that is mutated, in bytes.
const SAMPLE_MAX: usize = 12 << 10;

/// Jobs that one line may stand for.
const JOBS_MAX: usize = 100_000;

/// Numbers that look random and come again with their seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit.max(1)
    }
}

/// What is put into a sample: what means something in one of the formats.
const PIECES: [&[u8]; 30] = [
    b"\n",
    b"\r\n",
    b"\0",
    b"\"",
    b"\"\"",
    b"|",
    b":",
    b";",
    b",",
    b" ",
    b"=",
    b"[",
    b"]",
    b"{",
    b"}",
    b"-1",
    b"0",
    b"9223372036854775807",
    b"99999999999999999999999999999999999999999",
    b"1e30",
    b"NaN",
    b"\xff\xfe",
    "☃".as_bytes(),
    b"123_[1-99999]",
    b"1970-01-01T00:00:00",
    b"9999-12-31T23:59:59",
    b"Unknown",
    b"!\n ",
    b"acct",
    b"\x1f",
];

fn mutated(sample: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=chance.below(8) {
        let at = chance.below(bytes.len() + 1);
        let span = chance.below(40).min(bytes.len() - at);
        match chance.below(6) {
            0 => {
                bytes.drain(at..at + span);
            }
            1 => {
                let piece = PIECES[chance.below(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            2 => {
                let piece = PIECES[chance.below(PIECES.len())];
                bytes.splice(at..at + span, piece.iter().copied());
            }
            3 if at < bytes.len() => bytes[at] = u8::try_from(chance.below(256)).unwrap(),
            4 => {
                let copied = bytes[at..at + span].to_vec();
                let to = chance.below(bytes.len() + 1);
                bytes.splice(to..to, copied);
            }
            _ if chance.below(10) == 0 => bytes.truncate(at),
            _ => {}
        }
    }
    bytes
}

/// Lines that a reader must account for, where each line of the format is a record of its own.
fn records_of_lines(format: &str, bytes: &[u8]) -> Option<usize> {
    let lines = bytes
        .split(|b| *b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let says = |line: &&[u8]| line.iter().any(|b| !b.is_ascii_whitespace());
    let comment: &[u8] = match format {
        "sge" | "gridware-json" | "maui" | "moab-events" => b"#",
        "swf" => b";",
        "pbs" | "htcondor-apel" | "sacct-keyvalue" | "slurm-jobcomp" => b"",
        _ => return None,
    };
    let is_record = |line: &&[u8]| {
        let is_comment = !comment.is_empty() && line.starts_with(comment);
        let is_short = format.starts_with(['s', 'g']) && comment == b"#" && line.len() <= 1;
        !is_comment && !is_short
    };
    Some(lines.filter(says).filter(is_record).count())
}

fn check(key: &str, format: &str, options: &Options, name: &str, bytes: &[u8]) {
    let mut records = 0;
    let mut sink = |record: Record| {
        assert!(
            record.raw.len() <= RAW_MAX,
            "{key}: {} bytes raw",
            record.raw.len()
        );
        if let Found::Jobs(jobs) = &record.found {
            assert!(
                (1..=JOBS_MAX).contains(&jobs.len()),
                "{key}: {} jobs",
                jobs.len()
            );
            for job in jobs {
                assert!(job.start_us <= job.end_us, "{key}: {job:?}");
                assert!(!job.wall.is_negative(), "{key}: {job:?}");
            }
        }
        records += 1;
        Ok(())
    };
    let mut reader = (formats::named(format).unwrap().reader)(options).unwrap();
    let mut input = bytes;
    let read = reader.file(name, &mut input, &mut sink);
    if let Err(e) = read.and_then(|()| reader.finish(&mut sink)) {
        assert_eq!(e.kind(), io::ErrorKind::InvalidData, "{key}: {e}");
        assert!(!e.to_string().contains('\n'), "{key}: {e}");
        return;
    }
    if let Some(lines) = records_of_lines(format, bytes) {
        // A first line of names is no record of SWF.
        let spare = usize::from(format == "swf");
        assert!(
            records <= lines && lines <= records + spare,
            "{key}: {records} records of {lines} lines"
        );
    }
}

fn sample(path: &Path) -> (String, Vec<u8>) {
    let file = if path.is_dir() {
        let mut files = bankd::ingest::open::files(path).unwrap();
        files.retain(|file| !file.ends_with("query_range-cpu-2024-05-01.json"));
        files.swap_remove(0)
    } else {
        path.to_owned()
    };
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let mut bytes = std::fs::read(&file).unwrap();
    let is_document = matches!(bytes.first(), Some(b'{' | b'['));
    if bytes.len() > SAMPLE_MAX && !is_document {
        let end = bytes[..SAMPLE_MAX].iter().rposition(|b| *b == b'\n');
        bytes.truncate(end.map_or(SAMPLE_MAX, |end| end + 1));
    }
    (name, bytes)
}

#[test]
fn no_mutation_of_a_sample_upsets_a_reader() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let rounds: u64 = setting("BANK_FUZZ_ROUNDS").unwrap_or(40);
    let seed: u64 = setting("BANK_FUZZ_SEED").unwrap_or(20_261_122);
    eprintln!("{rounds} mutations of each sample, seed {seed}");
    let data = shared.join("data");
    let text = std::fs::read_to_string(data.join("expected.json")).unwrap();
    let Value::Object(entries) = serde_json::from_str(&text).unwrap() else {
        panic!("expected.json is no object");
    };
    for (number, key) in (1..).zip(entries.keys()) {
        let (format, options) = asked(key);
        let (name, bytes) = sample(&data.join(key));
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
        check(key, format, &options, &name, &bytes);
        for round in 0..rounds {
            let mutation = mutated(&bytes, &mut chance);
            let checked = std::panic::catch_unwind(|| {
                check(key, format, &options, &name, &mutation);
            });
            assert!(checked.is_ok(), "{key}: round {round} of seed {seed}");
        }
    }
}
