#include "core/exchange/detail/imported_run.h"

#include <chrono>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "core/base/utc.h"

namespace batchscope::exchange::detail {

namespace {

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t fnv(std::string_view text, std::uint64_t basis) {
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t hash = basis;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

double modified(const std::filesystem::path& file) {
  std::error_code problem;
  const auto time = std::filesystem::last_write_time(file, problem);
  if (problem)
    return 0;
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration<double>(system.time_since_epoch()).count();
}

} // namespace

std::string digest(std::string_view text) {
  constexpr std::uint64_t basis = 0xcbf29ce484222325;
  const std::uint64_t first = fnv(text, basis);
  return fmt::format("{:016x}{:016x}", first, fnv(text, first ^ 0x9e3779b97f4a7c15));
}

std::string first_bytes(const std::filesystem::path& file, std::size_t count) {
  std::ifstream in(file, std::ios::binary);
  std::string text(count, '\0');
  in.read(text.data(), static_cast<std::streamsize>(count));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

ImportedRun::ImportedRun(const std::string& from, const std::filesystem::path& file, std::string_view identity) {
  run_.uid = digest(fmt::format("{}\n{}", from, identity));
  run_.name = file.filename().string();
  run_.started = utc_text(modified(file));
  settings_["imported_from"] = from;
  settings_["file"] = file.filename().string();
}

void ImportedRun::set_started(double unix_seconds) {
  run_.started = utc_text(unix_seconds);
}

store::CompleteRun ImportedRun::finish() {
  const auto last = [this](const char* name) -> std::optional<double> {
    const auto found = series_.find(name);
    return found == series_.end() ? std::nullopt : std::optional(found->second.rbegin()->second);
  };
  const auto whole = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? static_cast<std::int64_t>(*value) : 0;
  };
  telemetry::RunOutcome& outcome = run_.outcome;
  outcome.status = telemetry::RunStatus::finished;
  for (const auto& [name, points] : series_)
    outcome.steps = std::max(outcome.steps, points.rbegin()->first);
  outcome.loss = last("loss");
  outcome.validation_loss = last("validation_loss");
  outcome.validation_accuracy = last("validation_accuracy");
  outcome.epoch = last("epoch").value_or(0);
  outcome.examples_seen = whole(last("examples_seen"));
  outcome.seconds = last("seconds").value_or(0);
  if (const auto found = series_.find("batch"); found != series_.end())
    outcome.batch = whole(found->second.begin()->second);
  if (const auto found = series_.find("peak_bytes"); found != series_.end())
    for (const auto& [step, bytes] : found->second)
      outcome.peak_bytes = std::max(outcome.peak_bytes, static_cast<std::uint64_t>(std::max(bytes, 0.0)));
  if (outcome.seconds > 0)
    outcome.examples_per_second = static_cast<double>(outcome.examples_seen) / outcome.seconds;
  run_.spec_json = json_text(settings_);
  for (const auto& [name, points] : series_) {
    std::vector<store::Point> list;
    for (const auto& [step, value] : points)
      list.push_back({step, value});
    run_.series.emplace_back(name, std::move(list));
  }
  return std::move(run_);
}

} // namespace batchscope::exchange::detail
