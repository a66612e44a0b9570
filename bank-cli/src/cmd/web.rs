//! `bank web`: the way to the web pages.

use bank_api::v1::{NewWebLogin, WebLogin};
use ureq::http::Method;

use crate::{
    cli::WebCommand,
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: WebCommand) -> Result<String, Failure> {
    let WebCommand::Login = command;
    let path = client::path(&["web", "logins"]);
    let call = Call::send(Method::POST, path, &NewWebLogin {}, None)?;
    let link: WebLogin = context.client.call(&call)?;
    if !context.form.is_table() {
        return context.form.one(&link, &sheet(&link));
    }
    let WebLogin { url, name, valid_s } = link;
    Ok(format!(
        "{url}\nsigns in {name}, once, within {valid_s} seconds\n"
    ))
}

fn sheet(link: &WebLogin) -> Sheet {
    let columns = vec![
        column("url", "Link", Kind::Text),
        column("name", "Name", Kind::Text),
        column("valid_s", "Seconds", Kind::Number),
    ];
    Sheet::new(columns, std::slice::from_ref(link), "no link")
}
