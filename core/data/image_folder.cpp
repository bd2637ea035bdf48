// `images:`: a folder of PNG and JPEG images, one folder a class.
#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/host.h"
#include "core/base/open_database.h"
#include "core/base/text.h"
#include "core/data/byte_images.h"
#include "core/data/image_file.h"
#include "core/data/resize.h"
#include "core/data/sources.h"

namespace batchscope::data {

namespace {

namespace fs = std::filesystem;

constexpr const char* folder_form = "images:DIR or images:DIR,size=WxH";

struct ImageList {
  std::vector<std::string> files; ///< by class, then by name
  std::vector<std::int64_t> labels;
  std::int64_t classes = 0;
  std::vector<std::string> class_names; ///< the folders
};

/// Entries of a folder, sorted by name, without hidden files. Throws Error (input) if it cannot be read.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code problem;
  fs::directory_iterator each(folder, problem);
  for (; !problem && each != fs::directory_iterator(); each.increment(problem))
    if (!each->path().filename().string().starts_with('.'))
      entries.push_back(*each);
  if (problem)
    throw input_error(fmt::format("{}: {}", folder.string(), problem.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Files beside the folders of the classes, such as a read-me, are not images and left alone.
ImageList list_images(const std::string& folder) {
  ImageList list;
  std::error_code none; // of a link that leads nowhere: it is no folder and no file
  for (const fs::directory_entry& group : entries_of(folder)) {
    if (!group.is_directory(none))
      continue;
    const std::size_t before = list.files.size();
    for (const fs::directory_entry& image : entries_of(group.path())) {
      if (image.is_directory(none))
        throw input_error(fmt::format("{}: is a folder in the folder of a class; accepted: one folder of images for "
                                      "each class",
                                      image.path().string()));
      if (!image.is_regular_file(none))
        throw input_error(fmt::format("{}: is not a regular file", image.path().string()));
      list.files.push_back(image.path().string());
      list.labels.push_back(list.classes);
    }
    if (list.files.size() == before)
      throw input_error(fmt::format("{}: the folder of a class has no images", group.path().string()));
    ++list.classes;
    list.class_names.push_back(group.path().filename().string());
  }
  if (list.classes < 2)
    throw input_error(fmt::format("{}: has {} in it; accepted: one folder of images for each class, at least two",
                                  folder, list.classes == 0 ? "no folder" : "one folder"));
  return list;
}

/// Calls `work` with 0..count-1 on all processors. Throws what it threw for the lowest index.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t failed = count; // the lowest index; guarded by mutex
  std::exception_ptr error;   // guarded by mutex
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = count; // those below `i` have begun already
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t wanted = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count);
    for (std::size_t i = 1; i < wanted; ++i)
      threads.emplace_back(run);
    run();
  }
  if (error)
    std::rethrow_exception(error);
}

std::vector<ImageForm> forms_of(const std::vector<std::string>& files) {
  const OpenDatabases databases;
  std::vector<ImageForm> forms(files.size());
  in_parallel(files.size(), [&](std::size_t i) {
    if (databases.include(files[i]))
      refuse_open_database(files[i]);
    forms[i] = read_image_form(files[i]);
  });
  return forms;
}

std::optional<ImageSize> wanted_size(const SourceText& source) {
  const std::string* text = source.find("size");
  if (!text)
    return std::nullopt;
  constexpr std::int64_t largest_side = 1 << 14;
  const std::string field = fmt::format("data '{}', size", shortened(source.text));
  const std::size_t by = text->find('x');
  if (by == std::string::npos)
    source.refuse(fmt::format("size is '{}'; accepted: width x height in pixels, such as 64x48", shortened(*text)));
  return ImageSize{parse_integer(text->substr(0, by), field, 1, largest_side),
                   parse_integer(text->substr(by + 1), field, 1, largest_side)};
}

ImageSize common_size(const ImageList& list, const std::vector<ImageForm>& forms) {
  const ImageForm& first = forms.front();
  for (std::size_t i = 1; i < forms.size(); ++i)
    if (forms[i].width != first.width || forms[i].height != first.height)
      throw input_error(fmt::format("{}: {} x {} pixels, but {} has {} x {}; resize all images with size={}x{}",
                                    list.files[i], forms[i].width, forms[i].height, list.files.front(), first.width,
                                    first.height, first.width, first.height));
  return {first.width, first.height};
}

/// Channel by channel, from pixels whose channels are together.
void copy_by_channel(const std::vector<std::uint8_t>& pixels, std::int64_t channels, std::uint8_t* to) {
  const auto step = static_cast<std::size_t>(channels);
  for (std::size_t channel = 0; channel < step; ++channel)
    for (std::size_t i = channel; i < pixels.size(); i += step)
      *to++ = pixels[i];
}

/// The images are decoded once, into memory, because every epoch needs all of them.
DataSplit open_folder(const SourceText& source, const DataOptions& /*options*/) {
  const std::optional<ImageSize> wanted = wanted_size(source);
  ImageList list = list_images(source.files[0]);
  const std::vector<ImageForm> forms = forms_of(list.files);
  const ImageSize size = wanted ? *wanted : common_size(list, forms);
  const bool color = std::any_of(forms.begin(), forms.end(), [](const ImageForm& form) { return form.color; });
  ByteImages images{.count = static_cast<std::int64_t>(list.files.size()),
                    .channels = color ? 3 : 1,
                    .height = size.height,
                    .width = size.width,
                    .pixels = {},
                    .labels = std::move(list.labels),
                    .classes = list.classes,
                    .class_names = std::move(list.class_names)};
  const auto bytes = static_cast<std::uint64_t>(images.count) * static_cast<std::uint64_t>(images.size());
  if (bytes > free_host_memory())
    throw input_error(fmt::format("{}: {} images of {} x {} pixels need {} of memory, and {} are free; choose a "
                                  "smaller size with size=WxH",
                                  source.files[0], format_count(images.count), size.width, size.height,
                                  format_bytes(bytes), format_bytes(free_host_memory())));
  images.pixels.resize(bytes);
  in_parallel(list.files.size(), [&](std::size_t i) {
    std::vector<std::uint8_t> pixels = read_image(list.files[i], forms[i], images.channels);
    if (forms[i].width != size.width || forms[i].height != size.height)
      pixels = resized(pixels, {forms[i].width, forms[i].height}, images.channels, size);
    copy_by_channel(pixels, images.channels, images.pixels.data() + i * static_cast<std::size_t>(images.size()));
  });
  Split split = draw_split(images.count, source.validation);
  return split_images(std::move(images), std::move(split));
}

/// All that would be read. A problem is reported when it is.
std::vector<std::string> files_in_folder(const SourceText& source) {
  std::vector<std::string> files = {source.files[0]};
  try {
    const ImageList list = list_images(source.files[0]);
    files.insert(files.end(), list.files.begin(), list.files.end());
  } catch (const Error&) {
  }
  return files;
}

/// For one image in the folder of its class.
FileText images_text(const std::string& file) {
  const std::filesystem::path classes = std::filesystem::path(file).parent_path().parent_path();
  std::error_code none;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator entry(classes, none), end; !none && entry != end; entry.increment(none)) {
    std::error_code unknown;
    count += entry->is_directory(unknown) && !entry->path().filename().string().starts_with('.') ? 1 : 0;
  }
  return {fmt::format("images:{}", classes.string()),
          count > 1 ? std::string() : "One folder of images for each class is needed"};
}

} // namespace

extern const DataKind images_data;
const DataKind images_data{.name = "images",
                           .form = folder_form,
                           .more = "PNG and JPEG, one folder for each class; size=WxH resizes them",
                           .files = 1,
                           .keys = {"size"},
                           .open = open_folder,
                           .list = files_in_folder,
                           .choice =
                               FileChoice{"Images, in one folder for each class", "*.png *.jpg *.jpeg", images_text}};

} // namespace batchscope::data
