# A thin layer over the CMake presets (CMakePresets.json) and scripts/.
.DEFAULT_GOAL := help
.PHONY: help run test test-python test-pretended-gpu test-gpu build setup bench science soak docs reference screenshots install uninstall format lint clean

export JOBS ?= $(shell nproc)
# Tests wait much of their time, for processes and for what a thread reports.
TEST_JOBS := $(shell expr $(JOBS) + 1)
PREFIX ?= $(HOME)/.local
configure_build_and_test = cmake --preset $(1) && \
  cmake --build --preset $(1) --parallel $(JOBS) --target $(2) && ctest --preset $(3) --parallel $(TEST_JOBS)

help:
	@echo 'make run      set up, build, and open the window; without a display, run the demo in the terminal'
	@echo 'make test     set up, build, and test: plain, then under address, undefined and thread sanitizers'
	@echo 'make test-python  set up, build, and run the tests of the Python client, with torch and both Trainers'
	@echo 'make test-pretended-gpu  set up, build, and run the tests on pretended GPUs, with LibTorch'\''s CUDA part'
	@echo 'make test-gpu  set up, build, and check an NVIDIA GPU in about 10 minutes: build/gpu-report, to be read or sent in;'
	@echo '    programs in Python with BATCHSCOPE_TEST_PYTHON or a python3 that has torch for the GPU'
	@echo 'make build    build build/bin/batchscope (the window) and build/bin/batchscope-cli'
	@echo 'make setup    install missing Debian packages and LibTorch'
	@echo 'make bench    compare speed with PyTorch and what people use; measure store and plan rates'
	@echo 'make science  measure on Fashion-MNIST what is said about batch sizes (about an hour): build/science'
	@echo 'make soak     run the long tests'
	@echo 'make screenshots  save pictures of every page into build/screenshots; with BATCHSCOPE_TEST_PYTHON also of a Trainer'
	@echo 'make docs     the manual as HTML: build/docs;  make reference  write docs/reference.md anew'
	@echo 'make install  install into PREFIX (default $(PREFIX), prefixed by DESTDIR);  make uninstall  remove'
	@echo 'make format   run clang-format, sort imports;  make lint  check with clang-format, clang-tidy, ruff and mypy'
	@echo 'make clean    remove build/'
	@echo
	@echo 'BATCHSCOPE_TORCH=DIR uses an installed torch folder instead of downloading one.'
	@echo 'BATCHSCOPE_GPU=yes|no downloads the GPU libraries or not (default: only with an NVIDIA driver).'
	@echo 'BATCHSCOPE_PACKAGES=present skips the Debian packages (for another distribution that has them).'
	@echo 'BATCHSCOPE_TEST_PYTHON=FILE is a Python with torch, transformers, accelerate and lightning for tests and bench'
	@echo '    instead of the one that test, test-python, soak and bench download (0.7 GB, without GPU libraries); bench'
	@echo '    compares with wandb, tensorboard and mlflow if it has them.'
	@echo 'JOBS=n runs n compile jobs in parallel, and n + 1 tests.'

setup:
	@scripts/setup

build: setup
	cmake --preset release && cmake --build --preset release --parallel $(JOBS)

run: build
	@if build/bin/batchscope --check-display; then build/bin/batchscope; else build/bin/batchscope-cli demo; fi

test: build test-packages
	$(call configure_build_and_test,release,tests,release)
	$(call configure_build_and_test,asan,tests,asan)
	$(call configure_build_and_test,tsan,tests,tsan)

test-python: build test-packages
	ctest --preset release --parallel $(TEST_JOBS) --tests-regex '^python_'

test-pretended-gpu: build test-packages
	cmake --build --preset release --parallel $(JOBS) --target tests
	ctest --preset release --parallel $(TEST_JOBS) --label-regex '^pretended-gpu$$'

test-gpu: build
	cmake --build --preset release --parallel $(JOBS) --target tests
	python3 tests/gpu/report.py --python "$(or $(BATCHSCOPE_TEST_PYTHON),$(shell command -v python3))"

.PHONY: test-packages
test-packages:
	@scripts/setup-test-python

docs: build
	@scripts/setup-packages docs
	sphinx-build -q -d build/docs-cache docs build/docs

reference: build
	build/bin/batchscope-cli reference > docs/reference.md

install: build
	@$(MAKE) --no-print-directory docs || \
	  echo 'Without the manual as HTML, which needs Sphinx with MyST (Debian: python3-myst-parser).'
	@scripts/install install "$(PREFIX)"

uninstall:
	@scripts/install uninstall "$(PREFIX)"

soak: build test-packages
	$(call configure_build_and_test,release,tests,soak)
	$(call configure_build_and_test,asan,tests long_tests,asan-long)

bench: build test-packages
	cmake --build --preset release --parallel $(JOBS) --target batchscope_bench
	GOMP_SPINCOUNT=10000 build/bin/batchscope_bench
	scripts/test-python tests/bench/python_twin.py
	scripts/test-python tests/bench/finder_twin.py
	scripts/test-python tests/bench/program_finder_twin.py
	scripts/test-python tests/bench/program_finders.py class_weights moved accelerated trainer_class_weights lightning_plain
	scripts/test-python tests/bench/loader_twin.py
	scripts/test-python tests/bench/program_cost.py
	scripts/test-python tests/bench/card_predictions.py

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
	@scripts/setup-lint-python

clean:
	rm -rf build
