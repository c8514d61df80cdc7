public final class AnalyticsLog { public init(path: String) {} }
