//! The clock, the daemon itself, and its certificates.

use std::fs::{OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bank_api::text::format_rfc3339;
use bank_core::time::Timestamp;
use bankd_auditor::tls::Tls;
use bankd_config::data_dir::DataDir;
use bankd_config::{Access, AuditorTls, Http};
use bankd_ledger::{access, clock};
use bankd_store::Checkup;

use super::{Found, State};

/// Maximum time for the daemon to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer that is looked at.
const ANSWER_MAX: u64 = 4096;
/// How far the journal may be ahead of the clock in microseconds: a step back of a second is no news.
const AHEAD_US: i64 = 2_000_000;
/// systemd creates this file when the clock has been synchronised.
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";

/// Whether the machine's clock can be right.
pub(super) fn clock(checkup: Option<&Checkup>) -> Found {
    let folder = Path::new(SYNCHRONIZED).parent();
    let alone = folder.is_some_and(Path::exists) && !Path::new(SYNCHRONIZED).exists();
    judged(checkup, Timestamp(clock::real_us()), alone)
}

fn judged(checkup: Option<&Checkup>, now: Timestamp, alone: bool) -> Found {
    const NAME: &str = "clock";
    let shown = format_rfc3339(now.0);
    let recorded = checkup.and_then(|checkup| checkup.last_recorded.max(checkup.clock_seen));
    if let Some(recorded) = recorded
        && recorded.0.saturating_sub(now.0) > AHEAD_US
    {
        let recorded = format_rfc3339(recorded.0);
        let message = format!("it shows {shown}, and the bank has seen {recorded}");
        let todo = "set the clock; the bank's time does not advance until the clock reaches it";
        return Found::of(NAME, State::Fail, message, todo);
    }
    if alone {
        let message =
            format!("it shows {shown}, and it was not synchronised since the machine started");
        return Found::of(
            NAME,
            State::Warn,
            message,
            "look at `timedatectl`: signatures fail when it is off",
        );
    }
    Found::ok(
        NAME,
        format!("it shows {shown}, not before what the bank has seen"),
    )
}

/// The system has the users and the group of the settings, if there are some.
pub(super) fn people(settings: &Access) -> Option<Found> {
    const NAME: &str = "access";
    if *settings == Access::default() {
        return None;
    }
    let unknown = access::unknown(settings);
    if unknown.is_empty() {
        return Some(Found::ok(
            NAME,
            "the system has each user and group of [access]",
        ));
    }
    let message = format!("the system has no {}", unknown.join(", no "));
    let todo = "correct the names in [access] of bankd.toml, or add them to the system";
    Some(Found::of(NAME, State::Warn, message, todo))
}

/// Whether a daemon serves the bank, and answers.
pub(super) fn daemon(data: &DataDir, settings: &Http) -> Found {
    const NAME: &str = "daemon";
    let folder = data.path().display();
    let start = format!("`bankd serve --data {folder}`, or start its service");
    match is_locked(&data.lock()) {
        Ok(true) => {}
        Ok(false) => {
            return Found::of(
                NAME,
                State::Warn,
                format!("no daemon serves {folder}"),
                start,
            );
        }
        Err(error) => {
            let message = format!("{}: {error}", data.lock().display());
            return Found::of(
                NAME,
                State::Warn,
                message,
                "ask as the user that runs the daemon",
            );
        }
    }
    if !settings.socket {
        return Found::ok(NAME, "it serves, without a socket to ask it through");
    }
    let socket = data.socket();
    match ready(&socket) {
        Ok((200, _)) => Found::ok(
            NAME,
            format!("it serves, and answers on {}", socket.display()),
        ),
        Ok((status, reasons)) => Found::of(
            NAME,
            State::Fail,
            format!(
                "it serves, and returns {status} on /readyz: {}",
                reasons.join(", ")
            ),
            "remove the cause; the log has more about it. Restart a daemon that cannot write",
        ),
        Err(error) => Found::of(
            NAME,
            State::Fail,
            format!(
                "it serves, and does not answer on {}: {error}",
                socket.display()
            ),
            "restart it; no other program may create or remove its socket",
        ),
    }
}

/// Whether a process holds the lock of the directory. The lock itself is not taken.
fn is_locked(path: &Path) -> io::Result<bool> {
    let file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// The status of `/readyz`, and its reasons.
fn ready(socket: &Path) -> io::Result<(u16, Vec<String>)> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let reasons = body.get("reasons").and_then(serde_json::Value::as_array);
    let reasons = reasons.into_iter().flatten();
    let reasons = reasons.filter_map(|reason| reason.as_str().map(str::to_owned));
    let status = status.ok_or_else(|| io::Error::other("the response is not valid HTTP"))?;
    Ok((status, reasons.collect()))
}

/// The certificates of AUDITOR's listener, where there is one.
pub(super) fn certificates(data: &DataDir, settings: &AuditorTls) -> Option<Found> {
    const NAME: &str = "tls";
    if settings.listen.is_empty() {
        return None;
    }
    Some(
        match Tls::load(settings, data.path(), clock::auth_now_s()) {
            Ok(_) => Found::ok(NAME, "AUDITOR's certificates are usable"),
            Err(error) => Found::of(
                NAME,
                State::Fail,
                error,
                "the daemon does not start with them",
            ),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_the_journal_is_wrong() {
        let seen = |us| Checkup {
            last_recorded: Some(Timestamp(us)),
            ..Checkup::default()
        };
        let now = Timestamp(100_000_000);
        for (checkup, alone, state) in [
            (None, false, State::Ok),
            (Some(seen(100_000_000)), false, State::Ok),
            (Some(seen(101_000_000)), false, State::Ok),
            (Some(seen(103_000_000)), false, State::Fail),
            (Some(seen(0)), true, State::Warn),
        ] {
            assert_eq!(
                judged(checkup.as_ref(), now, alone).state,
                state,
                "{checkup:?}"
            );
        }
    }
}
