//! A report for its recipients: JSON with its text for programs, a mail with an attachment for
//! people.

use std::fmt::Write as _;

use bank_api::text::format_rfc3339;
use bank_api::v1::{MadeReport, ReportNotification};
use bank_core::directory::Directory;
use bankd_config::{Deliver, is_address};
use bankd_store::ReportRun;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::mail::encoded;

/// Letters in a line of an attachment.
const LINE: usize = 76;

/// The body that a program or a webhook gets.
pub(super) fn json(directory: &Directory, notice: i64, run: &ReportRun, body: &[u8]) -> Vec<u8> {
    let notification = ReportNotification {
        notice,
        bank: directory.bank.uuid.clone(),
        report: MadeReport {
            name: run.schedule.clone(),
            period: run.period.name.clone(),
            from: format_rfc3339(run.period.from),
            until: format_rfc3339(run.period.until),
            made_at: run
                .made_at
                .map_or_else(String::new, |at| format_rfc3339(at.0)),
            form: run.form.clone(),
            media: media(&run.form).to_owned(),
            file: run.file.clone(),
            text: String::from_utf8_lossy(body).into_owned(),
            person: Some(run.person.clone()).filter(|person| !person.is_empty()),
            plain: run
                .plain
                .as_ref()
                .map(|plain| String::from_utf8_lossy(plain).into_owned()),
        },
    };
    serde_json::to_vec(&notification).unwrap_or_default()
}

fn media(form: &str) -> &'static str {
    match form {
        "html" => "text/html; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}

/// A mail as bytes; none if it has no recipient.
pub(super) fn mail(
    directory: &Directory,
    target: &Deliver,
    notice: i64,
    run: &ReportRun,
    body: &[u8],
) -> Option<Vec<u8>> {
    let named: Vec<&str> = run
        .recipients
        .split(',')
        .filter(|a| is_address(a))
        .collect();
    let staff = target.staff.iter().map(String::as_str);
    let staff = staff.filter(|a| is_address(a));
    let to: Vec<&str> = match named.as_slice() {
        // The page of a person is for nobody else.
        [] if run.person.is_empty() => staff.collect(),
        _ => named,
    };
    let mut text = format!("From: {}\n", target.from);
    // Writing to a string cannot fail.
    let _ = match to.as_slice() {
        [] => return None,
        [one] => writeln!(text, "To: {one}"),
        // Recipients do not see each other.
        several => writeln!(
            text,
            "To: undisclosed-recipients:;\nBcc: {}",
            several.join(",\n ")
        ),
    };
    let (name, period) = (&run.schedule, &run.period.name);
    let _ = write!(
        text,
        "Subject: {}\nMessage-ID: <notice-{notice}.{}@bank>\nMIME-Version: 1.0\n\
         Auto-Submitted: auto-generated\n",
        encoded(&format!("[bank] {name} {period}")),
        directory.bank.uuid,
    );
    let boundary = format!("=_bank_{notice}_{}", directory.bank.uuid);
    match &run.plain {
        Some(plain) if run.form == "text" => part(&mut text, "text", None, plain),
        Some(plain) => {
            let _ = write!(
                text,
                "Content-Type: multipart/alternative; boundary=\"{boundary}\"\n\n--{boundary}\n"
            );
            part(&mut text, "text", None, plain);
            let _ = writeln!(text, "--{boundary}");
            part(&mut text, &run.form, None, body);
            let _ = writeln!(text, "--{boundary}--");
        }
        None => {
            let _ = write!(
                text,
                "Content-Type: multipart/mixed; boundary=\"{boundary}\"\n\n--{boundary}\n\
                 Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n\
                 {name}, {period} (from {} to {}, exclusive)\n\nAttached: {}\n\n--{boundary}\n",
                format_rfc3339(run.period.from),
                format_rfc3339(run.period.until),
                run.file,
            );
            part(&mut text, &run.form, Some(&run.file), body);
            let _ = writeln!(text, "--{boundary}--");
        }
    }
    Some(text.into_bytes())
}

/// The header fields and the bytes of a part; with a name as an attachment.
fn part(text: &mut String, form: &str, file: Option<&str>, body: &[u8]) {
    let _ = writeln!(text, "Content-Type: {}", media(form));
    if let Some(file) = file {
        let _ = writeln!(text, "Content-Disposition: attachment; filename=\"{file}\"");
    }
    text.push_str("Content-Transfer-Encoding: base64\n\n");
    let mut rest = STANDARD.encode(body);
    while rest.len() > LINE {
        let more = rest.split_off(LINE);
        text.push_str(&rest);
        text.push('\n');
        rest = more;
    }
    let _ = writeln!(text, "{rest}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::time::Timestamp;

    fn run() -> ReportRun {
        ReportRun {
            schedule: "month".to_owned(),
            file: "month-2026-10.html".to_owned(),
            form: "html".to_owned(),
            made_at: Some(Timestamp(0)),
            period: bankd_store::SpanRow {
                name: "2026-10".to_owned(),
                from: 0,
                until: 1,
            },
            ..ReportRun::default()
        }
    }

    #[test]
    fn a_mail_brings_the_report_to_those_it_is_for() {
        let target = Deliver {
            from: "bank@x".to_owned(),
            staff: vec!["ops@x".to_owned()],
            ..Deliver::default()
        };
        let directory = crate::deliver::tests::directory();
        let body = "<p>ü</p>".repeat(100);
        let say = |run: &ReportRun| {
            let mail = mail(&directory, &target, 7, run, body.as_bytes()).unwrap();
            String::from_utf8(mail).unwrap()
        };
        let text = say(&run());
        assert!(text.contains("\nTo: ops@x\n"), "{text}");
        assert!(text.contains("\nSubject: [bank] month 2026-10\n"), "{text}");
        assert!(text.contains("filename=\"month-2026-10.html\""), "{text}");
        let attached = text.split("base64\n\n").nth(1).unwrap();
        let attached: String = attached
            .lines()
            .take_while(|line| !line.starts_with("--"))
            .collect();
        assert_eq!(STANDARD.decode(attached).unwrap(), body.as_bytes());
        assert!(text.lines().all(|line| line.len() < 200), "{text}");
        let notification = ReportRun {
            recipients: "pi@x,boss@x".to_owned(),
            ..run()
        };
        let text = say(&notification);
        assert!(
            text.contains("\nBcc: pi@x,\n boss@x\n") && !text.contains("ops@x"),
            "{text}"
        );
        let page = ReportRun {
            person: "amy".to_owned(),
            recipients: "amy@x".to_owned(),
            plain: Some(b"for amy".to_vec()),
            ..run()
        };
        let text = say(&page);
        assert!(text.contains("\nTo: amy@x\n"), "{text}");
        assert!(text.contains("multipart/alternative"), "{text}");
        assert!(!text.contains("attachment"), "{text}");
        let parts: Vec<&str> = text.split("Content-Type: text/").collect();
        assert!(parts[1].starts_with("plain") && parts[2].starts_with("html"));
        assert!(parts[1].contains(&STANDARD.encode("for amy")), "{text}");
        // Without an address it goes to nobody, not even to the staff.
        let unsent = ReportRun {
            recipients: String::new(),
            ..page
        };
        assert!(mail(&directory, &target, 7, &unsent, b"").is_none());
        let nobody = Deliver::default();
        assert!(mail(&directory, &nobody, 7, &run(), b"").is_none());
    }
}
