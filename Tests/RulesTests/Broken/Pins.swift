extension BrokenFile {
    /// Pins of probes.
    static let pins: [BrokenFile] = [
        .file(
            "pin as text",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = "CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo=" }

            """,
            "4:58 wrong-type: expected a list of hashes of keys, such as [\"…\"], found a string"),
        .file(
            "pin too short",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["0a0a"] }

            """,
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "pin of SHA-1",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"] }

            """,
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "pin with colons",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A:0A"] }

            """,
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "pin with prefix",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["sha256/CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "pin in Base64 of the other alphabet",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["-goKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "pin with bits beyond its end",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgp="] }

            """,
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "pin with an o for a zero",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["oa0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"] }

            """,
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "placeholder for a pin",
            "[network.office]\nssid = [\"Corp\"]\nsecurity = [\"wpa3-sae\"]\nprobe = { url = \"https://inside.example/\", spki-sha256 = [\"…\"] }\n",
            "4:59 bad-value: expected the SHA-256 of a key (SubjectPublicKeyInfo, DER), 64 hexadecimal digits or 44 characters of Base64: vicinity.rules(5) tells how to compute it"
        ),
        .file(
            "three pins",
            """
            [network.office]
            ssid = ["Corp"]
            security = ["wpa3-sae"]
            probe = { url = "https://inside.example/", spki-sha256 = ["0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="] }

            """,
            "4:58 bad-value: at most 2 keys: the one in use and the one to come"),
    ]
}
