//! `[[deliver]]`: targets of notifications, any number up to a limit.

use std::collections::HashSet;
use std::path::PathBuf;

use bank_core::attention::{ATTENTION_KINDS, AttentionKind};
use bank_core::domain::is_address;
use serde::{Deserialize, Serialize};

use super::Config;

/// Targets at most: each has a thread.
pub const DELIVERS_MAX: usize = 16;
/// Addresses of staff at most.
const STAFF_MAX: usize = 64;

/// `[[deliver]]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Deliver {
    /// Its name, `[a-z0-9_-]{1,32}`: its key in the outbox.
    pub name: String,
    /// How.
    pub by: DeliverWord,
    /// Whether the end of an alert is sent too; absent: by every way but mail.
    pub cleared: Option<bool>,
    /// The kinds of events to send; empty for all.
    pub kinds: Vec<String>,
    /// `command`: program and arguments; `sendmail`: the program alone.
    pub command: Vec<String>,
    /// `webhook`: `https://HOST[:PORT]/PATH`, or `http://` to a loopback address.
    pub url: String,
    /// `webhook`: the file of the signing secret, 16 to 4,096 bytes; a relative path starts at the
    /// data directory.
    pub secret: String,
    /// `webhook`: the CAs that may have signed the certificate of an `https` address, PEM.
    pub ca: String,
    /// `sendmail`: the sender.
    pub from: String,
    /// `sendmail`: addresses that receive a copy of everything.
    pub staff: Vec<String>,
    /// Whether only urgent events are sent immediately, and the rest once a day. The default is
    /// true for mail, and false for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<bool>,
    /// Whether alerts are sent here; else only reports that name it (`folder`: never).
    pub attention: bool,
    /// `folder`: the folder of reports; a relative path starts at the data directory.
    pub folder: String,
    /// `folder`: the mode of their files, such as `0640`.
    pub mode: String,
    /// `folder`: the newest files of each report that stay, 0 to 100,000; 0 for all.
    pub keep: usize,
    /// `sendmail`: whether members of a project receive mail, at the addresses of their users.
    pub members: bool,
    /// Seconds that one attempt may take, 1 to 300.
    pub timeout_s: u64,
    /// Seconds before the second attempt, 1 to 3,600; each further one waits twice as long.
    pub retry_s: u64,
    /// The longest such wait, 1 to 86,400.
    pub retry_max_s: u64,
    /// Attempts after which a notice is given up, 1 to 1,000.
    pub attempts: i64,
    /// Days after which it is, 1 to 365.
    pub give_up_days: i64,
}

/// Kind of delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliverWord {
    /// A program that gets JSON.
    #[default]
    Command,
    /// Mail, through a program.
    Sendmail,
    /// A signed HTTP request.
    Webhook,
    /// Files in a folder, for reports.
    Folder,
}

impl Default for Deliver {
    fn default() -> Self {
        Self {
            name: String::new(),
            by: DeliverWord::default(),
            cleared: None,
            kinds: Vec::new(),
            command: Vec::new(),
            url: String::new(),
            secret: String::new(),
            ca: "/etc/ssl/certs/ca-certificates.crt".to_owned(),
            from: String::new(),
            staff: Vec::new(),
            digest: None,
            attention: true,
            folder: String::new(),
            mode: "0640".to_owned(),
            keep: 0,
            members: true,
            timeout_s: 10,
            retry_s: 10,
            retry_max_s: 900,
            attempts: 50,
            give_up_days: 3,
        }
    }
}

/// The parts of a webhook's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress {
    /// Whether it is `https`.
    pub tls: bool,
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path with its query.
    pub path: String,
}

