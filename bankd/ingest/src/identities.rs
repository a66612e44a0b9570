//! Finds repeated jobs of a source, for any number of jobs in constant memory.
//!
//! Jobs are distributed by their identity into parts. Each part has a small buffer; the rest goes
//! into an unnamed temporary file. In the end one part after the other is read back, in the order
//! of its jobs.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher, RandomState};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use super::job::Job;
use super::number::Number;
use super::tally::Tally;
use super::text::object_id;

/// Parts; one of them is in memory at a time, so that 160 million jobs need some 60 MiB.
const PARTS: usize = 256;

/// Memory buffer of a part, in bytes.
const BUFFER: usize = 16 << 10;

/// Bytes of an identity.
const ID: usize = 16;

/// The jobs of a source, by identity: id and start (`collectors.md` 0.1).
#[derive(Debug, Default)]
pub(super) struct Identities {
    /// Two keyed hashes of 64 bits. Their keys are random for each run, so that no input can force
    /// collisions; among 160 million jobs two collide by accident once in 10^22 runs.
    hashes: [RandomState; 2],
    body: Vec<u8>,
    parts: Vec<Part>,
    spilled: Option<File>,
    length: u64,
}

#[derive(Debug, Default)]
struct Part {
    buffer: Vec<u8>,
    /// Where in the file its earlier entries are: begin and length.
    extents: Vec<(u64, usize)>,
}

/// Result with each identity counted once, in its last version.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// How many there are.
    pub(super) identities: u64,
    /// Repeated jobs with equal numbers.
    pub(super) duplicates: u64,
    /// Sums of the replaced versions.
    pub(super) replaced: Tally,
    /// A sum left the range of exact numbers.
    pub(super) has_overflown: bool,
}

impl Identities {
    /// Adds a job; these are the numbers of its quantity names.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub(super) fn add(&mut self, places: &[usize], job: &Job) -> io::Result<()> {
        if self.parts.is_empty() {
            self.parts.resize_with(PARTS, Part::default);
        }
        let id = self.identity(job);
        self.body.clear();
        put(&mut self.body, job.end_us.into());
        for (place, (_, value)) in places.iter().zip(&job.quantities) {
            let (units, decimals) = value.parts();
            put(&mut self.body, length(*place));
            put(&mut self.body, decimals.into());
            put(&mut self.body, units);
        }
        let part = id.first().copied().map_or(0, usize::from);
        let Some(part) = self.parts.get_mut(part) else {
            return Ok(());
        };
        part.buffer.extend_from_slice(&id);
        put(&mut part.buffer, length(self.body.len()));
        part.buffer.extend_from_slice(&self.body);
        if part.buffer.len() < BUFFER {
            return Ok(());
        }
        if self.spilled.is_none() {
            self.spilled = Some(tempfile::tempfile()?);
        }
        if let Some(file) = &mut self.spilled {
            file.write_all(&part.buffer)?;
            part.extents.push((self.length, part.buffer.len()));
            let grown = u64::try_from(part.buffer.len()).unwrap_or(u64::MAX);
            self.length = self.length.saturating_add(grown);
            part.buffer.clear();
        }
        Ok(())
    }

    /// Id and start in few bytes: two jobs of one source with equal ones are one.
    fn identity(&self, job: &Job) -> [u8; ID] {
        let mut id = [0; ID];
        let own_id = object_id(&job.id);
        let halves = id.as_chunks_mut::<8>().0;
        for (half, state) in halves.iter_mut().zip(&self.hashes) {
            let mut hash = state.build_hasher();
            hash.write_i64(job.start_us);
            hash.write(own_id.as_bytes());
            *half = hash.finish().to_le_bytes();
        }
        id
    }

    /// The final result.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(super) fn finish(&mut self) -> io::Result<Distinct> {
        let mut found = Distinct::default();
        for part in std::mem::take(&mut self.parts) {
            let mut bytes = Vec::new();
            if let Some(file) = &mut self.spilled {
                for (begin, length) in part.extents {
                    file.seek(SeekFrom::Start(begin))?;
                    let length = u64::try_from(length).unwrap_or(u64::MAX);
                    file.take(length).read_to_end(&mut bytes)?;
                }
            }
            bytes.extend_from_slice(&part.buffer);
            let whole = found.take(&bytes);
            whole.ok_or_else(|| io::Error::other("the temporary file was changed"))?;
        }
        Ok(found)
    }
}

