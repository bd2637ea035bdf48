#include "core/telemetry/message_json.h"

namespace batchscope::telemetry {

namespace {

Json message_json(const Message& message) {
  Json json{{"id", id_of(message.words)}};
  if (!message.arguments.empty())
    json["arguments"] = arguments_json({message});
  return json;
}

struct AsJson {
  Json operator()(const Count& count) const { return count.value; }
  Json operator()(const Plain& number) const { return number.value; }
  Json operator()(const Bytes& bytes) const { return bytes.value; }
  Json operator()(const Seconds& seconds) const { return json_number(seconds.value); }
  Json operator()(const Share& share) const { return json_number(share.value); }
  Json operator()(const Number& number) const { return json_number(number.value); }
  Json operator()(const Parts& batch) const { return {{"parts", batch.parts}, {"size", batch.size}}; }
  Json operator()(const Text& text) const { return text.value; }
  Json operator()(const std::vector<Message>& messages) const {
    if (messages.size() == 1)
      return message_json(messages.front());
    Json list = Json::array();
    for (const Message& message : messages)
      list.push_back(message_json(message));
    return list;
  }
};

} // namespace

Json arguments_json(const std::vector<Message>& messages) {
  Json json = Json::object();
  for (const Message& message : messages)
    for (const auto& [name, argument] : message.arguments)
      json[name] = std::visit(AsJson(), argument);
  return json;
}

} // namespace batchscope::telemetry
