internal import Netlink

extension LinkKind {
    /// Tells kinds apart by what the kernel says of them, never by their names.
    ///
    /// - Parameter device: nil until sysfs was read.
    init(_ link: LinkMessage, device: DeviceFacts?) {
        if link.isLoopback {
            self = .loopback
        } else if let kind = link.kind {
            switch kind {
            case "wireguard", "tun", "ipip", "sit", "gre", "gretap", "ip6tnl", "ip6gre", "vti", "vti6", "xfrm", "ppp",
                "vxlan", "geneve", "l2tp", "fou", "ovpn", "ip6gretap", "erspan", "ip6erspan", "gtp":
                self = .tunnel
            case "wwan", "rmnet": self = .cellular
            // The ports of a switch chip are sockets one can plug a cable into.
            case "dsa": self = .ethernet
            // A bond or a VLAN is a way to use hardware that is listed for itself.
            default: self = .virtual
            }
        } else {
            switch device?.type {
            case "wlan": self = .wifi
            case "wwan": self = .cellular
            case "bluetooth": self = .bluetooth
            default: self = LinkKind(hardwareType: link.hardwareType, link, device)
            }
        }
    }

    /// `ARPHRD_*` of linux/if_arp.h.
    private init(hardwareType: UInt16, _ link: LinkMessage, _ device: DeviceFacts?) {
        switch hardwareType {
        case 1: self = device.map { $0.hasHardware ? .ethernet : .virtual } ?? .ethernet
        case 512, 768, 769, 776, 778, 823, 65534: self = .tunnel  // PPP, IPIP, IP6IP6, SIT, GRE, IP6GRE, none (tun)
        case 519: self = .cellular  // ARPHRD_RAWIP
        case 772: self = .loopback
        case 801, 802, 803: self = .wifi  // raw 802.11, of monitors
        default: self = .unknown
        }
    }
}
