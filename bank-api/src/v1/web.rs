//! The web pages: links to sign in, and signed addresses.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/web/logins`. Answer: [`WebLogin`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewWebLogin {}

/// A link with which the caller can sign in once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebLogin {
    /// The address to open in a browser. It contains a code that can be used once.
    pub url: String,
    /// The person who signs in with it.
    pub name: String,
    /// For how many seconds it can be used.
    pub valid_s: i64,
}

/// `POST /api/v1/web/links`. Answer: [`WebLink`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewWebLink {
    /// `/feed` for the notices of the caller, or the path of a page with a picture and its query, such as
    /// `/usage?by=project&from=-30d`; percent-encoded, at most 1000 bytes.
    pub page: String,
    /// Days for which the address is valid, 1 to 366; absent: 90.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
}

/// An address that needs no session: it shows what the caller may see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebLink {
    /// The address of the feed, or of a page with the picture for a frame.
    pub url: String,
    /// Of a picture: the address of the drawing alone.
    pub image: Option<String>,
    /// In whose view it is shown.
    pub name: String,
    /// When it is no longer valid.
    pub until: String,
}
