//! Hints of refusals. They name commands of `bank`; where a page does the same, the hint leads to the page.

use maud::{Markup, html};

/// Words after `bank` with the page that does the same.
const PAGES: [(&str, &str, &str); 27] = [
    ("account ls", "/", "Balances"),
    ("adjust", "/adjust", "Adjust"),
    ("approve", "/proposals", "Proposals"),
    ("balance", "/", "Balances"),
    ("close", "/closes", "Closed periods"),
    ("deposit", "/deposit", "Deposit"),
    ("jobs", "/jobs", "Jobs"),
    ("journal", "/journal", "Journal"),
    ("key", "/keys", "Keys"),
    ("limit", "/limits", "Limits"),
    ("project ls", "/projects", "Projects"),
    ("proposal", "/proposals", "Proposals"),
    ("quote", "/quote", "Quote"),
    ("rate", "/rates", "Rates"),
    ("refund", "/refund", "Refund"),
    ("reject", "/proposals", "Proposals"),
    ("request", "/requests", "Requests"),
    ("role", "/people", "People"),
    ("settings", "/settings", "Settings"),
    ("statement", "/statements", "Statements"),
    ("status", "/operations", "Operations"),
    ("token", "/tokens", "Tokens"),
    ("transfer", "/transfer", "Transfer"),
    ("unmapped", "/today", "Today"),
    ("usage", "/usage", "Usage"),
    ("verify", "/proof", "Proof"),
    ("withdraw", "/withdraw", "Withdraw"),
];

/// The page that does what a command does.
fn page(command: &str) -> Option<(&'static str, &'static str)> {
    let words = command.strip_prefix("bank ")?;
    let is_own = |own: &str| {
        let rest = words.strip_prefix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let found = PAGES.iter().find(|(own, ..)| is_own(own));
    found.map(|(_, path, label)| (*path, *label))
}

/// A hint with its commands as code, or as links to pages.
pub(crate) fn show(text: &str) -> Markup {
    // Commands are between backquotes: every second part.
    let parts = text.split('`').enumerate();
    html! {
        @for (place, part) in parts {
            @match page(part).filter(|_| place % 2 == 1) {
                Some((path, label)) => { "the page " a href=(path) { (label) } },
                None => @if place % 2 == 1 { code { (part) } } @else { (part) },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_with_a_page_are_links() {
        let shown = |text: &str| show(text).into_string();
        assert_eq!(
            shown("`bank adjust -A x` takes it <out>"),
            "the page <a href=\"/adjust\">Adjust</a> takes it &lt;out&gt;"
        );
        assert_eq!(
            shown("see `bank machine set`"),
            "see <code>bank machine set</code>"
        );
        assert_eq!(
            shown("`bank project ls` shows yours"),
            "the page <a href=\"/projects\">Projects</a> shows yours"
        );
        for text in ["bank project add lab", "bank projects"] {
            let code = format!("<code>{text}</code>");
            assert_eq!(shown(&format!("`{text}`")), code);
        }
        assert_eq!(shown("name the machine"), "name the machine");
    }
}
