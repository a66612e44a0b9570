use std::io::Read as _;
use std::os::unix::net::UnixListener;

use super::*;
use crate::settings::Server;

const BODY: &str = "<Job><ObjectID>Moab.1024</ObjectID></Job>\n";

struct Site {
    home: tempfile::TempDir,
    settings: Settings,
}

fn site() -> Site {
    let home = tempfile::tempdir().unwrap();
    let settings = Settings {
        servers: vec![Server::Unix(home.path().join("bankd.sock"))],
        spool_dir: home.path().join("spool"),
        ..Settings::default()
    };
    Site { home, settings }
}

impl Site {
    fn entry(&self, event: Event) -> Entry {
        let query = query_of(&self.settings, event);
        Entry {
            key: new_key(),
            event,
            time_us: 0,
            query,
            file: String::new(),
            body: BODY.into(),
        }
    }

    fn deliver(&self, event: Event) -> Ending {
        let entry = self.entry(event);
        let outcome = deliver(
            &self.settings,
            &entry,
            Deadline::after(Duration::from_mins(1)),
        );
        conclude(&self.settings, &entry, outcome)
    }

    /// Runs `work` beside a bank with these answers, one for each connection; returns the received
    /// request heads.
    fn beside<T>(&self, answers: &[&str], work: impl FnOnce() -> T) -> (T, Vec<String>) {
        let path = self.home.path().join("bankd.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let result = std::thread::scope(|scope| {
            let bank = scope.spawn(|| answers.iter().map(|text| serve(&listener, text)).collect());
            let result = work();
            (result, bank.join().unwrap())
        });
        std::fs::remove_file(&path).unwrap();
        result
    }

    fn waiting(&self, folder: &str) -> usize {
        std::fs::read_dir(self.settings.spool_dir.join(folder)).map_or(0, |items| {
            items
                .filter(|item| item.as_ref().unwrap().path().extension() == Some("doc".as_ref()))
                .count()
        })
    }
}

fn serve(listener: &UnixListener, text: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    while !request.ends_with(BODY.as_bytes()) {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0);
        request.extend_from_slice(&buffer[..count]);
    }
    let status = if text.starts_with("ok") || text.starts_with(|c: char| c.is_ascii_digit()) {
        200
    } else {
        bank_api::nami::Line::parse(text.trim_end())
            .unwrap()
            .http_status()
    };
    let answer = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(answer.as_bytes()).unwrap();
    String::from_utf8(request).unwrap()
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn without_a_bank_charges_wait_and_reserves_fail() {
    let mut site = site();
    for (event, exit, waiting) in [
        (Event::Quote, 22, 0),
        (Event::Create, 22, 0),
        (Event::Reserve, 22, 0),
        (Event::Charge, 0, 1),
        (Event::Delete, 0, 2),
        (Event::Reserve, 22, 2),
    ] {
        let ending = site.deliver(event);
        assert_eq!(
            (ending.exit, site.waiting("")),
            (exit, waiting),
            "{event:?} {ending:?}"
        );
        assert!(
            ending.stderr.contains("bank unreachable: "),
            "{}",
            ending.stderr
        );
        assert_eq!(ending.stdout, "");
    }
    site.settings.fail_open = true;
    assert_eq!(
        (site.deliver(Event::Reserve).exit, site.waiting("")),
        (0, 3)
    );
    assert_eq!(site.deliver(Event::Create).exit, 22);
}

#[test]
fn a_document_waits_behind_one_of_its_own_object() {
    let site = site();
    let spool = Spool::open_or_make(&site.settings.spool_dir).unwrap();
    spool.put(&site.entry(Event::Charge)).unwrap();
    let denied = "refused not_allowed: not for this machine\n";
    let (ending, _) = site.beside(&[denied], || site.deliver(Event::Delete));
    assert_eq!((ending.exit, site.waiting("")), (0, 2), "{}", ending.stderr);
    let (ending, _) = site.beside(&[denied], || site.deliver(Event::Reserve));
    assert_eq!(
        (ending.exit, site.waiting("")),
        (44, 2),
        "{}",
        ending.stderr
    );
    let (ending, _) = site.beside(&[denied, "5\n"], || site.deliver(Event::Quote));
    assert_eq!((ending.exit, ending.stdout.as_str()), (0, "5\n"));
}

