// `idx:` and `demo`: 8-bit grey images with one class each.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/resources.h"
#include "core/data/byte_images.h"
#include "core/data/input_file.h"
#include "core/data/sources.h"
#include "core/data/split.h"

namespace batchscope::data {

namespace {

constexpr std::uint32_t image_magic = 0x803; // unsigned bytes, three dimensions
constexpr std::uint32_t label_magic = 0x801; // unsigned bytes, one dimension

/// Reads `count` big-endian 32-bit numbers; the first must be the magic number.
std::vector<std::int64_t> read_header(InputFile& file, std::size_t count, std::uint32_t magic, const char* what) {
  const std::vector<std::uint8_t> bytes = file.read(count * 4, "the header");
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < count; ++i)
    numbers.push_back(std::int64_t{bytes[4 * i]} << 24 | std::int64_t{bytes[4 * i + 1]} << 16 |
                      std::int64_t{bytes[4 * i + 2]} << 8 | std::int64_t{bytes[4 * i + 3]});
  if (numbers[0] != magic)
    file.refuse(
        fmt::format("the magic number at offset 0 is 0x{:08x}; IDX {} start with 0x{:08x}", numbers[0], what, magic));
  return numbers;
}

void read_pixels(const std::string& path, ByteImages& images) {
  InputFile file(path);
  const std::vector<std::int64_t> header = read_header(file, 4, image_magic, "images");
  images.count = header[1];
  images.height = header[2];
  images.width = header[3];
  if (images.count == 0 || images.height == 0 || images.width == 0)
    file.refuse(fmt::format("the header at offset 4 says {} images of {} x {} pixels; none may be 0", images.count,
                            images.height, images.width));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(images.height, images.width, &bytes) ||
      __builtin_mul_overflow(images.count, bytes, &bytes))
    file.refuse(fmt::format("the header at offset 4 says {} images of {} x {} pixels, which is too large", images.count,
                            images.height, images.width));
  images.pixels = file.read(static_cast<std::uint64_t>(bytes),
                            fmt::format("{} images of {} x {} pixels", images.count, images.height, images.width));
  file.expect_end("the last image");
}

void read_labels(const std::string& path, ByteImages& images) {
  InputFile file(path);
  const std::int64_t count = read_header(file, 2, label_magic, "labels")[1];
  if (count != images.count)
    file.refuse(fmt::format("the header at offset 4 says {} labels, but there are {} images", count, images.count));
  const std::vector<std::uint8_t> bytes = file.read(static_cast<std::uint64_t>(count), fmt::format("{} labels", count));
  images.labels.assign(bytes.begin(), bytes.end());
  images.classes = std::max<std::int64_t>(*std::max_element(bytes.begin(), bytes.end()) + 1, 2);
  file.expect_end("the last label");
}

ByteImages read_images(const std::string& pixels, const std::string& labels) {
  ByteImages images;
  read_pixels(pixels, images);
  read_labels(labels, images);
  return images;
}

/// Adds the images that the validation is to be made with.
void append(ByteImages& images, const ByteImages& more, const SourceText& source) {
  if (more.height != images.height || more.width != images.width)
    source.refuse(fmt::format("validation-images has images of {} x {} pixels; accepted: {} x {}, as for training",
                              more.height, more.width, images.height, images.width));
  images.count += more.count;
  images.classes = std::max(images.classes, more.classes);
  images.pixels.insert(images.pixels.end(), more.pixels.begin(), more.pixels.end());
  images.labels.insert(images.labels.end(), more.labels.begin(), more.labels.end());
}

DataSplit open_idx(const SourceText& source, const DataOptions& /*options*/) {
  const std::string* pixels = source.find("validation-images");
  const std::string* labels = source.find("validation-labels");
  if ((pixels == nullptr) != (labels == nullptr))
    source.refuse("accepted: both validation-images and validation-labels, or neither");
  if (pixels && source.find("validation"))
    source.refuse("validation is given besides validation-images; accepted: one of them");
  ByteImages images = read_images(source.files[0], source.files[1]);
  Split split = draw_split(images.count, source.validation);
  if (pixels) {
    const std::int64_t training = images.count;
    append(images, read_images(*pixels, *labels), source);
    split = split_after(images.count, training);
  }
  return split_images(std::move(images), std::move(split));
}

/// Files of a source text, including those that its parameters name.
std::vector<std::string> idx_files(const SourceText& source) {
  std::vector<std::string> files = source.files;
  for (const char* key : {"validation-images", "validation-labels"})
    if (const std::string* file = source.find(key))
      files.push_back(*file);
  return files;
}

/// The file of labels beside one of images: their names differ in these parts.
std::string labels_beside(const std::filesystem::path& images) {
  std::string name = images.filename();
  for (const auto& [of_images, of_labels] : {std::pair("images", "labels"), std::pair("idx3", "idx1")})
    if (const std::size_t at = name.find(of_images); at != std::string::npos)
      name.replace(at, std::strlen(of_images), of_labels);
  const std::filesystem::path labels = images.parent_path() / name;
  std::error_code none;
  return name != images.filename() && std::filesystem::exists(labels, none) ? labels.string() : std::string();
}

FileText idx_text(const std::string& file) {
  const bool is_labels = std::filesystem::path(file).filename().string().find("labels") != std::string::npos;
  const std::string labels = labels_beside(file);
  if (is_labels || labels.empty())
    return {fmt::format("idx:{},", file), "Enter the file of images, a comma and the file of labels"};
  return {fmt::format("idx:{},{}", file, labels), {}};
}

} // namespace

extern const DataKind idx_data;
const DataKind idx_data{.name = "idx",
                        .form = "idx:IMAGES,LABELS",
                        .more = "validation-images=FILE,validation-labels=FILE for validation examples of their own",
                        .files = 2,
                        .keys = {"validation-images", "validation-labels"},
                        .open = open_idx,
                        .list = idx_files,
                        .choice = FileChoice{"IDX images", "*idx3* *idx1* *ubyte*", idx_text}};

namespace {

DataSplit open_demo(const SourceText& source, const DataOptions& /*options*/) {
  const std::filesystem::path folder = resources_folder();
  ByteImages images =
      read_images(folder / "demo" / "t10k-images-idx3-ubyte.gz", folder / "demo" / "t10k-labels-idx1-ubyte.gz");
  Split split = draw_split(images.count, source.validation);
  return split_images(std::move(images), std::move(split));
}

} // namespace

extern const DataKind demo_data;
const DataKind demo_data{.name = "demo", .form = "demo", .open = open_demo};

} // namespace batchscope::data
