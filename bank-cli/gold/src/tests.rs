//! The tools against prepared answers: their requests, texts and exit codes.

mod replay;

use std::{cell::RefCell, ffi::OsString};

use bank_picture::Zone;

use super::*;

/// A daemon of a test: it keeps the requests and gives the answers in order.
struct Answers {
    answers: RefCell<Vec<String>>,
    requests: RefCell<Vec<String>>,
}

impl Link for Answers {
    fn send(&self, request: &str) -> Result<String, Broken> {
        self.requests.borrow_mut().push(request.to_owned());
        let mut answers = self.answers.borrow_mut();
        if answers.is_empty() {
            return Ok(success(""));
        }
        Ok(answers.remove(0))
    }

    fn now_us(&self) -> i64 {
        1_795_480_331_000_000
    }
}

fn success(rows: &str) -> String {
    format!(
        "<Response><Status><Value>Success</Value><Code>000</Code></Status><Count>1</Count>\
         <Data>{rows}</Data></Response>"
    )
}

fn refusal(code: &str, message: &str) -> String {
    format!(
        "<Response><Status><Value>Failure</Value><Code>{code}</Code><Message>{message}</Message>\
         </Status></Response>"
    )
}

/// The result of a tool.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    exit: u8,
    out: String,
    error: String,
    requests: Vec<String>,
}

/// A session of a command line at a fixed time.
fn session<'a>(line: &str, daemon: &'a Answers) -> Session<'a> {
    let mut words = line.split(' ').map(OsString::from);
    let tool = Tool::of(&words.next().unwrap()).unwrap();
    let given = read(tool, words).unwrap_or_else(|error| panic!("{line}: {error}"));
    let clock = Clock {
        now_us: 1_795_480_331_000_000,
        zone: Zone::Named(chrono_tz::UTC),
    };
    Session::new(daemon, "a<b".to_owned(), clock, given)
}

fn ran(line: &str, answers: &[String]) -> Ran {
    let daemon = Answers {
        answers: RefCell::new(answers.to_vec()),
        requests: RefCell::default(),
    };
    let mut session = session(line, &daemon);
    let tool = Tool::of(session.given.name().as_ref()).unwrap();
    let exit = run(tool, &mut session);
    let (mut out, mut error) = (String::new(), String::new());
    for piece in session.pieces {
        match piece {
            Piece::Out(text) => out += &text,
            Piece::Error(text) => error += &text,
        }
    }
    let requests = daemon.requests.into_inner();
    Ran {
        exit,
        out,
        error,
        requests,
    }
}

#[test]
fn every_command_line_is_sound() {
    for tool in &TOOLS {
        command(tool).debug_assert();
        for option in ["help", "version"] {
            let words = [OsString::from(format!("--{option}"))];
            let error = read(tool, words).unwrap_err();
            assert_eq!(error.exit_code(), 0, "{} --{option}", tool.name);
        }
    }
}

#[test]
fn an_unread_command_line_has_golds_first_line() {
    let first = |line: &str| {
        let mut words = line.split(' ').map(OsString::from);
        let tool = Tool::of(&words.next().unwrap()).unwrap();
        complaint(&read(tool, words).unwrap_err())
    };
    for (line, expected) in [
        ("gbalance -J x", Some("Unknown option: J")),
        ("gbalance --nonsense", Some("Unknown option: nonsense")),
        ("gdeposit -a", Some("Option a requires an argument")),
        (
            "gdeposit -a 1 -z abc",
            Some("Value \"abc\" invalid for option z (number expected)"),
        ),
        (
            "gquote -X a<b=1",
            Some("Value \"a<b=1\" invalid for option X (NAME=VALUE expected)"),
        ),
        ("gbalance word", None),
        ("glsproject chem bio", None),
        ("gdeposit 1 2 3", None),
    ] {
        assert_eq!(first(line).as_deref(), expected, "{line}");
    }
}

#[test]
fn a_usage_error_sends_nothing() {
    for line in [
        "gdeposit",
        "gdeposit -z 5",
        "gdeposit -a 1 -p chem -z 5",
        "gdeposit 1 abc",
        "gwithdraw -a 1",
        "gwithdraw -z 5",
        "gtransfer --fromAccount 1 -z 5",
        "gtransfer --fromAccount 1 --toAccount 2",
        "grefund -z 5",
        "greserve -p chem -t 5",
        "gquote -t 5 --costOnly --guarantee",
        "gusage",
        "gmkuser",
        "grmres",
        "gchproject -d x",
        "glsproject -p chem bio",
    ] {
        let ran = ran(line, &[]);
        assert_eq!(ran.exit, 2, "{line}: {ran:?}");
        assert!(ran.requests.is_empty(), "{line}: {ran:?}");
        assert!(ran.error.contains("Usage: "), "{line}: {ran:?}");
    }
}