#[test]
fn answers_of_a_first_call() {
    for (event, answer, exit, waiting, aside) in [
        (Event::Charge, "refused not_allowed: x\n", 0, 1, 0),
        (Event::Charge, "refused internal: x\n", 0, 1, 0),
        (Event::Charge, "refused key_reused: x\n", 0, 1, 0),
        (Event::Charge, "refused project_unknown: x\n", 74, 0, 0),
        (Event::Charge, "refused insufficient_funds: x\n", 78, 0, 0),
        (Event::Charge, "error bad_number: x\n", 31, 0, 1),
        (Event::Delete, "error bad_document: x\n", 31, 0, 1),
        (Event::Reserve, "error bad_document: x\n", 31, 0, 0),
        (Event::Reserve, "refused not_allowed: x\n", 44, 0, 0),
        (Event::Reserve, "refused internal: x\n", 70, 0, 0),
    ] {
        let site = site();
        let (ending, _) = site.beside(&[answer], || site.deliver(event));
        let found = (ending.exit, site.waiting(""), site.waiting("quarantine"));
        assert_eq!(found, (exit, waiting, aside), "{event:?} {answer}");
        assert!(!ending.stderr.is_empty() && ending.stdout.is_empty());
    }
}

#[test]
fn a_connection_that_breaks_off_is_tried_again_with_the_same_key() {
    let site = site();
    let path = site.home.path().join("bankd.sock");
    let listener = UnixListener::bind(path).unwrap();
    let (ending, request) = std::thread::scope(|scope| {
        let bank = scope.spawn(|| {
            // Taken and never answered, as by a daemon that is killed.
            let (mut first, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let count = first.read(&mut request).unwrap();
            drop(first);
            let head = String::from_utf8(request[..count].to_vec()).unwrap();
            (
                header(&head, "Idempotency-Key").unwrap().to_owned(),
                serve(&listener, "ok charged\n"),
            )
        });
        (site.deliver(Event::Charge), bank.join().unwrap())
    });
    assert_eq!(ending, Ending::new(0, ""));
    assert_eq!(
        header(&request.1, "Idempotency-Key"),
        Some(request.0.as_str())
    );
}

#[test]
fn a_spool_that_cannot_be_written_is_reported_with_the_real_code() {
    let site = site();
    std::fs::write(&site.settings.spool_dir, "a file").unwrap();
    let entry = site.entry(Event::Charge);
    let ending = conclude(&site.settings, &entry, Outcome::timed_out());
    assert_eq!(ending.exit, 23);
    assert!(
        ending.stderr.starts_with("cannot keep the document ("),
        "{}",
        ending.stderr
    );
}

#[test]
fn the_map_of_the_site_changes_exits_but_not_what_is_kept() {
    let mut site = site();
    let text = format!(
        "server=unix:{}\nspool_dir={}\nexit.connect=1\n",
        site.home.path().join("bankd.sock").display(),
        site.settings.spool_dir.display()
    );
    let file = site.home.path().join("nami.conf");
    std::fs::write(&file, text).unwrap();
    site.settings.timeout_s = 1;
    let loaded = Settings::load_file_alone(&file);
    assert_eq!(loaded.mistake, None);
    site.settings = loaded.settings;
    assert_eq!(site.deliver(Event::Reserve).exit, 1);
    assert_eq!((site.deliver(Event::Charge).exit, site.waiting("")), (0, 1));
}

#[test]
fn draining_alone() {
    let site = site();
    let spool = Spool::open_or_make(&site.settings.spool_dir).unwrap();
    let far = || Deadline::after(Duration::from_mins(1));
    spool.put(&site.entry(Event::Charge)).unwrap();
    let ending = drain_only(&site.settings, far());
    assert_eq!(ending.exit, 22);
    assert!(
        ending
            .stderr
            .starts_with("0 delivered, 1 left: bank unreachable: "),
        "{}",
        ending.stderr
    );
    let (ending, _) = site.beside(&["ok charged\n"], || drain_only(&site.settings, far()));
    assert_eq!(ending, Ending::new(0, ""));
    spool.put(&site.entry(Event::Charge)).unwrap();
    let refused = "refused user_unknown: x\n";
    let (ending, _) = site.beside(&[refused], || drain_only(&site.settings, far()));
    assert_eq!(ending, Ending::new(0, "0 delivered, 1 in quarantine"));
    assert_eq!((site.waiting(""), site.waiting("quarantine")), (0, 1));
}
