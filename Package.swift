// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built the same way: Swift 6 mode, Swift 7's coming rules, no warning left standing.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .treatAllWarnings(as: .error),
]

/// Targets that touch C: each unsafe expression has to say so.
let touchingC: [SwiftSetting] = strict + [.strictMemorySafety()]

/// C that is a program's own, and not a library's header.
let strictC: [CSetting] = [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]

let package = Package(
    name: "vicinity",
    products: [
        .library(name: "Vicinity", targets: ["Vicinity"]),
        .executable(name: "vicinity", targets: ["vicinity-cli"]),
        .executable(name: "vicinityd", targets: ["vicinityd"]),
        .executable(name: "vicinity-act", targets: ["vicinity-act"]),
        .executable(name: "vicinity-probe", targets: ["vicinity-probe"]),
        .executable(name: "second-factor-needed", targets: ["second-factor-needed"]),
        .executable(name: "vicinity-factor", targets: ["vicinity-factor"]),
    ],
    targets: [
        // C: one target per library, none with logic.
        .systemLibrary(name: "CNetlink", pkgConfig: "libnl-3.0"),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
        .target(name: "CPlatform"),
        .target(name: "CBus"),
        .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .target(name: "CToml", cxxSettings: [.define("TOML_HEADER_ONLY", to: "1")]),

        // The rooms, in the order in which data flows.
        .target(name: "Platform", dependencies: ["CPlatform"], swiftSettings: touchingC),
        .target(
            name: "Netlink", dependencies: ["CNetlink", "CPlatform", "Platform"], swiftSettings: touchingC),
        .target(name: "SystemBus", dependencies: ["CBus", "CSystemd", "Platform"], swiftSettings: touchingC),
        .target(name: "WiFi", dependencies: ["Netlink"], swiftSettings: strict),
        .target(
            name: "Environment", dependencies: ["CSystemd", "Netlink", "Platform", "SystemBus", "WiFi"],
            swiftSettings: touchingC),
        .target(
            name: "Rules",
            dependencies: ["CToml", "Environment", "Netlink", "Platform", "ProbeProtocol", "WiFi"],
            swiftSettings: touchingC),
        .target(name: "Hashing", dependencies: ["CSodium", "Platform"], swiftSettings: touchingC),
        .target(name: "ActionProtocol", dependencies: ["JSON"], swiftSettings: strict),
        .target(
            name: "Actions",
            dependencies: [
                "ActionProtocol", "CPlatform", "CSystemd", "Environment", "JSON", "Netlink", "Platform", "Rules",
                "SystemBus", "WiFi",
            ],
            swiftSettings: touchingC),
        .target(name: "PAM", dependencies: ["Platform"], swiftSettings: strict),
        .target(
            name: "InstalledRules", dependencies: ["Hashing", "JSON", "Platform", "Rules"], swiftSettings: strict),
        // The helpers: what carries out actions, as root and in a user's session.
        .target(
            name: "Acting",
            dependencies: [
                "ActionProtocol", "Actions", "CPlatform", "CSystemd", "Environment", "Hashing", "InstalledRules",
                "JSON",
                "Netlink", "PAM", "Platform", "Rules", "SystemBus", "Vicinity", "WiFi",
            ],
            swiftSettings: touchingC),
        .target(name: "JSON", swiftSettings: strict),
        .target(name: "ProbeProtocol", dependencies: ["JSON"], swiftSettings: strict),
        .target(
            name: "Probing",
            dependencies: ["CPlatform", "CSystemd", "Netlink", "Platform", "ProbeProtocol", "SystemBus"],
            swiftSettings: touchingC),
        .target(
            name: "ProbeHelper", dependencies: ["COpenSSL", "CPlatform", "Platform", "ProbeProtocol"],
            swiftSettings: touchingC),
        .target(
            name: "Feed",
            dependencies: ["CPlatform", "Environment", "Hashing", "JSON", "Netlink", "Platform", "WiFi"],
            swiftSettings: touchingC),
        .target(
            name: "Analytics", dependencies: ["Environment", "Hashing", "JSON", "Platform", "WiFi"],
            swiftSettings: touchingC),
        .target(
            name: "Enrichment",
            dependencies: [
                "Analytics", "Environment", "Feed", "Hashing", "InstalledRules", "JSON", "Netlink", "Platform", "Rules",
                "WiFi",
            ],
            swiftSettings: touchingC),
        .target(
            name: "Agent",
            dependencies: [
                "ActionProtocol", "Actions", "Analytics", "CPlatform", "CSystemd", "Environment", "Feed", "Hashing",
                "InstalledRules", "JSON", "Netlink", "Platform", "ProbeProtocol", "Probing", "Rules",
                "PAM", "SystemBus", "WiFi",
            ],
            swiftSettings: touchingC),
        .target(
            name: "CommandLine",
            dependencies: [
                "Acting", "Actions", "Agent", "Analytics", "CPlatform", "Enrichment", "Environment", "Feed",
                "Hashing", "InstalledRules", "JSON", "Netlink", "PAM", "Platform", "Rules", "SystemBus", "WiFi",
            ],
            swiftSettings: touchingC),
        .target(
            name: "Vicinity",
            dependencies: [
                "Analytics", "Enrichment", "Environment", "Feed", "JSON", "Netlink", "Platform", "SystemBus", "WiFi",
            ],
            swiftSettings: strict),
        .executableTarget(name: "vicinity-cli", dependencies: ["CommandLine"], swiftSettings: strict),
        // The helpers' programs are this one under other names where it is installed.
        .executableTarget(name: "vicinityd", dependencies: ["Acting", "Agent"], swiftSettings: strict),
        // The same helper as a file of its own, for tests.
        .executableTarget(name: "vicinity-act", dependencies: ["Acting"], swiftSettings: strict),
        .executableTarget(name: "vicinity-probe", dependencies: ["ProbeHelper"], swiftSettings: strict),
        // C: no Swift in the processes of PAM.
        .executableTarget(name: "second-factor-needed", cSettings: strictC),
        .target(name: "Assuan", cSettings: strictC),
        .executableTarget(
            name: "vicinity-factor", dependencies: ["Assuan"], cSettings: strictC,
            linkerSettings: [.linkedLibrary("pam")]),

        // What Examples/Package.swift builds as well, for tests.
        .executableTarget(
            name: "example-print-changes", dependencies: ["Vicinity"], path: "Examples/Sources/print-changes",
            swiftSettings: strict),
        .executableTarget(
            name: "example-require-second-factor", dependencies: ["Vicinity"],
            path: "Examples/Sources/require-second-factor", swiftSettings: strict),
        .executableTarget(
            name: "example-status-line", dependencies: ["Vicinity"], path: "Examples/Sources/status-line",
            swiftSettings: strict),

        // Measurements, `make bench`.
        .executableTarget(
            name: "vicinity-bench",
            dependencies: [
                "Agent", "CPlatform", "Environment", "Feed", "JSON", "Netlink", "Platform", "Rules", "WiFi",
            ],
            path: "Tests/Benchmarks", exclude: ["run", "streams"], swiftSettings: strict),

        // Tests.
        .executableTarget(
            name: "replaying-agent",
            dependencies: ["Agent", "CPlatform", "Environment", "Netlink", "Platform", "TestSupport", "WiFi"],
            path: "Tests/ReplayingAgent", swiftSettings: strict),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["Actions", "CSystemd", "Netlink", "Platform", "SystemBus", "WiFi"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "NetlinkTests", dependencies: ["CNetlink", "CPlatform", "Netlink", "Platform", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "WiFiTests", dependencies: ["Netlink", "WiFi"], swiftSettings: strict),
        .testTarget(
            name: "EnvironmentTests",
            dependencies: ["CSystemd", "Environment", "Netlink", "Platform", "SystemBus", "TestSupport", "WiFi"],
            swiftSettings: strict),
        .testTarget(
            name: "RulesTests",
            dependencies: ["Environment", "Netlink", "Platform", "ProbeProtocol", "Rules", "WiFi"],
            swiftSettings: strict),
        .testTarget(
            name: "ActionsTests",
            dependencies: ["Actions", "CSystemd", "JSON", "Platform", "Rules", "SystemBus", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ActingTests",
            dependencies: [
                "Acting", "ActionProtocol", "Actions", "CPlatform", "Environment", "InstalledRules", "JSON", "Netlink",
                "Platform", "Rules", "TestSupport", "WiFi",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FeedTests",
            dependencies: [
                "Environment", "Feed", "Hashing", "JSON", "Netlink", "Platform", "SystemBus", "TestSupport", "Vicinity",
                "WiFi", "example-print-changes", "example-status-line",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "AnalyticsTests",
            dependencies: ["Analytics", "Environment", "Hashing", "JSON", "Platform", "TestSupport", "WiFi"],
            swiftSettings: strict),
        .testTarget(name: "AssuanTests", dependencies: ["Assuan"], swiftSettings: strict),
        .testTarget(
            name: "EnrichmentTests",
            dependencies: [
                "Analytics", "Enrichment", "Environment", "Feed", "Hashing", "Netlink", "Platform", "Vicinity", "WiFi",
            ],
            swiftSettings: strict),
        .testTarget(name: "PAMTests", dependencies: ["PAM"], swiftSettings: strict),
        .testTarget(
            name: "ProbingTests", dependencies: ["CSystemd", "Netlink", "Platform", "ProbeProtocol", "Probing"],
            swiftSettings: strict),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "Analytics", "CommandLine", "Environment", "Feed", "JSON", "Netlink", "PAM", "Platform", "Rules",
                "SystemBus", "WiFi",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "AgentTests",
            dependencies: [
                "ActionProtocol", "Agent", "Analytics", "CommandLine", "CSystemd", "Environment", "Feed", "Hashing",
                "JSON", "Netlink", "PAM", "Platform", "Rules", "SystemBus", "TestSupport", "Vicinity", "WiFi",
            ],
            swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
