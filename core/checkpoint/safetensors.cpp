#include "core/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_output.h"
#include "core/base/text.h"
#include "core/checkpoint/detail/safetensors_header.h"
#include "core/data/input_file.h"

namespace batchscope::checkpoint {

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored as in memory");

constexpr std::size_t alignment = 8;

constexpr std::array<std::pair<std::string_view, std::size_t>, 10> types = {{{"F64", 8},
                                                                             {"F32", 4},
                                                                             {"F16", 2},
                                                                             {"BF16", 2},
                                                                             {"I64", 8},
                                                                             {"I32", 4},
                                                                             {"I16", 2},
                                                                             {"I8", 1},
                                                                             {"U8", 1},
                                                                             {"BOOL", 1}}};

/// A tensor and where its data lie, counted from the end of the header.
struct Entry {
  Tensor tensor;
  std::uint64_t begin = 0, end = 0;
};

Entry entry_of(const data::InputFile& file, const std::string& name, const Json& json) {
  Entry entry;
  std::optional<std::uint64_t> bytes;
  try {
    const Json& offsets = json.at("data_offsets");
    const auto is_size = [](const Json& number) { return number.is_number_unsigned(); };
    if (offsets.size() != 2 || !std::all_of(offsets.begin(), offsets.end(), is_size) ||
        !std::all_of(json.at("shape").begin(), json.at("shape").end(), is_size))
      file.refuse(fmt::format("the shape or the offsets of tensor {} are no whole numbers", in_quotes(name)));
    entry.tensor = {.name = name,
                    .type = json.at("dtype").get<std::string>(),
                    .shape = json.at("shape").get<std::vector<std::int64_t>>(),
                    .data = {},
                    .bytes = 0};
    entry.begin = offsets.at(0).get<std::uint64_t>();
    entry.end = offsets.at(1).get<std::uint64_t>();
    bytes = bytes_of(json);
  } catch (const Json::exception&) {
    file.refuse(fmt::format("the header's entry for tensor {} cannot be read", in_quotes(name)));
  }
  if (!bytes)
    file.refuse(fmt::format("tensor {} has the type {}, or a shape that no file holds; accepted types: {}",
                            in_quotes(name), in_quotes(entry.tensor.type),
                            "F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL"));
  if (entry.begin > entry.end || entry.end - entry.begin != *bytes)
    file.refuse(fmt::format("tensor {} has the offsets {} to {}, but its shape takes {} bytes", in_quotes(name),
                            entry.begin, entry.end, *bytes));
  entry.tensor.bytes = static_cast<std::size_t>(*bytes);
  return entry;
}

/// The data of all tensors are one row of bytes to the end of the file, without gaps.
void check_row(const data::InputFile& file, const std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::vector<const Entry*> row;
  for (const Entry& entry : entries)
    row.push_back(&entry);
  std::sort(row.begin(), row.end(),
            [](const Entry* a, const Entry* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  std::uint64_t covered = 0;
  for (const Entry* entry : row) {
    if (entry->begin != covered)
      file.refuse(fmt::format(
          "tensor {} begins at byte {} of the data, {}", in_quotes(entry->tensor.name), entry->begin,
          entry->begin < covered ? fmt::format("within another, which ends at {}", covered)
                                 : fmt::format("and bytes {} to {} belong to none", covered, entry->begin)));
    covered = entry->end;
  }
  if (covered > data_bytes)
    file.refuse(fmt::format("cut off: {} of {} bytes of data are there", data_bytes, covered));
  if (covered < data_bytes)
    file.refuse(fmt::format("has {} more bytes after the last tensor", data_bytes - covered));
}

Json read_header(data::InputFile& file, std::uint64_t& data_bytes) {
  if (file.compressed())
    file.refuse("is compressed with gzip; a plain safetensors file is needed");
  const std::uint64_t file_bytes = file.max_bytes();
  std::uint64_t length = 0;
  if (file_bytes < length_bytes)
    file.refuse("not a safetensors file");
  std::memcpy(&length, file.read(length_bytes, "the header's length").data(), length_bytes);
  if (length > largest_header)
    file.refuse("not a safetensors file: its header would be larger than 100 MB");
  if (length > file_bytes - length_bytes)
    file.refuse(fmt::format("cut off, or not a safetensors file: its header has {} bytes, and {} follow", length,
                            file_bytes - length_bytes));
  data_bytes = file_bytes - length_bytes - length;
  const auto bytes = file.read(length, "the header");
  Json header = parse_json_or_discard(std::string(bytes.begin(), bytes.end()));
  if (!header.is_object())
    file.refuse("not a safetensors file: its header is no JSON object");
  return header;
}

} // namespace

std::optional<std::uint64_t> bytes_of(const Json& entry) {
  const auto type = entry.at("dtype").get<std::string>();
  const auto known = std::find_if(types.begin(), types.end(), [&](const auto& each) { return each.first == type; });
  if (known == types.end())
    return std::nullopt;
  std::int64_t bytes = static_cast<std::int64_t>(known->second);
  for (const Json& size : entry.at("shape")) {
    const auto count = size.get<std::int64_t>();
    if (count < 0 || __builtin_mul_overflow(bytes, count, &bytes))
      return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string header_text(const Json& metadata, const std::vector<Tensor>& tensors) {
  Json json{{metadata_name, metadata}};
  std::size_t offset = 0;
  for (const Tensor& tensor : tensors) {
    json[tensor.name] = {
        {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes}}};
    offset += tensor.bytes;
  }
  std::string text = json_text(json);
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  return text;
}

std::vector<Tensor> read_safetensors(const std::filesystem::path& path) {
  data::InputFile file(path.string());
  std::uint64_t data_bytes = 0;
  const Json header = read_header(file, data_bytes);
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items())
    if (name != metadata_name)
      entries.push_back(entry_of(file, name, json));
  check_row(file, entries, data_bytes);
  const auto bytes = std::make_shared<const std::vector<std::uint8_t>>(file.read(data_bytes, "the tensors"));
  const std::shared_ptr<const char[]> whole(bytes, reinterpret_cast<const char*>(bytes->data()));
  std::vector<Tensor> tensors;
  for (Entry& entry : entries) {
    entry.tensor.data = std::shared_ptr<const char[]>(whole, whole.get() + entry.begin);
    tensors.push_back(std::move(entry.tensor));
  }
  return tensors;
}

void write_safetensors(const std::filesystem::path& file, const std::vector<Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  FileOutput output(file, /*replace=*/true);
  const std::string header = header_text(metadata, tensors);
  const std::uint64_t length = header.size();
  output.stream().write(reinterpret_cast<const char*>(&length), length_bytes);
  output.stream() << header;
  for (const Tensor& tensor : tensors)
    output.stream().write(tensor.data.get(), static_cast<std::streamsize>(tensor.bytes));
  output.publish();
}

} // namespace batchscope::checkpoint
