//! The person of verified claims: their name in the bank, and roles by groups.

use bank_core::role::Roles;
use bankd_config::WebOidc;
use serde::Serialize;
use serde_json::{Map, Value};

use super::fault::Fault;
use crate::people::may_be_named;

/// Claims of the ID token, completed by those of the user info.
#[derive(Debug)]
pub(super) struct Claims(Map<String, Value>);

/// A person whom the provider has identified.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) name: String,
    /// Roles by groups, with spaces between.
    pub(super) roles: String,
}

impl Claims {
    pub(super) fn of(claims: &impl Serialize) -> Self {
        match serde_json::to_value(claims) {
            Ok(Value::Object(map)) => Self(map),
            _ => Self(Map::new()),
        }
    }

    /// Whether the user info could have a claim that is missing here.
    pub(super) fn lacks(&self, settings: &WebOidc) -> bool {
        let groups = &settings.groups_claim;
        let lacks_groups =
            !settings.groups.is_empty() && !groups.is_empty() && self.is_missing(groups);
        self.is_missing(&settings.name_claim) || lacks_groups
    }

    fn is_missing(&self, claim: &str) -> bool {
        self.0.get(claim).is_none_or(Value::is_null)
    }

    /// Adds claims that are missing.
    pub(super) fn complete(&mut self, more: Self) {
        for (claim, value) in more.0 {
            if self.is_missing(&claim) {
                self.0.insert(claim, value);
            }
        }
    }

    /// The person, if the name is one that a provider may give.
    pub(super) fn person(&self, settings: &WebOidc) -> Result<Signed, Fault> {
        let claim = &settings.name_claim;
        let refused = |why: String| Fault::Refused(why);
        let Some(name) = self.0.get(claim).and_then(Value::as_str) else {
            return Err(refused(format!(
                "the provider did not send the claim {claim}"
            )));
        };
        if !may_be_named(name) {
            return Err(refused(format!(
                "the name {name:?} cannot sign in by a provider"
            )));
        }
        let is_verified = self.0.get("email_verified") == Some(&Value::Bool(true));
        if claim == "email" && !is_verified {
            return Err(refused(
                "the provider has not verified the address".to_owned(),
            ));
        }
        let groups = self.groups(&settings.groups_claim);
        let words = groups
            .iter()
            .filter_map(|group| settings.groups.get(*group));
        let words: Vec<&String> = words.flatten().collect();
        let roles = if words.is_empty() {
            String::new()
        } else {
            Roles::from_words(&words).words().replace(',', " ")
        };
        Ok(Signed {
            name: name.to_owned(),
            roles,
        })
    }

    /// The groups: a list, or one as a text.
    fn groups(&self, claim: &str) -> Vec<&str> {
        match self.0.get(claim) {
            Some(Value::Array(groups)) => groups.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(group)) => vec![group],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings() -> WebOidc {
        let mut settings = WebOidc::default();
        let groups = [("audit", "auditor"), ("chiefs", "admin")];
        settings.groups = groups
            .map(|(group, role)| (group.to_owned(), vec![role.to_owned()]))
            .into();
        settings
    }

    #[test]
    fn names_and_groups_of_claims() {
        let person = |claims: Value| Claims::of(&claims).person(&settings());
        let amy =
            person(json!({"preferred_username": "amy", "groups": ["audit", "x", 5, "chiefs"]}));
        let amy = amy.unwrap();
        assert_eq!(
            (amy.name.as_str(), amy.roles.as_str()),
            ("amy", "admin auditor")
        );
        let bob = person(json!({"preferred_username": "bob", "groups": "audit"})).unwrap();
        assert_eq!(bob.roles, "auditor");
        assert_eq!(
            person(json!({"preferred_username": "bob"})).unwrap().roles,
            ""
        );
        for name in [
            json!("root"),
            json!("uid:0"),
            json!("-x"),
            json!(""),
            json!("a\nb"),
            json!(5),
            json!(null),
        ] {
            assert!(
                person(json!({"preferred_username": name})).is_err(),
                "{name}"
            );
        }
    }

    #[test]
    fn addresses_must_be_verified() {
        let settings = WebOidc {
            name_claim: "email".to_owned(),
            ..settings()
        };
        for (verified, counts) in [
            (json!(true), true),
            (json!(false), false),
            (json!(null), false),
        ] {
            let claims =
                Claims::of(&json!({"email": "amy@example.org", "email_verified": verified}));
            assert_eq!(claims.person(&settings).is_ok(), counts, "{verified}");
        }
    }

    #[test]
    fn user_info_completes_and_never_replaces() {
        let mut claims = Claims::of(&json!({"preferred_username": "amy", "groups": null}));
        assert!(claims.lacks(&settings()));
        claims.complete(Claims::of(
            &json!({"preferred_username": "eve", "groups": ["audit"]}),
        ));
        assert!(!claims.lacks(&settings()));
        let amy = claims.person(&settings()).unwrap();
        assert_eq!((amy.name.as_str(), amy.roles.as_str()), ("amy", "auditor"));
    }
}
