#include "core/telemetry/describe.h"

#include "core/telemetry/detail/descriptions.h"

namespace batchscope::telemetry {

Description describe(const Event& event) {
  Description description = std::visit([](const auto& body) { return description_of(body); }, event.body);
  if (description.sentence.empty())
    description.sentence.push_back(description.title);
  return description;
}

} // namespace batchscope::telemetry
