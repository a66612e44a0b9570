//! A method for every route of the API, one file for each group of resources.
//!
//! A row of [`routes!`] makes two functions of the same name: one of [`Call`], which describes the request, for a
//! queue or a batch, and one of [`Client`], which sends it. Paths are those of `docs/reference/openapi.json`.
//! A test compares the two lists.
//!
//! [`Call`]: crate::Call
//! [`Client`]: crate::Client

use bank_api::text::percent_encode;

use crate::record::Record;
mod access;
mod accounts;
mod attention;
mod books;
mod documents;
mod jobs;
mod money;
mod partner;
mod records;
mod reports;
mod requests;
mod settings;
mod sources;

pub use self::documents::Document;

/// Method and path of every route that this crate has a function for.
pub fn routes() -> Vec<(&'static str, &'static str)> {
    let files = [
        access::ROUTES,
        accounts::ROUTES,
        attention::ROUTES,
        books::ROUTES,
        documents::ROUTES,
        documents::OTHERS,
        jobs::ROUTES,
        money::ROUTES,
        partner::ROUTES,
        records::ROUTES,
        reports::ROUTES,
        requests::ROUTES,
        settings::ROUTES,
        sources::ROUTES,
    ];
    files.concat()
}

/// A path with its `{parameters}` replaced in their order, each percent-encoded (a `/` in a name too).
fn target(template: &str, values: &[&str]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    for (number, part) in template.split(['{', '}']).enumerate() {
        // Every second part is the name of a parameter.
        if number % 2 == 0 {
            out.push_str(part);
        } else if let Some(value) = values.next() {
            percent_encode(value, &mut out);
        }
    }
    out
}

