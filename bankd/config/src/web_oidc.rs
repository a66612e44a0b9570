//! `[web.oidc]`: people whom an OpenID Connect provider has identified.

use std::collections::BTreeMap;
use std::path::Path;

use bank_core::role::Role;
use serde::{Deserialize, Serialize};

use super::is_loopback;

/// Most groups with a role.
const GROUPS_MAX: usize = 256;

/// `[web.oidc]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebOidc {
    /// The issuer as the provider's discovery document has it; empty for off.
    pub issuer: String,
    /// The id of the bank at the provider.
    pub client_id: String,
    /// The file of the client's secret; a relative path starts at the data directory; empty for a public client.
    pub client_secret_file: String,
    /// Scopes in addition to `openid`.
    pub scopes: Vec<String>,
    /// The claim with the person's name.
    pub name_claim: String,
    /// The claim with the person's groups; empty for none.
    pub groups_claim: String,
    /// Seconds for one request to the provider, 1 to 60.
    pub timeout_s: i64,
    /// The CAs that may have signed the provider's certificate, PEM.
    pub ca: String,
    /// Roles by group, for the session only.
    pub groups: BTreeMap<String, Vec<String>>,
}

impl Default for WebOidc {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            client_id: String::new(),
            client_secret_file: String::new(),
            scopes: vec!["profile".to_owned()],
            name_claim: "preferred_username".to_owned(),
            groups_claim: "groups".to_owned(),
            timeout_s: 10,
            ca: "/etc/ssl/certs/ca-certificates.crt".to_owned(),
            groups: BTreeMap::new(),
        }
    }
}

impl WebOidc {
    /// Whether people can sign in this way.
    pub fn is_on(&self) -> bool {
        !self.issuer.is_empty()
    }

    /// With paths that no longer depend on the data directory.
    #[must_use]
    pub(super) fn in_data(&self, data: &Path) -> Self {
        let full = |setting: &str| {
            let path = super::path_in(data, setting).unwrap_or_default();
            path.to_string_lossy().into_owned()
        };
        Self {
            client_secret_file: full(&self.client_secret_file),
            ca: full(&self.ca),
            ..self.clone()
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        super::in_range("web.oidc.timeout_s", self.timeout_s, 1, 60)?;
        self.check_groups()?;
        if !self.is_on() {
            return Ok(());
        }
        let issuer = &self.issuer;
        let (scheme, rest) = issuer.split_once("://").unwrap_or(("", issuer));
        let host = rest.split('/').next().unwrap_or_default();
        let fits = !host.is_empty()
            && !issuer.contains(|c: char| c.is_control() || c.is_whitespace() || "?#@".contains(c));
        if !fits || !(scheme == "https" || scheme == "http" && is_loopback(host)) {
            return Err(format!(
                "web.oidc.issuer: {issuer:?} is not an address such as https://login.example.org, without a query; \
                 http:// is for loopback only"
            ));
        }
        for (key, value) in [
            ("web.oidc.client_id", &self.client_id),
            ("web.oidc.name_claim", &self.name_claim),
        ] {
            if value.is_empty() {
                return Err(format!("{key}: required with web.oidc.issuer"));
            }
        }
        let is_scope = |scope: &String| {
            !scope.is_empty()
                && scope
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b'"')
        };
        match self.scopes.iter().find(|scope| !is_scope(scope)) {
            Some(scope) => Err(format!(
                "web.oidc.scopes: {scope:?} is not a scope such as \"profile\""
            )),
            None => Ok(()),
        }
    }

    /// A group gives roles over the bank. Roles in projects are granted in the bank, where the journal has them.
    fn check_groups(&self) -> Result<(), String> {
        if self.groups.len() > GROUPS_MAX {
            return Err(format!("web.oidc.groups: more than {GROUPS_MAX} groups"));
        }
        let words = self.groups.values().flatten();
        let mut wrong = words.filter(|word| {
            let role = Role::parse(word);
            !matches!(role, Some(Role::Admin | Role::Auditor))
        });
        match wrong.next() {
            Some(word) => Err(format!(
                "web.oidc.groups: {word:?} is not a role that a group can give: admin or auditor. Grant roles in \
                 projects with `bank role grant`"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(issuer: &str) -> WebOidc {
        WebOidc {
            issuer: issuer.to_owned(),
            client_id: "bank".to_owned(),
            ..WebOidc::default()
        }
    }

    #[test]
    fn an_issuer_needs_tls() {
        for issuer in [
            "",
            "https://login.example.org",
            "https://login.example.org/realms/hpc",
            "http://127.0.0.1:5556/dex",
        ] {
            assert_eq!(with(issuer).check(), Ok(()), "{issuer}");
        }
        for issuer in [
            "login.example.org",
            "http://login.example.org",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.1@evil.example",
            "https://",
            "https://login.example.org/?a=b",
        ] {
            assert!(with(issuer).check().is_err(), "{issuer}");
        }
        let nameless = WebOidc {
            client_id: String::new(),
            ..with("https://login.example.org")
        };
        assert!(nameless.check().unwrap_err().contains("web.oidc.client_id"));
    }

    #[test]
    fn groups_give_roles_over_the_bank() {
        for (word, fits) in [
            ("auditor", true),
            ("admin", true),
            ("operator", false),
            ("root", false),
        ] {
            let mut settings = with("https://login.example.org");
            settings
                .groups
                .insert("hpc".to_owned(), vec![word.to_owned()]);
            assert_eq!(settings.check().is_ok(), fits, "{word}");
        }
    }
}
