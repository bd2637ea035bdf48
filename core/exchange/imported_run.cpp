#include "core/exchange/detail/imported_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/data/input_file.h"
#include "core/exchange/detail/number_text.h"
#include "core/filter/values.h"
#include "core/store/run_store.h"
#include "core/telemetry/series_info.h"

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

/// Ascending; of several points at one step the last one.
void put_in_order(std::vector<store::Point>& points) {
  const auto same_step = [](const store::Point& a, const store::Point& b) { return a.step == b.step; };
  const auto earlier = [](const store::Point& a, const store::Point& b) { return a.step < b.step; };
  if (!std::is_sorted(points.begin(), points.end(), earlier))
    std::stable_sort(points.begin(), points.end(), earlier);
  const auto kept = std::unique(points.rbegin(), points.rend(), same_step);
  points.erase(points.begin(), kept.base());
}

} // namespace

std::string digest(std::string_view text) {
  constexpr std::uint64_t basis = 0xcbf29ce484222325;
  const std::uint64_t first = fnv(text, basis);
  return fmt::format("{:016x}{:016x}", first, fnv(text, first ^ 0x9e3779b97f4a7c15));
}

std::ifstream opened(const std::filesystem::path& file, std::ios::openmode mode) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) ? std::ifstream(file, std::ios::binary | mode)
                                                         : std::ifstream();
}

std::string first_bytes(const std::filesystem::path& file, std::size_t count) {
  std::ifstream in = opened(file);
  std::string text(count, '\0');
  in.read(text.data(), static_cast<std::streamsize>(count));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

std::string last_lines(const std::filesystem::path& file, std::size_t most_bytes) {
  std::ifstream in = opened(file, std::ios::ate);
  if (!in.is_open())
    return {};
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0));
  const std::uint64_t count = std::min<std::uint64_t>(size, most_bytes);
  in.seekg(static_cast<std::streamoff>(size - count));
  std::string text(count, '\0');
  in.read(text.data(), static_cast<std::streamsize>(count));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  const std::size_t end = text.find('\n');
  return count < size && end != std::string::npos ? text.substr(end + 1) : text;
}

std::string text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::file_size(file, ignored) == 0 ? std::string() : data::read_text_file(file.string());
}

std::optional<double> number_in(std::string_view text) {
  return filter::value_of(telemetry::ValueKind::number, text);
}

std::string with_quoted_numbers(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size());
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text && text[i] == '\\') {
      quoted += text.substr(i++, 2);
      continue;
    }
    if (text[i] == '"')
      in_text = !in_text;
    std::string_view replaced;
    for (const std::string_view word : {"NaN", "-Infinity", "Infinity"})
      if (!in_text && replaced.empty() && text.substr(i).starts_with(word))
        replaced = word;
    if (replaced.empty()) {
      quoted += text[i];
    } else {
      quoted += fmt::format("\"{}\"", replaced);
      i += replaced.size() - 1;
    }
  }
  return quoted;
}

Json read_python_json(std::string_view text) {
  constexpr int deepest = 64; // what is deeper would be visited by functions that call themselves
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      in_text = !in_text;
    else if (!in_text && (text[i] == '[' || text[i] == '{') && ++depth > deepest)
      return Json::value_t::discarded;
    else if (!in_text && (text[i] == ']' || text[i] == '}'))
      --depth;
  }
  return parse_json_or_discard(with_quoted_numbers(text));
}

Json value_of_text(const std::string& text) {
  const auto number = number_in(text);
  return number ? json_of_number(*number) : Json(text);
}

std::string series_name(const std::string& name, const ImportOptions& options) {
  if (const auto given = options.names.find(name); given != options.names.end())
    return given->second;
  return telemetry::usual_series_name(name);
}

std::string name_of_loss(const std::function<bool(const std::string&)>& has_series) {
  if (!has_series("loss"))
    for (const char* name : {"train_loss", "train_loss_step"})
      if (has_series(name))
        return name;
  return {};
}

bool is_training_loss(const std::string& series) {
  return series == "loss" || series == "train_loss" || series == "train_loss_step";
}

ImportedRun::ImportedRun(const std::string& from, const std::filesystem::path& file, std::string_view identity,
                         store::CompleteRun::Update update) {
  run_.uid = digest(fmt::format("{}\n{}", from, identity));
  run_.update = update;
  run_.name = file.filename().string();
  run_.started = utc_text(modified(file));
  settings_["imported_from"] = from;
  settings_["file"] = file.filename().string();
}

void ImportedRun::set_started(double unix_seconds) {
  started_ = unix_seconds;
  run_.started = utc_text(unix_seconds);
}

void ImportedRun::set_status(telemetry::RunStatus status, const std::string& reason) {
  status_ = status;
  run_.outcome.reason = reason;
}

void ImportedRun::set_setting(const std::string& key, const Json& value) {
  if (key != "imported_from" && key != "file")
    settings_[key] = value;
}

void ImportedRun::add_settings(const Json& object, const std::string& prefix) {
  if (!object.is_object())
    return;
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + key;
    if (value.is_object())
      add_settings(value, name + ".");
    else if (value.is_array())
      set_setting(name, json_text(value));
    else if (!value.is_null())
      set_setting(name, value);
  }
}

void ImportedRun::add_tag(const std::string& text) {
  if (const std::string tag = one_line(text); !tag.empty() && store::is_tag(tag))
    run_.tags.push_back(tag);
}

