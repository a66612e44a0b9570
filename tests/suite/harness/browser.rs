//! Headless Chromium, driven over a pair of pipes by its `DevTools` protocol: pages as people use them (0177).
//!
//! Start at [`Browser::start`]. Each wait has a time limit, and the browser ends with its [`Browser`].

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use super::{pause, skip, tool, until};

/// No answer takes longer.
const PATIENCE: Duration = Duration::from_mins(1);
/// The name of the program.
const PROGRAM: &str = "chromium";

/// A browser without a window.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    events: VecDeque<Value>,
    number: u64,
    _profile: tempfile::TempDir,
}

/// The window of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) dark: bool,
}

impl View {
    /// A screen by day.
    pub(crate) const WIDE: Self = Self {
        width: 1440,
        height: 900,
        dark: false,
    };
}

/// A page that stays open while another one is used.
#[derive(Debug)]
pub(crate) struct Tab {
    target: String,
    session: String,
}

/// One page; it closes with its end.
pub(crate) struct Page<'b> {
    browser: &'b mut Browser,
    target: String,
    session: String,
}

impl Browser {
    /// A browser; none, with a line about it, where there is no Chromium.
    pub(crate) fn start() -> Option<Self> {
        if !tool(PROGRAM) {
            skip(PROGRAM, "no chromium to open pages with");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        // The browser reads messages from 3 and writes them to 4.
        let shell = "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", shell, "sh", PROGRAM])
            .args(["--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-extensions", "--disable-background-networking"])
            .args(["--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--remote-debugging-pipe", "about:blank"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = messages(child.stdout.take().unwrap());
        Some(Self {
            child,
            to,
            from,
            events: VecDeque::new(),
            number: 0,
            _profile: profile,
        })
    }

    /// Opens a page, and waits until it is loaded.
    pub(crate) fn open(&mut self, address: &str, view: View) -> Page<'_> {
        let mut page = self.page(view);
        page.navigates(|page| {
            page.ask("Page.navigate", &json!({"url": address}));
        });
        page
    }

