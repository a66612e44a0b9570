//! Signed addresses: what a program may fetch from the web pages without a session, in the view of the person who
//! made the address (decision 0181).
//!
//! The signature is an HMAC-SHA256 over the whole address before it, with a secret in the file `web-links.key` of the
//! data directory. It ends with its time, or when the file is removed and bankd restarts.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::OnceLock;

use bank_api::error::Problem;
use bank_api::sign::SigningKey;
use bankd_ledger::clock;
use bankd_ledger::keys;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

/// The file of the secret.
const FILE: &str = "web-links.key";
/// Days for which an address is valid at most.
pub const DAYS_MAX: u32 = 366;
/// Days for which an address is valid if nothing else is requested.
pub const DAYS: u32 = 90;
/// One day, s.
const DAY: i64 = 86_400;
/// Between the address and its signature.
const SIGNATURE: &str = "&signature=";
/// Before the second since 1970 from which an address is no longer valid.
const UNTIL: &str = "&expires=";
/// Longest page that is signed, in bytes.
const PAGE_MAX: usize = 1000;

/// Why an address is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// The signature is missing, or is that of another address.
    Signature,
    /// Its time is over.
    Expired,
}

/// Opens a page with its query in the view of a person, and gives the refusal.
pub type Probe = Box<dyn Fn(String, String) -> Probing + Send + Sync>;
/// The answer of a [`Probe`].
pub type Probing = Pin<Box<dyn Future<Output = Result<(), Box<Problem>>> + Send>>;

/// What signs addresses and reads them.
pub struct Links {
    key: SigningKey,
    pages: OnceLock<Vec<String>>,
    probe: OnceLock<Probe>,
}

impl Links {
    /// With the secret of a data directory; makes one if there is none.
    ///
    /// # Errors
    /// Of the file system; `InvalidData` for a file that holds no secret.
    pub fn open(data: &Path) -> io::Result<Self> {
        let secret = match keys::read_secret(data, FILE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let secret = keys::new_secret()?;
                keys::write_secret(data, FILE, &secret)?;
                secret
            }
            other => other?,
        };
        Ok(Self {
            key: SigningKey::new(&secret),
            pages: OnceLock::new(),
            probe: OnceLock::new(),
        })
    }

    /// These pages can be signed: paths with `{names}` of parameters.
    pub fn serve(&self, pages: Vec<String>) {
        let _ = self.pages.set(pages);
    }

    /// Pages are opened with this before they are signed.
    pub fn probe_with(&self, probe: Probe) {
        let _ = self.probe.set(probe);
    }

    /// Whether a person sees something at a page with its query.
    ///
    /// # Errors
    /// The refusal of the page.
    pub async fn probe(&self, page: &str, person: &str) -> Result<(), Box<Problem>> {
        match self.probe.get() {
            Some(probe) => probe(page.to_owned(), person.to_owned()).await,
            None => Ok(()),
        }
    }

    /// Whether there is such a page for a path with its query, in the characters of an address.
    pub fn has(&self, page: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/?&=+:,@".contains(&byte);
        let path = page.split('?').next().unwrap_or_default();
        let fits = |pattern: &String| {
            let is_equal = |(own, named): (&str, &str)| named.starts_with('{') || own == named;
            let parts = path.split('/').zip(pattern.split('/'));
            path.split('/').count() == pattern.split('/').count() && parts.into_iter().all(is_equal)
        };
        let pages = self.pages.get().map_or(&[][..], Vec::as_slice);
        page.len() <= PAGE_MAX && page.bytes().all(plain) && pages.iter().any(fits)
    }

    /// An address with its query, made by a person and valid for some days, with its signature.
    pub fn signed(&self, address: &str, by: &str, days: u32) -> String {
        let until_s = clock::auth_now_s().saturating_add(i64::from(days).saturating_mul(DAY));
        let mut address = address.to_owned();
        address.push(if address.contains('?') { '&' } else { '?' });
        address.push_str("person=");
        bank_api::text::percent_encode(by, &mut address);
        address.push_str(UNTIL);
        address.push_str(&until_s.to_string());
        let signature = self.of(&address);
        address + SIGNATURE + &signature
    }

    /// Checks an address as it was received, whose last parameters are `person`, `expires` and `signature`.
    ///
    /// # Errors
    /// [`Bad`].
    pub fn check(&self, address: &str) -> Result<(), Bad> {
        let (own, signature) = address.rsplit_once(SIGNATURE).ok_or(Bad::Signature)?;
        let is_equal = self.of(own).as_bytes().ct_eq(signature.as_bytes());
        if !bool::from(is_equal) {
            return Err(Bad::Signature);
        }
        let until = own.rsplit_once(UNTIL).map(|(_, until)| until);
        let until: i64 = until
            .and_then(|until| until.parse().ok())
            .ok_or(Bad::Signature)?;
        if clock::auth_now_s() >= until {
            return Err(Bad::Expired);
        }
        Ok(())
    }

    fn of(&self, address: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.key.mac(address.as_bytes()))
    }
}

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Links(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_table_are_signed() {
        let folder = tempfile::tempdir().unwrap();
        let links = Links::open(folder.path()).unwrap();
        assert!(!links.has("/feed"));
        links.serve(vec!["/feed".to_owned(), "/projects/{name}".to_owned()]);
        for page in ["/feed", "/projects/chem?from=-30d", "/projects/a%2Fb"] {
            assert!(links.has(page), "{page}");
        }
        for page in [
            "",
            "feed",
            "/people",
            "/projects",
            "/projects/a/b",
            "/feed?a b",
            "//evil/feed",
        ] {
            assert!(!links.has(page), "{page}");
        }
    }

    #[test]
    fn every_changed_character_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let links = Links::open(folder.path()).unwrap();
        let address = links.signed("/feed?zone=Europe%2FBerlin", "a&b=c", 1);
        assert!(
            address.starts_with("/feed?zone=Europe%2FBerlin&person=a%26b%3Dc&expires="),
            "{address}"
        );
        assert_eq!(links.check(&address), Ok(()));
        for place in 0..address.len() {
            let mut other = address.clone().into_bytes();
            other[place] = if other[place] == b'x' { b'y' } else { b'x' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(links.check(&other), Err(Bad::Signature), "{other}");
        }
        assert_eq!(links.check("/feed?person=a"), Err(Bad::Signature));
        let over = links.signed("/feed", "amy", 0);
        assert_eq!(links.check(&over), Err(Bad::Expired));
        // The secret stays, and another one refuses the addresses of before.
        assert_eq!(Links::open(folder.path()).unwrap().check(&address), Ok(()));
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        let again = Links::open(folder.path()).unwrap();
        assert_eq!(again.check(&address), Err(Bad::Signature));
    }
}
