use std::os::unix::fs::PermissionsExt as _;

use super::*;

mod garbage;
mod maui;

const KEY: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// A folder in which every script is, and its path.
fn scripts() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for event in [
        "quote", "create", "reserve", "charge", "delete", "start", "update", "continue", "pause",
        "resume", "end",
    ] {
        let path = folder.path().join(format!("bank.{event}"));
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(folder.path().join("bank.plain"), "").unwrap();
    let path = folder.path().display().to_string();
    (folder, path)
}

fn facts() -> Facts {
    Facts {
        scripts: Some(Scripts {
            timeout_s: 8,
            print_tid: false,
            fail_open: false,
        }),
        machine: Some(Machine {
            name: "colony".into(),
            mode: "strict".into(),
            flush_interval_s: 3600,
        }),
        names: Some(Names {
            projects: vec!["chemistry".into(), "chemistry_low".into()],
            accounts: vec![
                ("freecycle".into(), None),
                ("second".into(), Some("freecycle".into())),
            ],
        }),
        tid_variable: "BILLTID".into(),
        home: None,
    }
}

fn file(name: &str, text: &str) -> File {
    File {
        name: name.into(),
        text: text.into(),
        is_open: false,
    }
}

/// Every finding as `file:line code`.
fn codes(findings: &Findings) -> Vec<String> {
    let one = |f: &Finding| format!("{}:{} {}", f.file, f.line, f.code);
    findings.findings.iter().map(one).collect()
}

fn earlier(dir: &str) -> String {
    format!(
        "AMCFG[bank]  TYPE=NATIVE\n\
         AMCFG[bank]  QuoteURL=exec://{dir}/bank.quote CreateURL=exec://{dir}/bank.create\n\
         AMCFG[bank]  ReserveURL=exec://{dir}/bank.reserve ChargeURL=exec://{dir}/bank.charge\n\
         AMCFG[bank]  DeleteURL=exec://{dir}/bank.delete\n\
         AMCFG[bank]  FLUSHINTERVAL=hour CHARGEPOLICY=DEBITALLWC TIMEOUT=10\n\
         AMCFG[bank]  BillingReserveFailure=HOLD BillingCreateFailure=HOLD\n"
    )
}

fn nine(dir: &str) -> String {
    format!(
        "amcfg[bank] type=native FlushInterval=1:00:00 ChargePolicy=DebitAllWC TimeOut=12 \\\n\
         \x20 createurl=exec://{dir}/bank.create starturl=exec://{dir}/bank.start \\\n\
         \x20 updateurl=exec://{dir}/bank.update continueurl=exec://{dir}/bank.continue \\\n\
         \x20 pauseurl=exec://{dir}/bank.pause resumeurl=exec://{dir}/bank.resume \\\n\
         \x20 endurl=exec://{dir}/bank.end deleteurl=exec://{dir}/bank.delete\n\
         AMCFG[bank] CreateFailureAction=CANCEL StartFailureAction=HOLD,RETRY\n\
         AMCFG[bank] ContinueFailureAction=CANCEL ResumeFailureAction=HOLD\n"
    )
}

const MAUI: &str = "SERVERMODE NORMAL\n\
    AMCFG[bank] SERVER=gold://bank.example.org:7112 JFACTION=DEFER CHARGEPOLICY=DEBITALLWC\n\
    AMCFG[bank] FALLBACKACCOUNT=freecycle TIMEOUT=10 FLUSHINTERVAL=1:00:00\n";

#[test]
fn what_is_right_has_no_finding() {
    let (_folder, dir) = scripts();
    for text in [earlier(&dir), nine(&dir)] {
        let found = check(&[file("moab.cfg", &text)], &[], &facts());
        assert_eq!(codes(&found), [""; 0], "{text}");
    }
    let private = format!("CLIENTCFG[AM:bank] CSKEY={KEY} CSALGO=HMAC64\n");
    let maui = [file("maui.cfg", MAUI), file("maui-private.cfg", &private)];
    assert_eq!(codes(&check(&[], &maui, &facts())), [""; 0]);
    let gold = "AMCFG[bank] SERVER=gold://h JOBFAILUREACTION=HOLD CHARGEPOLICY=DEBITALLWC \
                FLUSHINTERVAL=hour\n";
    let private = format!("clientcfg[am:bank] key={KEY} authtype=hmac64\n");
    let moab = [file("moab.cfg", gold), file("moab-private.cfg", &private)];
    assert_eq!(codes(&check(&moab, &[], &facts())), [""; 0]);
}

