//! Who may see the page: everybody on this machine who names it as such, or whoever brings the token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::door::Visitor;
use super::guesses::Guesses;

/// Files that hold no data: the program's own text.
const PUBLIC: [&str; 4] = ["/app.js", "/style.css", "/icon.svg", "/healthz"];

/// What visitors must bring.
#[derive(Debug, Clone)]
pub(super) struct Access {
    token: Option<Arc<str>>,
    guesses: Guesses,
}

impl Access {
    pub(super) fn new(token: Option<String>) -> Self {
        Self { token: token.map(Into::into), guesses: Guesses::default() }
    }

    /// Waits where whoever asks has brought wrong tokens before; a refusal where there are too many of these.
    async fn slow_down(&self, brought: Option<&String>, visitor: Option<&Visitor>) -> Option<Response> {
        let visitor = visitor.filter(|visitor| self.token.is_some() && !visitor.is_admitted())?;
        brought?;
        let retry = [(header::RETRY_AFTER, "5")];
        let busy = || (StatusCode::TOO_MANY_REQUESTS, retry, "too many wrong tokens\n").into_response();
        (!self.guesses.turn(visitor.address).await).then(busy)
    }

    /// Lets a request through, or answers it.
    async fn check(&self, (uri, headers): (&Uri, &HeaderMap), visitor: Option<&Visitor>) -> Option<Response> {
        let brought = token_of(uri, headers);
        if let Some(refusal) = self.slow_down(brought.as_ref(), visitor).await {
            return Some(refusal);
        }
        let refusal = self.refusal(uri, headers);
        match (visitor, &refusal) {
            (Some(visitor), None) if self.token.is_none() || !PUBLIC.contains(&uri.path()) => {
                visitor.admit();
            }
            (Some(visitor), Some(_)) if brought.is_some() => {
                self.guesses.wrong(visitor.address);
            }
            _ => {}
        }
        refusal
    }

    /// Why a request is refused; `None` where it is not.
    fn refusal(&self, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let Some(token) = &self.token else {
            let text = "open this page as localhost or 127.0.0.1\n";
            return (!names_this_machine(headers)).then(|| (StatusCode::FORBIDDEN, text).into_response());
        };
        if PUBLIC.contains(&uri.path()) {
            return None;
        }
        let brought = token_of(uri, headers);
        let right = brought.is_some_and(|brought| brought.as_bytes().ct_eq(token.as_bytes()).into());
        (!right).then(|| ask(uri))
    }
}

/// Lets a request through or says why not; puts the headers that keep a page to itself on every answer.
pub(super) async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    let mut response = if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let allow = [(header::ALLOW, "GET, HEAD")];
        (StatusCode::METHOD_NOT_ALLOWED, allow, "read only\n").into_response()
    } else if is_foreign(request.headers(), request.uri()) {
        (StatusCode::FORBIDDEN, "not for pages of other sites\n").into_response()
    } else {
        let visitor = request.extensions().get::<Visitor>().cloned();
        let (uri, headers) = (request.uri().clone(), request.headers().clone());
        match access.check((&uri, &headers), visitor.as_ref()).await {
            None => next.run(request).await,
            Some(refusal) => refusal,
        }
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

const HEADERS: [(header::HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A name that leads here from elsewhere (DNS rebinding) must not let a foreign page read this one.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    // Two names: whoever stands in between may have looked at the other one.
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let host = host.to_str().unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether the page of another site asks for data; following a link to the page itself is fine.
fn is_foreign(headers: &HeaderMap, uri: &Uri) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") && uri.path() != "/"
}

/// What a request brings as a token.
fn token_of(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    bearer(headers).or_else(|| in_query(uri))
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

fn in_query(uri: &Uri) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == "token").map(|(_, value)| decoded(value)).next()
}

/// Percent-decoding; what is no text becomes a token that matches none.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex: Vec<u8> = rest.by_ref().take(2).collect();
                let value = std::str::from_utf8(&hex).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
                let Some(value) = value else { return String::new() };
                value
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Asks for the token: a form for people, a line for programs.
fn ask(uri: &Uri) -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"murmur\"")];
    if uri.path() == "/" {
        (StatusCode::UNAUTHORIZED, challenge, Html(include_str!("../../page/ask.html"))).into_response()
    } else {
        (StatusCode::UNAUTHORIZED, challenge, "a token is needed: `Authorization: Bearer TOKEN`\n")
            .into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosted(host: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(host));
        names_this_machine(&headers)
    }

    #[test]
    fn only_names_of_this_machine_lead_here() {
        for host in
            ["localhost", "localhost:7070", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80", "[::1]", "127.0.0.9"]
        {
            assert!(hosted(host), "{host}");
        }
        let mut twice = HeaderMap::new();
        twice.append(header::HOST, HeaderValue::from_static("localhost"));
        twice.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(!names_this_machine(&twice));
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:80",
            "127.0.0.1.nip.io",
            "10.0.0.1:80",
            "[::2]:80",
            "a:b",
        ] {
            assert!(!hosted(host), "{host}");
        }
    }

    #[test]
    fn a_token_comes_in_a_header_or_in_the_address() {
        let access = Access::new(Some("s3cret+/=".into()));
        let admits = |uri: &'static str, authorization: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            authorization.map(|text| headers.insert(header::AUTHORIZATION, HeaderValue::from_static(text)));
            access.refusal(&Uri::from_static(uri), &headers).is_none()
        };
        assert!(admits("/api/run", Some("Bearer s3cret+/=")) && admits("/api/run", Some("bearer s3cret+/=")));
        assert!(admits("/?a=b&token=s3cret%2B%2F%3D", None));
        for (uri, authorization) in [
            ("/api/run", None),
            ("/", Some("Basic s3cret+/=")),
            ("/?token=s3cret", None),
            ("/?token=%", None),
            ("/?token=", None),
            ("/metrics", Some("Bearer s3cret+/=x")),
        ] {
            assert!(!admits(uri, authorization), "{uri} {authorization:?}");
        }
        assert!(admits("/healthz", None));
    }
}
