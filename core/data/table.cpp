#include "core/data/table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/data/sources.h"
#include "core/data/split.h"

namespace batchscope::data {

namespace {

class TableDataset : public Dataset {
public:
  TableDataset(std::shared_ptr<const Table> table, std::vector<std::int64_t> rows)
      : table_(std::move(table)), rows_(std::move(rows)) {
    shape_.input = table_->dimensions.size() == 3 ? ExampleShape::Input::image : ExampleShape::Input::features;
    shape_.target = table_->classes > 0 ? ExampleShape::Target::classes : ExampleShape::Target::number;
    shape_.dimensions = table_->dimensions;
    shape_.classes = table_->classes;
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  const ExampleShape& shape() const override { return shape_; }
  const std::vector<std::string>* class_names() const override { return &table_->class_names; }
  BatchLayout layout(std::span<const std::int64_t> indices) const override { return layout_without_length(indices); }
  void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const override {
    const std::int64_t width = table_->width();
    for (const std::int64_t index : indices) {
      const float* from = table_->values.data() + rows_[static_cast<std::size_t>(index)] * width;
      inputs = std::copy(from, from + width, inputs);
    }
  }
  void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const override {
    if (table_->classes == 0)
      return Dataset::fill_labels(indices, length, labels);
    for (const std::int64_t index : indices)
      *labels++ = table_->labels[static_cast<std::size_t>(rows_[static_cast<std::size_t>(index)])];
  }
  void fill_numbers(std::span<const std::int64_t> indices, float* numbers) const override {
    if (table_->classes > 0)
      return Dataset::fill_numbers(indices, numbers);
    for (const std::int64_t index : indices)
      *numbers++ = table_->numbers[static_cast<std::size_t>(rows_[static_cast<std::size_t>(index)])];
  }

private:
  std::shared_ptr<const Table> table_;
  std::vector<std::int64_t> rows_;
  ExampleShape shape_;
};

/// Values of an example that are standardized together: those of a channel, else one.
std::size_t values_together(const Table& table) {
  return table.dimensions.size() == 3 ? static_cast<std::size_t>(table.dimensions[1] * table.dimensions[2]) : 1;
}

void standardize(Table& table, const std::vector<std::int64_t>& train) {
  const std::size_t together = values_together(table);
  const std::size_t groups = static_cast<std::size_t>(table.width()) / together;
  const auto count = static_cast<double>(train.size() * together);
  const auto for_each_of = [&](std::int64_t row, const auto& use) {
    float* value = table.values.data() + row * table.width();
    for (std::size_t group = 0; group < groups; ++group)
      for (std::size_t i = 0; i < together; ++i)
        use(group, *value++);
  };
  std::vector<double> means(groups), scales(groups);
  for (const std::int64_t row : train)
    for_each_of(row, [&](std::size_t group, float value) { means[group] += value / count; });
  for (const std::int64_t row : train)
    for_each_of(row, [&](std::size_t group, float value) {
      scales[group] += (value - means[group]) * (value - means[group]) / count;
    });
  for (std::size_t group = 0; group < groups; ++group) {
    const double deviation = std::sqrt(scales[group]);
    scales[group] = deviation > 1e-12 * (1 + std::abs(means[group])) ? 1 / deviation : 0;
  }
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for_each_of(row, [&](std::size_t group, float& value) {
      value = static_cast<float>((value - means[group]) * scales[group]);
    });
}

} // namespace

std::int64_t Table::width() const {
  return std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Table::rows() const {
  return static_cast<std::int64_t>(values.size()) / width();
}

DataSplit split_table(Table table, double validation) {
  Split split = draw_split(table.rows(), validation);
  standardize(table, split.train);
  const auto shared = std::make_shared<const Table>(std::move(table));
  DataSplit result;
  result.train = std::make_shared<TableDataset>(shared, std::move(split.train));
  if (!split.validation.empty())
    result.validation = std::make_shared<TableDataset>(shared, std::move(split.validation));
  return result;
}

} // namespace batchscope::data
