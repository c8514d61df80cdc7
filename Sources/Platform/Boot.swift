/// Which boot of the machine this is, random(4): what processes and their connections are, ends with it.
public enum Boot {
    /// A UUID; empty where the kernel does not tell.
    public static let identifier: String = {
        let octets = (try? Files.read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        return String(decoding: octets, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    }()
}
