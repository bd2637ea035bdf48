#include "core/checkpoint/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/file_output.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/checkpoint/detail/safetensors_header.h"

namespace batchscope::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr const char* format_name = "batchscope-checkpoint";
constexpr const char* current_version = "1";
constexpr std::string_view text_prefix = "text.";
constexpr const char* checksum_name = "checksum";
constexpr std::size_t checksum_bytes = sizeof(std::uint32_t);
Error refused(const fs::path& file, const std::string& why) {
  return input_error(fmt::format("checkpoint {}: {}", file.string(), why));
}

Json metadata_json(const Checkpoint& checkpoint) {
  const Label& label = checkpoint.label;
  // The format allows texts only.
  Json json{{"format", format_name},
            {"version", current_version},
            {"run", label.run},
            {"step", std::to_string(label.step)},
            {"events", std::to_string(label.events)},
            {"spec", label.spec_json},
            {"data_checksum", label.data_checksum}};
  if (label.validation_loss)
    json["validation_loss"] = json_text(json_number(*label.validation_loss));
  if (label.validation_accuracy)
    json["validation_accuracy"] = json_text(json_number(*label.validation_accuracy));
  for (const auto& [name, text] : checkpoint.texts)
    json[std::string(text_prefix) + name] = text;
  return json;
}

/// Header of the file: the checkpoint's tensors, and the checksum, whose value is known at the end.
std::string header_of(const Checkpoint& checkpoint) {
  std::vector<Tensor> tensors = checkpoint.tensors;
  tensors.push_back({.name = checksum_name,
                     .type = "U8",
                     .shape = {static_cast<std::int64_t>(checksum_bytes)},
                     .data = {},
                     .bytes = checksum_bytes});
  return header_text(metadata_json(checkpoint), tensors);
}

/// A file's header, and where its data lie.
struct Header {
  Json json;
  std::uint64_t data_begin = 0;
  std::uint64_t file_bytes = 0; ///< as the header says
};

std::uint64_t offset_in(const Json& range, std::size_t index) {
  return range.at(index).get<std::uint64_t>();
}

/// The texts of the first `size` bytes of a file; the header must lie within them.
Header parse_header(const fs::path& file, std::string_view text, std::uint64_t file_bytes) {
  std::uint64_t length = 0;
  if (text.size() < length_bytes)
    throw refused(file, "cut off: it has no header");
  std::memcpy(&length, text.data(), length_bytes);
  if (length > largest_header)
    throw refused(file, "not a checkpoint");
  if (text.size() - length_bytes < length)
    throw refused(file, fmt::format("cut off: {} bytes are there", file_bytes));
  Header header;
  header.json = parse_json_or_discard(std::string(text.substr(length_bytes, length)));
  header.data_begin = length_bytes + length;
  if (!header.json.is_object() || !header.json.contains(metadata_name) ||
      header.json[metadata_name].value("format", "") != format_name)
    throw refused(file, "not a checkpoint, or damaged");
  if (header.json[metadata_name].value("version", "") != current_version)
    throw refused(file, "a newer version of this program wrote it");
  for (const auto& [name, entry] : header.json.items())
    if (name != metadata_name)
      header.file_bytes =
          std::max<std::uint64_t>(header.file_bytes, header.data_begin + offset_in(entry.at("data_offsets"), 1));
  return header;
}

/// Calls `parse`; what the JSON library throws for a header of another shape means a damaged file.
template <typename Function> auto parsed(const fs::path& file, Function&& parse) -> decltype(parse()) {
  try {
    return parse();
  } catch (const Json::exception&) {
    throw refused(file, "damaged: its header cannot be read");
  }
}

std::optional<double> number_in(const Json& metadata, const char* name) {
  const auto found = metadata.find(name);
  return found == metadata.end() ? std::nullopt
                                 : std::optional(number_from_json(parse_json(found->get<std::string>())));
}

Label label_of(const Json& metadata) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return {.run = metadata.at("run").get<std::string>(),
          .step = parse_integer(metadata.at("step").get<std::string>(), "step", 0, most),
          .events = parse_integer(metadata.at("events").get<std::string>(), "events", 0, most),
          .spec_json = metadata.at("spec").get<std::string>(),
          .data_checksum = metadata.value("data_checksum", std::string()),
          .validation_loss = number_in(metadata, "validation_loss"),
          .validation_accuracy = number_in(metadata, "validation_accuracy")};
}

Tensor tensor_of(const fs::path& file, const std::string& name, const Json& entry,
                 const std::shared_ptr<const char[]>& whole, const Header& header) {
  const std::uint64_t begin = offset_in(entry.at("data_offsets"), 0);
  const std::uint64_t end = offset_in(entry.at("data_offsets"), 1);
  // The checksum was right, so whoever wrote it meant it; the bytes must still lie within the file.
  if (begin > end || end > header.file_bytes - header.data_begin || bytes_of(entry) != end - begin)
    throw refused(file, fmt::format("tensor {} has offsets that do not match its shape", in_quotes(name)));
  return {.name = name,
          .type = entry.at("dtype").get<std::string>(),
          .shape = entry.at("shape").get<std::vector<std::int64_t>>(),
          .data = std::shared_ptr<const char[]>(whole, whole.get() + header.data_begin + begin),
          .bytes = static_cast<std::size_t>(end - begin)};
}

