// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "vicinity-examples",
    dependencies: [.package(name: "vicinity", path: "..")],
    targets: [
        .executableTarget(name: "print-changes", dependencies: [.product(name: "Vicinity", package: "vicinity")]),
        .executableTarget(
            name: "require-second-factor", dependencies: [.product(name: "Vicinity", package: "vicinity")]),
        .executableTarget(name: "status-line", dependencies: [.product(name: "Vicinity", package: "vicinity")]),
    ]
)
