import Feed
import JSON
import Netlink
import Platform
import WiFi

/// Information elements: two sets of them, as an association request and a beacon.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    let middle = min(Int(octets.first ?? 0) * 4, octets.count)
    let request = InformationElements(octets[middle...])
    // A slice that does not begin at 0 finds what is counted from the wrong end.
    let offer = InformationElements(octets[min(1, middle)..<middle])
    for elements in [request, offer] { read(elements) }
    for privacy in [nil, false, true] {
        let alone = Security.negotiated(request: request, privacy: privacy)
        let both = Security.negotiated(request: request, offer: offer, privacy: privacy)
        check(request.isEmpty || alone != .open || [.open, .unknown].contains(both), "an offer makes \(both) of open")
        _ = Security.negotiated(request: nil, offer: offer, privacy: privacy)
    }
    return 0
}

private func read(_ elements: InformationElements) {
    var total = 0
    for element in elements {
        total += 2 + element.body.count
        _ = (element.extensionID, element.vendor, element.payload.count)
    }
    check(total <= elements.octets.count, "more octets than there are")
    check(
        total == elements.octets.count || elements.isTruncated || elements.endsInFILSSession, "octets were left over")
    if let ssid = elements.ssid {
        check(ssid.octets.count <= SSID.maximumLength, "a long SSID")
        check(SSID(hexadecimal: ssid.hexadecimal) == ssid, "an SSID that its digits are not")
        check(ssid.display.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }, "a control character")
    }
    for rsn in [elements.rsn, elements.wpa].compactMap({ $0 }) + elements.rsnOverrides {
        _ = (rsn.akms.map { $0 }, rsn.pairwise.map { $0 }, rsn.group, rsn.groupManagement, rsn.pmkidCount)
        _ = (rsn.requiresManagementFrameProtection, rsn.supportsManagementFrameProtection)
    }
    _ = (elements.rsnExtension, elements.oweTransition, elements.country, elements.primaryChannel)
    _ = (elements.supportsUTF8SSID, elements.isHotspot20, elements.mldAddress)
    _ = Security.offered(by: elements, privacy: false)
    _ = Security.offered(by: elements, privacy: true)
}
