//! The frame of a page: head, header with the navigation, messages; and pages about requests that failed.

use axum::response::{Html, IntoResponse as _, Response};
use bank_api::text::format_rfc3339;
use maud::{DOCTYPE, Markup, html};

use super::Nav;
use super::assets;
use super::failed::{Failed, with_code};
use super::parts::form::{self, Late};
use super::parts::message::message;
use super::parts::{period, turn};
use super::target::{Target, fits};
use super::unbroken::unbroken;
use super::visit::Visit;

impl Visit {
    /// A page in the layout of this person. `trail` are the pages above it.
    pub(crate) fn page(&self, title: &str, trail: &[(&str, Target)], content: &Markup) -> Response {
        page(self, title, trail, content, &html! {})
    }

    /// The same with drawings, which have a style sheet and a script of their own.
    pub(crate) fn pictured(
        &self,
        title: &str,
        trail: &[(&str, Target)],
        content: &Markup,
    ) -> Response {
        page(self, title, trail, content, &of_pictures())
    }
}

/// What the head of a page with drawings has.
fn of_pictures() -> Markup {
    html! {
        link rel="stylesheet" href=(assets::picture_style());
        script src=(assets::picture_script()) defer {}
    }
}

/// A page with a drawing for a frame of another site.
pub(crate) fn framed(title: &str, content: &Markup) -> Html<String> {
    let body =
        html! { main #main .framed tabindex="-1" { h1 { (title) } (content) } (away(&html! {})) };
    document(title, &body, &of_pictures())
}

/// A page of a person. `more` are lines of its head.
fn page(
    visit: &Visit,
    title: &str,
    trail: &[(&str, Target)],
    content: &Markup,
    more: &Markup,
) -> Response {
    let place = place(visit);
    let trail = trail_of(visit, place, trail);
    let body = html! {
        (header(visit, place))
        @if let Some(at) = visit.parameter("at").filter(|_| visit.at().is_ok()) {
            div .past role="status" {
                "State of " strong { (at) } " (" (visit.zone().name()) "). "
                a href=(visit.path) { "Show the present" }
            }
        }
        @if let Some(notice) = visit.seen.and_then(|seen| seen.notice()) {
            div .past role="status" {
                strong { "Old data: " } (notice) ". Other nodes can show newer amounts."
            }
        }
        // Before the content: the link that skips to it skips this too.
        @if !trail.is_empty() {
            nav .trail aria-label="Breadcrumb" {
                ol { @for (word, target) in &trail { li { a href=(target) { (word) } } } }
            }
        }
        main #main tabindex="-1" {
            h1 { (title) }
            (content)
        }
        footer .foot { (as_of(visit)) " · request " (visit.request_id()) }
        (away(&others(visit)))
    };
    document(title, &body, more).into_response()
}

/// What the script shows while bankd does not answer; `more` are other ways to this page.
fn away(more: &Markup) -> Markup {
    html! {
        template {
            div .message .bad .away role="alert" {
                p { "bankd does not answer. This page continues as soon as it does. Your entries stay here." }
                (more)
            }
        }
    }
}

/// This page at the other nodes of a cluster.
fn others(visit: &Visit) -> Markup {
    let web = &visit.web.services.web;
    let others = web.nodes.iter().filter(|node| **node != web.url);
    let here = without(visit, |_| false);
    let links = others.map(|node| {
        let host = node.split("://").last().unwrap_or(node);
        html! { " " a href={ (node) (here.as_str()) } { (host) } }
    });
    let links: Vec<Markup> = links.collect();
    html! {
        @if !links.is_empty() { p { "This page at another node:" @for link in &links { (link) } } }
    }
}

/// The moment for which a page holds, also on paper, and the zone of its times.
fn as_of(visit: &Visit) -> Markup {
    let zone = visit.zone();
    let past = visit.at().ok().flatten();
    let moment = past.unwrap_or_else(|| format_rfc3339(visit.present()));
    html! { "As of " (zone.time(&moment)) " · times in " (zone.name()) }
}

/// A page without a person: for signing in, and for what happens before.
pub(crate) fn bare(title: &str, content: &Markup) -> Html<String> {
    let body = html! {
        header .top { a .brand href="/" { "bank" } }
        main #main .narrow tabindex="-1" { h1 { (title) } (content) }
        (away(&html! {}))
    };
    document(title, &body, &html! {})
}

fn document(title: &str, body: &Markup, more: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · bank" }
                link rel="stylesheet" href=(assets::style());
                link rel="icon" href=(assets::icon()) type="image/svg+xml";
                script src=(assets::script()) defer {}
                (more)
            }
            body {
                a .skip href="#main" { "Skip to the content" }
                (body)
            }
        }
    };
    Html(unbroken(&page.into_string()))
}

