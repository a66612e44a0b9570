//! Fingerprint of a file: the beginning and the end of its read part.
//!
//! Inodes are reused, and files are copied, compressed, emptied and rewritten; bytes that were read
//! do not change. The beginning alone is not enough: in many formats every file begins with the
//! same lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use sha2::{Digest, Sha256};

/// Bytes of the beginning and of the end that are looked at.
const SIDE: usize = 4096;

/// The bytes that a fingerprint is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trace {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes that went through.
    passed: u64,
}

/// SHA-256 over both sides.
pub(super) type Fingerprint = [u8; 32];

impl Trace {
    /// Adds the next bytes of the file.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        let free = SIDE.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(free));
        let kept = SIDE.saturating_sub(bytes.len()).min(self.tail.len());
        let gone = self.tail.len().saturating_sub(kept);
        self.tail.drain(..gone);
        let new = bytes.len().saturating_sub(SIDE);
        self.tail.extend(bytes.get(new..).unwrap_or_default());
        let more = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.passed = self.passed.saturating_add(more);
    }

    /// Bytes that went through.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The fingerprint of all bytes so far.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update(&self.head);
        hash.update(&self.tail);
        hash.finalize().into()
    }

    /// The trace that so many bytes of a file would leave.
    ///
    /// # Errors
    /// If the file cannot be read, or is shorter.
    pub(super) fn of_file(file: &File, upto: u64) -> io::Result<Self> {
        let side = u64::try_from(SIDE).unwrap_or(u64::MAX).min(upto);
        let mut trace = Self {
            head: vec![0; usize::try_from(side).unwrap_or(SIDE)],
            tail: vec![0; usize::try_from(side).unwrap_or(SIDE)],
            passed: upto,
        };
        file.read_exact_at(&mut trace.head, 0)?;
        file.read_exact_at(&mut trace.tail, upto.saturating_sub(side))?;
        Ok(trace)
    }

    /// The same of a stream, which is then behind these bytes; `None` where it ends before.
    ///
    /// # Errors
    /// If the stream cannot be read.
    pub(super) fn of_stream(stream: &mut dyn Read, upto: u64) -> io::Result<Option<Self>> {
        let mut trace = Self::default();
        let mut buffer = vec![0; 64 << 10];
        let mut stream = stream.take(upto);
        while trace.passed < upto {
            let read = stream.read(&mut buffer)?;
            if read == 0 {
                return Ok(None);
            }
            trace.pass(buffer.get(..read).unwrap_or_default());
        }
        Ok(Some(trace))
    }

    /// The fingerprints of the first bytes of a stream, by their number, and the length of the stream.
    ///
    /// # Errors
    /// If the stream cannot be read.
    pub(super) fn prints(
        mut stream: impl Read,
        lengths: &BTreeSet<u64>,
    ) -> io::Result<(BTreeMap<u64, Fingerprint>, u64)> {
        let mut prints = BTreeMap::new();
        let mut trace = Self::default();
        let mut buffer = vec![0; 64 << 10];
        for length in lengths {
            while trace.passed < *length {
                let most = usize::try_from(length.saturating_sub(trace.passed));
                let most = most.unwrap_or(usize::MAX).min(buffer.len());
                let read = stream.read(buffer.get_mut(..most).unwrap_or_default())?;
                if read == 0 {
                    return Ok((prints, trace.passed));
                }
                trace.pass(buffer.get(..read).unwrap_or_default());
            }
            prints.insert(*length, trace.fingerprint());
        }
        let rest = io::copy(&mut stream, &mut io::sink())?;
        Ok((prints, trace.passed.saturating_add(rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The trace does not depend on the chunks or on the source of the bytes.
    #[test]
    fn a_trace_is_of_the_bytes_only() {
        let bytes: Vec<u8> = (0..20_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        for upto in [0_usize, 1, 4095, 4096, 4097, 8191, 8192, 8193, 20_000] {
            let whole = Trace::of_file(&file, upto as u64).unwrap();
            for step in [1_usize, 100, 4096, 5000, 20_000] {
                let mut trace = Trace::default();
                bytes[..upto].chunks(step).for_each(|part| trace.pass(part));
                assert_eq!(trace, whole, "{upto} bytes by {step}");
            }
            let mut stream = bytes.as_slice();
            let streamed = Trace::of_stream(&mut stream, upto as u64).unwrap();
            assert_eq!(streamed, Some(whole.clone()));
            let lengths = [1, upto as u64, 30_000].into();
            let (prints, length) = Trace::prints(&bytes[..], &lengths).unwrap();
            assert_eq!(length, 20_000);
            assert_eq!(prints.get(&(upto as u64)), Some(&whole.fingerprint()));
            assert_eq!(prints.get(&30_000), None);
            assert_eq!(stream.len(), bytes.len() - upto);
        }
        assert!(Trace::of_file(&file, 20_001).is_err());
        assert_eq!(Trace::of_stream(&mut &bytes[..], 20_001).unwrap(), None);
    }

    #[test]
    fn an_equal_head_is_not_enough() {
        let print = |middle: &[u8]| {
            let mut trace = Trace::default();
            trace.pass(&[b'#'; 5000]);
            trace.pass(middle);
            trace.fingerprint()
        };
        assert_ne!(print(b"one"), print(b"two"));
        assert_ne!(print(b"one"), print(b""));
    }
}
