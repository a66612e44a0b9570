//! HMAC64, the signature of the Gold protocol (`gold-wire.md` 2, `nami.md` 8): HMAC-SHA-1 over the
//! 20 raw bytes of the SHA-1 of a `Body`, with the key as it is written.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

pub use bank_api::gold::Unfit;
use bank_api::gold::check_key;
use bank_api::sign::Secret;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::{Digest as _, Sha1};
use zeroize::Zeroizing;

/// Characters of a secret that the bank makes.
const MADE: usize = 48;
/// Its characters.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A key of the gateway, ready for use.
#[derive(Clone)]
pub struct Hmac64(Hmac<Sha1>);

impl Hmac64 {
    /// Prepares a secret that every client of the protocol can hold.
    ///
    /// # Errors
    /// [`Unfit`], which holds nothing of the secret.
    pub fn new(secret: &Secret) -> Result<Self, Unfit> {
        let bytes = secret.bytes();
        check_key(bytes)?;
        Self::of_bytes(bytes).ok_or(Unfit::TooLong)
    }

    /// HMAC takes a key of any length, so there is always one.
    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(bytes).ok().map(Self)
    }

    /// The signature over a digest.
    pub fn sign(&self, digest: &[u8; 20]) -> [u8; 20] {
        let mut mac = self.0.clone();
        mac.update(digest);
        mac.finalize().into_bytes().into()
    }

    /// Compares in constant time.
    pub fn verifies(&self, digest: &[u8; 20], signature: &[u8]) -> bool {
        let mut mac = self.0.clone();
        mac.update(digest);
        mac.verify_slice(signature).is_ok()
    }
}

impl fmt::Debug for Hmac64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hmac64(redacted)")
    }
}

/// The signed digest: the SHA-1 of a `Body` as it is on the wire.
pub fn digest(body: &[u8]) -> [u8; 20] {
    Sha1::digest(body).into()
}

/// A new secret as text: 48 letters and digits, more than 285 bits.
///
/// # Errors
/// If the system has no randomness to give.
pub fn new_secret() -> io::Result<(Zeroizing<String>, Secret)> {
    let mut text = Zeroizing::new(String::with_capacity(MADE));
    let mut bytes = Zeroizing::new([0_u8; MADE]);
    while text.len() < MADE {
        getrandom::fill(bytes.as_mut_slice()).map_err(io::Error::other)?;
        // Four times the alphabet: bytes above would make its first letters more frequent.
        let fair = bytes.iter().filter(|byte| **byte < 4 * 62);
        let letters = fair.filter_map(|byte| LETTERS.get(usize::from(byte % 62)));
        for letter in letters.take(MADE - text.len()) {
            text.push(char::from(*letter));
        }
    }
    let secret = Secret::from_bytes(text.as_bytes().to_vec()).map_err(io::Error::other)?;
    Ok((text, secret))
}

