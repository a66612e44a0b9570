//! Keys of the Gold protocol: the texts that a scheduler reads from its files unchanged.
//!
//! Maui and Moab split a line at blanks, start a comment at `#`, replace `\` with a blank, treat `"` and `'`
//! as quotes, and skip a second `=` after the first one. They keep every other printable ASCII character of
//! a value. They replace bytes outside of ASCII with blanks.

/// Longest key that Maui reads whole. It cuts longer ones.
pub const LONGEST_KEY: usize = 63;

/// Reasons for an invalid key of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// More than [`LONGEST_KEY`] bytes.
    #[error("longer than 63 characters, where Maui cuts it")]
    TooLong,
    /// A character that a scheduler changes when it reads it.
    #[error(
        "it contains a character that schedulers change when they read it: use printable ASCII without blank, # \\ \" or ', and no = at the beginning"
    )]
    Character,
}

/// Whether Maui and Moab read a text from their files as this key.
///
/// # Errors
/// [`Unfit`], which contains no part of the text.
pub fn check_key(key: &[u8]) -> Result<(), Unfit> {
    if key.len() > LONGEST_KEY {
        return Err(Unfit::TooLong);
    }
    let is_read = |byte: &u8| byte.is_ascii_graphic() && !b"#\\\"'".contains(byte);
    if key.starts_with(b"=") || !key.iter().all(is_read) {
        return Err(Unfit::Character);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_schedulers_read() {
        let all: Vec<u8> = (b'!'..=b'~').filter(|b| !b"#\\\"'".contains(b)).collect();
        assert_eq!(all.len(), 90);
        for part in all.chunks(LONGEST_KEY) {
            assert_eq!(check_key(part), Ok(()));
        }
        for key in ["sss", "pass-word", "a=b", "-x", "a:b;c,d", &"k".repeat(63)] {
            assert_eq!(check_key(key.as_bytes()), Ok(()), "{key}");
        }
        for key in [
            "a b", "a#b", "a\\b", "a\"b", "a'b", "=a", "cl\u{e9}", "a\tb", "a\x7f",
        ] {
            assert_eq!(check_key(key.as_bytes()), Err(Unfit::Character), "{key:?}");
        }
        assert_eq!(check_key("k".repeat(64).as_bytes()), Err(Unfit::TooLong));
    }
}
