#include "ui/live/event_text.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ui/texts/spec_texts.h"
#include "ui/texts/terminal_text.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

class EventTexts {
  Q_DECLARE_TR_FUNCTIONS(batchscope::ui::EventText)
};

QJsonObject detail_of(const telemetry::Event& event) {
  return QJsonDocument::fromJson(QByteArray::fromStdString(event.detail_json)).object();
}

/// Numbers that JSON cannot represent are texts: "NaN", "Infinity", "-Infinity".
double number_in(const QJsonObject& detail, const QString& name) {
  const QJsonValue value = detail.value(name);
  if (value.isDouble())
    return value.toDouble();
  const double infinity = std::numeric_limits<double>::infinity();
  if (value.toString() == "Infinity")
    return infinity;
  return value.toString() == "-Infinity" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

QString count_in(const QJsonObject& detail, const QString& name) {
  return detail.value(name).isDouble() ? format_count(detail.value(name).toInteger()) : QString();
}

EventText out_of_memory(const telemetry::Event& event) {
  const OomDetails details = *oom_details(event);
  EventText text;
  text.alarming = true;
  text.what = details.phase.isEmpty() ? EventTexts::tr("out of memory")
                                      : EventTexts::tr("out of memory (%1)").arg(details.phase);
  text.tried = format_parts(details.parts_before, details.attempted);
  // A program may not know them.
  text.asked = details.requested_bytes > 0 ? format_bytes(static_cast<double>(details.requested_bytes)) : QString();
  text.in_use = details.in_use_bytes > 0 ? format_bytes(static_cast<double>(details.in_use_bytes)) : QString();
  text.action = details.action;
  if (details.end != OomDetails::End::run_failed)
    text.now = format_parts(details.parts_after, details.size_after);
  return text;
}

EventText edit(const QJsonObject& detail) {
  EventText text;
  if (const QString refused = detail.value("refused").toString(); !refused.isEmpty()) {
    text.what = EventTexts::tr("schedule edit refused");
    text.action = refused;
    text.alarming = true;
    return text;
  }
  text.what = EventTexts::tr("schedule edit applied");
  text.tried = count_in(detail, "batch_before");
  text.now = count_in(detail, "batch");
  const QString schedule = short_schedule(detail.value("schedule").toString(), 160);
  const QString from = count_in(detail, "applies_from_step");
  text.action = from.isEmpty() ? schedule : EventTexts::tr("from step %1: %2").arg(from, schedule);
  return text;
}

EventText budget(const QJsonObject& detail) {
  const auto bytes = [&](const char* name) {
    const double value = number_in(detail, name);
    return std::isfinite(value) ? format_bytes(value) : QString();
  };
  EventText text;
  if (const QString refused = detail.value("refused").toString(); !refused.isEmpty()) {
    text.what = EventTexts::tr("memory budget not changed");
    text.asked = bytes("asked_bytes");
    text.action = refused;
    text.alarming = true;
    return text;
  }
  text.what = EventTexts::tr("memory budget changed");
  text.tried = bytes("before_bytes");
  text.now = bytes("budget_bytes");
  text.action = detail.value("message").toString();
  return text;
}

EventText evaluation(const QJsonObject& detail) {
  EventText text;
  text.what = EventTexts::tr("validation");
  QStringList results;
  if (detail.contains("loss"))
    results += EventTexts::tr("loss %1").arg(format_number(number_in(detail, "loss")));
  if (detail.contains("accuracy"))
    results += EventTexts::tr("accuracy %1").arg(format_percent(number_in(detail, "accuracy")));
  text.action = results.join(QStringLiteral(", "));
  return text;
}

/// What works on a program that has connected, by its level.
QString what_works(int level) {
  if (level >= 3)
    return EventTexts::tr("its batch size can be changed, and out of memory costs no example");
  return level == 2 ? EventTexts::tr("its batch size can be changed") : EventTexts::tr("reports its steps");
}

EventText program(const QJsonObject& detail) {
  EventText text;
  text.what = EventTexts::tr("program connected");
  QStringList parts;
  if (const QString framework = detail.value("framework").toString(); !framework.isEmpty())
    parts += framework;
  if (detail.value("level").isDouble())
    parts += what_works(detail.value("level").toInt());
  if (const QString examples = count_in(detail, "examples"); !examples.isEmpty())
    parts += EventTexts::tr("%1 examples").arg(examples);
  const QString given = count_in(detail, "given_batch"); // in place of its own
  text.tried = given.isEmpty() ? QString() : count_in(detail, "batch");
  text.now = given.isEmpty() ? count_in(detail, "batch") : given;
  text.action = parts.join(", ");
  return text;
}

/// How a program's process ended.
EventText exit(const QJsonObject& detail) {
  EventText text;
  text.what = EventTexts::tr("program ended");
  const QString signal = count_in(detail, "signal");
  const QString code = count_in(detail, "exit_code");
  text.action = !signal.isEmpty() ? EventTexts::tr("signal %1").arg(signal)
                : !code.isEmpty() ? EventTexts::tr("exit status %1").arg(code)
                                  : QString();
  text.alarming = !signal.isEmpty() || (!code.isEmpty() && code != "0");
  return text;
}

/// The last lines that a program wrote.
EventText output(const std::string& detail_json) {
  EventText text;
  text.what = EventTexts::tr("last output");
  const QStringList lines = terminal_lines(output_in(detail_json));
  text.action = lines.isEmpty() ? QString() : lines.last();
  text.alarming = true;
  return text;
}

/// An event about a program's conversation with BatchScope, with what it says of it.
std::optional<EventText> of_conversation(const telemetry::Event& event, const QJsonObject& detail) {
  struct Kind {
    const char* name;
    QString what;
    const char* text; ///< the field that says more
    bool alarming = false;
  };
  const Kind kinds[] = {
      {"differs", EventTexts::tr("differs from the plan"), "message"},
      {"protocol", EventTexts::tr("message not understood"), "message", true},
      {"second", EventTexts::tr("second program"), "message"},
      {"silent", EventTexts::tr("no step for a long time"), "message", true},
      {"bye", EventTexts::tr("last word of the program"), "status"},
      {"not-followed", EventTexts::tr("settings not followed"), "message", true},
      {"time-over", EventTexts::tr("time is over"), "message"},
      {"no-bye", EventTexts::tr("ended without a word"), "message"},
      {"left-behind", EventTexts::tr("processes left behind"), "message", true},
      {"unread", EventTexts::tr("series not read"), "message"},
      {"late", EventTexts::tr("answer came too late"), "message"},
      {"lost", EventTexts::tr("messages lost"), "message", true},
      {"lint", EventTexts::tr("remark"), "text"},
      {"retry", EventTexts::tr("tried again"), "text"},
      {"level", EventTexts::tr("only reports its steps"), "reason"},
      {"loss-scale", EventTexts::tr("scale of the loss"), "text", true},
      {"rate-by-steps", EventTexts::tr("learning rate by steps"), "text"},
  };
  for (const Kind& kind : kinds) {
    if (event.kind != kind.name)
      continue;
    EventText text;
    text.what = kind.what;
    text.action = detail.value(kind.text).toString();
    text.tried = count_in(detail, "planned_batch");
    text.now = count_in(detail, "batch");
    text.alarming = kind.alarming;
    if (const QString lines = count_in(detail, "lines"); text.action.isEmpty() && !lines.isEmpty())
      text.action = EventTexts::tr("%1 lines").arg(lines);
    return text;
  }
  return std::nullopt;
}

/// For unknown kinds: lists the fields as they are.
EventText other(const telemetry::Event& event, const QJsonObject& detail) {
  EventText text;
  text.what = QString::fromStdString(event.kind);
  QStringList fields;
  for (auto field = detail.begin(); field != detail.end(); ++field)
    fields += field.key() + ": " + field.value().toVariant().toString();
  text.action = fields.join(", ");
  return text;
}

QString status_text(const QString& status) {
  const std::pair<const char*, QString> known[] = {{"running", EventTexts::tr("resumed")},
                                                   {"paused", EventTexts::tr("paused")},
                                                   {"stopped", EventTexts::tr("stopped")},
                                                   {"finished", EventTexts::tr("finished")},
                                                   {"failed", EventTexts::tr("failed")}};
  for (const auto& [name, text] : known) {
    if (status == name)
      return text;
  }
  return status.isEmpty() ? EventTexts::tr("status") : status;
}

} // namespace

