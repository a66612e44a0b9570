//! Paths and queries, percent-encoded.

use bank_api::text::percent_encode;

/// A path with a query: of a route of the API, or of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    text: String,
    has_query: bool,
}

impl Target {
    /// A route below `/api/v1`.
    pub(crate) fn api(segments: &[&str]) -> Self {
        Self::of("/api/v1", segments)
    }

    /// A page.
    pub(crate) fn page(segments: &[&str]) -> Self {
        Self::of("", segments)
    }

    /// A path that is encoded already.
    pub(crate) fn raw(path: &str) -> Self {
        Self {
            text: path.to_owned(),
            has_query: false,
        }
    }

    /// The data of a route as JSON or CSV, for links below tables.
    pub(crate) fn data(segments: &[&str]) -> Self {
        Self::of("/data", segments)
    }

    fn of(root: &str, segments: &[&str]) -> Self {
        let mut text = root.to_owned();
        for segment in segments {
            text.push('/');
            percent_encode(segment, &mut text);
        }
        if text.is_empty() {
            text.push('/');
        }
        Self {
            text,
            has_query: false,
        }
    }

    /// With a parameter.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.text.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        percent_encode(name, &mut self.text);
        self.text.push('=');
        percent_encode(value, &mut self.text);
        self
    }

    /// With a parameter, if there is a value.
    #[must_use]
    pub(crate) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl maud::Render for Target {
    fn render_to(&self, buffer: &mut String) {
        self.text.render_to(buffer);
    }
}

/// Whether a path is an address of a path with `{names}`.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    let mut own = pattern.split('/');
    let mut parts = path.split('/');
    loop {
        match (own.next(), parts.next()) {
            (None, None) => return true,
            (Some(own), Some(part)) if own == part || own.starts_with('{') => {}
            _ => return false,
        }
    }
}

/// Where a page may send a browser: a path of this site, else the first page. Browsers read `//host` and
/// `/\host` as other sites.
pub(crate) fn local(next: &str) -> &str {
    let rest = next.strip_prefix('/').unwrap_or("/");
    let is_local = !rest.starts_with(['/', '\\']) && !next.contains(char::is_control);
    if is_local { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded() {
        let target = Target::api(&["projects", "a/b?c#<é"]).with("at", "2026-10-01T00:00:00Z");
        assert_eq!(
            target.as_str(),
            "/api/v1/projects/a%2Fb%3Fc%23%3C%C3%A9?at=2026-10-01T00%3A00%3A00Z"
        );
        assert_eq!(Target::page(&[]).as_str(), "/");
    }

    #[test]
    fn only_paths_of_this_site_are_followed() {
        for next in ["/", "/projects/chem?at=now", "/a//b"] {
            assert_eq!(local(next), next);
        }
        for next in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "x",
            "/a\nb",
        ] {
            assert_eq!(local(next), "/", "{next}");
        }
    }
}