#[test]
fn an_account_has_a_number_or_a_name() {
    let found = success("<Account><Id>7</Id></Account>");
    let ran_ = ran("gdeposit -a chem -z 5 -h", &[found]);
    assert_eq!(ran_.exit, 0);
    assert_eq!(
        ran_.requests,
        [
            "<Request action=\"Query\" actor=\"a&lt;b\"><Object>Account</Object><Get name=\"Id\"></Get>\
             <Where name=\"Name\">chem</Where></Request>",
            "<Request action=\"Deposit\" actor=\"a&lt;b\"><Object>Account</Object><Option name=\"Id\">7</Option>\
             <Option name=\"Amount\">18000</Option><Option name=\"ShowHours\">True</Option></Request>",
        ]
    );
    let listed = ran(
        "glsaccount chem",
        &[success("<Account><Id>7</Id></Account>")],
    );
    assert_eq!(
        listed.requests.len(),
        6,
        "the name is resolved once: {listed:?}"
    );
    assert!(listed.requests[2].contains("<Where name=\"Account\">7</Where>"));
    let unknown = ran("grmaccount nobody", &[]);
    assert_eq!(unknown.exit, 74);
    assert_eq!(
        unknown.error,
        "The specified account (nobody) does not exist.\n"
    );
}

#[test]
fn several_accounts_are_listed() {
    let two = success(
        "<Account><Id>2</Id><Name>a</Name></Account><Account><Id>3</Id><Name>b</Name></Account>",
    );
    let ran_ = ran("gdeposit -p chem -z 5", &[two]);
    assert_eq!(ran_.exit, 74);
    assert_eq!(
        ran_.error,
        "The specified user/machine/project has multiple accounts. Please respecify the deposit with the \
         appropriate account id.\nId Name \n-- ---- \n2  a    \n3  b    \n"
    );
    let none = ran("gtransfer --fromProject chem --toAccount 2 5", &[]);
    assert_eq!(
        none.error,
        "There are no accounts for the specified source project. Please respecify the transfer with a valid \
         source account id.\n"
    );
}

#[test]
fn a_long_list_comes_in_pages() {
    let page = |rows: usize| success(&"<User><Name>x</Name><Name>x</Name></User>".repeat(rows));
    let answers = [page(10_000), page(10_000), page(1)];
    let ran = ran("glsuser --show Name --raw --quiet", &answers);
    assert_eq!(ran.out.lines().count(), 20_001);
    assert_eq!(ran.requests.len(), 3);
    assert!(!ran.requests[0].contains("Limit"));
    for (request, offset) in ran.requests[1..].iter().zip(["10000", "20000"]) {
        let options = format!(
            "<Option name=\"Limit\">10000</Option><Option name=\"Offset\">{offset}</Option></Request>"
        );
        assert!(request.ends_with(&options), "{request}");
    }
}

#[test]
fn a_list_has_columns_raw_and_long() {
    let answers = || {
        vec![
            success("<Project><Name>chem</Name><Name>chem</Name><Active>True</Active></Project>"),
            success(
                "<ProjectUser><Project>chem</Project><Name>amy</Name><Active>True</Active></ProjectUser>\
                 <ProjectUser><Project>chem</Project><Name>bob</Name><Active>False</Active></ProjectUser>",
            ),
        ]
    };
    let show = "--show Name,Users,Active";
    let wide = ran(&format!("glsproject {show} --raw"), &answers());
    assert_eq!(wide.out, "Name|Users|Active\nchem|amy,-bob|True\n");
    let long = ran(&format!("glsproject {show} -l --quiet"), &answers());
    assert_eq!(long.out, "chem -bob  True   \n     amy          \n");
    let refused = ran("glsproject", &[refusal("740", "no &amp; never")]);
    assert_eq!((refused.exit, refused.error.as_str()), (74, "no & never\n"));
    let answers = [answers().remove(0), refusal("440", "not allowed")];
    let aborted = ran("glsproject", &answers);
    assert_eq!(aborted.exit, 44);
    assert_eq!(aborted.error, "Aborting glsproject: not allowed\n");
}

