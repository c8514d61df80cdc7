# `make run` and `make test` do everything on a fresh Debian 12 with Swift 6.3; README.md tells the rest.
.PHONY: build dependencies run test test-all bench fuzz docs examples lint format deb clean

# What the agent costs while nothing happens is mostly the pages of its own file that starting it touched, so the
# release is linked for few of them. `make bench` shows what it comes to; the package strips symbols.
#   -function-sections             each function can be put where it is wanted, and left out where it is not.
#   -use-ld=lld                    gold knows neither RELR nor an order of functions.
#   pack-relative-relocs (RELR)    27,000 relocations of a position-independent file in 5 KB instead of 650 KB, all of
#                                  which is read at every start. Takes glibc 2.36, which is Debian 12's.
#   exports.map                    nothing loads this program as a library; the driver would export every symbol.
#   functions.order                what runs at start lies together: the kernel maps 64 KiB around every page touched.
#                                  packaging/order-functions renews it; names that are gone do no harm.
#   prefix maps                    where this directory is makes no difference to what comes out.
#   --disable-local-rpath          no library is looked for beside the program.
#   -L .build/static               holds libstdc++.a alone, so that it is preferred: the shared one costs 0.9 MB of
#                                  tables for the few functions that the Swift runtime takes from it.
STATIC := $(CURDIR)/.build/static
RELEASE := swift build -c release --static-swift-stdlib --disable-local-rpath -Xswiftc -Xfrontend -Xswiftc -function-sections \
	-Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. \
	-Xswiftc -use-ld=lld -Xswiftc -L -Xswiftc $(STATIC) \
	-Xlinker -z -Xlinker pack-relative-relocs \
	-Xlinker --version-script=$(CURDIR)/packaging/exports.map \
	-Xlinker --symbol-ordering-file=$(CURDIR)/packaging/functions.order -Xlinker --no-warn-symbol-ordering

build: dependencies $(STATIC)/libstdc++.a
	$(RELEASE) --product vicinity
	$(RELEASE) --product vicinityd
	$(RELEASE) --product vicinity-probe
	$(RELEASE) --product second-factor-needed

$(STATIC)/libstdc++.a:
	mkdir -p $(STATIC)
	ln -sf "$$(g++ -print-file-name=libstdc++.a)" $@

dependencies:
	packaging/install-build-dependencies

run: build
	packaging/run

test:
	Tests/run

test-all:
	Tests/run all

bench: build
	$(RELEASE) --product vicinity-bench
	Tests/Benchmarks/run

# SECONDS of fuzzing, for all targets together.
SECONDS := 60
fuzz: dependencies
	Tests/Fuzz/run $(SECONDS)

docs: dependencies
	packaging/build-docs

examples: dependencies
	swift build --package-path Examples --scratch-path .build/examples

lint:
	swift format lint --strict -r Package.swift Sources Tests Examples

format:
	swift format -i -r Package.swift Sources Tests Examples

deb: build
	packaging/build-deb

clean:
	rm -rf .build
