# SPDX-License-Identifier: Apache-2.0
# The front door. Every target installs what it needs (tools/setup.sh), builds
# what is missing and says what it does; `make help` lists them.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
RELEASE := build/release

.PHONY: help build run test lint docs bench fuzz setup test-build asan tsan asan-build tsan-build torch213 torch213-build

help: ## list the targets
	@sed -n 's/^\([a-z0-9]*\):.*## /\1\t/p' Makefile | expand -t 12

setup: ## install the missing ones of tools/packages.txt
	@tools/setup.sh

$(RELEASE)/build.ninja: | setup
	@cmake --preset release >$(RELEASE).log 2>&1 || \
	  { cat $(RELEASE).log; exit 1; }

build/.made:
	@mkdir -p build && touch $@

build: setup build/.made $(RELEASE)/build.ninja ## the program: build/release/muster
	@cmake --build --preset release -j $(JOBS) --target muster

run: setup build/.made $(RELEASE)/build.ninja ## train Fashion-MNIST on two local workers
	@cmake --build --preset release -j $(JOBS) --target muster fashion_mnist
	$(RELEASE)/muster run -n 2 -- $(RELEASE)/fashion_mnist

test: test-build ## every test, in parallel
	@ctest --preset release -j $(JOBS)

# A folder that is older than the header it is given has not seen it.
test-build: setup build/.made $(RELEASE)/build.ninja
	@grep -qF "MUSTER_PJRT_HEADER:FILEPATH=$(MUSTER_PJRT_HEADER)" \
	  $(RELEASE)/CMakeCache.txt || \
	  cmake --preset release "-DMUSTER_PJRT_HEADER=$(MUSTER_PJRT_HEADER)" \
	    >$(RELEASE).log 2>&1 || { cat $(RELEASE).log; exit 1; }
	@cmake --build --preset release -j $(JOBS)

lint: setup build/.made ## formatting, clang-tidy, include table, headers, shellcheck
	@tools/lint.sh

docs: build ## the generated pages of docs/reference, and the site: build/site
	@tools/setup.sh tools/packages-docs.txt
	@cmake --build --preset release -j $(JOBS) --target resolve_reference
	@tools/docs.sh
	@tools/docs_site.py

asan tsan: %: %-build ## the rooms without torch and gRPC, sanitized
	@ctest --preset $@ -j $(JOBS)

asan-build tsan-build: %-build: setup build/.made
	@cmake --preset $* >build/$*.log 2>&1 || { cat build/$*.log; exit 1; }
	@cmake --build --preset $* -j $(JOBS)

torch213: torch213-build ## the train room against PyTorch 2.13 from PyPI
	@ctest --preset torch213 -j $(JOBS)

torch213-build: setup build/.made
	@tools/torch213.sh

bench: setup build/.made $(RELEASE)/build.ninja ## against PyTorch, as ratios: 12 minutes, or ROUNDS=N
	@JOBS=$(JOBS) bench/run.sh $(if $(ROUNDS),--rounds $(ROUNDS)) $(BENCH_ARGS)

fuzz: setup build/.made ## every fuzzer for 60 s
	@tools/fuzz.sh 60
