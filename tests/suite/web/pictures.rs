//! Pictures of the pages: usage, waiting time, utilisation, contributions and the burn-down, with exact figures.

use serde_json::{Value, json};

use super::browser::{Browser, HEADER, address, bank};
use crate::harness::{Bank, Browser as Chromium, Page, T0, View};

/// The period of the jobs.
const PERIOD: &str = "from=2026-01-02&to=2026-01-06";

/// A machine of 40 processors for which amy paid, three jobs on it, and somebody who sees everything.
fn used() -> Bank {
    let bank = bank();
    bank.set_clock(T0 + 10 * 86_400);
    bank.bank_ok(&["user", "add", "chief"]);
    bank.bank_ok(&["role", "grant", "chief", "admin"]);
    bank.bank_ok(&["user", "add", "eve"]);
    bank.bank_ok(&["project", "add", "geology", "--members", "eve"]);
    bank.bank_ok(&["deposit", "geology", "5000000"]);
    let words = "hardware add xeon -m colony --processors 10 --nodes 4 --from 2026-01-01T00:00:00Z";
    bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    bank.bank_ok(&["contributor", "add", "amy", "--project", "chemistry"]);
    bank.bank_ok(&["contribution", "add", "amy", "40"]);
    let job = |id: &str, who: [&str; 3], processors: u32, times: [&str; 3]| {
        let [user, project, class] = who;
        let [submit, start, end] = times.map(|time| format!("2026-01-{time}:00:00Z"));
        json!({"source": "sge:colony", "id": id, "machine": "colony", "project": project, "user": user,
            "class": class, "processors": processors, "submit": submit, "start": start, "end": end,
            "state": "completed"})
        .to_string()
    };
    let jobs = [
        job(
            "1",
            ["amy", "chemistry", "batch"],
            20,
            ["02T22", "03T00", "04T00"],
        ),
        job(
            "2",
            ["bob", "chemistry", "long"],
            4,
            ["04T00", "04T06", "04T16"],
        ),
        job(
            "3",
            ["eve", "geology", "batch"],
            10,
            ["05T00", "05T04", "05T14"],
        ),
    ];
    let file = bank.folder().join("usage.jsonl");
    std::fs::write(&file, jobs.join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    // A forecast needs more than a day.
    bank.set_clock(T0 + 12 * 86_400);
    bank
}

/// The cells of the row of a table whose first cell is this name.
fn row(page: &str, name: &str) -> Vec<String> {
    let rows = page.split("<tr>").skip(1).map(|row| {
        let row = row.split("</tr>").next().unwrap();
        let marked = row.replace("</td>", "|<").replace("</th>", "|<");
        let text = marked.split('<').map(|part| match part.split_once('>') {
            Some((_, text)) => text,
            None => part,
        });
        let text: String = text.collect();
        let cells = text.trim_end_matches('|').split('|');
        cells.map(str::to_owned).collect::<Vec<_>>()
    });
    let mut found = rows.filter(|cells| cells[0] == name);
    found
        .next()
        .unwrap_or_else(|| panic!("no row {name}: {page}"))
}

/// The address of the link with this text.
fn link(page: &str, text: &str) -> String {
    let before = page.split(&format!(">{text}</a>")).next().unwrap();
    let href = before.rsplit("href=\"").next().unwrap();
    href.split('"').next().unwrap().replace("&amp;", "&")
}

fn get(bank: &Bank, browser: &mut Browser, target: &str) -> String {
    let answer = browser.get(bank, target);
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    answer.text()
}

#[test]
fn usage_leads_from_projects_to_users_to_jobs() {
    let mut bank = used();
    let mut chief = Browser::of_proxy(&bank, "chief");
    let page = get(&bank, &mut chief, &format!("/usage?{PERIOD}"));
    assert_eq!(row(&page, "chemistry")[1..3], ["2", "520.00"]);
    assert_eq!(row(&page, "geology")[1..3], ["1", "100.00"]);
    assert_eq!(row(&page, "Total")[1..3], ["3", "620.00"]);
    assert!(
        page.contains("<svg") && page.contains("/picture.js"),
        "{page}"
    );
    // The same figures as those of the command line.
    let words = [
        "usage",
        "--by",
        "project",
        "--from",
        "2026-01-02",
        "--to",
        "2026-01-06",
    ];
    let told = bank.json(&[&words[..], &["--tz", "UTC"]].concat());
    for own in told["rows"].as_array().unwrap() {
        let cells = row(&page, own["keys"]["project"].as_str().unwrap());
        let hours = own["core_hours"].as_str().unwrap();
        assert!(hours.starts_with(&cells[2]), "{cells:?}, {own}");
        assert_eq!(cells[3].replace(',', ""), own["charged"].as_str().unwrap());
        assert_eq!(cells[4], own["share"].as_str().unwrap());
    }
    let total = row(&page, "Total");
    let charged = told["total"]["charged"].as_str().unwrap();
    assert_eq!(total[3].replace(',', ""), charged);
    let users = link(&page, "chemistry");
    assert!(
        users.starts_with("/usage?by=user&of=core&project=chemistry&from="),
        "{users}"
    );
    let page = get(&bank, &mut chief, &users);
    assert_eq!(row(&page, "amy")[1..3], ["1", "480.00"]);
    assert_eq!(row(&page, "bob")[1..3], ["1", "40.00"]);
    assert_eq!(row(&page, "Total")[1..3], ["2", "520.00"]);
    // The period is shown as people enter it.
    assert!(
        page.contains("name=\"from\" value=\"2026-01-02\""),
        "{page}"
    );
    let jobs = link(&page, "amy");
    assert_eq!(
        jobs,
        "/jobs?project=chemistry&period=running&user=amy&from=2026-01-02T00%3A00%3A00Z&to=2026-01-06T00%3A00%3A00Z"
    );
    get(&bank, &mut chief, &jobs);
    for (query, name, hours) in [
        ("by=queue", "batch", "580.00"),
        ("by=machine", "colony", "620.00"),
        ("by=user&project=geology", "eve", "100.00"),
        ("by=project&every=week&of=charge", "geology", "100.00"),
    ] {
        let page = get(&bank, &mut chief, &format!("/usage?{PERIOD}&{query}"));
        assert_eq!(row(&page, name)[2], hours, "{query}");
    }
    let none = get(&bank, &mut chief, &format!("/usage?{PERIOD}&of=gpu"));
    assert!(none.contains("No GPU-hours in this period."), "{none}");
    assert!(!none.contains("<svg"), "{none}");
    let wrong = chief.get(&bank, "/usage?by=colour");
    assert_eq!(wrong.status, 422);
    bank.verify();
}

#[test]
fn the_data_behind_pictures_has_rows() {
    let bank = used();
    let mut chief = Browser::of_proxy(&bank, "chief");
    let page = get(&bank, &mut chief, &format!("/usage?{PERIOD}&by=user"));
    let csv = link(&page, "CSV");
    let csv = get(&bank, &mut chief, &csv);
    let head = csv.lines().next().unwrap();
    assert!(
        head.contains("core_hours") && head.contains(",user,"),
        "{head}"
    );
    assert!(csv.contains(",amy,") && csv.contains("480.000000"), "{csv}");
    let page = get(&bank, &mut chief, &format!("/utilization?{PERIOD}"));
    let csv = get(&bank, &mut chief, &link(&page, "CSV"));
    assert!(
        csv.lines().next().unwrap().starts_with("capacity,from,"),
        "{csv}"
    );
    assert!(csv.contains("colony"), "{csv}");
}

/// Usage is reported after the end of a job: a day that is not over is no fall of the utilisation.
#[test]
fn a_day_that_is_not_over_is_left_out_of_the_utilisation() {
    let bank = used();
    bank.set_clock(T0 + 12 * 86_400 + 6 * 3600);
    let mut chief = Browser::of_proxy(&bank, "chief");
    let page = get(&bank, &mut chief, "/utilization?from=2026-01-02&every=day");
    let note = "Without the time from <time>2026-01-13</time>, which is not over";
    assert!(page.contains(note), "{page}");
    assert!(page.contains("colony, from 2026-01-12: 0.00 %"), "{page}");
    assert!(!page.contains("colony, from 2026-01-13"), "{page}");
    // 40 processors in eleven days and six hours.
    assert_eq!(row(&page, "colony")[1..], ["620.00", "10,800.00", "5.74"]);
    let data = "/data/report/contribution?by=contributor&buckets=day&tz=UTC&from=2026-01-02T00:00:00Z\
                &part=periods.utilisation.buckets";
    let rows: Value = serde_json::from_str(&get(&bank, &mut chief, data)).unwrap();
    let rows = rows["items"].as_array().unwrap().iter();
    let rows: Vec<&Value> = rows.filter(|row| row["machine"] == "colony").collect();
    let [.., before, last] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(
        (&before["percent"], &before["unfinished"]),
        (&json!("0.00"), &json!(false))
    );
    assert_eq!(
        (&last["percent"], &last["unfinished"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(last["capacity"], "240.00");
    // With an end in the future, only the time that has passed counts.
    let page = get(
        &bank,
        &mut chief,
        "/utilization?from=2026-01-02&to=2026-02-01&every=day",
    );
    assert_eq!(row(&page, "colony")[1..], ["620.00", "10,800.00", "5.74"]);
}

#[test]
fn waiting_utilisation_and_contributions_have_exact_figures() {
    let bank = used();
    let mut chief = Browser::of_proxy(&bank, "chief");
    let page = get(&bank, &mut chief, &format!("/waiting?{PERIOD}"));
    // Two hours and four; six hours.
    assert_eq!(row(&page, "batch")[1..3], ["2", "10,800"]);
    assert_eq!(row(&page, "long")[1..3], ["1", "21,600"]);
    assert_eq!(row(&page, "All")[1..3], ["3", "14,400"]);
    assert!(page.contains("title=\"14400.000 s\""), "{page}");
    assert!(
        page.contains("Mean waiting time") && page.contains("<svg"),
        "{page}"
    );
    let page = get(&bank, &mut chief, &format!("/utilization?{PERIOD}"));
    assert_eq!(row(&page, "colony")[1..], ["620.00", "3,840.00", "16.15"]);
    assert!(page.contains("capacity: 100 %"), "{page}");
    let projects = link(&page, "colony");
    assert!(
        projects.starts_with("/usage?by=project&machine=colony&from="),
        "{projects}"
    );
    let page = get(&bank, &mut chief, &format!("/contribution?{PERIOD}"));
    assert_eq!(
        row(&page, "amy")[1..6],
        ["520.00", "83.87", "40.00", "100.00", "100 %"]
    );
    assert!(page.contains("Usage and contribution"), "{page}");
    // Shares have their sign in the picture too.
    assert!(
        page.contains(">83.87 %</text>") && page.contains(">100.00 %</text>"),
        "{page}"
    );
    assert!(!page.contains("100%"), "{page}");
    // A member sees the own projects, and no shares of the bank.
    let mut eve = Browser::of_proxy(&bank, "eve");
    let own = get(&bank, &mut eve, &format!("/usage?{PERIOD}"));
    assert_eq!(row(&own, "Total")[1..3], ["1", "100.00"]);
    assert!(
        !own.contains("chemistry") && !own.contains("/utilization"),
        "{own}"
    );
    assert_eq!(eve.get(&bank, "/utilization").status, 403);
    assert_eq!(eve.get(&bank, "/contribution").status, 403);
}

#[test]
fn a_burn_down_has_its_forecast_and_its_table() {
    let bank = used();
    let mut chief = Browser::of_proxy(&bank, "chief");
    let page = get(&bank, &mut chief, "/projects/geology");
    for part in [
        "data-series=\"main\"",
        "data-series=\"coming\"",
        "data-series=\"spread\"",
        "Table of this picture",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let past = get(
        &bank,
        &mut chief,
        "/projects/geology?from=2026-01-10&to=2026-01-12",
    );
    assert!(
        past.contains("data-series=\"main\"") && !past.contains("data-series=\"coming\""),
        "{past}"
    );
    bank.bank_ok(&["project", "add", "poor", "--members", "eve"]);
    let page = get(&bank, &mut chief, "/projects/poor");
    assert!(
        page.contains("No money came in or went out") && !page.contains("<svg"),
        "{page}"
    );
    let svg = chief.get(&bank, "/projects/geology/burn-down.svg");
    assert_eq!(svg.header("content-type"), Some("image/svg+xml"));
    let name: Value = bank.json(&["project", "show", "geology"]);
    assert_eq!(name["name"], "geology");
}

/// Opens a page as the administrator.
fn open(page: &mut Page<'_>, bank: &Bank, target: &str) {
    page.fields(&json!({HEADER: "chief"}));
    page.go(&format!("http://{}{target}", address(bank)));
}

/// A place in the plot of the picture, in parts of its width.
fn within(page: &mut Page<'_>, part: f64) -> (f64, f64) {
    page.eval("document.querySelector('main svg').scrollIntoView({block: 'center'})");
    let (_, y) = page.place("main svg.wide");
    let x = page.eval(&format!(
        "(() => {{ const s = document.querySelector('main svg.wide'), b = s.getBoundingClientRect(), \
         x = s.dataset.x.split(' ').map(Number), k = b.width / s.viewBox.baseVal.width; \
         return b.x + k * (x[0] + (x[x.length - 1] - x[0]) * {part}); }})()"
    ));
    (x.as_f64().unwrap(), y)
}

#[test]
fn a_picture_answers_to_pointer_keys_and_clicks() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let bank = used();
    let mut page = browser.page(View::WIDE);
    let target = format!("/usage?{PERIOD}");
    open(&mut page, &bank, &target);
    let place = within(&mut page, 0.375);
    page.mouse("mouseMoved", place);
    let tip =
        "[...document.querySelectorAll('svg.wide .tip text')].map(e => e.textContent).join(' / ')";
    assert_eq!(
        page.text(tip),
        "2026-01-03 / chemistry: 480.000 core-hours / geology: 0 core-hours"
    );
    // A series is switched off.
    page.eval("document.querySelector('svg.wide g.key').focus()");
    page.key("Enter", false);
    assert_eq!(
        page.text("document.querySelector('svg.wide g.key').getAttribute('aria-pressed')"),
        "false"
    );
    assert_eq!(
        page.eval("document.querySelectorAll('svg.wide .series.off').length"),
        1
    );
    // A click leads one level deeper, into the bucket.
    open(&mut page, &bank, &target);
    page.eval("document.querySelector('main svg').scrollIntoView({block: 'center'})");
    page.navigates(|page| page.click("svg.wide .series a rect"));
    assert_eq!(
        page.text("location.pathname + location.search"),
        "/usage?by=user&of=core&project=chemistry&from=2026-01-03T00%3A00%3A00Z&until=2026-01-04T00%3A00%3A00Z"
            .replace("until", "to")
    );
    assert!(
        page.text("document.querySelector('main table').textContent")
            .contains("480.00")
    );
    // A brushed part becomes the period of the address.
    open(&mut page, &bank, &target);
    let (from, to) = (within(&mut page, 0.3), within(&mut page, 0.7));
    page.navigates(|page| page.drag(from, to));
    let search = page.text("location.search");
    assert!(
        search.contains("from=2026-01-03T00%3A00%3A00Z&to=2026-01-05T00%3A00%3A00Z"),
        "{search}"
    );
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_stack_closes_and_the_tip_stays_beside_its_column() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let bank = used();
    let mut page = browser.page(View::WIDE);
    for every in ["month", "hour"] {
        // Columns of whole buckets, and areas if there are many.
        open(&mut page, &bank, &format!("/usage?{PERIOD}&every={every}"));
        let floating = "(() => { const s = document.querySelector('main svg.wide'), \
             [top, height] = s.dataset.plot.split(' ').map(Number), zero = top + height, \
             own = s.querySelectorAll('.series:not(.off) .f'), low = e => e.tagName === 'rect' \
             ? [Number(e.getAttribute('y')) + Number(e.getAttribute('height'))] \
             : e.getAttribute('d').match(/[\\d.]+ [\\d.]+/g).map(p => Number(p.split(' ')[1])).slice(-3); \
             return [...own].flatMap(low).filter(y => Math.abs(y - zero) > 0.3).length; })()";
        assert!(
            every == "hour" || page.eval(floating).as_f64().unwrap() > 0.0,
            "the second series is above the first"
        );
        page.eval(
            "document.querySelector('main svg.wide g.key').dispatchEvent(new MouseEvent('click'))",
        );
        assert_eq!(page.eval(floating), 0, "{every}: a part floats");
        page.eval(
            "document.querySelector('main svg.wide g.key').dispatchEvent(new MouseEvent('click'))",
        );
        for part in [0.1, 0.5, 0.9] {
            let place = within(&mut page, part);
            page.mouse("mouseMoved", place);
            let over = page.eval(
                "(() => { const s = document.querySelector('main svg.wide'), b = s.querySelector('.tip rect'), \
                 x = s.dataset.x.split(' ').map(Number), c = Number(s.querySelector('.tip path').getAttribute('d').slice(1).split(' ')[0]), \
                 at = x.filter(e => e <= c).length - 1, from = Number(b.getAttribute('x')), \
                 to = from + Number(b.getAttribute('width')); return x[at + 1] > from && x[at] < to; })()",
            );
            assert!(every == "month" || over == false, "{every} {part}");
        }
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn without_a_script_the_picture_and_the_table_are_there() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let bank = used();
    for width in [360, 1440] {
        let mut page = browser.page(View {
            width,
            ..View::WIDE
        });
        page.without_scripts();
        for target in ["usage", "waiting", "utilization", "contribution"] {
            open(&mut page, &bank, &format!("/{target}?{PERIOD}"));
            let shown = "[...document.querySelectorAll('main svg')].filter(e => e.getClientRects().length).length";
            assert!(page.eval(shown).as_i64().unwrap() > 0, "{target}");
            assert!(
                page.eval("document.querySelectorAll('main table tbody tr').length")
                    .as_i64()
                    .unwrap()
                    > 1
            );
            page.eval("document.querySelectorAll('details').forEach(e => e.open = true)");
            let over = "document.documentElement.scrollWidth - innerWidth";
            assert!(
                page.eval(over).as_i64().unwrap() <= 0,
                "{target} at {width}"
            );
            let small = "(() => { const s = [...document.querySelectorAll('main svg')].find(e => e.getClientRects().length); \
                 return 12 * s.getBoundingClientRect().width / s.viewBox.baseVal.width; })()";
            assert!(
                page.eval(small).as_f64().unwrap() >= 9.0,
                "{target} at {width}"
            );
        }
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}

#[test]
fn an_empty_bank_has_sentences_in_place_of_pictures() {
    let bank = bank();
    let mut root = Browser::of_link(&bank);
    for (target, words) in [
        ("/usage", "Nothing was used in this period."),
        ("/waiting", "No job ran in this period."),
        ("/utilization", "No capacity is declared"),
        (
            "/contribution",
            "No usage and no contribution in this period.",
        ),
    ] {
        let page = get(&bank, &mut root, target);
        assert!(
            page.contains(words) && !page.contains("<svg"),
            "{target}: {page}"
        );
    }
}
