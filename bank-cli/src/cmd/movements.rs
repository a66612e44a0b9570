//! The movements of a statement: its lines, read page by page and checked against its sums.

use bank_api::v1::{List, Statement, StatementLine, StatementLineQuery, StatementQuery};
use bank_picture::figure;

use crate::{context::Context, fail::Failure};

/// Lines per request.
const PAGE: u32 = 1000;

/// All lines of a statement, one page after the other; `each` says whether somebody still reads.
pub(crate) fn pages(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
    mut each: impl FnMut(Vec<StatementLine>) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let mut requested = StatementLineQuery {
        project: query.project.clone(),
        account: query.account.clone(),
        user: query.user.clone(),
        machine: query.machine.clone(),
        tree: query.tree,
        from: query.from.clone(),
        until: query.until.clone(),
        at: query.at.clone(),
        recorded: query.recorded,
        transaction: Some(statement.transaction),
        after: None,
        limit: Some(PAGE),
    };
    let difference =
        figure::added(&statement.total_credits, &statement.total_debits).unwrap_or_default();
    let nothing = figure::difference(&difference, &difference).unwrap_or_default();
    let (mut count, mut sum) = (0_i64, nothing);
    loop {
        let page: List<StatementLine> = context.get(&["statements", "entries"], &requested)?;
        for line in &page.items {
            count += 1;
            sum = figure::added(&sum, &line.amount).unwrap_or_default();
        }
        if !each(page.items)? {
            return Ok(false);
        }
        match page.next {
            Some(next) => requested.after = Some(next),
            None => break,
        }
    }
    if count != statement.entries || sum != difference {
        return Err(Failure::internal(format!(
            "the lines do not add up to the statement: {count} of {}, {sum} in place of {}",
            statement.entries, difference
        ))
        .hint("if a period was opened again meanwhile, ask again; else run `bankd verify`"));
    }
    Ok(true)
}
