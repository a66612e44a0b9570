use super::*;
use bank_core::amount::Precision;
use bank_core::attention::{AttentionKind, Concern, Event, Topic, Turn};
use bank_core::directory::{Bank, Policy};
use bank_core::ids::{ProjectId, TxId, UserId};
use bank_core::model::{Project, User};

fn user(id: i64, name: &str, email: &str) -> User {
    User {
        id: UserId(id),
        name: name.into(),
        active: true,
        deleted: false,
        common_name: String::new(),
        email: email.into(),
        default_project: None,
        organization: String::new(),
        phone: String::new(),
        description: String::new(),
        aliases: Vec::new(),
    }
}

pub(super) fn directory() -> Directory {
    let bank = Bank {
        uuid: "0b".into(),
        precision: Precision::new(3).unwrap(),
        unit: "SU".into(),
    };
    let mut directory = Directory::new(bank, Policy::default());
    directory.put_project(Project {
        id: ProjectId(1),
        name: "chem".into(),
        parent: None,
        active: true,
        deleted: false,
        mode: None,
        description: String::new(),
        organization: String::new(),
        machines: Vec::new(),
    });
    for (id, email) in [
        (1, "amy@uni.example"),
        (2, ""),
        (3, "eve@x\r\nBcc: all@uni.example"),
        (4, "gone@uni.example"),
        (5, "amy@uni.example"),
    ] {
        directory.put_user(user(id, &format!("user{id}"), email));
        directory.put_member(Member {
            project: ProjectId(1),
            user: UserId(id),
            active: id != 4,
            role: MemberRole::Member,
        });
    }
    directory
}

fn row() -> EventRow {
    EventRow {
        tx: TxId(7),
        at: Timestamp(0),
        event: Event {
            topic: Topic {
                kind: AttentionKind::Expiring,
                subject: "allocation:3".into(),
                threshold: 14,
            },
            turn: Turn::Raised,
            of: None,
            level: -13,
            concern: Concern {
                project: "chem".into(),
                ..Concern::default()
            },
            amount: Some(bank_core::amount::Amount(12_500)),
            urgent: false,
            is_notified: true,
            message: "chem: 12.500 SU end in 13 days".into(),
        },
        is_open: true,
        acked_by: None,
        job: None,
    }
}

fn mailed(members: bool) -> Deliver {
    Deliver {
        name: "mail".into(),
        by: DeliverWord::Sendmail,
        from: "bank@hpc.example".into(),
        staff: vec!["ops@hpc.example".into()],
        members,
        ..Deliver::default()
    }
}

#[test]
fn mail_is_for_staff_and_for_active_members_with_an_address() {
    let directory = directory();
    let all = recipients(&mailed(true), &directory, "chem");
    assert_eq!(all, ["amy@uni.example", "ops@hpc.example"]);
    let staff = recipients(&mailed(false), &directory, "chem");
    assert_eq!(staff, ["ops@hpc.example"]);
    assert_eq!(
        recipients(&mailed(true), &directory, ""),
        ["ops@hpc.example"]
    );
}

#[test]
fn mail_is_for_those_who_lead_a_project_where_there_are_any() {
    let mut directory = directory();
    let mut lead = |id: i64, email: &str, role| {
        directory.put_user(user(id, &format!("user{id}"), email));
        directory.put_member(Member {
            project: ProjectId(1),
            user: UserId(id),
            active: true,
            role,
        });
        recipients(&mailed(true), &directory, "chem")
    };
    let everybody = lead(6, "", MemberRole::Pi);
    assert_eq!(everybody, ["amy@uni.example", "ops@hpc.example"]);
    let pi = lead(7, "pi@uni.example", MemberRole::Pi);
    assert_eq!(pi, ["ops@hpc.example", "pi@uni.example"]);
    let both = lead(8, "boss@uni.example", MemberRole::Manager);
    assert_eq!(
        both,
        ["boss@uni.example", "ops@hpc.example", "pi@uni.example"]
    );
}

#[test]
fn a_mail_has_the_headers_that_it_should_and_no_others() {
    let directory = directory();
    let to = [
        "eve@x\r\nBcc: all@uni.example".to_owned(),
        "amy@uni.example".to_owned(),
    ];
    let mut event = row();
    event.at = Timestamp(1_763_674_865_123_456);
    event.event.message = "chem\r\nX-Evil: 1\r\n\r\nbody".into();
    let mail = mail::write(&directory, "bank@hpc.example", &to, 5, &[event]).unwrap();
    let text = String::from_utf8(mail).unwrap();
    let (head, _) = text.split_once("\n\n").unwrap();
    let names: Vec<&str> = head
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "From",
            "To",
            "Subject",
            "Message-ID",
            "MIME-Version",
            "Content-Type",
            "Content-Transfer-Encoding",
            "Auto-Submitted"
        ]
    );
    assert!(head.contains("To: amy@uni.example\n"), "{head}");
    // People see seconds and the time zone.
    assert!(
        text.contains("  expiring, as of 2025-11-20 21:41:05 UTC\n"),
        "{text}"
    );
    assert!(head.contains("Message-ID: <notice-5.0b@bank>\n"), "{head}");
    let nobody = ["eve@x y".to_owned()];
    assert!(mail::write(&directory, "bank@hpc.example", &nobody, 5, &[row()]).is_none());
}

#[test]
fn json_has_the_form_of_the_api() {
    let body = message::json(&directory(), 5, &row());
    let notification: bank_api::v1::Notification = serde_json::from_slice(&body).unwrap();
    assert_eq!((notification.notice, notification.bank.as_str()), (5, "0b"));
    let event = notification.event;
    assert_eq!(
        (event.id, event.threshold, event.level),
        (7, Some(14), Some(13))
    );
    assert_eq!(event.amount.as_deref(), Some("12.500"));
    assert_eq!(
        (event.kind.as_str(), event.turn.as_str()),
        ("expiring", "raised")
    );
    assert!(event.open && event.account.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_has_its_time_and_no_more() {
    let handle = Handle::current();
    let run = move |script: &str, limit: u64, input: Vec<u8>| {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let (handle, limit) = (handle.clone(), Duration::from_secs(limit));
        // A thread of no runtime, as the targets have.
        let thread = std::thread::spawn(move || command::run(&handle, &argv, input, &[], limit));
        tokio::task::spawn_blocking(move || thread.join().unwrap())
    };
    let small = b"{}".to_vec();
    let done = run("read line; [ -z \"$HOME\" ]", 60, small.clone()).await;
    assert_eq!(done.unwrap(), Attempt::Delivered);
    let Attempt::Again(why) = run("exit 3", 60, small.clone()).await.unwrap() else {
        panic!("it failed");
    };
    assert!(why.contains('3'), "{why}");
    // The program neither reads nor ends, and the input exceeds a pipe buffer.
    let big = vec![b'x'; 1 << 20];
    let Attempt::Again(why) = run("exec sleep 600", 1, big).await.unwrap() else {
        panic!("it was stopped");
    };
    assert!(why.contains("longer than 1 s"), "{why}");
    let gone = run("", 60, small).await;
    assert_eq!(gone.unwrap(), Attempt::Delivered);
}

#[test]
fn a_reason_is_kept_short() {
    let why = short(&format!("a\nb {}", "ü".repeat(400)));
    assert!(why.len() <= WHY_MAX && why.starts_with("a b "), "{why}");
}