/// The page of the navigation that an address belongs to: the page itself, else one that leads to it.
fn place(visit: &Visit) -> Option<&Nav> {
    let path = visit.path.as_str();
    let seen = |own: &str| {
        let mut rows = visit.web.nav.iter();
        rows.find(|row| row.path == own && visit.may(row.right))
    };
    let is_below = |row: &&Nav| {
        let rest = path.strip_prefix(row.path);
        row.path != "/" && rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut below = visit.web.below.iter();
    seen(path)
        .or_else(|| {
            let (_, pages) = below.find(|(own, _)| fits(own, path))?;
            pages.iter().find_map(|own| seen(own))
        })
        .or_else(|| {
            let mut rows = visit.web.nav.iter().filter(|row| visit.may(row.right));
            rows.find(is_below)
        })
}

/// The pages above: that of the navigation first.
fn trail_of<'t>(
    visit: &'t Visit,
    place: Option<&'t Nav>,
    trail: &[(&'t str, Target)],
) -> Vec<(&'t str, Target)> {
    let above = place.filter(|row| row.path != visit.path).map(|row| {
        let segments = row.path.split('/').filter(|part| !part.is_empty());
        (row.word, visit.link(&segments.collect::<Vec<_>>()))
    });
    // A page may name the one above by its title.
    let is_named = |own: &Target| {
        let first = trail.first();
        first.is_some_and(|(_, target)| target.as_str() == own.as_str())
    };
    let above = above.filter(|(_, own)| !is_named(own));
    above.into_iter().chain(trail.iter().cloned()).collect()
}

/// The header: the pages of the person's roles, their name, and the way out.
fn header(visit: &Visit, place: Option<&Nav>) -> Markup {
    let is_of_person = visit.path.starts_with("/sessions");
    let rows = visit.web.nav.iter().filter(|row| visit.may(row.right));
    let roles = visit.roles.words().replace(',', ", ");
    html! {
        header .top {
            a .brand href="/" { "bank" }
            // Folded up on a telephone; the style sheet shows it on wider screens.
            nav aria-label="Pages" {
                details .menu {
                    summary { "Pages" }
                    ul {
                        @for row in rows {
                            @let is_here = place.is_some_and(|place| place.path == row.path);
                            li { a href=(row.path) aria-current=[is_here.then_some("page")] { (row.word) } }
                        }
                    }
                }
            }
            div .who {
                a href="/sessions" title=(visit.session.name) aria-current=[is_of_person.then_some("page")] { (visit.session.name) }
                span .roles title=(roles) { (roles) }
                form method="post" action="/sign-out" {
                    (form::token(visit))
                    button .plain type="submit" { "Sign out" }
                }
            }
        }
    }
}

/// The page of a request that failed, with the words and the hint of the command line.
pub(crate) fn failed(visit: Option<&Visit>, failed: &Failed) -> Response {
    let problem = failed.problem();
    // Unknown and foreign objects have the same page.
    let title = match problem.status {
        404 => "Not found",
        403 => "Not allowed",
        413 => "Too large",
        429 | 503 => "Try again in a moment",
        500..=599 => "Something went wrong",
        _ => "This cannot be shown",
    };
    let content = html! {
        (message(failed))
        @if let (Some(visit), Some(field)) = (visit, problem.field.as_deref()) {
            @if problem.code == "bad_request" {
                p { a href=(without(visit, |name| name == field)) { "Show the page without " code { (field) } } }
            } @else if period::FIELDS.contains(&field) { (period::marked(visit, field)) }
        }
        @if let Some(visit) = visit.filter(|visit| visit.query.iter().any(|(name, _)| turn::is_cursor(name))) {
            p .ways { a href=(without(visit, turn::is_cursor)) { "Show the first rows" } }
        }
        p .ways { a href="/" { "To the first page" } }
    };
    match visit {
        Some(visit) => page(visit, title, &[], &content, &html! {}),
        None => bare(title, &content).into_response(),
    }
}

/// The address of a page without some of its parameters.
fn without(visit: &Visit, is_left_out: impl Fn(&str) -> bool) -> Target {
    let kept = visit.query.iter().filter(|(name, _)| !is_left_out(name));
    kept.fold(Target::raw(&visit.path), |target, (name, value)| {
        target.with(name, value)
    })
}

/// A form arrived after the end of its session: what was typed is kept, and sent again after signing in.
pub(crate) fn ended(path: &str, late: &Late<'_>) -> Response {
    let login = Target::page(&["login"]).with("next", "/");
    let content = html! {
        p { "Nothing was done. Your entries are below: sign in again in another tab, then send them." }
        p { a .button href=(login) target="_blank" rel="noopener" { "Sign in" } }
        form method="post" action=(path) {
            (late.kept())
            p .actions { button type="submit" { "Send again" } " " a .button href=(late.page) { "Cancel" } }
        }
    };
    let page = bare("Your session has ended", &content);
    with_code("unauthorized", page.into_response())
}

/// A form of an earlier session: its values are shown, and sent again with the token of this one.
pub(crate) fn of_another_session(visit: &Visit, late: &Late<'_>) -> Response {
    let content = html! {
        p { "Nothing was done. This form was opened in another session. Check the entries before you send them as "
            strong { (visit.session.name) } "." }
        form method="post" action=(visit.path) {
            (form::token(visit))
            (late.kept())
            p .actions { button type="submit" { "Send" } " " a .button href=(late.page) { "Cancel" } }
        }
    };
    let page = page(visit, "Check your entries", &[], &content, &html! {});
    with_code("not_allowed", page)
}

/// Makes a page of a refusal.
pub(crate) fn dressed(mut response: Response, visit: Option<&Visit>) -> Response {
    let Some(failed) = response.extensions_mut().remove::<Failed>() else {
        return response;
    };
    let page = self::failed(visit, &failed).into_response();
    let (parts, body) = page.into_parts();
    for (name, value) in parts.headers {
        if let Some(name) = name {
            response.headers_mut().insert(name, value);
        }
    }
    *response.body_mut() = body;
    response
}