void ImportedRun::set_output(const std::string& tail, const std::filesystem::path& file) {
  // Their bytes may be no UTF-8, and their first character cut.
  const std::string text = Json::parse(json_text(Json(tail))).get<std::string>();
  run_.events = {{.body = telemetry::ProgramOutput{.tail = text, .file = file.string()}}};
}

void ImportedRun::add(const std::string& series, std::int64_t step, double value) {
  if (series.empty())
    return;
  series_[series].push_back({step, value});
  last_step_ = std::max(last_step_, step);
}

void ImportedRun::sample(const std::string& series, double unix_seconds, double value) {
  if (!series.empty())
    samples_[series].push_back({unix_seconds, value});
}

void ImportedRun::place_samples() {
  std::sort(reached_.begin(), reached_.end());
  for (auto& [name, samples] : samples_) {
    std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.time < b.time; });
    std::vector<store::Point>& points = series_[name];
    for (const Sample& sample : samples) {
      const auto after = std::upper_bound(
          reached_.begin(), reached_.end(), sample.time,
          [](double time, const std::pair<double, std::int64_t>& reached) { return time < reached.first; });
      const std::int64_t number = &sample - samples.data();
      points.push_back({reached_.empty()            ? number
                        : after == reached_.begin() ? after->second
                                                    : std::prev(after)->second,
                        sample.value});
    }
  }
}

telemetry::RunStatus ImportedRun::status(bool running) const {
  using telemetry::RunStatus;
  if (status_ && *status_ != RunStatus::running)
    return *status_;
  if (running)
    return RunStatus::running;
  // Nobody here knows whether it goes on elsewhere.
  return status_ ? RunStatus::interrupted : RunStatus::finished;
}

void ImportedRun::name_loss(const ImportOptions& options) {
  const std::string name = name_of_loss([&](const std::string& series) {
    return series_.contains(series) && series != kept_name_ && (series == "loss" || !options.names.contains(series));
  });
  if (name.empty())
    return;
  auto series = series_.extract(name);
  series.key() = "loss";
  series_.insert(std::move(series));
}

/// Adds the settings that lists show, under our names.
void ImportedRun::name_settings() {
  const auto name = [this](const char* ours, std::initializer_list<const char*> theirs) {
    for (const char* key : theirs)
      if (const auto found = settings_.find(key); !settings_.contains(ours) && found != settings_.end()) {
        const Json value = *found; // adding a member moves the others
        if (value.is_number())
          settings_[ours] = value;
      }
  };
  name("batch", {"batch_size", "per_device_train_batch_size", "train_batch_size"});
  if (const auto batch = settings_.find("batch"); batch != settings_.end() && number_from_json(*batch) < 1)
    settings_.erase(batch); // it says nothing
  name("lr", {"learning_rate"});
  if (const auto found = series_.find("batch"); found != series_.end() && !settings_.contains("batch")) {
    const auto& points = found->second;
    const double first = points.front().value;
    if (first >= 1 && first == std::floor(first) && first < 1e9 &&
        std::all_of(points.begin(), points.end(), [&](const store::Point& point) { return point.value == first; }))
      settings_["batch"] = static_cast<std::int64_t>(first);
  }
}

void ImportedRun::take_outcome() {
  constexpr double largest = 9e15; // integers are exact up to here
  const auto whole = [](double value) { return value >= 0 && value <= largest ? static_cast<std::int64_t>(value) : 0; };
  const auto last = [this](const char* name) -> std::optional<double> {
    const auto found = series_.find(name);
    return found == series_.end() ? std::nullopt : std::optional(found->second.back().value);
  };
  telemetry::RunOutcome& outcome = run_.outcome;
  outcome.steps = last_step_;
  outcome.loss = last("loss");
  outcome.validation_loss = last("validation_loss");
  outcome.validation_accuracy = last("validation_accuracy");
  outcome.epoch = last("epoch").value_or(0);
  outcome.examples_seen = whole(last("examples_seen").value_or(0));
  outcome.seconds = last("seconds").value_or(started_ && ended_ ? std::max(0.0, *ended_ - *started_) : 0);
  if (const auto found = series_.find("batch"); found != series_.end())
    outcome.batch = whole(found->second.front().value);
  else if (const auto setting = settings_.find("batch"); setting != settings_.end() && setting->is_number())
    outcome.batch = whole(setting->get<double>());
  if (const auto found = series_.find("peak_bytes"); found != series_.end())
    for (const store::Point& point : found->second)
      outcome.peak_bytes = std::max(outcome.peak_bytes, static_cast<std::uint64_t>(whole(point.value)));
  if (outcome.seconds > 0)
    outcome.examples_per_second = static_cast<double>(outcome.examples_seen) / outcome.seconds;
}

store::CompleteRun ImportedRun::finish(const ImportOptions& options) {
  place_samples();
  for (auto& [name, points] : series_)
    put_in_order(points);
  name_loss(options);
  name_settings();
  take_outcome();
  run_.outcome.status = status(options.running);
  for (telemetry::Event& event : run_.events) {
    event.step = run_.outcome.steps;
    event.seconds = run_.outcome.seconds;
  }
  run_.spec_json = json_text(settings_);
  for (auto& [name, points] : series_)
    run_.series.emplace_back(name, std::move(points));
  return std::move(run_);
}

std::string damage_remark(const std::filesystem::path& file, std::int64_t records, std::uint64_t first) {
  return fmt::format("{}: damaged records were left out: {}, the first at byte {}", file.string(), records, first);
}

} // namespace batchscope::exchange::detail
