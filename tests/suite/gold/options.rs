//! What Gold's own clients ask for by options, over the wire: how long, when, and which way.

use std::fs;

use super::KEY;
use crate::harness::{Bank, Dialect, GOLD_T0, Request, shared_folder, skip, summary};

/// The base state with the machine of the captured calls.
fn bank() -> Bank {
    let bank = Bank::behind_gold("");
    bank.bank_ok(&["machine", "add", "colony", "--mode", "strict"]);
    bank.bank_ok(&["key", "set", "maui", "--machine", "cluster1,colony"]);
    bank
}

/// Sends a request as Gold's clients do; value, code and message of the answer, and all of it.
fn send(bank: &Bank, request: &str) -> (String, String) {
    let message = Dialect::Slurm.message(KEY, &format!("<Body>{request}</Body>"));
    let xml = Dialect::Slurm.ask(&bank.gold(), &message).unwrap();
    (summary(&xml), xml)
}

/// A request of amy's for chem on 4 processors.
fn asks(action: &str, job: &str, options: &[(&str, &str)]) -> String {
    let option = |(name, value): &(&str, &str)| format!("<Option name=\"{name}\">{value}</Option>");
    let options: String = options.iter().map(option).collect();
    format!(
        "<Request action=\"{action}\" actor=\"root\"><Object>Job</Object>{options}<Data><Job>\
         {job}<MachineName>colony</MachineName><Processors>4</Processors><ProjectId>chem\
         </ProjectId><UserId>amy</UserId></Job></Data></Request>"
    )
}

/// Amount and what is held of chem.
fn chem(bank: &Bank) -> String {
    let (amount, held, _) = bank.figures("chem");
    format!("{amount}/{held}")
}

/// The whole credits that a message names.
fn credits(message: &str) -> Option<u64> {
    let before = message.split(" credits").next()?;
    let number = before.rsplit(' ').next()?;
    number.split('.').next()?.parse().ok()
}

/// What each captured call of a client leaves in chem, which holds 1,000,000.
const EFFECTS: [(&str, &str); 14] = [
    ("gquote -p chem -u amy -m colony -P 4 -t 600", "1000000/0"),
    (
        "gquote -p chem -u amy -m colony -P 4 -t 600 --guarantee -d q",
        "1000000/0",
    ),
    (
        "gquote -p chem -u amy -m colony -P 4 -t 600 --costOnly",
        "1000000/0",
    ),
    (
        "gquote -p chem -u amy -m colony -P 4 -t 99999999",
        "1000000/0",
    ),
    ("gquote -p nope -u amy -m colony -P 4 -t 600", "1000000/0"),
    (
        "greserve -J g1 -p chem -u amy -m colony -P 4 -t 600",
        "1000000/2400",
    ),
    (
        "greserve -J g1 -p chem -u amy -m colony -P 4 -t 700",
        "1000000/5200",
    ),
    (
        "greserve -J g1 -p chem -u amy -m colony -P 4 -t 900 --replace",
        "1000000/3600",
    ),
    (
        "greserve -J g2 -p chem -u amy -m colony -P 4",
        "1000000/3600",
    ),
    (
        "greserve -J g3 -p chem -u amy -m colony -P 4 -t 99999999",
        "1000000/3600",
    ),
    (
        "gcharge -J g1 -p chem -u amy -m colony -P 4 -t 300 --incremental",
        "998800/2400",
    ),
    (
        "gcharge -J g1 -p chem -u amy -m colony -P 4 -t 300",
        "997600/0",
    ),
    (
        "gcharge -J g4 -p chem -u amy -m colony -P 4 -s 2026-10-01\\ 00:00:00 -e 2026-10-01\\ 01:00:00",
        "997600/0",
    ),
    ("gcharge -J g5 -p chem -u amy -m colony -P 4", "997600/0"),
];

/// Each captured call to quote, reserve and charge: its request as it was, the code and the amount
/// that Gold's own server answered, and what it does.
#[test]
fn calls_of_golds_clients_have_golds_codes_amounts_and_effects() {
    let Some(shared) = shared_folder() else {
        return skip("shared", "no folder of captured messages");
    };
    let calls = fs::read_to_string(shared.join("spec/gold-captures/gold22-clients.txt")).unwrap();
    let mut bank = bank();
    let mut effects = EFFECTS.iter();
    let is_meant = |call: &&str| {
        let verbs = ["gquote ", "greserve ", "gcharge "];
        verbs.iter().any(|verb| call.starts_with(verb))
    };
    for call in calls.split("\n### ").filter(is_meant) {
        let (title, rest) = call.split_once('\n').unwrap();
        let mut lines = rest.lines();
        let (request, response) = (lines.next().unwrap(), lines.next().unwrap());
        let (answer, xml) = send(&bank, request);
        let code = |xml: &str| {
            let rest = xml.split("<Code>").nth(1).unwrap();
            rest.split('<').next().unwrap().to_owned()
        };
        assert_eq!(code(&xml), code(response), "{title}: {answer}");
        let golds = response.split("<Message>").nth(1).unwrap();
        assert_eq!(credits(&answer), credits(golds), "{title}: {answer}");
        let (call, effect) = effects.next().expect("a call without its effect");
        assert!(title.starts_with(call), "{title}");
        assert_eq!(chem(&bank), *effect, "{title}: {answer}");
    }
    assert!(effects.next().is_none());
    bank.verify();
}

