# `make run` and `make test` do everything on a fresh Debian 12 with Swift 6.3; README.md tells the rest.
.PHONY: build dependencies run test test-all bench lint format deb clean

RELEASE := swift build -c release --static-swift-stdlib

build: dependencies
	$(RELEASE) --product vicinity
	$(RELEASE) --product vicinityd

dependencies:
	packaging/install-build-dependencies
