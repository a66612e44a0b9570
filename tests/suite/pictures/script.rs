//! The script of pictures in a browser, under the strict policy of the daemon's pages.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use bank_picture::{self as picture, Bars, Burn, Chart, Number, Section, Span, Timed, Zone};

use crate::harness::{Browser, Page, View};

const DAY: i64 = 86_400_000_000;
/// 2026-10-01, UTC.
const FIRST: i64 = 1_790_812_800_000_000;
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'";

fn days(count: i64) -> Vec<Span> {
    let span = |n| Span {
        from: FIRST + n * DAY,
        to: FIRST + (n + 1) * DAY,
    };
    (0..count).map(span).collect()
}

fn timed(spans: i64) -> Timed {
    let amounts = (0..spans).flat_map(|day| {
        let name = |name: &str, size: i64| {
            let amount = Number::of(i128::from((day + 1) * size) * 1_000 + 5, 3);
            (usize::try_from(day).unwrap(), name.to_owned(), amount)
        };
        [name("chem", 1000), name("<b>bio</b>", 10)]
    });
    Timed::gathered("project", "SU", days(spans), amounts).unwrap()
}

fn burn() -> Burn {
    let amount = |n: i64| (FIRST + n * DAY, Number::whole(1000 - n * 10));
    let forecast = vec![amount(20), (FIRST + 60 * DAY, Number::whole(0))];
    let speeds = (Number::whole(10), Number::whole(40));
    Burn {
        unit: "SU".to_owned(),
        from: FIRST,
        to: FIRST + 60 * DAY,
        amount: (0..=20).map(amount).collect(),
        spread: picture::spread(&forecast, Number::whole(20), speeds, 0),
        forecast,
        now: FIRST + 20 * DAY,
        ..Burn::default()
    }
}

/// One page with a drawing of each way to be read.
fn page() -> String {
    let zone = Zone::named("UTC").unwrap();
    let bars = Bars {
        what: "user".to_owned(),
        unit: "SU".to_owned(),
        rows: vec![
            ("amy".to_owned(), Number::of(1_234_567_890, 3)),
            ("bob".to_owned(), Number::of(-5, 1)),
        ],
    };
    let sections = [
        Section::chart("Columns", Chart::Columns(timed(10)))
            .linked("/drill?project={name}&from={from}&until={until}")
            .zoomed("from", "until"),
        Section::chart("Areas", Chart::Area(timed(10))),
        Section::chart("Lines", Chart::Lines(timed(40))),
        Section::chart("Burn", Chart::Burn(Box::new(burn()))),
        Section::chart("Bars", Chart::Bars(bars.clone())).linked("/user?name={name}"),
        Section::chart(
            "Pie",
            Chart::Pie(Bars {
                rows: bars.rows[..1].to_vec(),
                ..bars
            }),
        ),
    ];
    let mut body = String::new();
    for (at, section) in sections.iter().enumerate() {
        body += &picture::embedded(section, &format!("d{at}"), 2, zone);
    }
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Pictures</title>\
         <link rel=\"stylesheet\" href=\"/style.css\"><script src=\"/picture.js\" defer></script>\
         </head><body><main><h1>Pictures</h1>{body}</main></body></html>"
    )
}

/// A site with that page, and its address.
fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let _ = reader.read_line(&mut line);
            let path = line.split(' ').nth(1).unwrap_or("/");
            let (kind, body) = match path {
                "/style.css" => ("text/css", picture::style()),
                "/picture.js" => ("text/javascript", picture::script()),
                _ => ("text/html", page()),
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
                 Content-Security-Policy: {POLICY}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    address
}

/// The drawing of a section at this width.
fn drawing(section: usize) -> String {
    format!("section:nth-of-type({section}) svg.wide")
}

/// What is shown beside the pointer or the cursor.
fn tip(page: &mut Page<'_>, section: usize) -> String {
    page.text(&format!(
        "[...document.querySelectorAll('{} .tip text')].map(e => e.textContent).join(' / ')",
        drawing(section)
    ))
}

/// A place in the plot of a drawing, in parts of its width.
fn within(page: &mut Page<'_>, section: usize, part: f64) -> (f64, f64) {
    let (_, y) = page.place(&drawing(section));
    let x = page.eval(&format!(
        "(() => {{ const s = document.querySelector('{}'), b = s.getBoundingClientRect(), \
         x = s.dataset.x.split(' ').map(Number), k = b.width / s.viewBox.baseVal.width; \
         return b.x + k * (x[0] + (x[x.length - 1] - x[0]) * {part}); }})()",
        drawing(section)
    ));
    (x.as_f64().unwrap(), y)
}

