extension Security {
    /// The class of an association, from the elements of its request.
    ///
    /// A request carries what was chosen, so it decides. What the access point offered only helps out: it may demand
    /// protected management frames that the station merely supports, and it stands in where the driver reports no
    /// request (mwifiex, libertas, virt_wifi). `unknown` where request and offer contradict each other: another name
    /// (some firmware reports the request before the last one), or no protection asked for where some was offered.
    ///
    /// - Parameters:
    ///   - request: the elements of the association request, nil or empty where the driver does not tell.
    ///   - offer: the elements of the access point's beacon or probe response, nil where they are not known.
    ///   - privacy: bit 4 of the access point's capabilities, nil where they are not known.
    public static func negotiated(
        request: InformationElements?, offer: InformationElements? = nil, privacy: Bool?
    ) -> Security {
        guard let request, !request.isEmpty else {
            guard let offer, !offer.isEmpty else { return .unknown }
            guard let privacy else { return offer.weakestProtection(alsoRequired: false) ?? .unknown }
            return offered(by: offer, privacy: privacy)
        }
        if let told = offer?.ssid, !told.isHidden, let asked = request.ssid, asked != told { return .unknown }
        // What the beacon says of its RSN element is authenticated by the handshake that makes the link usable.
        let alsoRequired = offer?.rsn?.requiresManagementFrameProtection ?? false
        if let chosen = request.weakestProtection(alsoRequired: alsoRequired) { return chosen }
        guard !request.isTruncated, !request.endsInFILSSession else { return .unknown }
        guard offer?.weakestProtection(alsoRequired: false) == nil else { return .unknown }
        switch privacy {
        case false: return .open
        // Setting up by WPS, a station asks for no protection and gets none, whatever the network has.
        case true: return request.hasWPS ? .unknown : .wep
        case nil: return .unknown
        }
    }

    /// The class that can at least be counted on when all that is known is what an access point offers.
    ///
    /// It is the *weakest* that an association could have been made with: WPA3 in transition is `wpa2-psk`, WPA beside
    /// WPA2 is `wpa-psk`, whatever RSN overriding adds, and anything that is malformed or of a kind not known makes
    /// `unknown` of the whole, since it could have been used. An open network with an encrypted twin is open: the twin
    /// has a beacon of its own.
    ///
    /// - Parameters:
    ///   - elements: those of its beacon or probe response.
    ///   - privacy: bit 4 of its capabilities. Without an RSN or WPA element it is all that tells WEP from open.
    public static func offered(by elements: InformationElements, privacy: Bool) -> Security {
        if let weakest = elements.weakestProtection(alsoRequired: false) { return weakest }
        guard privacy else { return .open }
        // The rest may have held the RSN element.
        return elements.isTruncated || elements.endsInFILSSession ? .unknown : .wep
    }
}

extension AKM {
    /// The suite that an association request chose; nil where it names none, or more than one.
    public static func chosen(in request: InformationElements?) -> AKM? {
        guard let request else { return nil }
        let choices = request.flatMap { element -> [AKM] in
            switch (element.id, element.vendor) {
            case (ElementID.rsn, _): RSN(body: element.payload).map { Array($0.akms) } ?? []
            case (_, VendorID.wpa): RSN(wpaBody: element.payload).map { Array($0.akms) } ?? []
            default: []
            }
        }
        return choices.count == 1 ? choices[0] : nil
    }
}

extension InformationElements {
    /// The weakest class that any element allows, however often it occurs; nil where none speaks of protection.
    fileprivate func weakestProtection(alsoRequired: Bool) -> Security? {
        var weakest: Security?
        for element in self {
            let found: Security
            switch (element.id, element.vendor) {
            case (ElementID.rsn, _), (_, VendorID.rsnOverride), (_, VendorID.rsnOverride2):
                found = RSN(body: element.payload)?.weakest(alsoRequired: alsoRequired) ?? .unknown
            case (_, VendorID.wpa):
                found = RSN(wpaBody: element.payload)?.weakest(alsoRequired: false) ?? .unknown
            case (ElementID.wapi, _), (_, VendorID.osen):
                found = .unknown
            default:
                continue
            }
            if found.rank < weakest?.rank ?? .max { weakest = found }
        }
        return weakest
    }
}

extension RSN {
    /// The weakest class that any of the suites allows; `unknown` where none of them joins a network.
    ///
    /// - Parameter alsoRequired: whether the other end demands protected management frames.
    fileprivate func weakest(alsoRequired: Bool) -> Security {
        let isProtected = requiresManagementFrameProtection || alsoRequired && supportsManagementFrameProtection
        var weakest: Security?
        for akm in akms {
            guard let found = security(of: akm, isProtected: isProtected) else { continue }
            if found.rank < weakest?.rank ?? .max { weakest = found }
        }
        return weakest ?? .unknown
    }

    /// Nil for a suite that joins no network and so changes nothing.
    private func security(of akm: AKM, isProtected: Bool) -> Security? {
        // Suites of WPA in an RSN element and the reverse are nobody's practice, so there is no name for them.
        guard (generation == .wpa) == (akm.oui == OUI.microsoft) else { return .unknown }
        switch (generation, akm.family) {
        case (.wpa, .personal): return .wpaPSK
        case (.wpa, _): return .unknown
        case (.rsn, .personal): return .wpa2PSK
        case (.rsn, .sae): return .wpa3SAE
        case (.rsn, .owe): return .owe
        case (.rsn, .enterprise) where isProtected && akm.isAllowedByWPA3Enterprise: return .wpa3Enterprise
        case (.rsn, .enterprise): return .wpa2Enterprise
        case (.rsn, .suiteB192): return .wpa3Enterprise192
        case (.rsn, .notANetwork): return nil
        case (.rsn, .dpp), (.rsn, .osen), (.rsn, .wapi), (.rsn, .unknown): return .unknown
        }
    }
}