impl WebAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// The reason why it is invalid.
    pub fn read(text: &str) -> Result<Self, String> {
        let (tls, rest) = if let Some(rest) = text.strip_prefix("https://") {
            (true, rest)
        } else if let Some(rest) = text.strip_prefix("http://") {
            (false, rest)
        } else {
            return Err("neither https:// nor http://".to_owned());
        };
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let printable = |text: &str| text.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
        if !printable(rest) || authority.contains('@') || path.starts_with('?') {
            return Err("not HOST[:PORT]/PATH of plain characters".to_owned());
        }
        let named = match authority.strip_prefix('[') {
            Some(inner) => {
                let (host, after) = inner.split_once(']').ok_or("a [ without its ]")?;
                (host, after.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let usual = if tls { 443 } else { 80 };
        let port = named.1.map_or(Ok(usual), |port| {
            port.parse::<u16>().map_err(|_| "no such port".to_owned())
        })?;
        let host = named.0.to_owned();
        if host.is_empty() || port == 0 {
            return Err("no host, or port 0".to_owned());
        }
        let address = host.parse::<std::net::IpAddr>().ok();
        if !tls && !address.is_some_and(|address| address.is_loopback()) {
            return Err("http:// only to a loopback address, such as 127.0.0.1".to_owned());
        }
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self {
            tls,
            host,
            port,
            path: path.to_owned(),
        })
    }
}

impl Deliver {
    /// Whether the end of an alert is sent.
    pub fn gets_cleared(&self) -> bool {
        let by_default = self.by != DeliverWord::Sendmail;
        self.cleared.unwrap_or(by_default)
    }

    /// The kinds of events to send; empty for all.
    pub fn kinds(&self) -> Vec<AttentionKind> {
        let words = self.kinds.iter();
        words
            .filter_map(|word| AttentionKind::parse(word))
            .collect()
    }

    fn check(&self, number: usize) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if !(1..=32).contains(&self.name.len()) || !self.name.chars().all(plain) {
            return Err(format!(
                "deliver {number}: name: 1 to 32 of a-z, 0-9, _ and -, not {:?}",
                self.name
            ));
        }
        let mistake = |key: &str, why: &str| Err(format!("deliver {}: {key}: {why}", self.name));
        for word in &self.kinds {
            if AttentionKind::parse(word).is_none() {
                let kinds = ATTENTION_KINDS.map(|(_, word)| word).join(", ");
                return mistake("kinds", &format!("{word:?} is none of {kinds}"));
            }
        }
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        for (key, value, most) in [
            ("timeout_s", whole(self.timeout_s), 300),
            ("retry_s", whole(self.retry_s), 3600),
            ("retry_max_s", whole(self.retry_max_s), 86_400),
            ("attempts", self.attempts, 1000),
            ("give_up_days", self.give_up_days, 365),
        ] {
            if !(1..=most).contains(&value) {
                return mistake(key, &format!("{value} is not in 1 to {most}"));
            }
        }
        match self.by {
            DeliverWord::Command => self.check_program(),
            DeliverWord::Folder => self.check_folder(),
            DeliverWord::Webhook => {
                if let Err(why) = WebAddress::read(&self.url) {
                    return mistake("url", &why);
                }
                if self.secret.is_empty() {
                    return mistake("secret", "a webhook is signed: name the file of its secret");
                }
                Ok(())
            }
            DeliverWord::Sendmail => {
                if !self.command.is_empty() {
                    self.check_program()?;
                }
                if !is_address(&self.from) {
                    return mistake("from", "must be a mail address");
                }
                if self.staff.len() > STAFF_MAX {
                    return mistake("staff", &format!("at most {STAFF_MAX} addresses"));
                }
                match self.staff.iter().find(|address| !is_address(address)) {
                    Some(bad) => mistake("staff", &format!("{bad:?} is not a mail address")),
                    None if self.staff.is_empty() && !self.members && self.attention => mistake(
                        "staff",
                        "empty, and members is false: there would be no recipient",
                    ),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether it receives alerts.
    pub fn receives_alerts(&self) -> bool {
        self.attention && self.by != DeliverWord::Folder
    }

    /// Whether it receives a daily digest, and only urgent events immediately.
    pub fn gets_digest(&self) -> bool {
        let by_mail = self.by == DeliverWord::Sendmail;
        self.receives_alerts() && self.digest.unwrap_or(by_mail)
    }

    /// The mode of files in a folder; none where the text is no mode.
    pub fn file_mode(&self) -> Option<u32> {
        let digits = self.mode.len() <= 5 && self.mode.bytes().all(|b| b.is_ascii_digit());
        let mode = u32::from_str_radix(&self.mode, 8).ok().filter(|_| digits)?;
        // Writable by the owner, and executable by no user.
        (mode & 0o600 == 0o600 && mode & !0o666 == 0).then_some(mode)
    }

    fn check_folder(&self) -> Result<(), String> {
        let mistake = |key: &str, why: &str| Err(format!("deliver {}: {key}: {why}", self.name));
        if self.folder.is_empty() || self.folder.contains(char::is_control) {
            return mistake("folder", "the path of a folder");
        }
        if self.keep > 100_000 {
            return mistake("keep", "0 to 100000");
        }
        if self.digest.is_some() {
            return mistake("digest", "a folder gets reports only");
        }
        match self.file_mode() {
            Some(_) => Ok(()),
            None => mistake(
                "mode",
                "such as \"0640\": read and write for the owner, execute for none",
            ),
        }
    }

    fn check_program(&self) -> Result<(), String> {
        let absolute = self.command.first().is_some_and(|p| p.starts_with('/'));
        let clean = self.command.iter().all(|word| !word.contains('\0'));
        if absolute && clean {
            return Ok(());
        }
        Err(format!(
            "deliver {}: command: must begin with the absolute path of a program",
            self.name
        ))
    }

    /// The program of `sendmail`.
    pub fn mailer(&self) -> PathBuf {
        let named = self.command.first();
        named.map_or_else(|| PathBuf::from("/usr/sbin/sendmail"), PathBuf::from)
    }
}

impl Config {
    /// The targets: no two of one name.
    pub(super) fn check_delivers(&self) -> Result<(), String> {
        if self.deliver.len() > DELIVERS_MAX {
            return Err(format!(
                "deliver: {} of them, {DELIVERS_MAX} at most",
                self.deliver.len()
            ));
        }
        let mut names = HashSet::new();
        for (number, deliver) in (1..).zip(&self.deliver) {
            deliver.check(number)?;
            if !names.insert(&deliver.name) {
                return Err(format!("deliver {}: two of this name", deliver.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_web() {
        let read = |text: &str| {
            let found = WebAddress::read(text)?;
            Ok::<_, String>((found.tls, found.host, found.port, found.path))
        };
        let made =
            |tls, host: &str, port, path: &str| (tls, host.to_owned(), port, path.to_owned());
        assert_eq!(
            read("https://hooks.example.org/a/b?c=d").unwrap(),
            made(true, "hooks.example.org", 443, "/a/b?c=d")
        );
        assert_eq!(
            read("http://127.0.0.1:9000").unwrap(),
            made(false, "127.0.0.1", 9000, "/")
        );
        assert_eq!(
            read("https://[::1]:8443/x").unwrap(),
            made(true, "::1", 8443, "/x")
        );
        for wrong in [
            "",
            "ftp://x/",
            "http://example.org/",
            "http://localhost/",
            "https://",
            "https://host:0/",
            "https://host:99999/",
            "https://user@host/",
            "https://host/ x",
            "https://host/\r\nX: y",
            "https://[::1/",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn what_nobody_could_deliver_is_refused() {
        let named = |by| Deliver {
            name: "ops".into(),
            by,
            ..Deliver::default()
        };
        let command = named(DeliverWord::Command);
        for (wrong, message) in [
            (
                Deliver {
                    name: "Ops".into(),
                    ..command.clone()
                },
                "name",
            ),
            (command.clone(), "absolute"),
            (
                Deliver {
                    command: vec!["notify".into()],
                    ..command.clone()
                },
                "absolute",
            ),
            (
                Deliver {
                    kinds: vec!["money".into()],
                    ..command
                },
                "kinds",
            ),
            (named(DeliverWord::Webhook), "url"),
            (
                Deliver {
                    url: "https://x/".into(),
                    ..named(DeliverWord::Webhook)
                },
                "secret",
            ),
            (named(DeliverWord::Sendmail), "from"),
            (
                Deliver {
                    from: "a@x".into(),
                    members: false,
                    ..named(DeliverWord::Sendmail)
                },
                "no recipient",
            ),
            (
                Deliver {
                    from: "a@x".into(),
                    staff: vec!["b@x\nBcc: c@x".into()],
                    ..named(DeliverWord::Sendmail)
                },
                "staff",
            ),
            (
                Deliver {
                    folder: "reports".into(),
                    digest: Some(false),
                    ..named(DeliverWord::Folder)
                },
                "digest",
            ),
        ] {
            let error = wrong.check(1).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let good = Deliver {
            from: "a@x".into(),
            ..named(DeliverWord::Sendmail)
        };
        good.check(1).unwrap();
        assert_eq!(good.mailer(), PathBuf::from("/usr/sbin/sendmail"));
        assert!(good.gets_digest() && !named(DeliverWord::Webhook).gets_digest());
    }
}
