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

/// What pages have in place of the hint of a refusal.
const OWN: [(&str, &str); 3] = [
    ("window_in_past", "enter an end that is later than now"),
    ("no_default_project", "enter the project"),
    (
        "not_a_member",
        "the page of the project leads to its members",
    ),
];

/// The hint of a refusal for a page. Its parts about the command line are left out: options, and commands without a
/// page.
pub(crate) fn show(code: &str, text: &str) -> Option<Markup> {
    let own = OWN.iter().find(|(own, _)| *own == code);
    if let Some((_, own)) = own {
        return Some(html! { (own) });
    }
    let parts: Vec<&str> = text.split("; ").filter(|part| is_of_pages(part)).collect();
    (!parts.is_empty()).then(|| words(parts.join("; ").trim_end_matches('.')))
}

/// Whether a part of a hint can be followed without the command line.
fn is_of_pages(part: &str) -> bool {
    let mut commands = part.split('`').skip(1).step_by(2);
    let outside = part.split('`').step_by(2);
    let mut options = outside.flat_map(str::split_whitespace);
    let is_option = |word: &str| {
        let name = word.trim_start_matches('-');
        name.len() < word.len() && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    commands.all(|command| page(command).is_some()) && !options.any(is_option)
}

/// A text of the API with its commands as code, or as links to pages.
pub(crate) fn words(text: &str) -> Markup {
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
        let shown = |text: &str| words(text).into_string();
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

    #[test]
    fn a_page_has_no_hints_for_the_command_line() {
        let shown = |code: &str, text: &str| show(code, text).map(Markup::into_string);
        assert_eq!(
            shown(
                "partner_away",
                "try again; `bank partner set --away accept` starts jobs"
            )
            .as_deref(),
            Some("try again")
        );
        assert_eq!(shown("cycle_not_due", "--dry-run shows the next run"), None);
        assert_eq!(
            shown("window_in_past", "use --allow-past for a deposit").as_deref(),
            Some("enter an end that is later than now")
        );
        assert_eq!(shown("", "from -5 to 3").as_deref(), Some("from -5 to 3"));
    }
}
