#include "ui/texts/oom_details.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace batchscope::ui {

namespace {

std::uint64_t bytes_in(const QJsonObject& detail, const QString& name) {
  return static_cast<std::uint64_t>(std::max(0.0, detail.value(name).toDouble()));
}

} // namespace

std::uint64_t OomDetails::short_by() const {
  const std::uint64_t wanted = in_use_bytes + requested_bytes;
  return limit_bytes > 0 && wanted > limit_bytes ? wanted - limit_bytes : 0;
}

std::optional<OomDetails> oom_details(const telemetry::Event& event) {
  if (event.kind != "oom")
    return std::nullopt;
  const QJsonObject detail = QJsonDocument::fromJson(QByteArray::fromStdString(event.detail_json)).object();
  OomDetails result;
  result.step = event.step;
  result.attempted = detail.value("attempted_batch").toInteger();
  result.requested_bytes = bytes_in(detail, "requested_bytes");
  result.in_use_bytes = bytes_in(detail, "in_use_bytes");
  result.limit_bytes = bytes_in(detail, "limit_bytes");
  if (const QJsonObject by = detail.value("in_use_by").toObject(); !by.isEmpty()) {
    result.in_use_by.emplace();
    for (int use = 0; use < telemetry::use_count; ++use)
      (*result.in_use_by)[use] = bytes_in(by, telemetry::to_string(static_cast<telemetry::Use>(use)));
  }
  result.phase = detail.value("phase").toString().replace('_', ' ');
  result.cause = detail.value("cause").toString();
  result.action = detail.value("action").toString();
  result.parts_before = std::max<std::int64_t>(1, detail.value("micro_batches_before").toInteger(1));
  result.parts_after = std::max<std::int64_t>(1, detail.value("micro_batches_after").toInteger(1));
  result.size_after = detail.value("micro_batch_after").toInteger();
  result.examples_again = detail.value("examples_again").toInteger();
  if (!detail.contains("micro_batches_after") && result.size_after > 0)
    result.end = OomDetails::End::evaluation_shrunk;
  else if (result.parts_after > result.parts_before)
    result.end = OomDetails::End::run_in_parts;
  return result;
}

} // namespace batchscope::ui