#[test]
fn parts_of_the_request_can_be_given() {
    let ran = ran(
        "glsjob --where name=Charge op=GT value=5 --get name=Type --option name=A value=b -J g*",
        &[],
    );
    assert_eq!(ran.exit, 0, "{ran:?}");
    let request = &ran.requests[0];
    for part in [
        "<Where name=\"Charge\" op=\"GT\">5</Where>",
        "<Get name=\"Type\"></Get>",
        "<Option name=\"A\">b</Option>",
        "<Where name=\"JobId\" op=\"Match\">g%</Where>",
    ] {
        assert!(request.contains(part), "{request}");
    }
}

#[test]
fn usage_is_net_of_refunds() {
    let rows = |user: &str, amount: &str| {
        success(&format!(
            "<Transaction><User>{user}</User><Amount>{amount}</Amount></Transaction>"
        ))
    };
    let answers = [rows("amy", "100.5"), rows("amy", "-40")];
    let net = ran("gusage chem --raw", &answers);
    assert_eq!(net.out, "User|Amount\namy|60.5\n");
    assert!(net.requests[1].contains("<Where name=\"Action\">Refund</Where>"));
    let later = ran("gusage chem --quiet", &[success(""), rows("bob", "-7")]);
    assert_eq!(later.out, "bob      -7 \n");
    let two =
        "<T><User>amy</User><Amount>9.5</Amount></T><T><User>bob</User><Amount>10</Amount></T>";
    let sorted = ran("gusage chem --raw --quiet", &[success(two)]);
    assert_eq!(sorted.out, "bob|10\namy|9.5\n");
    let unknown = ran("gusage cehm", &[]);
    assert_eq!((unknown.exit, unknown.out.as_str()), (74, ""));
    assert_eq!(unknown.error, "Project cehm does not exist\n");
}

#[test]
fn my_balance_is_summed_by_project_and_machine() {
    let account = |id| format!("<Account><Id>{id}</Id></Account>");
    let member = |object: &str, id: &str, name: &str| {
        format!(
            "<{object}><Account>{id}</Account><Name>{name}</Name><Access>True</Access></{object}>"
        )
    };
    let sum = |id, amount| {
        format!("<Allocation><Account>{id}</Account><Amount>{amount}</Amount></Allocation>")
    };
    let answers = [
        success(&["1", "2", "3"].map(account).concat()),
        success(
            &["1", "2", "3"]
                .map(|id| member("P", id, if id == "3" { "a" } else { "b" }))
                .concat(),
        ),
        success(&["1", "2", "3"].map(|id| member("M", id, "ANY")).concat()),
        success(&(sum("1", "3600") + &sum("2", "1800") + &sum("3", "7200.5"))),
    ];
    let ran_ = ran("mybalance", &answers);
    assert_eq!(
        ran_.out,
        "Project Machines Balance \n------- -------- ------- \na       ANY       7200.5 \nb       ANY         5400 \n"
    );
    let hours = ran("mybalance -h --raw --quiet", &answers);
    assert_eq!(hours.out, "a|ANY|2.00\nb|ANY|1.50\n");
}

#[test]
fn the_shell_reads_lines_until_it_ends() {
    let daemon = Answers {
        answers: RefCell::new(vec![
            refusal("740", "no"),
            success("<User><Name>x</Name></User>"),
        ]),
        requests: RefCell::default(),
    };
    let mut session = session("goldsh --raw", &daemon);
    let input = "# comment\n\n  User Delete Name==x # why\nUser Query\nUser\nexit\nUser Query\n";
    let mut flushed = 0;
    let exit = interactive(&mut session, input.as_bytes(), false, |_| flushed += 1);
    assert_eq!((exit, flushed), (78, 3));
    let texts: Vec<Piece> = session.pieces;
    assert_eq!(
        texts,
        [
            Piece::Error("no\n".to_owned()),
            Piece::Out("Name\nx\n".to_owned()),
            Piece::Error("An action must be specified.\n".to_owned()),
        ]
    );
    assert_eq!(daemon.requests.into_inner().len(), 2);
}

#[test]
fn passwords_are_explained() {
    let ran = ran("gchpasswd amy", &[]);
    assert_eq!(ran.exit, 74);
    assert!(ran.error.contains("bank key"), "{ran:?}");
    assert!(ran.requests.is_empty());
}
