//! A browser of the tests: a cookie, links and forms.

use crate::harness::{Address, Bank, Request, Response, Setup, exchange};

/// The header field of the proxy in the tests.
pub(crate) const HEADER: &str = "X-Remote-User";

/// A bank with pages, and people whom a proxy on this host identifies.
pub(crate) fn bank() -> Bank {
    with_settings(&[])
}

/// The same with more settings, as its environment.
pub(crate) fn with_settings(more: &[(&str, &str)]) -> Bank {
    behind("127.0.0.1", more)
}

/// The same with the address of the proxy.
pub(crate) fn behind(proxy: &str, more: &[(&str, &str)]) -> Bank {
    // The sample ends with the table `[web.header]`.
    let header = format!("name = \"{HEADER}\"\nproxies = [\"{proxy}\"]\n");
    let setup = Setup::new()
        .toml(&header)
        .env("BANKD_WEB_LISTEN", "127.0.0.1:0");
    let all = more.iter();
    all.fold(setup, |setup, (name, value)| setup.env(name, value))
        .start()
}

/// Host and port of the pages.
pub(crate) fn address(bank: &Bank) -> String {
    let lines = bank.further_output().iter();
    let mut found = lines.filter_map(|line| line.strip_prefix("listening web http://"));
    found.next().expect("no pages are served").to_owned()
}

/// Sends a request to the pages.
pub(crate) fn ask(bank: &Bank, request: &Request) -> Response {
    exchange(&Address::Tcp(address(bank)), request).unwrap()
}

/// Somebody with a browser.
#[derive(Clone, Debug, Default)]
pub(crate) struct Browser {
    /// The cookie, `name=value`.
    pub(crate) cookie: String,
    /// The name that the proxy sends; empty for none.
    pub(crate) name: String,
}

impl Browser {
    /// The founder of the bank, by a link.
    pub(crate) fn of_link(bank: &Bank) -> Self {
        let code = link(bank);
        let mut browser = Self::default();
        let answer = browser.send(bank, "/login/link", &[("code", &code)]);
        assert_eq!(answer.status, 303, "{}", answer.text());
        browser
    }

    /// A person whom the proxy identifies.
    pub(crate) fn of_proxy(bank: &Bank, name: &str) -> Self {
        let mut browser = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let answer = browser.get(bank, "/login");
        assert_eq!(answer.status, 303, "{}", answer.text());
        browser
    }

    /// Opens an address.
    pub(crate) fn get(&mut self, bank: &Bank, target: &str) -> Response {
        let request = self.request(Request::get(target));
        self.keep(ask(bank, &request))
    }

    /// Sends fields.
    pub(crate) fn send(&mut self, bank: &Bank, target: &str, fields: &[(&str, &str)]) -> Response {
        let request = self.request(posted(target, fields));
        self.keep(ask(bank, &request))
    }

    /// Opens a page, and sends its form with more fields.
    pub(crate) fn submit(
        &mut self,
        bank: &Bank,
        page: &str,
        action: &str,
        fields: &[(&str, &str)],
    ) -> Response {
        let page = self.get(bank, page);
        self.submit_of(bank, &page.text(), action, fields)
    }

    /// Sends the form of a page with more fields.
    pub(crate) fn submit_of(
        &mut self,
        bank: &Bank,
        page: &str,
        action: &str,
        fields: &[(&str, &str)],
    ) -> Response {
        let hidden = hidden(page, action);
        let mut all: Vec<(&str, &str)> = Vec::new();
        for (name, value) in &hidden {
            if !fields.iter().any(|(own, _)| own == name) {
                all.push((name, value));
            }
        }
        all.extend(fields);
        self.send(bank, action, &all)
    }

    /// A request with the cookie and what the proxy adds.
    pub(crate) fn request(&self, mut request: Request) -> Request {
        if !self.cookie.is_empty() {
            request = request.header("Cookie", &self.cookie);
        }
        if !self.name.is_empty() {
            request = request.header(HEADER, &self.name);
        }
        request
    }

    fn keep(&mut self, answer: Response) -> Response {
        if let Some(cookie) = answer.header("set-cookie") {
            cookie
                .split(';')
                .next()
                .unwrap()
                .clone_into(&mut self.cookie);
        }
        answer
    }
}

/// A form as a browser sends it.
pub(crate) fn posted(target: &str, fields: &[(&str, &str)]) -> Request {
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    Request {
        method: "POST",
        body: pairs.join("&").into_bytes(),
        ..Request::get(target)
    }
    .header("Content-Type", "application/x-www-form-urlencoded")
}

pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    bank_api::text::percent_encode(text, &mut out);
    out
}

/// The code of a new link.
pub(crate) fn link(bank: &Bank) -> String {
    let printed = bank.bank_ok(&["web", "login"]);
    let url = printed.lines().next().unwrap();
    let origin = format!("http://{}/login/link?code=", address(bank));
    url.strip_prefix(&origin)
        .unwrap_or_else(|| panic!("{url}"))
        .to_owned()
}

/// The hidden fields of the form with an action.
pub(crate) fn hidden(page: &str, action: &str) -> Vec<(String, String)> {
    let start = format!("method=\"post\" action=\"{action}\"");
    let form = page
        .split(&start)
        .nth(1)
        .unwrap_or_else(|| panic!("no form for {action}: {page}"));
    let form = form.split("</form>").next().unwrap();
    let inputs = form.split("<input ").skip(1);
    let inputs = inputs.map(|input| input.split('>').next().unwrap());
    let hidden = inputs.filter(|input| input.contains("type=\"hidden\""));
    hidden
        .map(|input| (attribute(input, "name"), attribute(input, "value")))
        .collect()
}

fn attribute(input: &str, name: &str) -> String {
    let start = format!("{name}=\"");
    let value = input
        .split(&start)
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let value = value
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    value.replace("&amp;", "&")
}

/// A page without what differs with each request: its id, tokens and keys.
pub(crate) fn steady(page: &str) -> String {
    let mut out = page.to_owned();
    for start in [
        "request w",
        "name=\"form_token\" value=\"",
        "name=\"key\" value=\"",
    ] {
        let mut parts = out.split(start);
        let mut kept = parts.next().unwrap().to_owned();
        for part in parts {
            let end = part.find(['<', '"', ' ']).unwrap_or(part.len());
            kept.push_str(start);
            kept.push_str(&part[end..]);
        }
        out = kept;
    }
    out
}
