//! Where the page is served, and who may see it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};

use thiserror::Error;
use topology::Hint;

/// Why the page cannot be served.
#[derive(Debug, Error)]
pub enum StartError {
    /// Text that is no address.
    #[error("`{text}` is no address to serve the page at")]
    Address {
        /// What was given.
        text: String,
    },
    /// An address that others can reach, without a token.
    #[error("the page at {address} could be read by others, and there is no token")]
    NeedsToken {
        /// Where.
        address: SocketAddr,
    },
    /// A token that nobody could send.
    #[error("the token of the page is empty or has characters that no header can carry")]
    Token,
    /// An address that is taken, or not ours.
    #[error("cannot serve the page at {address}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// No thread could be started.
    #[error("cannot start a thread for the page")]
    Thread(#[source] std::io::Error),
}

impl Hint for StartError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Address { .. } => {
                "give a port (`--http 7070`) or an address with a port (`--http 127.0.0.1:7070`); port 0 takes a free one".into()
            }
            Self::NeedsToken { address } => format!(
                "set one with `--http-token-file FILE` or MURMUR_HTTP_TOKEN, or serve this machine only with `--http 127.0.0.1:{}`",
                address.port()
            ),
            Self::Token => "choose letters and digits, such as those of `openssl rand -hex 16`".into(),
            Self::Bind { .. } => "another program may use the port; port 0 takes a free one".into(),
            Self::Thread(_) => "the system may limit the number of threads (`ulimit -u`)".into(),
        };
        Some(hint)
    }
}

/// A place to serve at that was taken, and what visitors must bring.
#[derive(Debug)]
pub struct Place {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

impl Place {
    /// Takes the address: a port alone, `:port`, or `host:port`; without a host this machine only. Other machines need a token.
    ///
    /// # Errors
    /// As [`StartError`] says.
    pub fn take(text: &str, token: Option<String>) -> Result<Self, StartError> {
        let address = resolve(text).ok_or_else(|| StartError::Address { text: text.to_owned() })?;
        let usable = |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.as_ref().is_some_and(|token| !usable(token)) {
            return Err(StartError::Token);
        }
        if !address.ip().is_loopback() && token.is_none() {
            return Err(StartError::NeedsToken { address });
        }
        let failed = |source| StartError::Bind { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, token })
    }

    /// Where to point a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Whether visitors must bring a token.
    pub fn asks_for_a_token(&self) -> bool {
        self.token.is_some()
    }
}

/// Every address of a name must be of one kind: a name that is this machine and another one is not taken for this machine.
fn resolve(text: &str) -> Option<SocketAddr> {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse() {
        return Some(SocketAddr::new(here, port));
    }
    let mut found: Vec<SocketAddr> = text.to_socket_addrs().ok()?.collect();
    // Loopback last but for ties, and among equals IPv4 first, which every browser has.
    found.sort_by_key(|address| (address.ip().is_loopback(), address.is_ipv6()));
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_this_machine() {
        for text in ["0", ":0", "127.0.0.1:0", "localhost:0"] {
            let place = Place::take(text, None).unwrap();
            assert!(place.address.ip().is_loopback() && place.address.port() != 0, "{text}");
            assert!(place.url().starts_with("http://127.0.0.1:"), "{}", place.url());
        }
    }

    #[test]
    fn other_machines_need_a_token() {
        let error = Place::take("0.0.0.0:0", None).unwrap_err();
        assert!(
            matches!(error, StartError::NeedsToken { .. }) && error.hint().unwrap().contains("--http-token")
        );
        assert!(Place::take("0.0.0.0:0", Some("secret".into())).is_ok());
        for bad in ["", "two words", "ключ"] {
            assert!(matches!(Place::take("127.0.0.1:0", Some(bad.into())), Err(StartError::Token)), "{bad}");
        }
    }

    #[test]
    fn a_port_that_is_taken_is_named_with_a_way_out() {
        let first = Place::take("0", None).unwrap();
        let error = Place::take(&first.address.to_string(), None).unwrap_err();
        assert!(error.to_string().contains(&first.address.to_string()), "{error}");
        assert!(error.hint().unwrap().contains("port 0"), "{:?}", error.hint());
    }

    #[test]
    fn what_is_no_address_is_said_so() {
        for text in ["", "70000", "localhost", "nowhere:port", "http://127.0.0.1:80"] {
            assert!(matches!(Place::take(text, None), Err(StartError::Address { .. })), "{text}");
        }
    }
}
