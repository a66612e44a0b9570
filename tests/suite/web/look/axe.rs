//! `axe-core`, which looks for barriers of WCAG 2.2 AA in a page. `.ci/run` installs it, `BANK_TEST_AXE` names it.

use std::path::PathBuf;

use crate::harness::{Page, skip};

/// The rules: levels A and AA of WCAG 2.0, 2.1 and 2.2.
const TAGS: &str = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']";

/// The script.
pub(super) struct Axe(String);

impl Axe {
    /// The one of this machine; none, with a line about it, where there is none.
    pub(super) fn installed() -> Option<Self> {
        let path = std::env::var_os("BANK_TEST_AXE").map(PathBuf::from);
        let text = path.and_then(|path| std::fs::read_to_string(path).ok());
        if text.is_none() {
            skip("axe-core", "BANK_TEST_AXE names no axe.min.js");
        }
        text.map(Self)
    }

    /// The barriers of a page. The script comes from outside of the page, so the policy of the page stays strict.
    pub(super) fn barriers(&self, page: &mut Page<'_>) -> Vec<String> {
        if page.eval("typeof axe") != "object" {
            page.eval(&format!("{}; 1", self.0));
        }
        // axe does not measure contrast above gradients: the shadows at the edges of tables.
        page.eval(
            "document.querySelectorAll('.scroll').forEach(e => { e.style.background = 'none'; })",
        );
        let found = page.eval(&format!(
            "axe.run(document, {{runOnly: {TAGS}, resultTypes: ['violations']}}).then(result => \
             result.violations.flatMap(rule => rule.nodes.map(node => \
             rule.id + ': ' + node.html.slice(0, 200) + ' ' + node.failureSummary)))"
        ));
        let found = found.as_array().unwrap().iter();
        found
            .map(|text| text.as_str().unwrap().to_owned())
            .collect()
    }
}
