//! `bank quote ls`, `show` and `rm`: quotes that were given.

use bank_api::v1::{GivenQuote, GivenQuoteQuery, List};

use crate::{
    cli::QuoteCommand,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: QuoteCommand) -> Result<String, Failure> {
    match command {
        QuoteCommand::Ls {
            valid,
            limit,
            after,
        } => {
            let query = GivenQuoteQuery {
                valid,
                limit,
                after,
            };
            let list: List<GivenQuote> = context.get(&["quotes"], &query)?;
            context.form.list(&list, &sheet(&list.items))
        }
        QuoteCommand::Show { id } => context.show(&["quotes", &id.to_string()], &(), sheet),
        QuoteCommand::Rm { id, remove } => {
            let what = format!("end quote {id}");
            let answer = context.remove(&["quotes", &id.to_string()], &what, &remove)?;
            context.removed(&answer, &format!("quote {id} ended"))
        }
    }
}

fn sheet(quotes: &[GivenQuote]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("state", "State", Kind::Text),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("machine", "Machine", Kind::Text),
        column("amount", "Amount", Kind::Amount),
        column("duration_s", "Seconds", Kind::Number).secondary(),
        column("valid_until", "Valid until", Kind::Time),
        column("uses", "Uses", Kind::Number).secondary(),
        column("job", "Job", Kind::Text),
        column("tid", "TID", Kind::Text).secondary(),
        column("valid_from", "Valid from", Kind::Time).on_request(),
        column("unit", "Unit", Kind::Text).on_request(),
    ];
    Sheet::new(columns, quotes, "no quotes")
}
