//! Seeded mutations of every sample: no reader panics, every line is accounted for, no record grows
//! beyond its limits, and none takes long.
//!
//! `BANK_FUZZ_ROUNDS` says how many mutations of each sample (100 without it, 20,000 for the long run),
//! `BANK_FUZZ_SECONDS` after how long it is enough, `BANK_FUZZ_SEED` where the chance begins.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use bankd_ingest::job::RAW_MAX;
use bankd_ingest::{Found, Number, Options, Record, Summary, formats};
use serde_json::Value;

use super::expected::format_of;
use super::setting;
use crate::harness::{shared_folder, skip};

/// Most of a sample that is mutated at once, in bytes: a run of lines, another one each time.
const WINDOW: usize = 3 << 10;

/// The longest that a reader may take for so little.
const SLOW: Duration = Duration::from_secs(20);

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
const PIECES: [&[u8]; 31] = [
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
    b"-",
    b"0",
    b"9223372036854775807",
    b"99999999999999999999999999999999999999999",
    b"1e30",
    b"NaN",
    b"\xff\xfe",
    "☃".as_bytes(),
    b"123_[1-999]",
    b"1970-01-01T00:00:00",
    b"9999-12-31T23:59:59",
    b"Unknown",
    b"!\n ",
    b"acct",
    b"\x1f",
];

/// Texts of forms that no sample of the field has: what they are, their format, and one of them.
const OWN: [(&str, &str, &str); 3] = [
    (
        "jobs as XML",
        "moab-events",
        "<Event type=\"jobend\"><job JobID=\"7\" User=\"amy\" Account=\"chem\" StartTime=\"1700000000\" \
         CompletionTime=\"1700000060\" ReqProcs=\"8\" StatPSUtl=\"3.5\"/></Event>\n\
         <Job><JobId>9</JobId><StartTime>1700000000</StartTime><EndTime>1700000090</EndTime>\
         <TaskGroup><TaskCount>3</TaskCount><Processors>2</Processors></TaskGroup></Job>\n",
    ),
    (
        "jobs as pairs",
        "moab-events",
        "01:00:10 1700000060:4 job moab.1 JOBEND UNAME=amy;ACCOUNT=\"a b\";TASKS=4;DPROCS=2;\
         STARTTIME=1700000000;COMPLETETIME=1700000060;WCLIMIT=1:00:00\n\
         moab.2 UNAME=amy STATE=Completed TASKS=4 STARTTIME=1700000000 COMPLETETIME=1700000060\n",
    ),
    (
        "metrics put together",
        "prometheus",
        r#"[{"metric":{"namespace":"n","pod":"p","resource":"cpu"},"values":[[0,"0.5"],[60,"1"]]},
        {"metric":{"namespace":"n","pod":"p","resource":"memory"},"values":[[0,"1024"]]},
        {"metric":{"__name__":"kube_pod_labels","namespace":"n","pod":"p","label_a":"b"},"values":[[0,"1"]]}]"#,
    ),
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
    let is_filled = |line: &&[u8]| line.iter().any(|b| !b.is_ascii_whitespace());
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
    Some(lines.filter(is_filled).filter(is_record).count())
}

