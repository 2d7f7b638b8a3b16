//! Where a node can be reached from other machines, before it runs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use futures::StreamExt;
use if_watch::IfEvent;
use if_watch::tokio::IfWatcher;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};

/// The system lists its addresses one by one and does not say which is the last: it is, when nothing comes for so long.
const QUIET: Duration = Duration::from_millis(250);

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
