//! A statement as one page that prints well: no script, no outside address, light or dark as the
//! reader's machine is.

use std::fmt::Write as _;

use bank_api::v1::{Statement, StatementLine};
use bank_picture::reports::money;
use bank_picture::{self as picture, Burn, Chart, Section, Timed, escaped, figure};

use super::{Writer, text};
use crate::{context::Context, fail::Failure, out::Form, when};

/// The page.
pub(super) struct Html {
    form: Form,
    pictures: String,
}

impl Html {
    pub(super) fn new(context: &Context) -> Self {
        let mut form = context.form.clone();
        // Amounts as people read them.
        form.format = crate::cli::Format::Table;
        Self {
            form,
            pictures: String::new(),
        }
    }

    /// With pictures of the period: how money was spent, and what was charged from time to time.
    pub(super) fn with(mut self, burn: Option<Burn>, charged: Timed) -> Self {
        let mut sections = Vec::new();
        if let Some(burn) = burn {
            let chart = Chart::Burn(Box::new(burn));
            sections.push(Section::chart("Burn-down", chart).note(money::EXPLAINED));
        }
        let title = format!("Charged by {}", charged.what);
        sections.push(Section::chart(&title, Chart::Columns(charged)));
        self.pictures = picture::figures(&sections, 2, self.form.zone);
        self
    }

    /// Up to the sums, and they.
    pub(super) fn head(&self, statement: &Statement) -> String {
        let name = escaped(&statement.name);
        let period = text::period(self.form.zone, statement);
        let mut out = picture::head(&format!("Statement {} {period}", statement.name));
        let _ = write!(
            out,
            "<h1>Statement of {} {name}</h1>\n<p>{period}. Amounts in {}; times {}.</p>\n",
            escaped(&statement.of),
            escaped(&statement.unit),
            self.zone(statement),
        );
        let (sums, parts) = (self.sums(statement), self.parts(statement));
        if parts.is_empty() {
            out.push_str(&sums);
        } else {
            let _ = write!(out, "<div class=\"pair\">\n{sums}{parts}</div>\n");
        }
        for remark in text::remarks(&self.form, statement) {
            let _ = writeln!(out, "<p>{}</p>", escaped(&remark));
        }
        out + &self.pictures
    }

    /// What ends the page.
    pub(super) fn foot() -> String {
        picture::foot().to_owned()
    }

    /// The zone of local times in the period.
    fn zone(&self, statement: &Statement) -> String {
        let until = when::read(&statement.until).unwrap_or_default();
        let from = statement.from.as_deref().and_then(when::read);
        self.form.zone.label(from.unwrap_or(until), until)
    }

    fn sums(&self, statement: &Statement) -> String {
        let row = |class: &str, left: &str, amount: &str| {
            format!(
                "<tr{class}><th scope=\"row\">{}</th><td class=\"n\">{}</td></tr>\n",
                escaped(left),
                escaped(&self.form.amount(amount))
            )
        };
        let bold = " class=\"b\"";
        let mut out = String::from("<div class=\"rows\"><table><caption>Summary</caption>\n");
        if let Some(opening) = &statement.opening {
            out.push_str(&row(bold, "Opening amount", opening));
        }
        for (sign, groups) in [("+", &statement.credits), ("\u{2212}", &statement.debits)] {
            for group in groups {
                let late = if group.adjustment {
                    ", adjusting a closed period"
                } else {
                    ""
                };
                let jobs = if group.jobs > 0 {
                    format!(", {}", figure::counted(&group.jobs.to_string(), "job"))
                } else {
                    String::new()
                };
                let left = format!("{sign} {}{jobs}{late}", group.label());
                out.push_str(&row("", &left, &group.amount));
            }
        }
        if let Some(closing) = &statement.closing {
            out.push_str(&row(bold, "Closing amount", closing));
        } else {
            let sum = figure::added(&statement.total_credits, &statement.total_debits);
            out.push_str(&row(bold, "Total", &sum.unwrap_or_default()));
        }
        for (left, amount) in text::beside(statement) {
            out.push_str(&row("", &left, &amount));
        }
        out + "</table></div>\n"
    }

    fn parts(&self, statement: &Statement) -> String {
        if statement.parts.is_empty() {
            return String::new();
        }
        let by = if text::has_users(statement) {
            "user"
        } else {
            "project"
        };
        let mut out = format!(
            "<div class=\"rows\"><table><caption>Charges by {by}</caption>\n<thead><tr><th scope=\"col\">{by}</th>\
             <th scope=\"col\" class=\"n\">jobs</th><th scope=\"col\" class=\"n\">charged</th>\
             <th scope=\"col\" class=\"n\">refunded</th></tr></thead>\n<tbody>\n"
        );
        for part in &statement.parts {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escaped(&text::named(part.name.as_ref())),
                figure::grouped(&part.jobs.to_string()),
                self.form.amount(&part.charged),
                self.form.amount(&part.refunded)
            );
        }
        out + "</tbody></table></div>\n"
    }
}

impl Writer for Html {
    fn head(&self, statement: &Statement) -> Result<String, Failure> {
        let mut out = Html::head(self, statement);
        out.push_str(
            "<div class=\"rows many\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Movements\"><table><caption>Movements</caption>\n<thead><tr>\
             <th scope=\"col\">time</th><th scope=\"col\">kind</th><th scope=\"col\">account</th>\
             <th scope=\"col\">project</th><th scope=\"col\">user</th><th scope=\"col\">job</th>\
             <th scope=\"col\" class=\"n\">amount</th><th scope=\"col\" class=\"n\">left</th>\
             </tr></thead>\n<tbody>\n",
        );
        Ok(out)
    }

    fn lines(
        &mut self,
        _: &Statement,
        lines: &[StatementLine],
        after: &[Option<String>],
        _: bool,
    ) -> Result<String, Failure> {
        let mut out = String::new();
        for (line, after) in lines.iter().zip(after) {
            let mark = if line.adjustment { " *" } else { "" };
            let text = |text: &Option<String>| escaped(text.as_deref().unwrap_or_default());
            let _ = writeln!(
                out,
                "<tr><td class=\"w\">{}</td><td>{}{mark}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escaped(&when::moment(&line.at, self.form.zone)),
                escaped(&line.kind),
                escaped(&line.account),
                text(&line.project),
                text(&line.user),
                text(&line.job),
                self.form.amount(&line.amount),
                after
                    .as_ref()
                    .map_or_else(String::new, |after| self.form.amount(after)),
            );
        }
        Ok(out)
    }

    fn foot(&mut self, statement: &Statement) -> Result<String, Failure> {
        let mut out = String::from("</tbody></table></div>\n");
        if text::adjusted(statement) {
            out.push_str("<p>* adjustment of a closed period; the original date is shown.</p>\n");
        }
        Ok(out + &Html::foot())
    }
}
