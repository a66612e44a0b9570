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
    let to: Vec<&str> = if named.is_empty() {
        staff.filter(|a| is_address(a)).collect()
    } else {
        named
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
    let (name, period) = (&run.schedule, &run.period);
    let boundary = format!("=_bank_{notice}_{}", directory.bank.uuid);
    let _ = write!(
        text,
        "Subject: {}\nMessage-ID: <notice-{notice}.{}@bank>\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=\"{boundary}\"\nAuto-Submitted: auto-generated\n\n\
         --{boundary}\nContent-Type: text/plain; charset=utf-8\n\
         Content-Transfer-Encoding: 8bit\n\n\
         {name}, {} (from {} to {}, exclusive)\n\n\
         Attached: {}\n\n",
        encoded(&format!("[bank] {name} {}", period.name)),
        directory.bank.uuid,
        period.name,
        format_rfc3339(period.from),
        format_rfc3339(period.until),
        run.file,
    );
    let _ = write!(
        text,
        "--{boundary}\nContent-Type: {}\nContent-Disposition: attachment; filename=\"{}\"\n\
         Content-Transfer-Encoding: base64\n\n",
        media(&run.form),
        run.file,
    );
    let mut rest = STANDARD.encode(body);
    while rest.len() > LINE {
        let more = rest.split_off(LINE);
        text.push_str(&rest);
        text.push('\n');
        rest = more;
    }
    let _ = write!(text, "{rest}\n--{boundary}--\n");
    Some(text.into_bytes())
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
        let nobody = Deliver::default();
        assert!(mail(&directory, &nobody, 7, &run(), b"").is_none());
    }
}