/// The rows of a file. Each begins with its form, with the function in parentheses:
///
/// - `show`: a question without parameters of a query; `read`: one with them; `words`: one whose answer is text;
/// - `ask`: a question with a body, which needs no key;
/// - `send`: a command with a body; `act`: one without; `act_by`: one with parameters of its own in the query;
/// - `offer`: a command that can be stored as a proposal instead, by the function of the second name;
/// - `lines`: a document of a scheduler.
macro_rules! rows {
    ($($(#[$doc:meta])* $form:ident $what:tt $path:literal $(-> $answer:ty)?;)*) => {
        pub(super) const ROUTES: &[(&str, &str)] = &[$(super::method!($form $what $path)),*];
        $(super::route! { {$(#[$doc])*} $form $what $path $(-> $answer)? })*
    };
}
use rows;

/// Method and path of a row.
macro_rules! method {
    (show $what:tt $path:literal) => {
        ("GET", $path)
    };
    (read $what:tt $path:literal) => {
        ("GET", $path)
    };
    (words $what:tt $path:literal) => {
        ("GET", $path)
    };
    (ask $what:tt $path:literal) => {
        ("POST", $path)
    };
    (lines $what:tt $path:literal) => {
        ("POST", $path)
    };
    ($form:ident ($method:ident $($rest:tt)*) $path:literal) => {
        (stringify!($method), $path)
    };
}
use method;

/// The functions of a row.
macro_rules! route {
    ($doc:tt show($name:ident($($of:ident),*)) $path:literal -> $answer:ty) => {
        super::both! { $doc $name [$($of: &str),*] [$($of),*] -> $answer
            { Call::get(target($path, &[$($of),*])) } }
    };
    ($doc:tt read($name:ident($($of:ident),*) $query:ty) $path:literal -> $answer:ty) => {
        super::both! { $doc $name [$($of: &str,)* parameters: &$query] [$($of,)* parameters] -> $answer
            { Call::get(target($path, &[$($of),*]) + &crate::path::query(parameters)) } }
    };
    ($doc:tt ask($name:ident() ()) $path:literal -> $answer:ty) => {
        super::tried! { $doc $name [] [] -> $answer
            { Call::send(Method::POST, target($path, &[]), &Record::new(), None) } }
    };
    ($doc:tt ask($name:ident() $body:ty) $path:literal -> $answer:ty) => {
        super::tried! { $doc $name [body: &$body] [body] -> $answer
            { Call::send(Method::POST, target($path, &[]), body, None) } }
    };
    ($doc:tt send($method:ident $name:ident($($of:ident),*) $body:ty) $path:literal -> $answer:ty) => {
        super::tried! { $doc $name [$($of: &str,)* body: &$body, write: impl Into<Write>] [$($of,)* body, write] -> $answer
            {
                let write = write.into();
                let target = write.target(target($path, &[$($of),*]));
                Call::send(Method::$method, target, body, Some(write.key))
            } }
    };
    ($doc:tt offer($method:ident $name:ident $offer:ident($($of:ident),*) $body:ty) $path:literal -> $answer:ty) => {
        super::route! { $doc send($method $name($($of),*) $body) $path -> $answer }
        super::tried! { {#[doc = concat!("As [`Client::", stringify!($name), "`], stored as a proposal that another person approves.")]}
            $offer [$($of: &str,)* body: &$body, write: impl Into<Write>] [$($of,)* body, write] -> Written<Proposal>
            {
                let write = write.into();
                let target = write.proposed(target($path, &[$($of),*]));
                Call::send(Method::$method, target, body, Some(write.key))
            } }
    };
    ($doc:tt act($method:ident $name:ident($($of:ident),*)) $path:literal -> $answer:ty) => {
        super::both! { $doc $name [$($of: &str,)* write: impl Into<Write>] [$($of,)* write] -> $answer
            {
                let write = write.into();
                Call::act(Method::$method, write.target(target($path, &[$($of),*])), write.key)
            } }
    };
    ($doc:tt act_by($method:ident $name:ident($($of:ident),*) $query:ty) $path:literal -> $answer:ty) => {
        super::both! { $doc $name [$($of: &str,)* parameters: &$query, key: &str] [$($of,)* parameters, key] -> $answer
            {
                let target = target($path, &[$($of),*]) + &crate::path::query(parameters);
                Call::act(Method::$method, target, key.to_owned())
            } }
    };
    ({$(#[$doc:meta])*} words($name:ident()) $path:literal) => {
        impl Client {
            $(#[$doc])*
            ///
            /// # Errors
            /// Every variant of [`Error`].
            pub fn $name(&self) -> Result<String, Error> {
                self.text(&Call::get($path.to_owned()))
            }
        }
    };
    ({$(#[$doc:meta])*} lines($name:ident()) $path:literal) => {
        impl Call {
            $(#[$doc])*
            pub fn $name(document: &Document, write: impl Into<Write>) -> Self {
                document.call($path, write.into())
            }
        }
        impl Client {
            $(#[$doc])*
            ///
            /// # Errors
            /// Every variant of [`Error`]. The refusal of an object is a line.
            pub fn $name(&self, document: &Document, write: impl Into<Write>) -> Result<Vec<Line>, Error> {
                self.lines(&Call::$name(document, write))
            }
        }
    };
}
use route;

/// A function of [`Call`](crate::Call) that cannot fail, and the one of [`Client`](crate::Client) that sends it.
macro_rules! both {
    ({$(#[$doc:meta])*} $name:ident [$($param:tt)*] [$($arg:ident),*] -> $answer:ty $make:block) => {
        impl Call {
            $(#[$doc])*
            pub fn $name($($param)*) -> Self $make
        }
        impl Client {
            $(#[$doc])*
            ///
            /// # Errors
            /// Every variant of [`Error`].
            pub fn $name(&self, $($param)*) -> Result<$answer, Error> {
                self.call(&Call::$name($($arg),*))
            }
        }
    };
}
use both;

/// The same of a call with a body, which may be impossible to write as JSON.
macro_rules! tried {
    ({$(#[$doc:meta])*} $name:ident [$($param:tt)*] [$($arg:ident),*] -> $answer:ty $make:block) => {
        impl Call {
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Error::Internal`] if the body cannot be written as JSON.
            pub fn $name($($param)*) -> Result<Self, Error> $make
        }
        impl Client {
            $(#[$doc])*
            ///
            /// # Errors
            /// Every variant of [`Error`].
            pub fn $name(&self, $($param)*) -> Result<$answer, Error> {
                self.call(&Call::$name($($arg),*)?)
            }
        }
    };
}
use tried;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A route without a function, or a function without a route, is printed.
    #[test]
    fn every_route_of_the_api_has_a_function() {
        let text = include_str!("../../../docs/reference/openapi.json");
        let description: serde_json::Value = serde_json::from_str(text).unwrap();
        let paths = description["paths"].as_object().unwrap();
        let of_path = |(path, methods): (&String, &serde_json::Value)| {
            let methods = methods.as_object().unwrap().keys();
            let methods = methods.filter(|name| *name != "parameters");
            let rows = methods.map(|method| (method.to_uppercase(), path.clone()));
            rows.collect::<Vec<_>>()
        };
        let described: BTreeSet<_> = paths.iter().flat_map(of_path).collect();
        let own = |(method, path): (&str, &str)| (method.to_owned(), path.to_owned());
        let ours: BTreeSet<_> = routes().into_iter().map(own).collect();
        let missing: Vec<_> = described.symmetric_difference(&ours).collect();
        assert!(missing.is_empty(), "{missing:#?}");
        assert!(ours.len() > 200);
    }

    #[test]
    fn parameters_are_encoded_in_their_order() {
        assert_eq!(target("/a", &[]), "/a");
        assert_eq!(target("/a/{x}/b/{y}", &["1/2", "c d"]), "/a/1%2F2/b/c%20d");
        assert_eq!(target("/a/{x}/end", &["#unbilled"]), "/a/%23unbilled/end");
    }
}
