#include "core/store/list_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/store/detail/list_columns.h"
#include "core/store/run_fields.h"

namespace batchscope::store {

namespace {

class RunValues final : public filter::Values {
public:
  explicit RunValues(const RunRow& run) : run_(run) {}
  std::optional<double> number(std::size_t field) const override {
    return field < run_fields().size() ? run_fields()[field].number(run_)
                                       : detail::number_of(run_.more[field - run_fields().size()]);
  }
  std::optional<std::string> text(std::size_t field) const override {
    return field < run_fields().size() ? run_fields()[field].text(run_)
                                       : detail::text_of(run_.more[field - run_fields().size()]);
  }
  std::vector<std::string> texts(std::size_t field) const override { return run_fields()[field].texts(run_); }

private:
  const RunRow& run_;
};

std::vector<filter::Field> make_filter_fields() {
  std::vector<filter::Field> fields;
  for (const RunField& field : run_fields())
    fields.push_back({.name = field.name,
                      .kind = field.kind,
                      .is_text = !field.number,
                      .is_list = static_cast<bool>(field.texts),
                      .short_name = field.short_name,
                      .choices = field.name == "status" ? telemetry::status_names() : std::vector<std::string>{}});
  return fields;
}

const std::vector<filter::Field>& filter_fields() {
  static const std::vector<filter::Field> fields = make_filter_fields();
  return fields;
}

} // namespace

RunFilter parse_list_filter(const std::string& text) {
  return parse_list_filter(text, {});
}

RunFilter parse_list_filter(const std::string& text, const filter::MoreFields& more) {
  filter::MoreFields after = more;
  if (more.find)
    after.find = [&](const std::string& name) {
      const auto index = more.find(name);
      return index ? std::optional(*index + run_fields().size()) : std::nullopt;
    };
  return [condition = filter::parse_condition(text, filter_fields(), "--where", after)](const RunRow& run) {
    return condition(RunValues(run));
  };
}

std::vector<std::string> list_filter_fields() {
  std::vector<std::string> names;
  for (const filter::Field& field : filter_fields())
    names.push_back(field.name);
  return names;
}

std::string list_filter_short_names() {
  std::vector<std::string> names;
  for (const filter::Field& field : filter_fields())
    if (!field.short_name.empty())
      names.push_back(fmt::format("{} for {}", field.short_name, field.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace batchscope::store
