# `make run` and `make test` do everything on a fresh Debian 12 with Swift 6.3; README.md tells the rest.
.PHONY: build dependencies run test test-all bench lint format deb fuzz clean

RELEASE := swift build -c release --static-swift-stdlib

build: dependencies
	$(RELEASE) --product vicinity
	$(RELEASE) --product vicinityd

dependencies:
	packaging/install-build-dependencies

run: build
	packaging/run

test:
	Tests/run

test-all:
	Tests/run all

lint:
	swift format lint --strict -r Package.swift Sources Tests

format:
	swift format -i -r Package.swift Sources Tests

deb: build
	packaging/build-deb

clean:
	rm -rf .build