double validation_loss(const telemetry::Event& event) {
  return number_in(event.kind == "evaluation" ? detail_of(event) : QJsonObject(), "loss");
}

EventText event_text(const telemetry::Event& event) {
  if (event.kind == "oom")
    return out_of_memory(event);
  const QJsonObject detail = detail_of(event);
  if (event.kind == "edit")
    return edit(detail);
  if (event.kind == "budget")
    return budget(detail);
  if (event.kind == "evaluation")
    return evaluation(detail);
  if (event.kind == "program")
    return program(detail);
  if (event.kind == "exit")
    return exit(detail);
  if (event.kind == "output")
    return output(event.detail_json);
  if (const auto said = of_conversation(event, detail))
    return *said;
  EventText text;
  text.action = detail.value("message").toString();
  if (event.kind == "clamp") {
    const QString field = detail.value("field").toString(); // of a program's loader
    text.what = field == "batch"        ? EventTexts::tr("batch size clamped")
                : field == "accumulate" ? EventTexts::tr("accumulation clamped")
                                        : EventTexts::tr("schedule clamped");
    text.tried = count_in(detail, "asked");
    text.now = count_in(detail, detail.contains("taken") ? "taken" : "given");
    return text;
  }
  if (event.kind == "schedule-problem") {
    text.what = EventTexts::tr("schedule error");
    text.alarming = true;
    return text;
  }
  if (event.kind == "status") {
    text.what = status_text(detail.value("status").toString());
    if (text.action.isEmpty())
      text.action = detail.value("reason").toString();
    return text;
  }
  if (event.kind == "shares") {
    text.alarming = detail.contains("refused");
    text.what = text.alarming ? EventTexts::tr("shares not changed") : EventTexts::tr("shares changed");
    if (text.action.isEmpty())
      text.action = detail.value("refused").toString();
    return text;
  }
  if (event.kind == "checkpoint" || event.kind == "resumed") {
    text.what = event.kind == "resumed" ? EventTexts::tr("resumed") : EventTexts::tr("checkpoint");
    text.alarming = detail.contains("problem");
    return text;
  }
  return other(event, detail);
}

EventGroup group_of(const telemetry::Event& event) {
  if (event.kind == "oom")
    return EventGroup::out_of_memory;
  if (event.kind == "edit" || event.kind == "budget" || event.kind == "shares")
    return EventGroup::edits;
  return event.kind == "evaluation" ? EventGroup::evaluations : EventGroup::all;
}

} // namespace batchscope::ui