fn check(key: &str, format: &str, options: &Options, name: &str, bytes: &[u8]) {
    let (mut records, mut counted) = (0, 0);
    let mut summary = Summary::by_day();
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
                let sizes = [job.procs, job.nodes, job.gpus, job.memory_bytes, job.cpu];
                let sizes = sizes.into_iter().flatten().chain([job.wall]);
                let sums = job.quantities.iter().map(|(_, value)| *value);
                // What is below zero would give money back.
                assert!(
                    !sizes.chain(sums).any(Number::is_negative),
                    "{key}: {job:?}"
                );
            }
        }
        records += 1;
        if matches!(record.found, Found::Jobs(_)) {
            counted += record.counts;
        }
        summary.take(&record)
    };
    let mut reader = (formats::named(format).unwrap().reader)(options).unwrap();
    let mut input = bytes;
    let read = reader.file(name, &mut input, &mut sink);
    let extra = match read.and_then(|()| reader.finish(&mut sink)) {
        Ok(extra) => extra,
        Err(e) => {
            assert_eq!(e.kind(), io::ErrorKind::InvalidData, "{key}: {e}");
            assert!(!e.to_string().contains('\n'), "{key}: {e}");
            return;
        }
    };
    summary.close(extra).unwrap();
    let shown = summary.shown();
    let skipped: u64 = shown.skipped.values().sum();
    assert_eq!(shown.records, counted + skipped, "{key}: {shown:?}");
    assert_eq!(shown.jobs, shown.identities + shown.replaced, "{key}");
    assert!(summary.duplicates() <= shown.replaced, "{key}");
    if shown.replaced == 0 && !summary.has_overflown() {
        assert_eq!(shown.totals, shown.totals_after_identity, "{key}");
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
        let mut files = bankd_ingest::open::files(path).unwrap().files;
        files.retain(|file| !file.ends_with("query_range-cpu-2024-05-01.json"));
        files.swap_remove(0)
    } else {
        path.to_owned()
    };
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let bytes = std::fs::read(&file).unwrap();
    let document = matches!(bytes.first(), Some(b'{' | b'[')).then_some(&bytes);
    let document = document.and_then(|bytes| serde_json::from_slice::<Value>(bytes).ok());
    // Most of a document that people can read is white space.
    (
        name,
        document.map_or(bytes, |document| document.to_string().into_bytes()),
    )
}

/// The first line of a sample, which may name the columns, and a run of lines from anywhere in it.
fn window<'a>(sample: &'a [u8], chance: &mut Chance) -> Cow<'a, [u8]> {
    let ends = |byte: &u8| *byte == b'\n';
    let Some(first) = sample.iter().position(ends).map(|end| end + 1) else {
        return Cow::Borrowed(sample);
    };
    if sample.len() <= WINDOW {
        return Cow::Borrowed(sample);
    }
    let rest = &sample[first..];
    let at = chance.below(rest.len());
    let begin = rest[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    let most = (begin + WINDOW).min(rest.len());
    let end = rest[begin..most].iter().rposition(ends);
    let end = end.map_or(most, |end| begin + end + 1);
    Cow::Owned([&sample[..first], &rest[begin..end]].concat())
}

#[test]
fn no_mutation_of_a_sample_upsets_a_reader() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let rounds: u64 = setting("BANK_FUZZ_ROUNDS").unwrap_or(100);
    let most = setting("BANK_FUZZ_SECONDS").map(Duration::from_secs);
    let seed: u64 = setting("BANK_FUZZ_SEED").unwrap_or(20_261_122);
    eprintln!("{rounds} mutations of each sample, seed {seed}");
    let data = shared.join("data");
    let text = std::fs::read_to_string(data.join("expected.json")).unwrap();
    let Value::Object(entries) = serde_json::from_str(&text).unwrap() else {
        panic!("expected.json is no object");
    };
    let shared = entries.keys().map(|key| {
        let (format, options) = format_of(key);
        let (name, bytes) = sample(&data.join(key));
        (key.as_str(), format, options, name, bytes)
    });
    let own = OWN.map(|(key, format, text)| {
        let (options, bytes) = (Options::default(), text.as_bytes().to_vec());
        (key, format, options, key.to_owned(), bytes)
    });
    let mut samples = Vec::new();
    for (number, (key, format, options, name, bytes)) in (1..).zip(shared.chain(own)) {
        check(key, format, &options, &name, &bytes);
        let chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
        samples.push((key, format, options, name, bytes, chance));
    }
    let (mut slowest, mut done) = ((Duration::ZERO, String::new()), 0);
    let begun = Instant::now();
    while done < rounds && most.is_none_or(|most| begun.elapsed() < most) {
        for (key, format, options, name, bytes, chance) in &mut samples {
            let (key, format, options, name) = (*key, *format, &*options, name.as_str());
            let mutation = mutated(&window(bytes, chance), chance);
            let begun = Instant::now();
            let checked = std::panic::catch_unwind(|| {
                check(key, format, options, name, &mutation);
            });
            assert!(checked.is_ok(), "{key}: round {done} of seed {seed}");
            let took = begun.elapsed();
            if took > slowest.0 {
                slowest = (took, format!("{key}: round {done}"));
            }
        }
        done += 1;
    }
    eprintln!("{done} rounds, the slowest: {slowest:?}");
    assert!(slowest.0 < SLOW, "{slowest:?} of seed {seed}");
}
