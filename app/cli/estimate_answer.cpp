#include "app/cli/estimate_answer.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/output.h"
#include "core/base/text.h"

namespace batchscope::cli {

using estimate::Estimate;
using estimate::Target;
using estimate::Training;
using estimate::Transformer;

Json json_of(const Estimate& estimate, std::optional<std::int64_t> max_batch) {
  const auto bytes = [](double value) { return json_number(std::round(value)); };
  Json json{{"parameters_bytes", bytes(estimate.parameters)},
            {"gradients_bytes", bytes(estimate.gradients)},
            {"optimizer_bytes", bytes(estimate.optimizer)},
            {"activations_bytes", bytes(estimate.activations)},
            {"total_bytes", bytes(estimate.total())}};
  json["max_batch"] = max_batch ? Json(*max_batch) : Json(nullptr);
  return json;
}

Json json_of(const Target& target) {
  Json json{{"name", target.name.empty() ? Json(nullptr) : Json(target.name)},
            {"memory_bytes", target.memory_bytes},
            {"reserve_bytes", target.overhead_bytes},
            {"usable_bytes", target.usable_bytes()}};
  if (!target.name.empty()) {
    json["not_included"] = Json::array();
    for (const estimate::NotIncluded& each : estimate::not_included(target))
      json["not_included"].push_back({{"what", each.what}, {"left_bytes", each.left_bytes}});
  }
  return json;
}

Json room_json(std::int64_t batch, const std::vector<estimate::Growth>& growth,
               const std::vector<estimate::Saving>& savings) {
  Json room{{"batch", batch}, {"growth", Json::object()}, {"savings", Json::array()}};
  for (const estimate::Growth& each : growth)
    room["growth"][each.dimension] = {{"now", each.now}, {"largest", each.largest}};
  for (const estimate::Saving& each : savings)
    room["savings"].push_back({{"change", each.name},
                               {"title", each.title},
                               {"method", each.by_formula ? "formula" : "dry-run"},
                               {"total_bytes", json_number(std::round(each.total_bytes))},
                               {"max_batch", each.max_batch}});
  return room;
}

Json json_of(const run::MemoryPrediction& prediction, std::int64_t batch, std::optional<std::int64_t> max_batch) {
  const predict::PeakCurve::Point point = prediction.at(batch);
  Json by = Json::object();
  for (int use = 0; use < telemetry::use_count; ++use)
    by[telemetry::to_string(static_cast<telemetry::Use>(use))] = point.by[static_cast<std::size_t>(use)];
  Json json{{"method", "dry-run"},
            {"parameters", prediction.parameters},
            {"batch", batch},
            {"parameters_bytes", by["parameters"]},
            {"gradients_bytes", by["gradients"]},
            {"optimizer_bytes", by["optimizer"]},
            {"activations_bytes", by["activations"].get<std::uint64_t>() + by["workspace"].get<std::uint64_t>() +
                                      by["batch"].get<std::uint64_t>()},
            {"total_bytes", point.bytes},
            {"by", by}};
  json["max_batch"] = max_batch ? Json(*max_batch) : Json(nullptr);
  return json;
}

void add_formulas(Json& answer, const Transformer& model, const Training& training, const std::optional<Target>& target,
                  bool main) {
  const auto largest = [&](Estimate (*by)(const Transformer&, const Training&)) {
    return target ? std::optional(max_batch(by, model, training, static_cast<double>(target->usable_bytes())))
                  : std::nullopt;
  };
  Json formula = json_of(by_formula(model, training), largest(estimate::by_formula));
  if (main)
    answer.update(formula);
  else
    answer["formula"] = std::move(formula);
  answer["rule_of_thumb"] = json_of(rule_of_thumb(model, training), largest(estimate::rule_of_thumb));
}

void add_measured(Json& answer, std::uint64_t measured_bytes) {
  const auto add = [&](Json& part) {
    const double error = part["total_bytes"].get<double>() / static_cast<double>(measured_bytes) - 1;
    part["error"] = json_number(five_decimals(error));
  };
  answer["measured_bytes"] = measured_bytes;
  add(answer);
  for (const char* other : {"dry_run", "formula", "rule_of_thumb"}) {
    if (answer.contains(other))
      add(answer[other]);
  }
}

namespace {

std::string bytes_text(const Json& bytes) {
  return bytes.is_number() ? format_bytes(static_cast<std::uint64_t>(bytes.get<double>())) : "-";
}

std::string target_text(const Target& target) {
  if (target.name.empty())
    return format_bytes(target.memory_bytes);
  return fmt::format("{}: a card of {}, of which tensors can use {}", target.name,
                     estimate::card_memory_text(target.memory_bytes), estimate::usable_text(target));
}

std::string method_text(const Json& answer, bool dry, const std::optional<Target>& target) {
  if (!dry)
    return "formulas";
  const Json& run = answer.contains("dry_run") ? answer["dry_run"] : answer;
  if (target && run.contains("reserved_bytes"))
    return fmt::format("steps of the trainer on a pretended {}, its kernels not run; and formulas", target->name);
  const std::string why = text_member(run, "not_on_card");
  return "a dry run of the trainer's own step" + (why.empty() ? "" : " as on cpu (" + why + ")") + ", and formulas";
}

void print_room(const Json& room) {
  const std::string batch = format_count(room["batch"].get<std::int64_t>());
  if (const Json& growth = room["growth"]; !growth.empty()) {
    std::vector<std::string> parts;
    for (const auto& [size, each] : growth.items())
      parts.push_back(fmt::format("{} up to {} (now {})", size, format_count(each["largest"].get<std::int64_t>()),
                                  format_count(each["now"].get<std::int64_t>())));
    print(facts(
        {{"room to grow", fmt::format("at batch size {}, changing only one: {}", batch, fmt::join(parts, "; "))}}));
  }
  if (const Json& savings = room["savings"]; !savings.empty()) {
    Table table({{"with one change", Table::Align::left},
                 {"total at batch size " + batch},
                 {"largest batch"},
                 {"method", Table::Align::left}});
    for (const Json& each : savings)
      table.add({each["title"].get<std::string>(), bytes_text(each["total_bytes"]),
                 format_count(each["max_batch"].get<std::int64_t>()), each["method"].get<std::string>()});
    print(table.text(Palette::for_stdout()));
  }
}

} // namespace

void print_answer(const Json& answer, std::int64_t batch, const std::optional<Target>& target, const Context& context) {
  if (context.json) {
    print_json(answer);
    return;
  }
  std::vector<std::pair<std::string, std::string>> rows{{"batch size", format_count(batch)}};
  if (answer.contains("parameters"))
    rows.emplace_back("parameters", format_count(std::llround(answer["parameters"].get<double>())));
  if (target)
    rows.emplace_back("fit into", target_text(*target));
  if (answer.contains("reserved_bytes"))
    rows.emplace_back("reserved by the allocator",
                      fmt::format("{} ({:.1f} % unused) at {}", bytes_text(answer["reserved_bytes"]),
                                  100 * answer["fragmentation"].get<double>(),
                                  answer["max_batch"] == 0 ? "batch size 1, which does not fit" : "the largest batch"));
  if (answer.contains("measured_bytes"))
    rows.emplace_back("measured", bytes_text(answer["measured_bytes"]));
  const bool dry = answer["method"] == "dry-run" || answer.contains("dry_run");
  rows.emplace_back("method", method_text(answer, dry, target) + "; see docs/fit.md");
  if (target && dry && !target->name.empty())
    rows.emplace_back("not included", estimate::not_included_text(*target));
  print(facts(rows));
  std::vector<Table::Column> columns{{"method", Table::Align::left},
                                     {"weights"},
                                     {"gradients"},
                                     {"optimizer"},
                                     {"activations"},
                                     {"total"},
                                     {"largest batch"}};
  if (answer.contains("measured_bytes"))
    columns.push_back({"error"});
  Table table(columns);
  const auto add = [&](const std::string& name, const Json& row) {
    std::vector<std::string> cells{name};
    for (const char* part : {"parameters", "gradients", "optimizer", "activations", "total"})
      cells.push_back(bytes_text(row[std::string(part) + "_bytes"]));
    cells.push_back(row["max_batch"].is_number() ? format_count(row["max_batch"].get<std::int64_t>()) : "-");
    if (row.contains("error"))
      cells.push_back(fmt::format("{:+.1f} %", 100 * row["error"].get<double>()));
    table.add(cells);
  };
  add(answer["method"].get<std::string>(), answer);
  if (answer.contains("dry_run"))
    add("dry-run", answer["dry_run"]);
  if (answer.contains("formula"))
    add("formula", answer["formula"]);
  if (answer.contains("rule_of_thumb"))
    add("rule of thumb", answer["rule_of_thumb"]);
  print(table.text(Palette::for_stdout()));
  if (answer.contains("room"))
    print_room(answer["room"]);
}

} // namespace batchscope::cli
