//! Figures in few bytes, those of the hours of a day among them: most figures of most hours are nothing.

use super::{HOURS, MEASURES, Sums};

/// The figures of a day's hours, from 0. Those without any take no room: most keys work in few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hours(Vec<(u8, Sums)>);

impl Hours {
    /// The figures of an hour, 0 to 23.
    pub fn at(&mut self, hour: u8) -> Option<&mut Sums> {
        // Usually the hour is the last one, or after it.
        let known = self.0.iter().rposition(|(own, _)| *own <= hour);
        let place = match known {
            Some(place) if self.0.get(place).is_some_and(|(own, _)| *own == hour) => place,
            before => {
                let place = before.map_or(0, |before| before.saturating_add(1));
                self.0.insert(place, (hour, Sums::default()));
                place
            }
        };
        self.0.get_mut(place).map(|(_, sums)| sums)
    }

    /// How many hours have figures.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Packs them: nothing at all for a day without anything. Each hour has its number, four bytes that name the figures
/// that follow, the lowest first, and these as zigzag varints.
pub fn pack(hours: &Hours) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(hours.len().saturating_mul(32));
    for (hour, sums) in &hours.0 {
        if sums.is_zero() {
            continue;
        }
        bytes.push(*hour);
        push_sums(&mut bytes, sums);
    }
    bytes
}

/// Which figures are there, and these.
fn push_sums(bytes: &mut Vec<u8>, sums: &Sums) {
    let mask = (0_u32..)
        .zip(sums.0)
        .filter(|(_, figure)| *figure != 0)
        .fold(0_u32, |mask, (bit, _)| {
            mask | 1_u32.checked_shl(bit).unwrap_or(0)
        });
    bytes.extend(mask.to_le_bytes());
    for figure in sums.0.into_iter().filter(|figure| *figure != 0) {
        push_wide(bytes, figure);
    }
}

/// The nearest value that a column can hold. The hours have the exact one.
pub fn stored(figure: i128) -> i64 {
    let bounded = figure.clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(bounded).unwrap_or_default()
}

/// Gives each hour that is packed with its figures; none if the bytes are none that [`pack`] makes.
#[must_use]
pub fn each(bytes: &[u8], mut visit: impl FnMut(u8, &Sums)) -> Option<()> {
    let mut rest = bytes.iter().copied();
    while let Some(hour) = rest.next() {
        let sums = pull_sums(&mut rest).filter(|_| i64::from(hour) < HOURS);
        visit(hour, &sums?);
    }
    Some(())
}

fn pull_sums(rest: &mut impl Iterator<Item = u8>) -> Option<Sums> {
    let mask = u32::from_le_bytes([rest.next()?, rest.next()?, rest.next()?, rest.next()?]);
    if mask >= 1 << MEASURES {
        return None;
    }
    let mut sums = Sums::default();
    for (bit, figure) in (0_u32..).zip(&mut sums.0) {
        if mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1) {
            *figure = pull_wide(rest)?;
        }
    }
    Some(sums)
}

/// Functions that write and read a zigzag varint of a type: seven bits a byte, the lowest first.
macro_rules! varint {
    ($figure:ty, $bits:ty, $push:ident, $pull:ident) => {
        /// Adds a number.
        pub fn $push(bytes: &mut Vec<u8>, figure: $figure) {
            let zigzag = (figure << 1) ^ (figure >> (<$bits>::BITS - 1));
            let mut left = <$bits>::from_ne_bytes(zigzag.to_ne_bytes());
            loop {
                let low = u8::try_from(left & 0x7f).unwrap_or(0);
                left >>= 7;
                if left == 0 {
                    bytes.push(low);
                    return;
                }
                bytes.push(low | 0x80);
            }
        }

        /// Reads a number; none if the bytes are not one.
        pub fn $pull(rest: &mut impl Iterator<Item = u8>) -> Option<$figure> {
            let (mut value, mut shift): ($bits, u32) = (0, 0);
            loop {
                let byte = rest.next()?;
                value |= <$bits>::from(byte & 0x7f).checked_shl(shift)?;
                shift = shift.saturating_add(7);
                if byte & 0x80 == 0 {
                    let figure = <$figure>::from_ne_bytes((value >> 1).to_ne_bytes());
                    let sign = if value & 1 == 1 { -1 } else { 0 };
                    return Some(figure ^ sign);
                }
            }
        }
    };
}

varint!(i64, u64, push, pull);
varint!(i128, u128, push_wide, pull_wide);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollup::{Measure, Sign};

    #[test]
    fn hours_read_back() {
        let mut hours = Hours::default();
        *hours.at(7).unwrap() = Sums(std::array::from_fn(|n| {
            let n = i128::try_from(n).unwrap();
            if n % 2 == 0 { 1 << (n * 5) } else { -n }
        }));
        *hours.at(0).unwrap() = Sums::default().with(Measure::Running, 1);
        hours.at(23).unwrap().0[3] = i64::MIN.into();
        hours.at(22).unwrap().0[3] = i64::MAX.into();
        hours.at(21).unwrap().0[2] = i128::MAX;
        hours.at(20).unwrap().0[2] = i128::MIN;
        hours.at(7).unwrap().add(&Sums::default(), Sign::Plus);
        assert_eq!(hours.len(), 6);
        let bytes = pack(&hours);
        let mut back = Hours::default();
        each(&bytes, |hour, sums| *back.at(hour).unwrap() = *sums).unwrap();
        assert_eq!(back, hours);
        assert!(pack(&Hours::default()).is_empty());
        for length in 1..bytes.len() {
            // Cut short, it is an error or fewer hours, and never a panic.
            let _ = each(&bytes[..length], |_, _| {});
        }
        assert!(each(&[24, 1, 0, 0, 0, 0], |_, _| {}).is_none());
        assert!(each(&[1, 0, 0, 0xff, 0, 0], |_, _| {}).is_none());
    }
}
