# A thin layer over the CMake presets (CMakePresets.json) and scripts/.
.DEFAULT_GOAL := help
.PHONY: help run test test-python build setup bench science soak screenshots install uninstall format lint clean

export JOBS ?= $(shell nproc)
# Tests wait much of their time, for processes and for what a thread reports.
TEST_JOBS := $(shell expr $(JOBS) + 1)
PREFIX ?= $(HOME)/.local
configure_and_build = cmake --preset $(1) && cmake --build --preset $(1) --parallel $(JOBS)
build_and_run_tests = cmake --build --preset $(1) --parallel $(JOBS) --target tests && ctest --preset $(1) --parallel $(TEST_JOBS)

help:
	@echo 'make run      set up, build, and open the window; without a display, run the demo in the terminal'
	@echo 'make test     set up, build, and test: plain, then under address, undefined and thread sanitizers'
	@echo 'make test-python  test the Python client; with BATCHSCOPE_TEST_PYTHON also with torch and both Trainers'
	@echo 'make build    build build/bin/batchscope (the window) and build/bin/batchscope-cli'
	@echo 'make setup    install missing Debian packages and LibTorch'
	@echo 'make bench    compare speed with PyTorch and what people use; measure store and plan rates'
	@echo 'make science  measure on Fashion-MNIST what is said about batch sizes (about an hour): build/science'
	@echo 'make soak     run the long tests'
	@echo 'make screenshots  save pictures of every page into build/screenshots; with BATCHSCOPE_TEST_PYTHON also of a Trainer'
	@echo 'make install  install into PREFIX (default $(PREFIX), prefixed by DESTDIR);  make uninstall  remove'
	@echo 'make format   run clang-format;  make lint  check with clang-format and clang-tidy'
	@echo 'make clean    remove build/'
	@echo
	@echo 'BATCHSCOPE_TORCH=DIR uses an installed torch folder instead of downloading one.'
	@echo 'BATCHSCOPE_GPU=yes|no downloads the GPU libraries or not (default: only with an NVIDIA driver).'
	@echo 'BATCHSCOPE_PACKAGES=present skips the Debian packages (for another distribution that has them).'
	@echo 'BATCHSCOPE_TEST_PYTHON=FILE is a Python with torch that bench compares with, and in which test-python tests'
	@echo '    the client; for both it needs transformers, accelerate and lightning, too; wandb, tensorboard and mlflow'
	@echo '    are compared with if it has them.'
	@echo 'JOBS=n runs n compile jobs in parallel, and n + 1 tests.'

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

test-python:
	PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover --start-directory tests/python
	@if [ -n "$$BATCHSCOPE_TEST_PYTHON" ]; then PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
	"$$BATCHSCOPE_TEST_PYTHON" -m unittest discover --start-directory tests/python/with_torch; \
	else echo 'Skipped tests/python/with_torch: set BATCHSCOPE_TEST_PYTHON to a Python with torch'; fi

install: build
	@scripts/install install "$(PREFIX)"

uninstall:
	@scripts/install uninstall "$(PREFIX)"

soak: build
	cmake --build --preset release --parallel $(JOBS) --target tests
	ctest --preset soak --parallel $(TEST_JOBS)
	$(call configure_and_build,asan)
	cmake --build --preset asan --parallel $(JOBS) --target tests
	ctest --preset asan-long --parallel $(TEST_JOBS)

bench: build
	cmake --build --preset release --parallel $(JOBS) --target batchscope_bench
	GOMP_SPINCOUNT=10000 build/bin/batchscope_bench
	@if [ -n "$$BATCHSCOPE_TEST_PYTHON" ]; then "$$BATCHSCOPE_TEST_PYTHON" tests/bench/python_twin.py && \
	"$$BATCHSCOPE_TEST_PYTHON" tests/bench/finder_twin.py && \
	"$$BATCHSCOPE_TEST_PYTHON" tests/bench/program_finder_twin.py && \
	"$$BATCHSCOPE_TEST_PYTHON" tests/bench/program_cost.py; \
	else echo 'No comparison with PyTorch: set BATCHSCOPE_TEST_PYTHON to a Python with torch'; fi

science: build
	@scripts/setup-packages science
	@scripts/science build/science

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
