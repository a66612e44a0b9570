//! Requests to the provider, and checks of its answers. Everything here may wait.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bankd_config::WebOidc;
use bankd_ledger::clock::Stopwatch;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreClientAuthMethod, CoreErrorResponseType, CoreGenderClaim,
    CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreResponseType, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AccessTokenHash, AdditionalClaims, AuthType, AuthenticationFlow, AuthorizationCode,
    ClaimsVerificationError, Client, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdTokenFields,
    IssuerUrl, Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, StandardErrorResponse, StandardTokenResponse, TokenResponse as _,
    UserInfoClaims,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use super::claims::{Claims, Signed};
use super::fault::Fault;

/// How long what the provider published is used.
const KEPT: Duration = Duration::from_hours(1);
/// Largest answer in bytes.
const ANSWER_MAX: u64 = 1 << 20;

/// Claims beside those of the standard.
#[derive(Clone, Debug, Default)]
struct Further(Map<String, Value>);

impl AdditionalClaims for Further {}

impl Serialize for Further {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Further {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self)
    }
}

type Fields = IdTokenFields<
    Further,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type Tokens = StandardTokenResponse<Fields, CoreTokenType>;
type Bank = Client<
    Further,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// A request for a sign-in: what the answer must fit.
#[derive(Debug)]
pub(super) struct Started {
    /// Where the browser goes.
    pub(super) url: String,
    pub(super) state: String,
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

/// The provider of the settings.
pub(super) struct Provider {
    settings: WebOidc,
    /// The address to which it sends browsers back.
    back: String,
    published: Mutex<Option<(Arc<CoreProviderMetadata>, Stopwatch)>>,
}

impl Provider {
    pub(super) fn new(settings: WebOidc, back: String) -> Self {
        Self {
            settings,
            back,
            published: Mutex::default(),
        }
    }

    pub(super) fn settings(&self) -> &WebOidc {
        &self.settings
    }

    /// Begins a sign-in.
    pub(super) fn start(&self) -> Result<Started, Fault> {
        let client = self.client(self.published()?)?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
        let request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let scopes = self.settings.scopes.iter().cloned().map(Scope::new);
        let request = request.add_scopes(scopes).set_pkce_challenge(challenge);
        let (url, state, nonce) = request.url();
        Ok(Started {
            url: url.to_string(),
            state: state.secret().clone(),
            nonce,
            verifier,
        })
    }

    /// The person of a code.
    pub(super) fn person(&self, code: String, started: Started) -> Result<Signed, Fault> {
        let agent = self.agent()?;
        let http = |request| call(&agent, request);
        let mut client = self.client(self.published()?)?;
        let request = client.exchange_code(AuthorizationCode::new(code));
        let request = request.map_err(|error| Fault::Away(error.to_string()))?;
        let tokens = request.set_pkce_verifier(started.verifier).request(&http);
        let tokens: Tokens = tokens.map_err(|error| match error {
            RequestTokenError::ServerResponse(answer) => {
                let code = answer.error().as_ref();
                Fault::Refused(format!("the provider refused the sign-in ({code})"))
            }
            other => Fault::Away(chain(&other)),
        })?;
        let mut verified = verify(&client, &tokens, &started.nonce);
        if matches!(
            verified,
            Err(ClaimsVerificationError::SignatureVerification(_))
        ) {
            // The provider may have changed its keys.
            client = self.client(self.fetch()?)?;
            verified = verify(&client, &tokens, &started.nonce);
        }
        let (mut claims, subject) = verified.map_err(|error| {
            Fault::Refused(format!("the ID token is not valid: {}", chain(&error)))
        })?;
        if claims.lacks(&self.settings)
            && let Ok(request) = client.user_info(tokens.access_token().clone(), Some(subject))
        {
            let info: Result<UserInfoClaims<Further, CoreGenderClaim>, _> = request.request(&http);
            let info = info.map_err(|error| Fault::Away(chain(&error)))?;
            claims.complete(Claims::of(&info));
        }
        claims.person(&self.settings)
    }

    /// What the provider publishes, from the last hour if it was asked.
    fn published(&self) -> Result<Arc<CoreProviderMetadata>, Fault> {
        let kept = self.kept();
        match kept {
            Some((published, since)) if since.elapsed() < KEPT => Ok(published),
            // Keys that were good an hour ago are better than no sign-in.
            Some((published, _)) => Ok(self.fetch().unwrap_or(published)),
            None => self.fetch(),
        }
    }

    fn kept(&self) -> Option<(Arc<CoreProviderMetadata>, Stopwatch)> {
        let kept = self
            .published
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }

