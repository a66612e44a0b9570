//! The captured calls of Gold's own clients: the tools send the same requests and print the same text.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::super::xml::{self, Element};
use super::*;

/// Calls that differ from Gold's, each with the reason. A difference that is gone fails the test.
const DIFFERENCES: [(&str, &str); 3] = [
    (
        "glsres -J g1",
        "glsres accepts -J here; Gold printed its usage",
    ),
    (
        "gusage -p chem",
        "it counts money that was charged, less refunds and what was undone",
    ),
    (
        "gusage -s 2026-01-01 chem",
        "it counts money that was charged, less refunds and what was undone",
    ),
];

/// The captures: in the folder `BANK_SHARED`, else `../shared` beside the checkout.
fn captures() -> Option<String> {
    let named = std::env::var_os("BANK_SHARED").filter(|path| !path.is_empty());
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = named.map_or_else(beside, PathBuf::from);
    std::fs::read_to_string(folder.join("spec/gold-captures/gold22-clients.txt")).ok()
}

/// Reports that nothing was tested, past the capture of the test runner and in the file `BANK_SKIP_LOG`.
fn skip() {
    let line = "skipped: shared: no captures of Gold's clients\n";
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(path) = std::env::var_os("BANK_SKIP_LOG").filter(|path| !path.is_empty()) {
        let log = OpenOptions::new().create(true).append(true).open(path);
        log.unwrap().write_all(line.as_bytes()).unwrap();
    }
}

/// One captured call.
struct Call {
    line: String,
    exit: u8,
    requests: Vec<String>,
    answers: Vec<String>,
    printed: String,
}

fn calls(text: &str) -> Vec<Call> {
    // A blank line separates the calls.
    let text = text.trim_end_matches('\n').to_owned() + "\n";
    text.split("\n### ").skip(1).map(call).collect()
}

fn call(block: &str) -> Call {
    let (head, body) = block.split_once('\n').unwrap();
    let (line, exit) = head.split_once("  (exit ").unwrap();
    let (sent, printed) = body.split_once("--- prints\n").unwrap();
    let printed = printed.to_owned();
    let (mut requests, mut answers) = (Vec::new(), Vec::new());
    for sent in sent.lines() {
        if sent.starts_with("<Request") {
            answers.resize(requests.len(), String::new());
            requests.push(sent.to_owned());
        } else {
            answers.push(completed(sent, &printed));
        }
    }
    if answers.len() < requests.len() {
        answers.push(rebuilt(&printed));
    }
    Call {
        line: line.to_owned(),
        exit: exit.trim_end_matches(')').parse().unwrap(),
        requests,
        answers,
        printed,
    }
}

/// A response whose message was cut at a newline, with the message as it was printed.
fn completed(answer: &str, printed: &str) -> String {
    if answer.ends_with("</Response>") {
        return answer.to_owned();
    }
    let start = answer.find("<Message>").unwrap() + "<Message>".len();
    let message = printed.trim_end_matches('\n');
    format!(
        "{}{message}</Message></Status></Response>",
        &answer[..start]
    )
}

/// A response that is not in the file, from the table that was printed.
fn rebuilt(printed: &str) -> String {
    let mut lines = printed.lines();
    let (names, dashes) = (lines.next().unwrap(), lines.next().unwrap());
    let mut columns = Vec::new();
    let mut at = 0;
    for dash in dashes.split(' ').filter(|dash| !dash.is_empty()) {
        columns.push((at, at + dash.len()));
        at += dash.len() + 1;
    }
    let cell = |line: &str, (from, to): (usize, usize)| line[from..to].trim().to_owned();
    let row = |line: &str| -> String {
        let field = |column: &(usize, usize)| {
            let (name, value) = (cell(names, *column), cell(line, *column));
            format!("<{name}>{}</{name}>", xml::escaped(&value))
        };
        format!(
            "<Row>{}</Row>",
            columns.iter().map(field).collect::<String>()
        )
    };
    success(&lines.map(row).collect::<String>())
}

/// The words of a line in which a backslash quotes the next character.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.push(String::new()),
            '\\' => words.last_mut().unwrap().extend(chars.next()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// A request as a tree whose attributes are in one order.
fn tree(request: &str) -> Element {
    fn sorted(mut element: Element) -> Element {
        element.attributes.sort();
        element.children = element.children.into_iter().map(sorted).collect();
        element
    }
    sorted(xml::parse(request).unwrap())
}

/// The clock of a call: the latest time of that night in its requests.
fn now(requests: &[String]) -> i64 {
    let night = 1_795_480_000..1_795_490_000;
    let digits = |request: &String| -> Vec<i64> {
        let numbers = request.split(|c: char| !c.is_ascii_digit());
        numbers.filter_map(|number| number.parse().ok()).collect()
    };
    let times = requests.iter().flat_map(digits);
    times
        .filter(|time| night.contains(time))
        .max()
        .unwrap_or(night.start)
}

/// A captured request of a report until now. Gold left out the running second; the tools here include it.
fn whole_second(line: &str, captured: &str, now: i64) -> String {
    if !(line.starts_with("gusage") || line.starts_with("gstatement")) {
        return captured.to_owned();
    }
    let (until, next) = (format!(">{now}</"), format!(">{}</", now + 1));
    captured.replace(&until, &next)
}

/// How a call differs from the capture; none where it is the same.
fn difference(call: &Call) -> Option<String> {
    let mut words = words(&call.line).into_iter().map(OsString::from);
    let tool = Tool::of(&words.next().unwrap()).unwrap();
    let daemon = Answers {
        answers: RefCell::new(call.answers.clone()),
        requests: RefCell::default(),
    };
    let given = match read(tool, words) {
        Ok(given) => given,
        Err(error) => return Some(error.to_string()),
    };
    let clock = Clock {
        now_us: now(&call.requests) * 1_000_000,
        zone: Zone::Named(chrono_tz::UTC),
    };
    let mut session = Session::new(&daemon, "root".to_owned(), clock, given);
    let exit = run(tool, &mut session);
    let text = session.pieces.into_iter().map(|piece| match piece {
        Piece::Out(text) | Piece::Error(text) => text,
    });
    let text: String = text.collect();
    let requests = daemon.requests.into_inner();
    if requests.len() != call.requests.len() {
        return Some(format!("it sends {requests:#?}"));
    }
    for (sent, captured) in requests.iter().zip(&call.requests) {
        let captured = &whole_second(&call.line, captured, now(&call.requests));
        if tree(sent) != tree(captured) {
            return Some(format!("it sends\n{sent}\nnot\n{captured}"));
        }
    }
    if (exit, &text) != (call.exit, &call.printed) {
        return Some(format!(
            "it exits {exit} and prints\n{text}\nnot {}\n{}",
            call.exit, call.printed
        ));
    }
    None
}

#[test]
fn captured_calls_of_gold_are_the_same() {
    let Some(text) = captures() else {
        return skip();
    };
    let calls = calls(&text);
    assert_eq!(calls.len(), 99);
    for (line, _) in &DIFFERENCES {
        assert!(calls.iter().any(|call| call.line == *line), "{line}");
    }
    let mut findings = Vec::new();
    for call in &calls {
        let listed = DIFFERENCES.iter().find(|(line, _)| *line == call.line);
        match (difference(call), listed) {
            (Some(difference), None) => findings.push(format!("{}: {difference}", call.line)),
            (None, Some(_)) => findings.push(format!("{}: no difference any more", call.line)),
            _ => {}
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n\n"));
}
