//! `bank web`: the way to the web pages, and addresses for programs and other sites.

use bank_api::v1::{NewWebLink, NewWebLogin, WebLink, WebLogin};
use ureq::http::Method;

use crate::{
    cli::WebCommand,
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

pub(super) fn run(context: &Context, command: WebCommand) -> Result<String, Failure> {
    match command {
        WebCommand::Login => login(context),
        WebCommand::Feed { days } => signed(context, "/feed".to_owned(), days),
        WebCommand::Embed { page, days } => signed(context, page, days),
    }
}

fn login(context: &Context) -> Result<String, Failure> {
    let path = client::path(&["web", "logins"]);
    let call = Call::send(Method::POST, path, &NewWebLogin {}, None)?;
    let link: WebLogin = context.client.call(&call)?;
    if !context.form.is_table() {
        let columns = vec![
            column("url", "Link", Kind::Text),
            column("name", "Name", Kind::Text),
            column("valid_s", "Seconds", Kind::Number),
        ];
        let sheet = Sheet::new(columns, std::slice::from_ref(&link), "no link");
        return context.form.one(&link, &sheet);
    }
    let WebLogin { url, name, valid_s } = link;
    Ok(format!(
        "{url}\nsigns in {name}, once, within {valid_s} seconds\n"
    ))
}

fn signed(context: &Context, page: String, days: u32) -> Result<String, Failure> {
    let path = client::path(&["web", "links"]);
    let days = Some(days);
    let call = Call::send(Method::POST, path, &NewWebLink { page, days }, None)?;
    let link: WebLink = context.client.call(&call)?;
    if !context.form.is_table() {
        let columns = vec![
            column("url", "Address", Kind::Text),
            column("image", "Image", Kind::Text),
            column("name", "Name", Kind::Text),
            column("until", "Until", Kind::Time),
        ];
        let sheet = Sheet::new(columns, std::slice::from_ref(&link), "no address");
        return context.form.one(&link, &sheet);
    }
    let WebLink {
        url,
        image,
        name,
        until,
    } = link;
    let until = crate::when::moment(&until, context.zone);
    let shows = format!("shows what {name} may see, until {until}");
    Ok(match image {
        None => format!("{url}\n{shows}\n"),
        Some(image) => format!(
            "<img src=\"{}\" alt=\"\">\n<iframe src=\"{}\"></iframe>\n{shows}\n",
            escaped(&image),
            escaped(&url)
        ),
    })
}

/// An address in an attribute of HTML.
fn escaped(address: &str) -> String {
    address.replace('&', "&amp;")
}