std::ifstream opened(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw refused(file, "cannot be read");
  return stream;
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code problem;
  const std::uint64_t bytes = fs::file_size(file, problem);
  if (problem)
    throw refused(file, "cannot be read: " + problem.message());
  return bytes;
}

void read_into(const fs::path& file, std::ifstream& stream, char* data, std::size_t bytes) {
  stream.read(data, static_cast<std::streamsize>(bytes));
  if (static_cast<std::size_t>(stream.gcount()) != bytes)
    throw refused(file, "cannot be read to its end");
}

} // namespace

std::optional<double> score(const std::optional<double>& validation_loss,
                            const std::optional<double>& validation_accuracy) {
  if (validation_accuracy)
    return validation_accuracy;
  return validation_loss && !std::isnan(*validation_loss) ? std::optional(-*validation_loss) : std::nullopt;
}

const std::string& Checkpoint::text(const std::string& name) const {
  const auto found = texts.find(name);
  if (found == texts.end())
    throw input_error(fmt::format("the checkpoint at step {} has no part {}", label.step, in_quotes(name)));
  return found->second;
}

const Tensor& Checkpoint::tensor(const std::string& name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& each) { return each.name == name; });
  if (found == tensors.end())
    throw input_error(fmt::format("the checkpoint at step {} has no tensor {}", label.step, in_quotes(name)));
  return *found;
}

std::uint64_t write(const fs::path& file, const Checkpoint& checkpoint) {
  FileOutput output(file, /*replace=*/true);
  std::uint32_t checksum = 0;
  std::uint64_t written = 0;
  const auto put = [&](std::string_view bytes) {
    output.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    checksum = crc32c(bytes, checksum);
    written += bytes.size();
  };
  const auto put_number = [&](const auto& number) { put({reinterpret_cast<const char*>(&number), sizeof number}); };
  const std::string header = header_of(checkpoint);
  put_number(std::uint64_t{header.size()});
  put(header);
  for (const Tensor& tensor : checkpoint.tensors)
    put({tensor.data.get(), tensor.bytes});
  put_number(std::uint32_t{checksum});
  output.publish();
  return written;
}

Checkpoint read(const fs::path& file) {
  const std::uint64_t bytes = size_of(file);
  std::ifstream stream = opened(file);
  const std::shared_ptr<char[]> whole(new char[bytes]); // not set to zero first
  read_into(file, stream, whole.get(), bytes);
  return parsed(file, [&] {
    const std::string_view all(whole.get(), bytes);
    const Header header = parse_header(file, all, bytes);
    if (bytes < header.file_bytes)
      throw refused(file, fmt::format("cut off: {} of {} bytes are there", bytes, header.file_bytes));
    std::uint32_t checksum = 0;
    if (header.file_bytes < header.data_begin + checksum_bytes)
      throw refused(file, "damaged: it has no checksum");
    const std::size_t checked = header.file_bytes - checksum_bytes;
    std::memcpy(&checksum, whole.get() + checked, checksum_bytes);
    if (bytes > header.file_bytes || crc32c(all.substr(0, checked)) != checksum)
      throw refused(file, "damaged (checksum)");
    Checkpoint checkpoint;
    const Json& metadata = header.json[metadata_name];
    checkpoint.label = label_of(metadata);
    for (const auto& [name, text] : metadata.items())
      if (name.starts_with(text_prefix))
        checkpoint.texts[name.substr(text_prefix.size())] = text.get<std::string>();
    for (const auto& [name, entry] : header.json.items())
      if (name != metadata_name && name != checksum_name)
        checkpoint.tensors.push_back(tensor_of(file, name, entry, whole, header));
    return checkpoint;
  });
}

Label read_label(const fs::path& file) {
  const std::uint64_t bytes = size_of(file);
  std::ifstream stream = opened(file);
  std::string text(std::min<std::uint64_t>(bytes, length_bytes), '\0');
  read_into(file, stream, text.data(), text.size());
  std::uint64_t length = 0;
  if (text.size() == length_bytes)
    std::memcpy(&length, text.data(), length_bytes);
  const std::uint64_t wanted = std::min({length, largest_header, bytes - text.size()});
  text.resize(text.size() + wanted);
  read_into(file, stream, text.data() + (text.size() - wanted), wanted);
  return parsed(file, [&] { return label_of(parse_header(file, text, bytes).json[metadata_name]); });
}

} // namespace batchscope::checkpoint
