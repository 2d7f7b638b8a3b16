//! Where a node can be reached from other machines, before it runs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use futures::StreamExt;
use if_watch::IfEvent;
use if_watch::tokio::IfWatcher;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};

/// The system lists its addresses one by one and does not say which is the last: it is, when nothing comes for so long.
const QUIET: Duration = Duration::from_millis(250);

/// Reads an address; one that is written as elsewhere is told how it is written here.
///
/// # Errors
/// Text that is no address, with an example.
pub fn parse_address(text: &str) -> Result<Multiaddr, String> {
    // An empty text would be the address of nothing.
    let address = text.parse().ok().filter(|address: &Multiaddr| !address.is_empty());
    address.ok_or_else(|| {
        let meant = match (text.parse::<SocketAddr>(), text.rsplit_once(':')) {
            (Ok(SocketAddr::V4(at)), _) => Some(format!("/ip4/{}/tcp/{}", at.ip(), at.port())),
            (Ok(SocketAddr::V6(at)), _) => Some(format!("/ip6/{}/tcp/{}", at.ip(), at.port())),
            (_, Some((host, port))) if is_name(host) && port.parse::<u16>().is_ok() => {
                Some(format!("/dns4/{host}/tcp/{port}"))
            }
            _ => None,
        };
        match meant {
            Some(meant) => format!("write it as `{meant}`"),
            None => {
                "an address is written as `/ip4/10.0.0.5/tcp/7000` or `/dns4/node.example/tcp/7000`".into()
            }
        }
    })
}

fn is_name(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
}

/// What others may call, for a node that listens on these: an address of each interface where it listens on all. Port 0 stays 0: it is chosen when the
/// node starts. Needs a tokio runtime.
///
/// # Errors
/// A system that does not tell its interfaces.
pub async fn addresses(me: PeerId, listen: &[Multiaddr]) -> std::io::Result<Vec<Multiaddr>> {
    let own = interfaces().await?;
    let all = listen.iter().flat_map(|address| expand(address, &own));
    Ok(all.map(|address| address.with_p2p(me).unwrap_or_else(|address| address)).collect())
}

async fn interfaces() -> std::io::Result<Vec<IpAddr>> {
    let mut watcher = IfWatcher::new()?;
    let mut found = Vec::new();
    while let Ok(Some(event)) = tokio::time::timeout(QUIET, watcher.next()).await {
        if let IfEvent::Up(net) = event? {
            found.push(net.addr());
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// One address per interface for one that means all; those that other machines can call, or loopback where there is nothing else.
fn expand(address: &Multiaddr, own: &[IpAddr]) -> Vec<Multiaddr> {
    let first = address.iter().next();
    let fits: Box<dyn Fn(&&IpAddr) -> bool> = match first {
        Some(Protocol::Ip4(Ipv4Addr::UNSPECIFIED)) => Box::new(|ip| ip.is_ipv4()),
        Some(Protocol::Ip6(Ipv6Addr::UNSPECIFIED)) => Box::new(|ip| ip.is_ipv6()),
        _ => return vec![address.clone()],
    };
    let fitting: Vec<&IpAddr> = own.iter().filter(|ip| fits(ip)).collect();
    let outside: Vec<&IpAddr> = fitting.iter().copied().filter(|ip| is_for_others(ip)).collect();
    let chosen = if outside.is_empty() { fitting } else { outside };
    let with = |ip: &&IpAddr| std::iter::once(Protocol::from(**ip)).chain(address.iter().skip(1)).collect();
    chosen.iter().map(with).collect()
}

/// A link-local IPv6 address means nothing without the name of the interface.
fn is_for_others(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !ip.is_loopback(),
        IpAddr::V6(ip) => !ip.is_loopback() && !ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_as_it_is_written_elsewhere_is_told_how_it_is_written_here() {
        for (text, told) in [
            ("10.0.0.5:7000", "`/ip4/10.0.0.5/tcp/7000`"),
            ("[::1]:80", "`/ip6/::1/tcp/80`"),
            ("b.example:7000", "`/dns4/b.example/tcp/7000`"),
            ("b.example", "an address is written as"),
            ("b.example:70000", "an address is written as"),
            ("", "an address is written as"),
        ] {
            let said = parse_address(text).unwrap_err();
            assert!(said.contains(told), "{text}: {said}");
            for part in said.split('`').filter(|part| part.starts_with('/')) {
                assert!(parse_address(part).is_ok(), "{part}");
            }
        }
    }

    #[test]
    fn an_address_that_means_all_becomes_one_per_interface() {
        let own: Vec<IpAddr> =
            ["127.0.0.1", "10.0.0.5", "192.168.1.2", "::1", "fe80::1"].map(|ip| ip.parse().unwrap()).to_vec();
        let expanded = |address: &str| {
            let all = expand(&address.parse().unwrap(), &own);
            all.iter().map(Multiaddr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            expanded("/ip4/0.0.0.0/tcp/7000"),
            ["/ip4/10.0.0.5/tcp/7000", "/ip4/192.168.1.2/tcp/7000"]
        );
        assert_eq!(expanded("/ip6/::/tcp/0"), ["/ip6/::1/tcp/0", "/ip6/fe80::1/tcp/0"]);
        assert_eq!(expanded("/ip4/10.0.0.5/tcp/1"), ["/ip4/10.0.0.5/tcp/1"]);
    }
}