/// A missing duration never counts as 0.
#[test]
fn a_request_without_a_duration_is_refused() {
    let mut bank = bank();
    let job = "<JobId>j</JobId>";
    let times = [("StartTime", "1795216010"), ("EndTime", "1795219610")];
    for (action, options) in [
        ("Quote", &[][..]),
        ("Reserve", &[]),
        ("Charge", &[]),
        ("Reserve", &times),
        ("Charge", &times),
        ("Charge", &[("Incremental", "True")]),
    ] {
        let (answer, _) = send(&bank, &asks(action, job, options));
        let purpose = match action {
            "Reserve" => "reservation",
            "Charge" => "charge",
            _ => "quote",
        };
        let expected = format!("Failure 314 A wall duration must be specified for the {purpose}");
        assert_eq!(answer, expected, "{action}");
    }
    assert_eq!(chem(&bank), "1000000/0");
    bank.verify();
}

/// What is not known and might change an amount is refused; what cannot is left out and counted.
#[test]
fn options_are_refused_or_counted_and_never_passed_over() {
    let mut bank = bank();
    let job = "<JobId>j</JobId>";
    let wall = ("WallDuration", "600");
    for (action, name, value) in [
        ("Reserve", "Surcharge", "2"),
        ("Reserve", "ShowUsage", "True"),
        ("Charge", "CallType", "Back"),
        ("Charge", "BackProject", "physics"),
        ("Quote", "StartTime", "1795216010"),
    ] {
        let (answer, _) = send(&bank, &asks(action, job, &[wall, (name, value)]));
        let expected = format!("Failure 315 option {name} of {action} Job is not supported");
        assert_eq!(answer, expected);
    }
    assert_eq!(chem(&bank), "1000000/0");
    let harmless = [("Itemize", "True"), ("CallType", "Normal"), wall];
    let (answer, _) = send(&bank, &asks("Reserve", job, &harmless));
    assert_eq!(
        answer,
        "Success 000 Successfully reserved 2400 credits for job j"
    );
    let metrics = bank.over_socket(&Request::get("/metrics")).text();
    let counted = "\nbankd_gold_options_ignored_total 1\n";
    assert!(metrics.contains(counted), "{metrics}");
    assert!(bank.log().contains("options=\"Itemize\""));
    bank.verify();
}

/// A lien lasts from one option to the other, and a quote with a guarantee keeps its price.
#[test]
fn liens_have_their_times_and_quotes_their_price() {
    let mut bank = bank();
    let start = (GOLD_T0 + 1000).to_string();
    let end = (GOLD_T0 + 9000).to_string();
    let options = [
        ("WallDuration", "600"),
        ("StartTime", &start),
        ("EndTime", &end),
    ];
    let (answer, _) = send(&bank, &asks("Reserve", "<JobId>later</JobId>", &options));
    assert!(answer.starts_with("Success 000 "), "{answer}");
    let liens = bank.bank_ok(&["lien", "ls", "--json"]);
    assert!(liens.contains("2026-11-20T23:23:30"), "{liens}");
    assert!(liens.contains("2026-11-21T01:36:50"), "{liens}");
    let guarantee = [("WallDuration", "600"), ("Guarantee", "True")];
    let (answer, xml) = send(&bank, &asks("Quote", "", &guarantee));
    assert_eq!(
        answer,
        "Success 000 Successfully quoted 2400 credits with quote id 1"
    );
    assert!(
        xml.contains("<Quotation><Id>1</Id><Amount>2400</Amount>"),
        "{xml}"
    );
    bank.bank_ok(&["rate", "set", "VBR", "Processors", "5"]);
    let job = "<JobId>quoted</JobId><QuoteId>1</QuoteId>";
    let (answer, _) = send(&bank, &asks("Charge", job, &[("WallDuration", "600")]));
    assert_eq!(
        answer,
        "Success 000 Successfully charged job quoted for 2400 credits"
    );
    // The charged time begins after the rate change.
    bank.set_clock(GOLD_T0 + 700);
    let (answer, _) = send(
        &bank,
        &asks("Charge", "<JobId>j</JobId>", &[("WallDuration", "600")]),
    );
    assert_eq!(
        answer,
        "Success 000 Successfully charged job j for 12000 credits"
    );
    bank.verify();
}
