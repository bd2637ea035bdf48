#include "core/run/made_with.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/run/environment.h"

namespace batchscope::run {

std::string made_with(const std::string& environment_json, const RunStart& start) {
  const std::string environment = environment_text(environment_json);
  if (!start.program)
    return start.card.empty() ? environment : fmt::format("{}, {}", environment, start.card);
  const ProgramStart& program = *start.program;
  std::vector<std::string> parts;
  if (!program.framework.empty())
    parts.push_back(program.framework);
  if (!program.torch.empty())
    parts.push_back(fmt::format("PyTorch {}", program.torch));
  if (!program.device.empty())
    parts.push_back(fmt::format("device {}", program.device));
  return fmt::format("{}{}{}", environment, environment.empty() || parts.empty() ? "" : "; ", fmt::join(parts, ", "));
}

} // namespace batchscope::run