/// A change of a right configuration, and what is found then.
#[test]
fn each_mistake_of_a_moab_with_programs() {
    let (_folder, dir) = scripts();
    let exec = |script: &str| format!("exec://{dir}/bank.{script}");
    let cases: Vec<(&str, String, &str)> = vec![
        (
            "BillingReserveFailure=HOLD BillingCreateFailure=HOLD",
            String::new(),
            "1 failure_action_missing",
        ),
        (
            "BillingReserveFailure=HOLD",
            "BillingReserveFailure=IGNORE".into(),
            "6 failure_ignored",
        ),
        (
            "BillingReserveFailure=HOLD",
            "JOBFAILUREACTION=none".into(),
            "6 failure_ignored",
        ),
        (
            "BillingCreateFailure=HOLD",
            "BillingCreateFailure=Ignore".into(),
            "6 failure_ignored",
        ),
        (
            "BillingReserveFailure=HOLD",
            "BillingReserveFailure=HOLD,IGNORE".into(),
            "6 failure_ignored",
        ),
        ("ReserveURL=", "XReserve=".into(), "1 url_missing"),
        ("ChargeURL=", "XCharge=".into(), "1 url_missing"),
        ("DeleteURL=", "XDelete=".into(), "1 url_missing"),
        (
            "FLUSHINTERVAL=hour",
            String::new(),
            "1 flush_interval_missing",
        ),
        (
            "FLUSHINTERVAL=hour",
            "FLUSHINTERVAL=soon".into(),
            "5 flush_interval_unreadable",
        ),
        (
            "FLUSHINTERVAL=hour",
            "FLUSHINTERVAL=30:00".into(),
            "5 flush_interval_differs",
        ),
        (
            "FLUSHINTERVAL=hour",
            "FLUSHINTERVAL=5000".into(),
            "5 flush_interval_differs",
        ),
        ("TIMEOUT=10", "TIMEOUT=8".into(), "5 timeout_too_short"),
        ("TIMEOUT=10", "TIMEOUT=0".into(), "5 timeout_too_short"),
        (
            "CHARGEPOLICY=DEBITALLWC",
            String::new(),
            "1 charge_policy_missing",
        ),
        (
            "CHARGEPOLICY=DEBITALLWC",
            "CHARGEPOLICY=DEBITALL".into(),
            "5 charge_policy_unknown",
        ),
        (
            "CHARGEPOLICY=DEBITALLWC",
            "CHARGEPOLICY=debitsuccessfulnode".into(),
            "",
        ),
        (
            "CHARGEPOLICY=DEBITALLWC",
            "CHARGEPOLICY=DEBITREQUESTEDWC".into(),
            "",
        ),
        (
            "BillingReserveFailure=HOLD",
            "JOBFAILUREACTION=HODL".into(),
            "6 not_understood",
        ),
        (
            "FLUSHINTERVAL=hour",
            "FLUSHINTERVL=hour".into(),
            "5 not_understood",
        ),
        ("TYPE=NATIVE", String::new(), "1 type_missing"),
        ("TYPE=NATIVE", "TYPE=QBANK".into(), "1 type_missing"),
        (
            "AMCFG[bank]  DeleteURL",
            "AMCFG[other]  DeleteURL".into(),
            "4 label_differs",
        ),
        (
            "AMCFG[bank]  DeleteURL",
            "AMCFG  DeleteURL".into(),
            "4 label_missing",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 FALLBACKACCOUNT=freecycle".into(),
            "",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 FALLBACKACCOUNT=chemistry".into(),
            "",
        ),
        ("TIMEOUT=10", "TIMEOUT=10 FALLBACKACCOUNT=+_low".into(), ""),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 FALLBACKACCOUNT=+_free".into(),
            "5 fallback_unknown",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 FALLBACKACCOUNT=nobody".into(),
            "5 fallback_unknown",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 FALLBACKACCOUNT=second".into(),
            "5 fallback_chain",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 MODE=usage-tracking".into(),
            "5 manager_mode",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 DISABLEDACTIONS=QUERY,RESERVE".into(),
            "5 action_disabled",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 StartIsBlocking=FALSE".into(),
            "5 not_waited_for",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10\nAMCFG[bank] TIMEOUT=20".into(),
            "6 given_twice",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10\nSERVERMODE MONITOR".into(),
            "6 server_mode",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10\nSCHEDCFG[Moab] SERVER=h:42559 MODE=TEST".into(),
            "6 server_mode",
        ),
        (
            "TIMEOUT=10",
            "TIMEOUT=10\nNAMITransVarName CHARGEID".into(),
            "6 tid_variable_differs",
        ),
        ("TIMEOUT=10", "TIMEOUT=10\nQueueNAMIActions TRUE".into(), ""),
        (
            "TIMEOUT=10",
            format!("TIMEOUT=10 QUERYURL={}", exec("query")),
            "5 url_not_served",
        ),
        (
            "bank.charge\n",
            "bank.reserve\n".into(),
            "3 url_other_event",
        ),
        (
            "bank.delete\n",
            "bank.nothing\n".into(),
            "4 program_missing",
        ),
        ("bank.delete\n", "bank.plain\n".into(), "4 program_missing"),
        ("DeleteURL=exec", "DeleteURL=http".into(), "4 url_scheme"),
        (
            "TIMEOUT=10",
            "TIMEOUT=10 SERVER=gold://h".into(),
            "two_interfaces",
        ),
    ];
    for (from, to, expected) in cases {
        let right = earlier(&dir);
        assert!(right.contains(from), "{from}");
        let text = right.replacen(from, &to, 1);
        let found = codes(&check(&[file("m", &text)], &[], &facts()));
        let requested = |code: &String| code.ends_with(expected) && !expected.is_empty();
        assert!(
            found.iter().any(requested) || (expected.is_empty() && found.is_empty()),
            "{from} -> {to}: {found:?}"
        );
    }
}

