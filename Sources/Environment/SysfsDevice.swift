internal import Platform

/// What only sysfs tells of a network device. Readable by everybody.
enum SysfsDevice {
    static func facts(named name: String, index: Int32) -> DeviceFacts? {
        let directory = "/sys/class/net/\(name)"
        guard let uevent = try? Files.read("\(directory)/uevent", limit: 4_096) else { return nil }
        let lines = String(decoding: uevent, as: UTF8.self).split(separator: "\n")
        // Renamed since the message: another device may have the name now.
        guard lines.contains("IFINDEX=\(index)") else { return nil }
        let type = lines.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst(8)) }
        return DeviceFacts(type: type, hasHardware: !Files.names(in: "\(directory)/device").isEmpty)
    }

    // Files of sysfs claim to have 4,096 octets, whatever is in them.

    /// Whether a kill switch blocks the radio behind the interface, by hand or by software.
    static func isRadioBlocked(named name: String) -> Bool {
        let radio = "/sys/class/net/\(name)/phy80211"
        return Files.names(in: radio).filter { $0.hasPrefix("rfkill") }.contains { entry in
            ["soft", "hard"].contains {
                (try? Files.read("\(radio)/\(entry)/\($0)", limit: 4_096))?.first == UInt8(ascii: "1")
            }
        }
    }
}