/// Looks at a key's secret, where there is one: it must be nobody else's to read, and fit the
/// protocol.
///
/// # Errors
/// One line that names the file and what to do.
pub fn check_secret(keys: &Path, id: &str) -> Result<(), String> {
    let at = |why: &dyn fmt::Display| format!("{}: {why}", keys.join(id).display());
    let file = super::secret_file(keys, id).map_err(|e| at(&e))?;
    let mode = match fs::metadata(&file) {
        Ok(found) => found.permissions().mode() & 0o7777,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(at(&e)),
    };
    if mode & 0o077 != 0 {
        let why = format!("others may read it (mode {mode:04o}); make it 0600");
        return Err(at(&why));
    }
    let secret = super::read_secret(keys, id).map_err(|e| at(&e))?;
    Hmac64::new(&secret).map(drop).map_err(|unfit| {
        let why = format!("{unfit}; a key of the Gold gateway has 1 to 63 characters");
        at(&why)
    })
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    /// `gold-wire.md` 7 and `nami.md` 8.2: key, body, digest, signature.
    #[test]
    fn gold_vectors_of_the_specification() {
        let special = "<Body actor=\"moab\"><X>Zürich ☃</X></Body>";
        for (key, body, digest_value, signature_value) in [
            (
                "sss",
                RESERVE,
                "OuCOB2VBE5vJE1+SNm5RAzzn5O8=",
                "aXPw0/wuH56pzhPxabpcjkspmFE=",
            ),
            (
                "sss",
                QUERY,
                "04ZsDYeylRKlfzBt9fY8MzIFL2o=",
                "fFkN0I24RLU5LUpdXRKl2YSDx04=",
            ),
            (
                "sss",
                CHARGE,
                "cCdJdIQZDBR/gOz3SOH09EhzRk0=",
                "hYQeXPKjxyLtXI3QEconoFjln2U=",
            ),
            (
                "sss",
                ANSWER,
                "Og/guygBimFomnlVG2OSNbNdUGU=",
                "BVLIKCBNIXXdLyuNoSNN3LBrH7o=",
            ),
            (
                "sss",
                "<Body></Body>",
                "irX1+GI4qym1ECzqW2geHynzqEg=",
                "mDpxNONmZ0evarGk6AWP2gVBf1I=",
            ),
            (
                "opensesame",
                ACCOUNT,
                "Q0jn3WGCRoEr4QUDUDRm5HaFhm0=",
                "eu/eYrVzN8youQdd8C94Z/Grm+o=",
            ),
            (
                &"k".repeat(80),
                SHORT,
                "yOHhV/+PIvWi962BlPJ6eGlxShQ=",
                "KCYjXq0CX5L1aXWtGDPPmg+Dcp0=",
            ),
            (
                &"k".repeat(80),
                "<Body></Body>",
                "irX1+GI4qym1ECzqW2geHynzqEg=",
                "m4zh+4VfqoTbhdv8AN4X8BpwN0c=",
            ),
            (
                "clé-secrète",
                special,
                "vT7MDs2LN30U1DkOarZfEZc81f8=",
                "Fgx9wRWNq4gsR7/Fx2c62lyAbW0=",
            ),
        ] {
            let key = Hmac64::of_bytes(key.as_bytes()).unwrap();
            let own = digest(body.as_bytes());
            assert_eq!(STANDARD.encode(own), digest_value, "{body}");
            assert_eq!(STANDARD.encode(key.sign(&own)), signature_value, "{body}");
            let signature = STANDARD.decode(signature_value).unwrap();
            assert!(key.verifies(&own, &signature));
            assert!(!key.verifies(&own, &signature[..19]));
            assert!(!key.verifies(&digest(b"<Body/>"), &signature));
        }
    }

    const RESERVE: &str = "<Body actor=\"root\"><Request action=\"Reserve\" actor=\"root\"><Object>Job</Object><Data><Job><JobId>job1</JobId><UserId>amy</UserId><ProjectId>chem</ProjectId><QualityOfService>DEFAULT</QualityOfService><MachineName>cluster1</MachineName><Processors>4</Processors><WallDuration>600</WallDuration><Queue>batch</Queue><NodeType>DEFAULT</NodeType></Job></Data></Request></Body>";
    const QUERY: &str = "<Body actor=\"root\"><Request action=\"Query\" actor=\"root\"><Object>User</Object><Where name=\"Special\">False</Where><Get name=\"Name\"></Get><Get name=\"DefaultProject\"></Get></Request></Body>";
    const CHARGE: &str = "<Body actor=\"root\"><Request action=\"Charge\" actor=\"root\"><Object>Job</Object><Data><Job><JobId>job1</JobId><UserId>amy</UserId><ProjectId>chem</ProjectId><QualityOfService>DEFAULT</QualityOfService><MachineName>cluster1</MachineName><Processors>4</Processors><WallDuration>4</WallDuration><StartTime>1795216020</StartTime><EndTime>1795216024</EndTime><Queue>batch</Queue><Type>job</Type></Job></Data></Request></Body>";
    const ANSWER: &str = "<Body><Response><Status><Value>Success</Value><Code>000</Code><Message>Successfully reserved 2400 credits for job job1</Message></Status><Count>1</Count><Data><Reservation><Amount>2400</Amount></Reservation></Data></Response></Body>";
    const ACCOUNT: &str = "<Body><Request action=\"Query\" actor=\"slurm\"><Object>Account</Object><Get name=\"Id\"></Get><Where name=\"Name\">chem</Where></Request></Body>";
    const SHORT: &str = "<Body><Response actor=\"x\"><Status><Value>Success</Value><Code>000</Code></Status></Response></Body>";

    #[test]
    fn a_secret_that_is_made_fits() {
        let (text, secret) = new_secret().unwrap();
        assert_eq!((text.len(), secret.bytes()), (MADE, text.as_bytes()));
        assert_eq!(Hmac64::new(&secret).err(), None);
        assert_ne!(*new_secret().unwrap().0, *text);
    }

    #[test]
    fn secrets_that_no_client_could_hold_are_none() {
        for (text, expected) in [
            ("sss", None),
            (&"k".repeat(63), None),
            (&"k".repeat(64), Some(Unfit::TooLong)),
            ("pass-word", None),
            ("two words", Some(Unfit::Character)),
            ("clé", Some(Unfit::Character)),
            ("hex:00", Some(Unfit::Character)),
            ("base64:c3Nz", None),
        ] {
            let secret = Secret::parse(text).unwrap();
            assert_eq!(Hmac64::new(&secret).err(), expected, "{text}");
        }
    }
}
