//! Mail, through the machine's own `sendmail -t -i`: nothing in it can begin another header, another
//! address or an option.

use std::fmt::Write as _;
use std::time::Duration;

use bank_api::text::format_seconds;
use bank_core::directory::Directory;
use bankd_config::{Deliver, is_address};
use bankd_store::read::attention::EventRow;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::runtime::Handle;

use super::Attempt;
use super::command::{Ended, feed};
use super::message::EVENTS_MAX;

/// Exit codes of sendmail that no later attempt changes (sysexits: usage, data, user, host).
const NEVER: [i32; 4] = [64, 65, 67, 68];
/// Bytes of a subject that fit into one encoded word.
const SUBJECT_MAX: usize = 45;

/// A mail as bytes; none if it has no recipient.
pub(super) fn write(
    directory: &Directory,
    from: &str,
    to: &[String],
    notice: i64,
    events: &[EventRow],
) -> Option<Vec<u8>> {
    let to: Vec<&str> = to
        .iter()
        .map(String::as_str)
        .filter(|a| is_address(a))
        .collect();
    if events.is_empty() {
        return None;
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "From: {from}");
    match to.as_slice() {
        [] => return None,
        [one] => {
            let _ = writeln!(text, "To: {one}");
        }
        // Recipients do not see each other.
        several => {
            let _ = writeln!(text, "To: undisclosed-recipients:;");
            let _ = writeln!(text, "Bcc: {}", several.join(",\n "));
        }
    }
    let subject = match events {
        [only] => only.event.message.clone(),
        all => format!("{} alerts", all.len()),
    };
    let _ = writeln!(text, "Subject: {}", encoded(&format!("[bank] {subject}")));
    let _ = writeln!(
        text,
        "Message-ID: <notice-{notice}.{}@bank>",
        directory.bank.uuid
    );
    text.push_str(
        "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\
         Content-Transfer-Encoding: 8bit\nAuto-Submitted: auto-generated\n\n",
    );
    for row in events.iter().take(EVENTS_MAX) {
        let _ = writeln!(text, "{}", row.event.message);
        let _ = writeln!(
            text,
            "  {}, as of {}\n",
            row.event.topic.kind.word(),
            format_seconds(row.at.0)
        );
    }
    if let Some(more) = events
        .len()
        .checked_sub(EVENTS_MAX)
        .filter(|more| *more > 0)
    {
        let _ = writeln!(text, "and {more} more.\n");
    }
    text.push_str(
        "`bank attention ls` lists open alerts, `bank journal` their causes.\n\
         Your site's staff can switch this off.\n",
    );
    Some(text.into_bytes())
}

/// A value of a header: as it is where it is plain and short, else in encoded words of UTF-8
/// (RFC 2047), each whole.
pub(super) fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    if plain && value.len() <= 200 && !value.contains("=?") {
        return value.to_owned();
    }
    let mut words = Vec::new();
    let mut word = String::new();
    for c in value.chars().take(200) {
        let c = if c.is_control() { ' ' } else { c };
        if word.len() + c.len_utf8() > SUBJECT_MAX {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let words = words
        .iter()
        .map(|word| format!("=?UTF-8?B?{}?=", STANDARD.encode(word)));
    words.collect::<Vec<_>>().join("\n ")
}

/// Gives a mail to sendmail, which reads the recipients in it.
pub(super) fn send(runtime: &Handle, target: &Deliver, mail: Vec<u8>, limit: Duration) -> Attempt {
    let program = target.mailer().to_string_lossy().into_owned();
    let mut argv = vec![program, "-t".to_owned(), "-i".to_owned()];
    argv.extend(target.command.iter().skip(1).cloned());
    match feed(runtime, &argv, mail, &[], limit) {
        Ended::With(status) if status.success() => Attempt::Delivered,
        Ended::With(status) => {
            let why = format!("sendmail ended with {status}");
            match status.code() {
                Some(code) if NEVER.contains(&code) => Attempt::Never(why),
                _ => Attempt::Again(why),
            }
        }
        Ended::Not(why) => Attempt::Again(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_one_header_whatever_it_holds() {
        assert_eq!(encoded("chem: 80 % used"), "chem: 80 % used");
        for text in ["a\r\nBcc: x@y", "ä", "=?UTF-8?Q?x?=", &"x".repeat(500)] {
            let value = encoded(text);
            for line in value.split('\n') {
                let word = line.trim_start_matches(' ');
                assert!(
                    word.starts_with("=?UTF-8?B?") && word.ends_with("?="),
                    "{value:?}"
                );
                assert!(word.len() <= 75, "{word}");
            }
            assert!(!value.contains('\r') && !value.contains("Bcc"), "{value:?}");
        }
    }
}
