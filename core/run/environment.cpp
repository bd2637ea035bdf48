#include "core/run/environment.h"

#include <fmt/format.h>

#include "core/base/host.h"
#include "core/base/json.h"

namespace batchscope::run {

namespace {

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

} // namespace

Environment environment_here() {
  Environment environment;
  environment.program = BATCHSCOPE_VERSION;
  environment.cpu = processor_name();
  return environment;
}

std::string to_json(const Environment& environment) {
  return json_text({{"program", or_null(environment.program)},
                    {"libtorch", or_null(environment.libtorch)},
                    {"device", or_null(environment.device)},
                    {"driver", or_null(environment.driver)},
                    {"cpu", or_null(environment.cpu)},
                    {"threads", environment.threads > 0 ? Json(environment.threads) : Json(nullptr)},
                    {"seed", environment.seed},
                    {"data_checksum", or_null(environment.data_checksum)}});
}

std::string environment_text(const std::string& json) {
  const Json environment = parse_json_or_discard(json);
  if (!environment.is_object())
    return {};
  std::string text;
  const auto add = [&](const char* key, const char* before, const char* after = "") {
    const auto found = environment.find(key);
    if (found == environment.end() || found->is_null())
      return;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", before,
                        found->is_string() ? found->get<std::string>() : json_text(*found), after);
  };
  add("program", "BatchScope ");
  add("libtorch", "LibTorch ");
  add("device", "");
  add("driver", "driver ");
  if (environment.value("cpu", Json()) != environment.value("device", Json()))
    add("cpu", "");
  add("threads", "", environment.value("threads", Json()) == 1 ? " thread" : " threads");
  add("data_checksum", "data CRC-32C ");
  return text;
}

} // namespace batchscope::run
