#include "core/run/run_summary.h"

#include <array>
#include <utility>

#include "core/base/error.h"

namespace batchscope::run {

namespace {

constexpr std::array<std::pair<Status, const char*>, 6> statuses = {{{Status::queued, "queued"},
                                                                     {Status::running, "running"},
                                                                     {Status::finished, "finished"},
                                                                     {Status::stopped, "stopped"},
                                                                     {Status::failed, "failed"},
                                                                     {Status::interrupted, "interrupted"}}};

} // namespace

std::string to_string(Status status) {
  for (const auto& [known, name] : statuses) {
    if (known == status)
      return name;
  }
  return "unknown";
}

Status status_from(const std::string& text) {
  for (const auto& [status, name] : statuses) {
    if (text == name)
      return status;
  }
  throw input_error("unknown status '" + text + "'; accepted: queued, running, finished, stopped, failed, interrupted");
}

} // namespace batchscope::run
