//! Which jobs of a source came again, for any number of jobs in constant memory.
//!
//! Jobs are dealt by their identity into parts; what does not fit into the small buffer of its part
//! goes into a temporary file that has no name. In the end one part after the other is read back, in
//! the order in which its jobs came.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use sha2::{Digest, Sha256};

use super::job::{Job, Label};
use super::number::Number;

/// Sums by name.
pub(super) type Sums = BTreeMap<Label, Number>;

/// Parts; one of them is in memory at a time, so that 160 million jobs need some 60 MiB.
const PARTS: usize = 256;

/// What a part keeps in memory before it goes to the file, in bytes.
const BUFFER: usize = 16 << 10;

/// Bytes of an identity.
const ID: usize = 16;

/// The jobs of a source, by identity: id and start (`collectors.md` 0.1).
#[derive(Debug, Default)]
pub(super) struct Identities {
    names: Vec<Label>,
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

/// What is left when each identity counts once, as it came last.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// How many there are.
    pub(super) identities: u64,
    /// Jobs that came again with equal numbers.
    pub(super) duplicates: u64,
    /// The sums of what stands.
    pub(super) totals: Sums,
    /// A sum left the range of exact numbers.
    pub(super) has_overflown: bool,
}

impl Identities {
    /// Takes a job in.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub(super) fn add(&mut self, job: &Job) -> io::Result<()> {
        if self.parts.is_empty() {
            self.parts.resize_with(PARTS, Part::default);
        }
        let id = identity(job);
        let mut body = Vec::with_capacity(64);
        put(&mut body, job.end_us.into());
        for (name, value) in &job.quantities {
            let (units, places) = value.parts();
            put(&mut body, self.place(name));
            put(&mut body, places.into());
            put(&mut body, units);
        }
        let part = id.first().copied().map_or(0, usize::from);
        let Some(part) = self.parts.get_mut(part) else {
            return Ok(());
        };
        part.buffer.extend_from_slice(&id);
        put(&mut part.buffer, length(&body));
        part.buffer.extend_from_slice(&body);
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

    /// The number of a name; names are few.
    fn place(&mut self, name: &Label) -> i128 {
        let known = self.names.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.names.push(name.clone());
            self.names.len().saturating_sub(1)
        });
        i128::try_from(place).unwrap_or_default()
    }

    /// What stands in the end.
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
            let whole = found.take(&bytes, &self.names);
            whole.ok_or_else(|| io::Error::other("the temporary file is not what was written"))?;
        }
        Ok(found)
    }
}

impl Distinct {
    /// Takes in all entries of a part.
    fn take(&mut self, mut bytes: &[u8], names: &[Label]) -> Option<()> {
        let mut last: HashMap<&[u8], &[u8]> = HashMap::new();
        while !bytes.is_empty() {
            let (id, mut rest) = bytes.split_at_checked(ID)?;
            let length = usize::try_from(get(&mut rest)?).ok()?;
            let (body, rest) = rest.split_at_checked(length)?;
            bytes = rest;
            if last.insert(id, body) == Some(body) {
                self.duplicates = self.duplicates.saturating_add(1);
            }
        }
        let count = u64::try_from(last.len()).unwrap_or(u64::MAX);
        self.identities = self.identities.saturating_add(count);
        for mut body in last.into_values() {
            get(&mut body)?;
            while !body.is_empty() {
                let name = names.get(usize::try_from(get(&mut body)?).ok()?)?;
                let places = u8::try_from(get(&mut body)?).ok()?;
                let value = Number::scaled(get(&mut body)?, places);
                self.has_overflown |= !add(&mut self.totals, name, value);
            }
        }
        Some(())
    }
}

/// Adds to a sum; `false` where it would leave the range.
pub(super) fn add(sums: &mut Sums, name: &Label, value: Number) -> bool {
    let Some(sum) = sums.get_mut(name) else {
        sums.insert(name.clone(), value);
        return true;
    };
    let grown = sum.plus(value);
    *sum = grown.unwrap_or(*sum);
    grown.is_some()
}

/// Id and start in few bytes: two jobs of one source with equal ones are one.
fn identity(job: &Job) -> [u8; ID] {
    let mut hash = Sha256::new();
    hash.update(job.start_us.to_be_bytes());
    hash.update(job.id.as_bytes());
    let digest = hash.finalize();
    let mut short = [0; ID];
    for (to, from) in short.iter_mut().zip(digest) {
        *to = from;
    }
    short
}

fn length(bytes: &[u8]) -> i128 {
    i128::try_from(bytes.len()).unwrap_or_default()
}

/// Writes a number, small ones in few bytes: seven bits in each, the sign in the lowest.
fn put(bytes: &mut Vec<u8>, number: i128) {
    let mut left = ((number << 1) ^ (number >> 127)).cast_unsigned();
    while let Ok(0x80..) | Err(_) = u8::try_from(left) {
        let low = u8::try_from(left & 0x7f).unwrap_or_default();
        bytes.push(low | 0x80);
        left >>= 7;
    }
    bytes.push(u8::try_from(left).unwrap_or_default());
}

/// Reads what [`put`] wrote.
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

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, -1, 63, 64, 127, 128, -300, i128::MAX, i128::MIN] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut rest = bytes.as_slice();
            assert_eq!(get(&mut rest), Some(number));
            assert!(rest.is_empty());
        }
        assert_eq!(get(&mut [0x80].as_slice()), None);
    }

    /// More jobs than the buffers hold, so that the file is used: 120,000, of which every third comes
    /// again with other numbers, and every sixth once more with the same.
    #[test]
    fn the_last_of_each_identity_stands() {
        let mut identities = Identities::default();
        let mut put = |number: i64, wall: i64| {
            let mut job = Job {
                id: number.to_string(),
                end_us: wall,
                ..Job::default()
            };
            job.add("wall_s", Number::whole(wall));
            job.add("core_s", Number::scaled(i128::from(wall), 2));
            identities.add(&job).unwrap();
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
        let sum = |name: &str| found.totals.get(name).map(ToString::to_string);
        assert_eq!(sum("wall_s").as_deref(), Some("4080000"));
        assert_eq!(sum("core_s").as_deref(), Some("40800"));
    }
}
