//! Addresses that others tell: which of them a node calls.
//!
//! A member must not make others knock at doors that are no node's: those of their own machine, of a network's own devices, or of nothing at all.

use std::net::{IpAddr, Ipv6Addr};

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

use super::circuits::is_circuit;

/// Addresses that are taken from one peer about one peer.
const MOST: usize = 8;

/// Those of a list that may be called; `here` where the one who told of them is on this machine.
pub(super) fn those_to_call(addresses: &[String], here: bool) -> Vec<Multiaddr> {
    let parsed = addresses.iter().take(MOST).filter_map(|address| address.parse().ok());
    parsed.filter(|address| may_be_called(address, here)).collect()
}

/// Whether a node can be at this address: a machine that can be told from others, and a port, by TCP or QUIC.
pub(super) fn may_be_called(address: &Multiaddr, here: bool) -> bool {
    let parts: Vec<Protocol<'_>> = address.iter().collect();
    let [machine, port, rest @ ..] = parts.as_slice() else { return false };
    let is_machine = match machine {
        Protocol::Ip4(ip) => is_machine(IpAddr::V4(*ip), here),
        Protocol::Ip6(ip) => is_machine(IpAddr::V6(*ip), here),
        Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name) => is_name(name, here),
        _ => false,
    };
    let is_way = match (port, rest) {
        (Protocol::Tcp(port), rest) | (Protocol::Udp(port), [Protocol::QuicV1, rest @ ..]) => {
            *port != 0 && is_end(rest)
        }
        _ => false,
    };
    is_machine && is_way
}

/// What may follow a port: who is there, or a relay and who is behind it.
fn is_end(rest: &[Protocol<'_>]) -> bool {
    use Protocol::{P2p, P2pCircuit};
    matches!(rest, [] | [P2p(_)] | [P2p(_), P2pCircuit] | [P2p(_), P2pCircuit, P2p(_)])
}

/// Whether an address is one of this machine. Who comes through a relay may be anywhere.
pub(super) fn is_here(address: &Multiaddr) -> bool {
    if is_circuit(address) {
        return false;
    }
    match address.iter().next() {
        Some(Protocol::Ip4(ip)) => ip.is_loopback(),
        Some(Protocol::Ip6(ip)) => plain(ip).is_loopback(),
        _ => false,
    }
}

/// The machine at the other end of a TCP connection that no relay stands between.
pub(super) fn machine(address: &Multiaddr) -> Option<IpAddr> {
    if is_circuit(address) || !address.iter().any(|part| matches!(part, Protocol::Tcp(_))) {
        return None;
    }
    match address.iter().next()? {
        Protocol::Ip4(ip) => Some(ip.into()),
        Protocol::Ip6(ip) => Some(plain(ip)),
        _ => None,
    }
}

/// IPv4 that is written as IPv6 is IPv4.
fn plain(ip: Ipv6Addr) -> IpAddr {
    IpAddr::V6(ip).to_canonical()
}

fn is_machine(ip: IpAddr, here: bool) -> bool {
    match ip.to_canonical() {
        ip if ip.is_loopback() => here,
        ip if ip.is_unspecified() || ip.is_multicast() => false,
        // 169.254.169.254 is where clouds keep their keys; fe80:: means nothing without an interface.
        IpAddr::V4(ip) => !ip.is_broadcast() && !ip.is_link_local(),
        IpAddr::V6(ip) => !ip.is_unicast_link_local(),
    }
}

fn is_name(name: &str, here: bool) -> bool {
    let local = name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !name.is_empty() && name.len() <= 253 && name.bytes().all(letters) && (here || !local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_at_which_a_node_can_be_are_called() {
        let called = |address: &str, here| !those_to_call(&[address.to_owned()], here).is_empty();
        let peer = libp2p::PeerId::random();
        for good in ["/ip4/10.0.0.5/tcp/7000", "/ip6/2001:db8::1/tcp/443", "/dns4/b.example/tcp/7000"] {
            assert!(called(good, false), "{good}");
            assert!(called(&format!("{good}/p2p/{peer}"), false), "{good}");
        }
        assert!(called("/ip4/10.0.0.5/udp/7000/quic-v1", false));
        assert!(called(&format!("/ip4/10.0.0.5/tcp/7000/p2p/{peer}/p2p-circuit"), false));
        assert!(!called(&format!("/ip4/127.0.0.1/tcp/7000/p2p/{peer}/p2p-circuit"), false));
        for local in [
            "/ip4/127.0.0.1/tcp/6379",
            "/ip6/::1/tcp/22",
            "/ip6/::ffff:127.0.0.1/tcp/22",
            "/dns4/localhost/tcp/80",
        ] {
            assert!(!called(local, false), "{local}");
            assert!(called(local, true), "{local}, told by a node of this machine");
        }
        for bad in [
            "/ip4/0.0.0.0/tcp/7000",
            "/ip4/255.255.255.255/tcp/7000",
            "/ip4/224.0.0.1/tcp/7000",
            "/ip4/169.254.169.254/tcp/80",
            "/ip6/fe80::1/tcp/7000",
            "/ip4/10.0.0.5/tcp/0",
            "/ip4/10.0.0.5/udp/53",
            "/ip4/10.0.0.5/tcp/80/ws",
            "/memory/7",
            "/unix/tmp",
            "/dns4/a b/tcp/7000",
            "/p2p-circuit",
            "",
        ] {
            assert!(!called(bad, true), "{bad}");
        }
        let many = vec!["/ip4/10.0.0.5/tcp/7000".to_owned(); 100];
        assert_eq!(those_to_call(&many, false).len(), MOST);
    }
}
