//! The one account of a project, a user and a machine.

use super::{
    request::Request,
    session::{Piece, Session, Stop},
};

/// How a tool names the search, and its result, in messages.
pub(super) struct Purpose {
    /// `project` or `user/machine/project`.
    pub(super) scope: &'static str,
    /// The command to repeat: `the deposit with`.
    pub(super) command: &'static str,
    /// Which account: `target`, or nothing.
    pub(super) end: &'static str,
    /// Accounts that may pay for the scope, not only those that name it.
    pub(super) by_rules: bool,
}

impl Session<'_> {
    /// The number of the account; a list of candidates if there are several.
    pub(super) fn one_account(
        &mut self,
        scope: &[(&str, String)],
        account: Option<&str>,
        purpose: &Purpose,
    ) -> Result<String, Stop> {
        let request = Request::new("Query", "Account");
        let mut request = request.get_op("Id", "Sort").get("Name");
        if let Some(account) = account {
            request = request.filter("Id", account);
        }
        for (name, value) in scope {
            request = request.option(name, value);
        }
        if purpose.by_rules {
            request = request.option("UseRules", "True");
        }
        let response = self.query(&request)?;
        if response.is_failure {
            self.show(&response, false);
            return Err(Stop::Exit(response.exit()));
        }
        let Purpose {
            scope,
            command,
            end,
            ..
        } = purpose;
        match (response.rows.len(), response.first("Id")) {
            (1, Some(id)) => Ok(id.to_owned()),
            (0, _) => Err(self.refuse(&format!(
                "There are no accounts for the specified {end}{scope}. Please respecify {command} a valid {end}account id."
            ))),
            _ => {
                self.complain(&format!(
                    "The specified {scope} has multiple accounts. Please respecify {command} the appropriate {end}account id."
                ));
                let table = self.style().table(&response.rows);
                self.pieces.push(Piece::Error(table));
                Err(Stop::Exit(74))
            }
        }
    }
}