    /// Asks for the discovery document and the keys.
    fn fetch(&self) -> Result<Arc<CoreProviderMetadata>, Fault> {
        let away = |error: &dyn std::error::Error| Fault::Away(chain(error));
        let issuer = IssuerUrl::new(self.settings.issuer.clone()).map_err(|error| away(&error))?;
        let agent = self.agent()?;
        let http = |request| call(&agent, request);
        let found = CoreProviderMetadata::discover(&issuer, &http);
        let found = Arc::new(found.map_err(|error| away(&error))?);
        let mut kept = self
            .published
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *kept = Some((Arc::clone(&found), Stopwatch::start()));
        Ok(found)
    }

    fn client(&self, published: Arc<CoreProviderMetadata>) -> Result<Bank, Fault> {
        let ways = published.token_endpoint_auth_methods_supported();
        let has = |way| ways.is_some_and(|ways| ways.contains(&way));
        let in_body = has(CoreClientAuthMethod::ClientSecretPost)
            && !has(CoreClientAuthMethod::ClientSecretBasic);
        let id = ClientId::new(self.settings.client_id.clone());
        let back = RedirectUrl::new(self.back.clone());
        let back = back.map_err(|error| Fault::Away(error.to_string()))?;
        let secret = self.secret()?.map(ClientSecret::new);
        let client = Bank::from_provider_metadata(Arc::unwrap_or_clone(published), id, secret);
        let way = if in_body {
            AuthType::RequestBody
        } else {
            AuthType::BasicAuth
        };
        Ok(client.set_redirect_uri(back).set_auth_type(way))
    }

    /// The client's secret; an editor's line feed is no part of it.
    fn secret(&self) -> Result<Option<String>, Fault> {
        let path = &self.settings.client_secret_file;
        if path.is_empty() {
            return Ok(None);
        }
        let fault = |error| Fault::Away(format!("web.oidc.client_secret_file: {path}: {error}"));
        let text = std::fs::read_to_string(path).map_err(fault)?;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }

    /// A client that follows no redirect, and uses TLS if the issuer does.
    fn agent(&self) -> Result<Agent, Fault> {
        let is_secure = self.settings.issuer.starts_with("https://");
        let limit = Duration::from_secs(self.settings.timeout_s.unsigned_abs());
        let mut builder = Agent::config_builder()
            .timeout_global(Some(limit))
            .http_status_as_error(false)
            .max_redirects(0)
            .https_only(is_secure)
            .proxy(None)
            .user_agent("bankd");
        if is_secure {
            let roots = RootCerts::Specific(Arc::new(self.roots()?));
            builder = builder.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Ok(Agent::new_with_config(builder.build()))
    }

    fn roots(&self) -> Result<Vec<ureq::tls::Certificate<'static>>, Fault> {
        let path = &self.settings.ca;
        let fault =
            |error: &dyn std::fmt::Display| Fault::Away(format!("web.oidc.ca: {path}: {error}"));
        let text = std::fs::read(path).map_err(|error| fault(&error))?;
        let items = parse_pem(&text).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        });
        items
            .collect::<Result<_, _>>()
            .map_err(|error| fault(&error))
    }
}

/// The claims of an ID token that counts, and its subject.
fn verify(
    client: &Bank,
    tokens: &Tokens,
    nonce: &Nonce,
) -> Result<(Claims, openidconnect::SubjectIdentifier), ClaimsVerificationError> {
    let other = |why: String| ClaimsVerificationError::Other(why);
    let token = tokens.id_token();
    let token = token.ok_or_else(|| other("the provider sent none".to_owned()))?;
    let verifier = client.id_token_verifier();
    let claims = token.claims(&verifier, nonce)?;
    if let Some(expected) = claims.access_token_hash() {
        let (alg, key) = (token.signing_alg(), token.signing_key(&verifier));
        let alg = alg.map_err(ClaimsVerificationError::SignatureVerification)?;
        let key = key.map_err(ClaimsVerificationError::SignatureVerification)?;
        let own = AccessTokenHash::from_token(tokens.access_token(), alg, key);
        if own.map_err(|error| other(error.to_string()))? != *expected {
            return Err(other("it is of another access token".to_owned()));
        }
    }
    Ok((Claims::of(claims), claims.subject().clone()))
}

/// One request.
fn call(agent: &Agent, request: HttpRequest) -> Result<HttpResponse, ureq::Error> {
    let (parts, body) = request.into_parts();
    let answer = if body.is_empty() {
        agent.run(ureq::http::Request::from_parts(parts, ()))
    } else {
        agent.run(ureq::http::Request::from_parts(parts, body))
    };
    let (parts, mut body) = answer?.into_parts();
    let body = body.with_config().limit(ANSWER_MAX).read_to_vec()?;
    Ok(HttpResponse::from_parts(parts, body))
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