    /// Goes on with a page that was left open.
    pub(crate) fn again(&mut self, tab: Tab) -> Page<'_> {
        self.ask(
            None,
            "Target.activateTarget",
            &json!({"targetId": tab.target}),
        );
        self.events.clear();
        Page {
            browser: self,
            target: tab.target,
            session: tab.session,
        }
    }

    /// An empty page.
    pub(crate) fn page(&mut self, view: View) -> Page<'_> {
        let text = |answer: &Value, name: &str| answer[name].as_str().unwrap().to_owned();
        let made = self.ask(None, "Target.createTarget", &json!({"url": "about:blank"}));
        let target = text(&made, "targetId");
        let wanted = json!({"targetId": target, "flatten": true});
        let attached = self.ask(None, "Target.attachToTarget", &wanted);
        let session = text(&attached, "sessionId");
        self.events.clear();
        let mut page = Page {
            browser: self,
            target,
            session,
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.ask(&format!("{domain}.enable"), &json!({}));
        }
        page.resize(view);
        page
    }

    fn ask(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
        let answer = self.answer(session, method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The answer, which may be an error.
    fn answer(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.number += 1;
        let mut request = json!({"id": self.number, "method": method, "params": params});
        if let Some(session) = session {
            request["sessionId"] = session.into();
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let message = self.next(method);
            if message["id"] == self.number {
                return message;
            }
            self.events.push_back(message);
        }
    }

    #[track_caller]
    fn next(&self, purpose: &str) -> Value {
        let message = self.from.recv_timeout(PATIENCE);
        message.unwrap_or_else(|e| panic!("the browser does not answer: {purpose}: {e}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let end = json!({"id": 0, "method": "Browser.close"}).to_string() + "\0";
        let _ = self.to.write_all(end.as_bytes());
        for _ in 0..500 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            pause(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Messages as they arrive, each ended by a zero byte.
fn messages(from: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(from);
        let mut bytes = Vec::new();
        while matches!(reader.read_until(0, &mut bytes), Ok(1..)) {
            bytes.pop();
            let Ok(message) = serde_json::from_slice(&bytes) else {
                return;
            };
            if sender.send(message).is_err() {
                return;
            }
            bytes.clear();
        }
    });
    receiver
}

impl Page<'_> {
    /// Sends a command of the protocol to this page.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.browser.ask(Some(&self.session), method, params)
    }

    /// Leaves the page open, to use another one.
    pub(crate) fn leave(mut self) -> Tab {
        Tab {
            target: std::mem::take(&mut self.target),
            session: std::mem::take(&mut self.session),
        }
    }

    /// Sends these fields with every request.
    pub(crate) fn fields(&mut self, fields: &Value) {
        self.ask("Network.setExtraHTTPHeaders", &json!({"headers": fields}));
    }

    /// Opens an address, and waits until it is loaded. Messages of the page before are forgotten.
    pub(crate) fn go(&mut self, address: &str) {
        self.browser.events.clear();
        self.navigates(|page| {
            page.ask("Page.navigate", &json!({"url": address}));
        });
    }

    /// The status of the last page.
    pub(crate) fn status(&mut self) -> u64 {
        let events = self.browser.events.iter().rev();
        let answers = events.filter(|event| event["method"] == "Network.responseReceived");
        let mut answers = answers.filter(|event| event["params"]["type"] == "Document");
        let answer = answers.next().expect("no page was requested");
        answer["params"]["response"]["status"].as_u64().unwrap()
    }

    /// The bytes that were received for the last page and what belongs to it.
    pub(crate) fn received(&mut self) -> u64 {
        let events = self.browser.events.iter();
        let ends = events.filter(|event| event["method"] == "Network.loadingFinished");
        let sizes = ends.filter_map(|event| event["params"]["encodedDataLength"].as_f64());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes"
        )]
        let bytes = sizes.sum::<f64>() as u64;
        bytes
    }

    /// Does something that loads a page, and waits until it is loaded.
    pub(crate) fn navigates(&mut self, action: impl FnOnce(&mut Self)) {
        let is_load = |event: &Value| event["method"] == "Page.loadEventFired";
        self.browser.events.retain(|event| !is_load(event));
        action(self);
        while !self.browser.events.iter().any(is_load) {
            let event = self.browser.next("a page is loaded");
            self.browser.events.push_back(event);
        }
    }

    /// Changes the window.
    pub(crate) fn resize(&mut self, view: View) {
        let metrics = json!({"width": view.width, "height": view.height,
            "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if view.dark { "dark" } else { "light" };
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        let media = json!({"media": "screen", "features": [feature]});
        self.ask("Emulation.setEmulatedMedia", &media);
    }

    /// Shows the page as it is printed.
    pub(crate) fn printed(&mut self) {
        self.ask("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    }

    /// Runs no scripts of pages that are loaded from now on.
    pub(crate) fn without_scripts(&mut self) {
        self.ask(
            "Emulation.setScriptExecutionDisabled",
            &json!({"value": true}),
        );
    }

    /// The value of an expression; null if it led to another page before it was known.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let wanted = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let session = Some(self.session.as_str());
        let answer = self.browser.answer(session, "Runtime.evaluate", &wanted);
        if answer["error"]["message"] == "Inspected target navigated or closed" {
            return Value::Null;
        }
        assert!(answer.get("error").is_none(), "{expression}: {answer}");
        let answer = &answer["result"];
        let failed = answer.get("exceptionDetails");
        assert!(failed.is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The value of an expression as text.
    #[track_caller]
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| panic!("{expression}: {value}"))
    }

    /// Waits until an expression is true. Meanwhile another page may take the place of this one.
    pub(crate) fn until(&mut self, expression: &str) {
        let wanted = json!({"expression": expression, "returnByValue": true});
        until(expression, || {
            let session = Some(self.session.as_str());
            let answer = self.browser.answer(session, "Runtime.evaluate", &wanted);
            (answer["result"]["result"]["value"] == true).then_some(())
        });
    }

    /// The middle of an element, scrolled into the window.
    #[track_caller]
    pub(crate) fn place(&mut self, selector: &str) -> (f64, f64) {
        let found = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); if (!e) return null; \
             e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect(); \
             return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        ));
        assert!(found.is_array(), "no element {selector}");
        (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
    }

    /// A step of the mouse: `mouseMoved`, `mousePressed` or `mouseReleased`.
    pub(crate) fn mouse(&mut self, step: &str, (x, y): (f64, f64)) {
        let is_button = step != "mouseMoved";
        let button = if is_button { "left" } else { "none" };
        let event = json!({"type": step, "x": x, "y": y, "button": button,
            "clickCount": i32::from(is_button)});
        self.ask("Input.dispatchMouseEvent", &event);
    }

    /// Clicks on the middle of an element.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.place(selector);
        for step in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(step, place);
        }
    }

    /// Clicks twice on the middle of an element, as impatient people do.
    #[track_caller]
    pub(crate) fn double_click(&mut self, selector: &str) {
        let place = self.place(selector);
        for step in [
            "mouseMoved",
            "mousePressed",
            "mouseReleased",
            "mousePressed",
            "mouseReleased",
        ] {
            self.mouse(step, place);
        }
    }

    /// Moves the mouse from place to place with its button pressed.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from);
        self.mouse("mousePressed", from);
        let drag =
            |x, y| json!({"type": "mouseMoved", "x": x, "y": y, "button": "left", "buttons": 1});
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        for (x, y) in [middle, to] {
            self.ask("Input.dispatchMouseEvent", &drag(x, y));
        }
        self.mouse("mouseReleased", to);
    }

    /// Types a text into an element.
    #[track_caller]
    pub(crate) fn types(&mut self, selector: &str, text: &str) {
        self.eval(&format!("document.querySelector({selector:?}).focus()"));
        self.ask("Input.insertText", &json!({"text": text}));
    }

    /// Replaces what an element of a form contains.
    #[track_caller]
    pub(crate) fn fill(&mut self, selector: &str, text: &str) {
        self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.focus(); \
             e.value = e.tagName === 'SELECT' ? {text:?} : ''; }})()"
        ));
        if self.eval("document.activeElement.tagName") == "INPUT" {
            self.ask("Input.insertText", &json!({"text": text}));
        }
    }

    /// Presses a key by its name, such as `Tab`, `Enter` or `ArrowRight`, with Shift if wanted.
    pub(crate) fn key(&mut self, name: &str, shift: bool) {
        let (code, text) = match name {
            "Enter" => (13, "\r"),
            " " => (32, " "),
            "Tab" => (9, ""),
            "Escape" => (27, ""),
            "End" => (35, ""),
            "Home" => (36, ""),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            other => panic!("no code for the key {other}"),
        };
        let modifiers = if shift { 8 } else { 0 };
        let kind = if text.is_empty() {
            "rawKeyDown"
        } else {
            "keyDown"
        };
        for kind in [kind, "keyUp"] {
            let mut event = json!({"type": kind, "key": name, "code": name,
                "windowsVirtualKeyCode": code, "modifiers": modifiers});
            if kind == "keyDown" {
                event["text"] = text.into();
            }
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// Keeps the whole page as a picture in the folder `BANK_SHOTS`, if there is one.
    pub(crate) fn shot(&mut self, name: &str) {
        let folder = std::env::var_os("BANK_SHOTS").filter(|folder| !folder.is_empty());
        let Some(folder) = folder else {
            return;
        };
        std::fs::create_dir_all(&folder).unwrap();
        let wanted = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.ask("Page.captureScreenshot", &wanted);
        let engine = base64::engine::general_purpose::STANDARD;
        let bytes = engine.decode(picture["data"].as_str().unwrap()).unwrap();
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(path, bytes).unwrap();
    }

    /// Messages of the console since the page was made: errors, and what its policy refused.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // Whatever the page has said is here before the answer.
        self.eval("1");
        let events = self.browser.events.iter();
        let said = events.filter_map(|event| match event["method"].as_str()? {
            "Log.entryAdded" => Some(event["params"]["entry"]["text"].to_string()),
            "Runtime.consoleAPICalled" => Some(event["params"]["args"].to_string()),
            "Runtime.exceptionThrown" => Some(event["params"]["exceptionDetails"].to_string()),
            _ => None,
        });
        said.collect()
    }

    /// Addresses that were requested since the page was made.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        self.eval("1");
        let events = self.browser.events.iter();
        let sent = events.filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| Some(event["params"]["request"]["url"].as_str()?.to_owned()))
            .collect()
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.target.is_empty() {
            let target = json!({"targetId": self.target});
            self.browser.ask(None, "Target.closeTarget", &target);
        }
    }
}
