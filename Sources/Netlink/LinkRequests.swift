/// What is asked of rtnetlink(7) about single links.
extension LinkMessage {
    /// Takes a link down, as `ip link set NAME down` does.
    public static func takeDown(_ index: Int32) -> NetlinkRequest {
        // IFF_UP is to change, to nothing.
        NetlinkRequest(
            "RTM_NEWLINK", type: 16, isDump: false, header: header(index, flags: 0, change: 1))
    }

    /// Asks what a link is like.
    public static func lookUp(_ name: String) -> NetlinkRequest {
        var request = NetlinkRequest("RTM_GETLINK", type: 18, isDump: false, header: header(0, flags: 0, change: 0))
        request.append(3, octets: Array(name.utf8) + [0])  // IFLA_IFNAME
        return request
    }

    /// ifinfomsg: family, padding, type, index, flags, change.
    private static func header(_ index: Int32, flags: UInt32, change: UInt32) -> [UInt8] {
        var header: [UInt8] = [0, 0, 0, 0]
        header.appendHostOrder(index)
        header.appendHostOrder(flags)
        header.appendHostOrder(change)
        return header
    }
}
