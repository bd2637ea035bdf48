# A thin layer over the CMake presets (CMakePresets.json) and scripts/.
.DEFAULT_GOAL := help
.PHONY: help run test build setup bench soak screenshots install uninstall format lint clean

export JOBS ?= $(shell nproc)
PREFIX ?= $(HOME)/.local
configure_and_build = cmake --preset $(1) && cmake --build --preset $(1) --parallel $(JOBS)
build_and_run_tests = cmake --build --preset $(1) --parallel $(JOBS) --target tests && ctest --preset $(1) --parallel $(JOBS)

help:
	@echo 'make run      set up, build, and open the window; without a display, do the main job in the terminal'
	@echo 'make test     set up, build, and test: plain, then under address, undefined and thread sanitizers'
	@echo 'make build    build/bin/batchscope (the window) and build/bin/batchscope-cli'
	@echo 'make setup    install what is missing: Debian packages, LibTorch'
	@echo 'make bench    ratios against plain PyTorch and a bare LibTorch loop, store and plan rates'
	@echo 'make soak     the long tests'
	@echo 'make screenshots  pictures of every page with real runs, into build/screenshots'
	@echo 'make install  into PREFIX (default $(PREFIX), DESTDIR before it);  make uninstall  out again'
	@echo 'make format   clang-format;  make lint  clang-format and clang-tidy as checks'
	@echo 'make clean    remove build/'
	@echo
	@echo 'BATCHSCOPE_TORCH=DIR takes an installed torch folder instead of loading one.'
	@echo 'BATCHSCOPE_GPU=yes|no loads the GPU libraries or not, whether an NVIDIA driver is found or not.'
	@echo 'BATCHSCOPE_PACKAGES=present skips the Debian packages (another distribution that has them).'
	@echo 'BATCHSCOPE_TEST_PYTHON=FILE is a Python with torch, which bench compares with.'
	@echo 'JOBS=n compiles and tests n at a time.'

setup:
	@scripts/setup

build: setup
	$(call configure_and_build,release)

run: build
	@if build/bin/batchscope --check-display; then build/bin/batchscope; else build/bin/batchscope-cli demo; fi

test: build
	$(call build_and_run_tests,release)
	$(call configure_and_build,asan)
	$(call build_and_run_tests,asan)
	$(call configure_and_build,tsan)
	$(call build_and_run_tests,tsan)

install: build
	@scripts/install into "$(PREFIX)"

uninstall:
	@scripts/install out-of "$(PREFIX)"

soak: build
	cmake --build --preset release --parallel $(JOBS) --target tests
	ctest --preset soak --parallel $(JOBS)

bench: build
	cmake --build --preset release --parallel $(JOBS) --target batchscope_bench
	GOMP_SPINCOUNT=10000 build/bin/batchscope_bench
	@if [ -n "$$BATCHSCOPE_TEST_PYTHON" ]; then "$$BATCHSCOPE_TEST_PYTHON" tests/bench/python_twin.py; \
	else echo 'No comparison with PyTorch: BATCHSCOPE_TEST_PYTHON names no Python with torch'; fi

screenshots: build
	cmake --build --preset release --parallel $(JOBS) --target batchscope_screenshots
	QT_QPA_PLATFORM=offscreen QT_SCALE_FACTOR=1 build/bin/batchscope_screenshots build/screenshots ''
	QT_QPA_PLATFORM=offscreen QT_SCALE_FACTOR=2 build/bin/batchscope_screenshots build/screenshots -2x

format: lint-tools
	scripts/lint format

lint: setup lint-tools
	scripts/lint check

.PHONY: lint-tools
lint-tools:
	@scripts/setup-packages lint

clean:
	rm -rf build
