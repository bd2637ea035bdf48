#include "core/base/utc.h"

#include <cmath>
#include <ctime>

namespace batchscope {

std::string utc_text(double unix_seconds) {
  const auto seconds = static_cast<std::time_t>(std::isfinite(unix_seconds) ? unix_seconds : 0);
  std::tm time{};
  ::gmtime_r(&seconds, &time);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &time);
  return text;
}

std::string utc_now() {
  return utc_text(static_cast<double>(std::time(nullptr)));
}

double unix_seconds(const std::string& utc) {
  std::tm time{};
  return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &time) ? static_cast<double>(::timegm(&time)) : 0;
}

} // namespace batchscope
