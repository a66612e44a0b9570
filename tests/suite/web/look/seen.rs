//! What must be true of every page in every width, by day, by night and on paper.

use crate::harness::{Page, View};

/// A telephone, a tablet and a screen.
const WIDTHS: [u32; 3] = [360, 768, 1440];

fn view(width: u32, dark: bool) -> View {
    let height = if width < 400 { 740 } else { 900 };
    View {
        width,
        height,
        dark,
    }
}

/// A screen by night.
pub(super) fn night() -> View {
    view(1440, true)
}

/// A telephone by day.
pub(super) fn telephone() -> View {
    view(360, false)
}

/// Looks at the page in every width, and keeps pictures under a name. What is wrong is appended to the findings.
pub(super) fn everywhere(page: &mut Page<'_>, name: &str, findings: &mut Vec<String>) {
    for width in WIDTHS {
        page.resize(view(width, false));
        let mut found = faults(page);
        page.shot(&format!("{name}-{width}"));
        if width == 1440 {
            // Letters of twice the size, as a browser can be set to.
            page.eval("document.documentElement.style.fontSize = '200%'");
            found.extend(
                faults(page)
                    .into_iter()
                    .map(|fault| format!("large letters: {fault}")),
            );
            page.eval("document.documentElement.style.fontSize = ''");
        }
        findings.extend(
            found
                .into_iter()
                .map(|fault| format!("{name} at {width}: {fault}")),
        );
    }
    page.resize(night());
    page.shot(&format!("{name}-dark"));
    page.resize(View::WIDE);
    page.printed();
    page.shot(&format!("{name}-print"));
    // No ways to go on, and no empty filters; but what is entered in the filters.
    let odd = "(() => {
        const isShown = e => e.getClientRects().length > 0;
        const of = words => [...document.querySelectorAll(words)];
        const shown = of('nav, button, .below, .period :placeholder-shown').filter(isShown);
        const entered = of('.period input:not([type=hidden], :placeholder-shown)').filter(e => !e.closest('.change, .when'));
        return [...shown, ...entered.filter(e => !isShown(e))].map(e => e.outerHTML.slice(0, 80)).join(' ');
    })()";
    let odd = page.text(odd);
    if !odd.is_empty() {
        findings.push(format!("{name} on paper: {odd}"));
    }
    page.resize(View::WIDE);
    for complaint in page.complaints() {
        // The browser logs the status of pages about errors.
        if !complaint.contains("the server responded with a status of") {
            findings.push(format!("{name}: {complaint}"));
        }
    }
}

/// A page wider than its window, cells that touch, figures that are not aligned, names that are cut without a title.
fn faults(page: &mut Page<'_>) -> Vec<String> {
    let found = page.eval(
        "(() => {
          const faults = [];
          const over = document.documentElement.scrollWidth - innerWidth;
          if (over > 0) faults.push(`${over} px wider than the window`);
          const box = cell => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            const { left, right, top, bottom } = range.getBoundingClientRect();
            const names = [...cell.querySelectorAll('.name')];
            const cut = names.map(name => name.getBoundingClientRect().right);
            return { left, right: Math.min(right, ...cut.slice(0, names.length == 1 ? 1 : 0)), top, bottom };
          };
          for (const row of document.querySelectorAll('tr')) {
            const cells = [...row.children].filter(cell => cell.textContent.trim());
            cells.slice(1).forEach((cell, at) => {
              const [left, right] = [box(cells[at]), box(cell)];
              const beside = right.top < left.bottom && left.top < right.bottom;
              const clear = right.left - left.right;
              if (beside && clear < 6) faults.push(`${cells[at].textContent} touches ${cell.textContent}`);
            });
          }
          for (const cell of document.querySelectorAll('th.figure, td.figure')) {
            const style = getComputedStyle(cell);
            if (style.display === 'table-cell' && style.textAlign !== 'right') faults.push(`${cell.textContent} is not at the right`);
          }
          for (const name of document.querySelectorAll('.name')) {
            if (name.scrollWidth > name.clientWidth && !name.title) faults.push(`${name.textContent} is cut`);
          }
          for (const scroll of document.querySelectorAll('.scroll')) {
            if (scroll.tabIndex !== 0) faults.push('a table cannot be scrolled by keyboard');
          }
          return faults;
        })()",
    );
    let found = found.as_array().unwrap().iter();
    found
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}
