//! Hints of refusals. They name commands of `bank`; where a page does the same, the hint leads to the page.

use maud::{Markup, html};

/// Words after `bank` with the page that does the same.
const PAGES: [(&str, &str, &str); 21] = [
    ("adjust", "/adjust", "Adjust"),
    ("approve", "/proposals", "Proposals"),
    ("balance", "/", "Balances"),
    ("close", "/closes", "Closed periods"),
    ("deposit", "/deposit", "Deposit"),
    ("jobs", "/jobs", "Jobs"),
    ("journal", "/journal", "Journal"),
    ("key", "/keys", "Keys"),
    ("limit", "/limits", "Limits"),
    ("proposal", "/proposals", "Proposals"),
    ("quote", "/quote", "Quote"),
    ("rate", "/rates", "Rates"),
    ("refund", "/refund", "Refund"),
    ("reject", "/proposals", "Proposals"),
    ("request", "/requests", "Requests"),
    ("role", "/people", "People"),
    ("statement", "/statements", "Statements"),
    ("token", "/tokens", "Tokens"),
    ("transfer", "/transfer", "Transfer"),
    ("verify", "/proof", "Proof"),
    ("withdraw", "/withdraw", "Withdraw"),
];

/// The page that does what a command does.
fn page(command: &str) -> Option<(&'static str, &'static str)> {
    let mut words = command.split(' ');
    let word = words.nth(1).filter(|_| command.starts_with("bank "))?;
    let found = PAGES.iter().find(|(own, ..)| *own == word);
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
        assert_eq!(shown("name the machine"), "name the machine");
    }
}
