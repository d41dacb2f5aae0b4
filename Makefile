# SPDX-License-Identifier: Apache-2.0
# The front door. Every target installs what it needs (tools/setup.sh), builds
# what is missing and says what it does; `make help` lists them.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
# Tests mostly wait; what does not says how many of these it takes.
TEST_JOBS ?= $(shell echo $$((3 * $$(nproc))))
RELEASE := build/release

.PHONY: help build run package test test-all lint lint-all docs bench fuzz setup test-build asan tsan asan-build tsan-build torch213 torch213-build

help: ## list the targets
	@sed -n 's/^\([a-z0-9 -]*\):.*## /\1\t/p' Makefile | expand -t 12

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

package: setup build/.made $(RELEASE)/build.ninja ## wheel, Debian packages and tarball in dist/
	@cmake --build --preset release -j $(JOBS) --target muster_installed
	@packaging/package.sh

test: test-build ## every test that this machine can run; says what it skipped
	@ctest --preset release -j $(TEST_JOBS); status=$$?; \
	  tools/skipped.py $(RELEASE)/Testing/Temporary/LastTest.log && exit $$status

test-all: ## installs what the skipped tests need, then runs every test
	@tools/setup.sh tools/packages-ci.txt tools/packages-docs.txt
	@tools/bare_root.sh
	@$(MAKE) package
	@tools/test_env.sh run $(MAKE) test

test-build: setup build/.made $(RELEASE)/build.ninja
	@cmake --build --preset release -j $(JOBS)

lint: setup build/.made ## format, includes, shell; clang-tidy on what changed
	@tools/lint.sh

lint-all: setup build/.made ## the same, and clang-tidy and headers of every file
	@tools/lint.sh --all

docs: build ## the generated pages of docs/reference, and the site: build/site
	@tools/setup.sh tools/packages-docs.txt
	@cmake --build --preset release -j $(JOBS) --target resolve_reference
	@tools/docs.sh
	@tools/docs_site.py

asan tsan: %: %-build ## the rooms that CMakePresets.json names, sanitized
	@ctest --preset $@ -j $(TEST_JOBS)

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
