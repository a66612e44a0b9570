//! A small OpenID Connect provider of the tests: discovery, keys, codes with PKCE, signed ID tokens, user info.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::pause;

pub(super) const CLIENT: &str = "bank";
pub(super) const SECRET: &str = "the secret of the client";

/// What differs from a provider that does everything right.
#[derive(Debug, Default)]
pub(super) struct Twist {
    /// Claims of the ID token in place of the right ones; `null` removes one.
    pub(super) claims: Value,
    /// Claims of the user info.
    pub(super) info: Value,
    /// Signs with a key that is not published.
    pub(super) is_stranger: bool,
    /// Accepts connections and never answers.
    pub(super) is_silent: bool,
    /// The number of the key in use.
    pub(super) key: usize,
}

struct Grant {
    challenge: String,
    nonce: String,
    back: String,
}

struct State {
    twist: Twist,
    keys: Vec<EcdsaKeyPair>,
    grants: HashMap<String, Grant>,
    asked: Vec<String>,
}

/// A provider on a port of its own.
pub(super) struct Provider {
    pub(super) issuer: String,
    state: Arc<Mutex<State>>,
}

fn new_key() -> EcdsaKeyPair {
    let (rng, way) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
    let document = EcdsaKeyPair::generate_pkcs8(way, &rng).unwrap();
    EcdsaKeyPair::from_pkcs8(way, document.as_ref(), &rng).unwrap()
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The parameters of a query or a form.
fn parameters(text: &str) -> HashMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        let mut parts = text.split('%');
        let mut bytes = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(&part.as_bytes()[2..]);
        }
        String::from_utf8(bytes).unwrap()
    };
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

impl Provider {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State {
            twist: Twist::default(),
            keys: vec![new_key(), new_key(), new_key()],
            grants: HashMap::new(),
            asked: Vec::new(),
        }));
        let (own, shared) = (issuer.clone(), Arc::clone(&state));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (own, shared) = (own.clone(), Arc::clone(&shared));
                std::thread::spawn(move || serve(&own, &shared, stream.unwrap()));
            }
        });
        Self { issuer, state }
    }

    pub(super) fn twist(&self, change: impl FnOnce(&mut Twist)) {
        change(&mut self.state.lock().unwrap().twist);
    }

    /// How often a path was asked for.
    pub(super) fn asked(&self, path: &str) -> usize {
        let state = self.state.lock().unwrap();
        state.asked.iter().filter(|asked| *asked == path).count()
    }

    /// What a person's browser does at the provider: the address to which it is sent back.
    pub(super) fn authorize(&self, location: &str) -> String {
        let query = location.strip_prefix(&format!("{}/authorize?", self.issuer));
        let asked = parameters(query.unwrap_or_else(|| panic!("{location}")));
        let get = |name: &str| asked.get(name).map_or("", String::as_str).to_owned();
        assert_eq!(get("response_type"), "code");
        assert_eq!(get("client_id"), CLIENT);
        assert_eq!(get("code_challenge_method"), "S256");
        assert!(
            get("scope").split(' ').any(|scope| scope == "openid"),
            "{location}"
        );
        assert!(
            get("state").len() >= 16 && get("nonce").len() >= 16,
            "{location}"
        );
        let code = uuid::Uuid::new_v4().to_string();
        let back = get("redirect_uri");
        let grant = Grant {
            challenge: get("code_challenge"),
            nonce: get("nonce"),
            back: back.clone(),
        };
        self.state
            .lock()
            .unwrap()
            .grants
            .insert(code.clone(), grant);
        let path = back.split_once("://").unwrap().1;
        let path = &path[path.find('/').unwrap()..];
        format!("{path}?code={code}&state={}", get("state"))
    }
}

fn serve(issuer: &str, shared: &Mutex<State>, stream: TcpStream) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    if stream.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => value.clone_into(&mut authorization),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    let is_silent = {
        let mut state = shared.lock().unwrap();
        state.asked.push(path.clone());
        state.twist.is_silent
    };
    if is_silent {
        pause(Duration::from_mins(1));
        return;
    }
    let state = &mut *shared.lock().unwrap();
    let (status, answer) = match path.as_str() {
        "/.well-known/openid-configuration" => (200, discovery(issuer)),
        "/keys" => (200, keys(state)),
        "/token" => {
            let form = parameters(&String::from_utf8(body).unwrap());
            match token(issuer, state, &form, &authorization) {
                Some(answer) => (200, answer),
                None => (400, json!({"error": "invalid_grant"})),
            }
        }
        "/userinfo" if authorization == "Bearer at-1" => (200, state.info()),
        _ => (404, json!({})),
    };
    let body = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.get_mut().write_all((head + &body).as_bytes());
}

fn discovery(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "userinfo_endpoint": format!("{issuer}/userinfo"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    })
}

impl State {
    fn info(&self) -> Value {
        match &self.twist.info {
            Value::Null => json!({"sub": "sub-1"}),
            info => info.clone(),
        }
    }
}

/// The key in use only: an earlier one is withdrawn.
fn keys(state: &State) -> Value {
    let number = state.twist.key;
    let point = state.keys[number].public_key().as_ref();
    json!({"keys": [{
        "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": number.to_string(),
        "x": encoded(&point[1..33]), "y": encoded(&point[33..]),
    }]})
}

fn token(
    issuer: &str,
    state: &mut State,
    form: &HashMap<String, String>,
    authorization: &str,
) -> Option<Value> {
    let get = |name: &str| form.get(name).map_or("", String::as_str);
    let grant = state.grants.remove(get("code"))?;
    let verifier = encoded(Sha256::digest(get("code_verifier").as_bytes()));
    // RFC 6749 2.3.1: both parts are form-encoded first.
    let basic = STANDARD.encode(format!("{CLIENT}:{}", SECRET.replace(' ', "+")));
    let fits = get("grant_type") == "authorization_code"
        && get("redirect_uri") == grant.back
        && verifier == grant.challenge
        && authorization == format!("Basic {basic}");
    if !fits {
        return None;
    }
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let mut claims = json!({
        "iss": issuer, "sub": "sub-1", "aud": CLIENT, "nonce": grant.nonce,
        "iat": now, "exp": now + 300,
        "at_hash": encoded(&Sha256::digest(b"at-1")[..16]),
        "preferred_username": "amy",
    });
    if let Value::Object(twisted) = &state.twist.claims {
        for (name, value) in twisted {
            claims[name] = value.clone();
        }
    }
    claims
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    let number = state.twist.key;
    let is_stranger = state.twist.is_stranger;
    let kid = if is_stranger {
        "9".to_owned()
    } else {
        number.to_string()
    };
    let header = json!({"alg": "ES256", "kid": kid});
    let input = format!(
        "{}.{}",
        encoded(header.to_string()),
        encoded(claims.to_string())
    );
    let stranger = new_key();
    let key = if is_stranger {
        &stranger
    } else {
        &state.keys[number]
    };
    let signature = key.sign(&SystemRandom::new(), input.as_bytes()).unwrap();
    let id_token = format!("{input}.{}", encoded(signature));
    Some(
        json!({"access_token": "at-1", "token_type": "Bearer", "expires_in": 300, "id_token": id_token}),
    )
}
