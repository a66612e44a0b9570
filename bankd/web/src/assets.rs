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
    bytes: &'static [u8],
    digest: String,
}

impl Asset {
    fn new(name: &'static str, media: &'static str, bytes: &'static [u8]) -> Self {
        let digest = Sha256::digest(bytes);
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
const ICON: &str = "icon.svg";

/// Every file. A new one is a line here.
static ASSETS: LazyLock<[Asset; 2]> = LazyLock::new(|| {
    [
        Asset::new(
            STYLE,
            "text/css; charset=utf-8",
            include_bytes!("../static/style.css"),
        ),
        Asset::new(ICON, "image/svg+xml", include_bytes!("../static/icon.svg")),
    ]
});

/// The address of the style sheet.
pub(crate) fn style() -> String {
    address(STYLE)
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
    (fields, asset.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheet_is_small_and_asks_nobody() {
        let style = std::str::from_utf8(ASSETS[0].bytes).unwrap();
        assert!(style.len() < 25_000, "{} bytes", style.len());
        assert!(!style.contains("url(") && !style.contains("@import"));
    }
}
