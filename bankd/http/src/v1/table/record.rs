//! The routes of records: five for each declared kind, and five for all kinds of the site.

use bank_api::v1::{PastPageQuery, PastQuery, Removed};
use bank_core::kind::{Kind, declared};
use bankd_ledger::access::right::Right;

use super::super::call::Call;
use super::super::path::Path;
use super::super::{record, view};
use super::{NAMED, NEW, VALUES};
use crate::route::{Form, Route};

/// Refusals of a new or changed record.
const WRITTEN: &[&str] = &["bad_window", "in_use"];
/// Refusals of amounts in fields of the site.
const AMOUNTS: &[&str] = &["amount_too_large", "bad_amount_syntax", "too_many_decimals"];

/// Explains the members of records of the site.
const MORE: &str = "The members are the fields of the kind; the kind sets who may see and change.";

pub(super) fn rows() -> Vec<Route> {
    let declared = declared().iter().flat_map(of_kind);
    declared.chain(of_site()).collect()
}

fn of_kind(kind: &'static Kind) -> Vec<Route> {
    let (word, plural) = (&kind.word, &kind.plural);
    let all = format!("/api/v1/{plural}");
    let one = format!("{all}/{{{}}}", kind.key_name());
    let [add, set, remove, _] = &kind.help;
    let (see, change) = (record::see(kind), view::change(kind));
    let described = format!("The {word}.");
    // A machine can name a fallback account that has one itself, a project a parent that is below it, and a new
    // project gets an account.
    let own: &[&str] = match word.as_str() {
        "machine" => &["fallback_chain"],
        "project" => &["cycle"],
        _ => &[],
    };
    vec![
        Route::get(all.clone(), move |call: Call| record::list(kind, call))
            .right(see)
            .description(kind.about.clone())
            .asks::<PastPageQuery>()
            .gives_record(200, kind, Form::List, format!("The {plural}.")),
        Route::post(all, move |call: Call| record::add(kind, call))
            .right(change)
            .description(add.clone())
            .takes_record(kind, Form::New)
            .gives_record(201, kind, Form::Written, described.clone())
            .refuses(&[VALUES, NEW, NAMED, WRITTEN, own]),
        Route::get(one.clone(), move |Path(key): Path<String>, call: Call| {
            record::show(kind, key, call)
        })
        .right(see)
        .description(format!("Show one {word}"))
        .asks::<PastQuery>()
        .gives_record(200, kind, Form::One, described),
        Route::patch(one.clone(), move |Path(key): Path<String>, call: Call| {
            record::set(kind, key, call)
        })
        .right(change)
        .description(set.clone())
        .takes_record(kind, Form::Patch)
        .gives_record(
            200,
            kind,
            Form::Written,
            format!("The {word} as it is now."),
        )
        .refuses(&[VALUES, NAMED, WRITTEN, own]),
        Route::delete(one, move |Path(key): Path<String>, call: Call| {
            record::remove(kind, key, call)
        })
        .right(change)
        .description(remove.clone())
        .gives::<Removed>(200, "It was removed.")
        .refuses(&[VALUES, &["in_use"]]),
    ]
}

/// Kinds of the site: the right of the kind is checked in the handler.
fn of_site() -> Vec<Route> {
    let mut routes = of_site_list();
    routes.extend(of_site_record());
    routes
}

fn of_site_list() -> Vec<Route> {
    const ALL: &str = "/api/v1/records/{kind}";
    vec![
        Route::get(ALL, async |Path(kind): Path<String>, call: Call| {
            let directory = std::sync::Arc::clone(call.directory());
            record::list(record::of_site(&directory, &kind, &call)?, call).await
        })
        .right(Right::SeeSettings)
        .description("List the records of a kind that the site added")
        .more(MORE)
        .asks::<PastPageQuery>()
        .gives_object(200, "The records: `items` and `next`."),
        Route::post(ALL, async |Path(kind): Path<String>, call: Call| {
            record::write_of_site(&kind, call, record::add).await
        })
        .right(Right::ChangeOpenReference)
        .description("Add a record of a kind that the site added")
        .more(MORE)
        .takes_object()
        .gives_object(201, "The record.")
        .refuses(&[VALUES, NEW, NAMED, AMOUNTS, WRITTEN]),
    ]
}

fn of_site_record() -> Vec<Route> {
    const ONE: &str = "/api/v1/records/{kind}/{key}";
    vec![
        Route::get(
            ONE,
            async |Path((kind, key)): Path<(String, String)>, call: Call| {
                let directory = std::sync::Arc::clone(call.directory());
                record::show(record::of_site(&directory, &kind, &call)?, key, call).await
            },
        )
        .right(Right::SeeSettings)
        .description("Show one record of a kind that the site added")
        .more(MORE)
        .asks::<PastQuery>()
        .gives_object(200, "The record."),
        Route::patch(
            ONE,
            async |Path((kind, key)): Path<(String, String)>, call: Call| {
                let write = async |kind: &Kind, call| record::set(kind, key, call).await;
                record::write_of_site(&kind, call, write).await
            },
        )
        .right(Right::ChangeOpenReference)
        .description("Change a record of a kind that the site added")
        .more(MORE)
        .takes_object()
        .gives_object(200, "The record as it is now.")
        .refuses(&[VALUES, NAMED, AMOUNTS, WRITTEN]),
        Route::delete(
            ONE,
            async |Path((kind, key)): Path<(String, String)>, call: Call| {
                let write = async |kind: &Kind, call| record::remove(kind, key, call).await;
                record::write_of_site(&kind, call, write).await
            },
        )
        .right(Right::ChangeOpenReference)
        .description("Remove a record of a kind that the site added")
        .more(MORE)
        .gives::<Removed>(200, "It was removed.")
        .refuses(&[VALUES, &["in_use"]]),
    ]
}
