#pragma once

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "core/store/run_store.h"

// So that a comparison that fails shows the texts.
template <> inline char* QTest::toString(const std::string& text) {
  return qstrdup(text.c_str());
}

namespace batchscope::store::test {

/// A folder that is removed with all that is in it.
class Folder {
public:
  std::filesystem::path path() const { return directory_.path().toStdString(); }
  std::filesystem::path file(const std::string& name = "runs.db") const { return path() / name; }

private:
  QTemporaryDir directory_;
};

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Equal, the sign of zero and NaN included.
inline bool same(double a, double b) {
  return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
}

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A record in which every series has a value that follows from the step, so that readers can tell right from wrong.
inline telemetry::StepRecord record_at(std::int64_t step) {
  telemetry::StepRecord record;
  record.step = step;
  record.examples_seen = step * 64;
  record.epoch = static_cast<double>(step) / 100;
  record.train_coverage = static_cast<double>(step % 100) / 100;
  record.batch = 16 + step / 5;
  record.micro_batch = 8;
  record.micro_batches = 4;
  record.accumulate = 2;
  record.effective_batch = 64;
  record.loss = 1 / static_cast<double>(step);
  record.learning_rate = 0.1;
  record.grad_norm = static_cast<double>(step) / 3;
  record.seconds = static_cast<double>(step) / 1000;
  record.allocated_bytes = 1'000'000 + step;
  record.reserved_bytes = 2'000'000;
  record.peak_bytes = 1'500'000 + step % 7;
  return record;
}

inline NewRun new_run(const std::string& name) {
  NewRun run;
  run.name = name;
  run.spec_json = R"({"version":1,"model":"cnn"})";
  return run;
}

inline telemetry::RunOutcome outcome(telemetry::RunStatus status) {
  telemetry::RunOutcome outcome;
  outcome.status = status;
  return outcome;
}

/// As long as it lives, no file of this process can grow beyond `bytes`: a disk that is full there.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN); // the error is what is wanted
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
  rlimit before_{};
};

/// As long as it lives, permissions count: for root they do not, so root becomes `nobody`.
class OrdinaryUser {
public:
  OrdinaryUser() : was_(::geteuid()) {
    if (was_ == 0)
      changed_ = ::seteuid(nobody) == 0;
  }
  ~OrdinaryUser() {
    if (changed_ && ::seteuid(was_) != 0)
      std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  bool is_root() const { return was_ == 0 && !changed_; }

private:
  static constexpr uid_t nobody = 65534;
  uid_t was_;
  bool changed_ = false;
};

/// What `work` throws as one line; empty when it throws nothing. `kind` receives the kind.
template <typename Work> std::string error_of(Work&& work, Error::Kind* kind = nullptr) {
  try {
    work();
  } catch (const Error& error) {
    if (kind)
      *kind = error.kind();
    return error.what();
  }
  return {};
}

} // namespace batchscope::store::test