#[test]
fn the_pointer_shows_exact_amounts() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let address = site();
    let mut page = browser.open(&address, View::WIDE);
    let place = within(&mut page, 1, 0.25);
    page.mouse("mouseMoved", place);
    assert_eq!(
        tip(&mut page, 1),
        "2026-10-03 / chem: 3,000.005 SU / <b>bio</b>: 30.005 SU"
    );
    page.shot("pictures-pointer");
    for (section, part, expected) in [
        (
            2,
            0.95,
            "2026-10-10 / chem: 10,000.005 SU / <b>bio</b>: 100.005 SU",
        ),
        (
            3,
            0.5,
            "2026-10-21 / chem: 21,000.005 SU / <b>bio</b>: 210.005 SU",
        ),
        (4, 0.0, "2026-10-01 / amount: 1,000 SU"),
        (4, 1.0, "2026-11-30 / forecast: 0 SU"),
    ] {
        let place = within(&mut page, section, part);
        page.mouse("mouseMoved", place);
        assert_eq!(tip(&mut page, section), expected, "{section}");
    }
    let place = page.place(&format!("{} .row rect", drawing(5)));
    page.mouse("mouseMoved", place);
    assert_eq!(tip(&mut page, 5), "amy: 1,234,567.890 SU");
    let place = page.place(&drawing(6));
    page.mouse("mouseMoved", place);
    assert_eq!(tip(&mut page, 6), "amy: 1,234,567.890 SU");
    assert_eq!(tip(&mut page, 5), "", "the pointer left it");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn the_keyboard_reaches_amounts_series_and_periods() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let address = site();
    let mut page = browser.open(&format!("{address}/?project=chem"), View::WIDE);
    page.key("Tab", false);
    page.key("ArrowRight", false);
    page.key("ArrowRight", false);
    assert_eq!(
        tip(&mut page, 1),
        "2026-10-02 / chem: 2,000.005 SU / <b>bio</b>: 20.005 SU"
    );
    let spoken = "document.querySelector('section .spoken').textContent";
    assert!(page.text(spoken).starts_with("2026-10-02, chem"));
    // The entries of the legend follow the drawing.
    page.key("Tab", false);
    assert_eq!(
        page.text("document.activeElement.getAttribute('aria-label')"),
        "chem"
    );
    page.key(" ", false);
    let hidden = "document.querySelectorAll('section:nth-of-type(1) .series.off').length";
    assert_eq!(page.eval(hidden), 2, "in both widths");
    let place = within(&mut page, 1, 0.25);
    page.mouse("mouseMoved", place);
    assert_eq!(tip(&mut page, 1), "2026-10-03 / <b>bio</b>: 30.005 SU");
    page.shot("pictures-one-series");
    page.key("Enter", false);
    assert_eq!(page.eval(hidden), 0);
    page.eval(&format!("document.querySelector('{}').focus()", drawing(1)));
    page.key("Home", false);
    page.key("ArrowRight", false);
    page.key("ArrowRight", true);
    page.key("ArrowRight", true);
    page.navigates(|page| page.key("Enter", false));
    assert_eq!(
        page.text("location.search"),
        "?project=chem&from=2026-10-02T00%3A00%3A00Z&until=2026-10-05T00%3A00%3A00Z"
    );
    // Rows with a link.
    page.eval(&format!("document.querySelector('{}').focus()", drawing(5)));
    page.key("End", false);
    assert_eq!(tip(&mut page, 5), "bob: \u{2212}0.5 SU");
    page.navigates(|page| page.key("Enter", false));
    assert!(page.text("location.href").ends_with("/user?name=bob"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_period_is_selected_and_marks_are_links() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let address = site();
    let mut page = browser.open(&address, View::WIDE);
    let (from, to) = (within(&mut page, 1, 0.62), within(&mut page, 1, 0.25));
    page.navigates(|page| page.drag(from, to));
    assert_eq!(
        page.text("location.search"),
        "?from=2026-10-03T00%3A00%3A00Z&until=2026-10-08T00%3A00%3A00Z"
    );
    let mark = format!("{} .series a rect", drawing(1));
    page.navigates(|page| page.click(&mark));
    assert_eq!(
        page.text("location.pathname + location.search"),
        "/drill?project=chem&from=2026-10-01T00%3A00%3A00Z&until=2026-10-02T00%3A00%3A00Z"
    );
    // A drawing without a period in the address is not selected.
    let (from, to) = (within(&mut page, 2, 0.2), within(&mut page, 2, 0.6));
    page.drag(from, to);
    assert_eq!(page.eval("document.querySelectorAll('.brush').length"), 0);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Without the script, a picture has its links, its legend, the amounts as titles, and its table.
#[test]
fn a_page_without_scripts_is_complete() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let address = site();
    for view in [
        View::WIDE,
        View {
            dark: true,
            ..View::WIDE
        },
        View {
            width: 360,
            ..View::WIDE
        },
    ] {
        let mut page = browser.page(view);
        page.without_scripts();
        page.navigates(|page| {
            page.ask("Page.navigate", &serde_json::json!({"url": address}));
        });
        let count = |page: &mut Page<'_>, what: &str| {
            page.eval(&format!("document.querySelectorAll('{what}').length"))
        };
        assert_eq!(count(&mut page, "section table"), 6);
        assert_eq!(count(&mut page, "[role=button], .tip, .spoken"), 0);
        assert_eq!(
            count(&mut page, "section:nth-of-type(1) svg.wide a[href]"),
            20
        );
        let seen = "[...document.querySelectorAll('svg')].filter(e => e.getClientRects().length)";
        assert_eq!(page.eval(&format!("{seen}.length")), 6);
        let over = "document.documentElement.scrollWidth - innerWidth";
        assert!(page.eval(over).as_i64().unwrap() <= 0, "{view:?}");
        page.shot(&format!("pictures-{}-{}", view.width, view.dark));
        assert_eq!(page.complaints(), Vec::<String>::new(), "{view:?}");
    }
}

/// The browser of the tests: it types, waits, and returns what a page requested.
#[test]
fn the_browser_types_waits_and_listens() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let address = site();
    let mut page = browser.open(&address, View::WIDE);
    let wanted = ["/", "/style.css", "/picture.js"].map(|path| format!("{address}{path}"));
    let sent = page.requests();
    assert!(wanted.iter().all(|one| sent.contains(one)), "{sent:?}");
    assert!(sent.iter().all(|one| one.starts_with(&address)), "{sent:?}");
    page.eval("document.querySelector('h1').contentEditable = 'true'");
    page.types("h1", "Typed ");
    page.until("document.querySelector('h1').textContent.includes('Typed')");
}
