//! Files that are the same for everybody: their addresses contain a digest of their bytes, so browsers keep
//! them for ever.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::Web;
use super::failed::Failed;

/// A file with its address.
struct Asset {
    name: &'static str,
    media: &'static str,
    bytes: Vec<u8>,
    digest: String,
}

impl Asset {
    fn new(name: &'static str, media: &'static str, text: &str) -> Self {
        let bytes = text.as_bytes().to_vec();
        let digest = Sha256::digest(&bytes);
        let start = digest.get(..12).unwrap_or_default();
        Self {
            name,
            media,
            bytes,
            digest: URL_SAFE_NO_PAD.encode(start),
        }
    }

    fn address(&self) -> String {
        format!("/static/{}/{}", self.digest, self.name)
    }
}

const STYLE: &str = "style.css";
const SCRIPT: &str = "page.js";
const PICTURE_STYLE: &str = "picture.css";
const PICTURE_SCRIPT: &str = "picture.js";
const ICON: &str = "icon.svg";

/// Every file. A new one is a line here.
static ASSETS: LazyLock<[Asset; 5]> = LazyLock::new(|| {
    [
        Asset::new(
            STYLE,
            "text/css; charset=utf-8",
            include_str!("../static/style.css"),
        ),
        Asset::new(
            SCRIPT,
            "text/javascript; charset=utf-8",
            &bank_picture::lean(include_str!("../static/page.js")),
        ),
        Asset::new(ICON, "image/svg+xml", include_str!("../static/icon.svg")),
        Asset::new(
            PICTURE_STYLE,
            "text/css; charset=utf-8",
            &bank_picture::style(),
        ),
        Asset::new(
            PICTURE_SCRIPT,
            "text/javascript; charset=utf-8",
            &bank_picture::script(),
        ),
    ]
});

/// The address of the style sheet.
pub(crate) fn style() -> String {
    address(STYLE)
}

/// The address of the script of every page.
pub(crate) fn script() -> String {
    address(SCRIPT)
}

/// The address of the style sheet of drawings, for the pages that have one.
pub(crate) fn picture_style() -> String {
    address(PICTURE_STYLE)
}

/// The address of the script of drawings.
pub(crate) fn picture_script() -> String {
    address(PICTURE_SCRIPT)
}

/// The address of the icon.
pub(crate) fn icon() -> String {
    address(ICON)
}

fn address(name: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map_or_else(String::new, Asset::address)
}

pub(crate) fn routes() -> Router<Arc<Web>> {
    Router::new().route("/static/{digest}/{name}", get(show))
}

async fn show(Path((digest, name)): Path<(String, String)>) -> Response {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let Some(asset) = asset.filter(|asset| asset.digest == digest) else {
        return Failed::new("not_found", "there is no such file").into_response();
    };
    let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
    let fields = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.media)),
        (header::CACHE_CONTROL, kept),
    ];
    (fields, asset.bytes.clone()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> &'static str {
        let asset = ASSETS.iter().find(|asset| asset.name == name).unwrap();
        std::str::from_utf8(&asset.bytes).unwrap()
    }

    #[test]
    fn the_style_sheets_of_a_page_are_small_and_ask_nobody() {
        let all = [text(STYLE), text(PICTURE_STYLE)].concat();
        assert!(all.len() < 25_000, "{} bytes", all.len());
        assert!(!all.contains("url(") && !all.contains("@import"));
    }

    #[test]
    fn the_scripts_of_a_page_are_small() {
        let own = text(SCRIPT).len();
        let all = own + text(PICTURE_SCRIPT).len();
        assert!(all <= 15_000, "{own} of {all} bytes");
    }
}