impl Distinct {
    /// Takes in all entries of a part.
    fn take(&mut self, mut bytes: &[u8]) -> Option<()> {
        let mut last: HashMap<u128, &[u8], BuildHasherDefault<AsItIs>> = HashMap::default();
        while !bytes.is_empty() {
            let (id, mut rest) = bytes.split_first_chunk::<ID>()?;
            let length = usize::try_from(get(&mut rest)?).ok()?;
            let (body, rest) = rest.split_at_checked(length)?;
            bytes = rest;
            let Some(replaced) = last.insert(u128::from_le_bytes(*id), body) else {
                continue;
            };
            if replaced == body {
                self.duplicates = self.duplicates.saturating_add(1);
            }
            self.replace(replaced)?;
        }
        let count = u64::try_from(last.len()).unwrap_or(u64::MAX);
        self.identities = self.identities.saturating_add(count);
        Some(())
    }

    /// Adds a replaced version.
    fn replace(&mut self, mut body: &[u8]) -> Option<()> {
        get(&mut body)?;
        let mut at = 0_usize;
        while !body.is_empty() {
            let place = usize::try_from(get(&mut body)?).ok()?;
            let decimals = u8::try_from(get(&mut body)?).ok()?;
            let value = Number::scaled(get(&mut body)?, decimals);
            self.has_overflown |= !self.replaced.add(at, place, value);
            at = at.saturating_add(1);
        }
        Some(())
    }
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks::<8>().0 {
            self.0 = u64::from_le_bytes(*word);
        }
    }
}

fn length(length: usize) -> i128 {
    i128::try_from(length).unwrap_or_default()
}

/// Writes a number, small ones in few bytes: seven bits in each, the sign in the lowest.
fn put(bytes: &mut Vec<u8>, number: i128) {
    if let Ok(short) = i64::try_from(number) {
        let mut left = ((short << 1) ^ (short >> 63)).cast_unsigned();
        while left >= 0x80 {
            bytes.push(u8::try_from(left & 0x7f).unwrap_or_default() | 0x80);
            left >>= 7;
        }
        bytes.push(u8::try_from(left).unwrap_or_default());
        return;
    }
    let mut left = ((number << 1) ^ (number >> 127)).cast_unsigned();
    while let Ok(0x80..) | Err(_) = u8::try_from(left) {
        let low = u8::try_from(left & 0x7f).unwrap_or_default();
        bytes.push(low | 0x80);
        left >>= 7;
    }
    bytes.push(u8::try_from(left).unwrap_or_default());
}

/// Reads the format of [`put`].
fn get(bytes: &mut &[u8]) -> Option<i128> {
    let mut number: u128 = 0;
    for shift in (0..128).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u128::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            let sign = (number & 1).cast_signed();
            return Some((number >> 1).cast_signed() ^ -sign);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Names;

    #[test]
    fn numbers_come_back() {
        let edges = [i64::MAX, i64::MIN].map(i128::from);
        let beyond = [edges[0] + 1, edges[1] - 1, i128::MAX, i128::MIN];
        for number in [0, 1, -1, 63, 64, 127, 128, -300]
            .into_iter()
            .chain(edges)
            .chain(beyond)
        {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut rest = bytes.as_slice();
            assert_eq!(get(&mut rest), Some(number));
            assert!(rest.is_empty());
        }
        assert_eq!(get(&mut [0x80].as_slice()), None);
    }

    #[test]
    fn what_is_no_part_of_an_id_makes_no_other() {
        let mut identities = Identities::default();
        for id in ["a/1", "a/\u{1}1", " a/1\t", "a/1\u{85}", "a/2", "a /1"] {
            let job = Job {
                id: id.to_owned(),
                ..Job::default()
            };
            identities.add(&[], &job).unwrap();
        }
        let found = identities.finish().unwrap();
        assert_eq!((found.identities, found.duplicates), (3, 3));
    }

    /// More jobs than the buffers hold, so that the file is used: 120,000. Every third is repeated
    /// with other numbers, and every sixth once more with the same.
    #[test]
    fn the_last_of_each_identity_is_kept() {
        let (mut identities, mut names) = (Identities::default(), Names::default());
        let mut all = Tally::default();
        let mut put = |number: i64, wall: i64| {
            let mut job = Job {
                id: number.to_string(),
                end_us: wall,
                ..Job::default()
            };
            job.add("wall_s", Number::whole(wall));
            job.add("core_s", Number::scaled(i128::from(wall), 2));
            let places = names.places(&job).to_vec();
            all.add_all(&places, &job);
            identities.add(&places, &job).unwrap();
        };
        for number in 0..120_000 {
            put(number, 1);
            if number % 3 == 0 {
                put(number, 100);
            }
        }
        for number in (0..120_000).step_by(6) {
            put(number, 100);
        }
        assert!(identities.spilled.is_some());
        let found = identities.finish().unwrap();
        assert_eq!((found.identities, found.duplicates), (120_000, 20_000));
        let totals = all.without(&found.replaced).unwrap().sums(&names);
        let sum = |name: &str| totals.get(name).map(ToString::to_string);
        assert_eq!(sum("wall_s").as_deref(), Some("4080000"));
        assert_eq!(sum("core_s").as_deref(), Some("40800"));
    }
}
