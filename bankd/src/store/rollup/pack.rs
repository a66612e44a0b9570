//! The hours of a day in few bytes: most figures of most hours are nothing.

use super::super::Error;
use bank_core::rollup::{HOURS, MEASURES, Sums};

/// The figures of each hour of a day, from 0.
pub(super) type Hours = [Sums; 24];

/// Packs them: nothing at all for a day without anything.
pub(super) fn pack(hours: &Hours) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    for (hour, sums) in (0_u8..).zip(hours) {
        if sums.is_zero() {
            continue;
        }
        let mask = (0_u32..)
            .zip(sums.0)
            .filter(|(_, figure)| *figure != 0)
            .fold(0_u16, |mask, (bit, _)| {
                mask | 1_u16.checked_shl(bit).unwrap_or(0)
            });
        bytes.push(hour);
        bytes.extend(mask.to_le_bytes());
        for figure in sums.0.into_iter().filter(|figure| *figure != 0) {
            push(&mut bytes, stored(figure));
        }
    }
    bytes
}

/// A figure as a column holds it.
pub(super) fn stored(figure: i128) -> i64 {
    let bounded = figure.clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(bounded).unwrap_or_default()
}

/// Gives each hour that is packed with its figures.
///
/// # Errors
/// If the bytes are none that [`pack`] makes.
pub(in crate::store) fn each(
    bytes: &[u8],
    mut visit: impl FnMut(usize, &Sums),
) -> Result<(), Error> {
    let mut rest = bytes.iter().copied();
    while let Some(hour) = rest.next() {
        let (Some(low), Some(high)) = (rest.next(), rest.next()) else {
            return Err(broken(bytes));
        };
        let mask = u16::from_le_bytes([low, high]);
        let is_known = i64::from(hour) < HOURS && u32::from(mask) < 1 << MEASURES;
        if !is_known {
            return Err(broken(bytes));
        }
        let mut sums = Sums::default();
        for (bit, figure) in (0_u32..).zip(&mut sums.0) {
            if mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1) {
                *figure = pull(&mut rest).ok_or_else(|| broken(bytes))?.into();
            }
        }
        visit(hour.into(), &sums);
    }
    Ok(())
}

fn broken(bytes: &[u8]) -> Error {
    Error::Value {
        what: "rollup_hour.hours",
        value: format!("{} bytes", bytes.len()),
    }
}

fn push(bytes: &mut Vec<u8>, figure: i64) {
    let mut left = u64::from_ne_bytes(((figure << 1) ^ (figure >> 63)).to_ne_bytes());
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

fn pull(rest: &mut impl Iterator<Item = u8>) -> Option<i64> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    loop {
        let byte = rest.next()?;
        if shift > 63 {
            return None;
        }
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        shift = shift.saturating_add(7);
        if byte & 0x80 == 0 {
            let figure = i64::from_ne_bytes((value >> 1).to_ne_bytes());
            let sign = if value & 1 == 1 { -1 } else { 0 };
            return Some(figure ^ sign);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::rollup::Measure;

    #[test]
    fn hours_read_back() {
        let mut hours = Hours::default();
        hours[0] = Sums::default().with(Measure::Running, 1);
        hours[7] = Sums(std::array::from_fn(|n| {
            let n = i128::try_from(n).unwrap();
            if n % 2 == 0 { 1 << (n * 5) } else { -n }
        }));
        hours[23].0[3] = i64::MIN.into();
        hours[22].0[3] = i64::MAX.into();
        let bytes = pack(&hours);
        let mut back = Hours::default();
        each(&bytes, |hour, sums| back[hour] = *sums).unwrap();
        assert_eq!(back, hours);
        assert!(pack(&Hours::default()).is_empty());
        for length in 1..bytes.len() {
            // Cut short, it is an error or fewer hours, and never a panic.
            let _ = each(&bytes[..length], |_, _| {});
        }
        assert!(each(&[24, 1, 0, 0], |_, _| {}).is_err());
        assert!(each(&[1, 0, 0xff, 0], |_, _| {}).is_err());
    }
}