#[test]
fn each_mistake_of_a_moab_9() {
    let (_folder, dir) = scripts();
    for (from, to, expected) in [
        (
            "StartFailureAction=HOLD,RETRY",
            "",
            "2 failure_action_missing",
        ),
        (
            "StartFailureAction=HOLD,RETRY",
            "StartFailureAction=HOLD,IGNORE",
            "6 failure_ignored",
        ),
        ("CreateFailureAction=CANCEL", "", "2 failure_action_missing"),
        (
            "ContinueFailureAction=CANCEL",
            "ContinueFailureAction=IGNORE",
            "7 failure_ignored",
        ),
        ("ResumeFailureAction=HOLD", "", "4 failure_action_missing"),
        ("starturl=", "x=", "1 url_missing"),
        ("updateurl=", "x=", "1 url_missing"),
        ("continueurl=", "x=", "1 url_missing"),
        ("resumeurl=", "x=", "1 url_missing"),
        ("endurl=", "x=", "1 url_missing"),
        ("bank.end ", "bank.pause ", "5 url_other_event"),
    ] {
        let right = nine(&dir);
        assert!(right.contains(from), "{from}");
        let text = right.replacen(from, to, 1);
        let found = codes(&check(&[file("m", &text)], &[], &facts()));
        assert!(
            found.contains(&format!("m:{expected}")),
            "{from} -> {to}: {found:?}"
        );
    }
}

#[test]
fn answers_of_scripts_and_bank_are_checked() {
    let (_folder, dir) = scripts();
    let with = |change: fn(&mut Facts), more: &str| {
        let mut facts = facts();
        change(&mut facts);
        let text = format!("{}{more}", earlier(&dir));
        check(&[file("m", &text)], &[], &facts)
    };
    let printing = |facts: &mut Facts| facts.scripts.as_mut().unwrap().print_tid = true;
    let slow = |facts: &mut Facts| facts.scripts.as_mut().unwrap().timeout_s = 15;
    let track = |facts: &mut Facts| facts.machine.as_mut().unwrap().mode = "track".into();
    let open = |facts: &mut Facts| facts.scripts.as_mut().unwrap().fail_open = true;
    let nothing = |facts: &mut Facts| {
        facts.scripts = None;
        facts.machine = None;
        facts.names = None;
    };
    assert_eq!(codes(&with(printing, "")), ["m:1 tid_not_kept"]);
    let kept = "NAMITransVarName BILLTID\n";
    assert_eq!(codes(&with(printing, kept)), [""; 0]);
    assert_eq!(codes(&with(|_| {}, kept)), ["m:7 tid_not_printed"]);
    assert_eq!(codes(&with(slow, "")), ["m:5 timeout_too_short"]);
    assert_eq!(codes(&with(track, "")), ["m:1 machine_mode"]);
    assert_eq!(with(open, "").notes.len(), 1);
    assert_eq!(with(|_| {}, "QueueNAMIActions TRUE\n").notes.len(), 1);
    assert_eq!(
        codes(&with(nothing, "AMCFG[bank] FALLBACKACCOUNT=x\n")),
        [""; 0]
    );
    let included = with(|_| {}, "#INCLUDE more.cfg\n");
    assert!(
        included.notes[0].starts_with("m:7: includes more.cfg"),
        "{included:?}"
    );
}

#[test]
fn home_is_the_folder_of_the_scheduler() {
    let (_folder, dir) = scripts();
    let text = earlier(&dir).replace(&dir, "/$HOME");
    let unknown = check(&[file("m", &text)], &[], &facts());
    assert_eq!((codes(&unknown).len(), unknown.notes.len()), (0, 5));
    let known = Facts {
        home: Some(dir),
        ..facts()
    };
    let found = check(&[file("m", &text)], &[], &known);
    assert_eq!((codes(&found).len(), found.notes.len()), (0, 0));
}
