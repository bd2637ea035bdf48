#include "core/data/image_file.h"

#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <png.h>

#include <jpeglib.h>

#include <jerror.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::data {

namespace {

constexpr std::int64_t max_pixels = std::int64_t{1} << 28;

struct CloseImage {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenImage = std::unique_ptr<std::FILE, CloseImage>;

[[noreturn]] void refuse_image(const std::string& path, const std::string& why) {
  throw input_error(fmt::format("{}: {}", path, why));
}

/// One decoder for each format. Constructed at the beginning of the file.
class ImageReader {
public:
  virtual ~ImageReader() = default;
  virtual ImageForm form() const = 0;
  /// False if it failed; message() says why.
  virtual bool read(std::int64_t channels, std::uint8_t* to) = 0;
  virtual std::string message() const = 0;
};

class PngReader final : public ImageReader {
public:
  explicit PngReader(std::FILE* file) {
    image_.version = PNG_IMAGE_VERSION;
    png_image_begin_read_from_stdio(&image_, file);
    image_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; // else 16 bits a channel would be taken for linear light
  }
  ~PngReader() override { png_image_free(&image_); }
  ImageForm form() const override {
    return {image_.width, image_.height, (image_.format & PNG_FORMAT_FLAG_COLOR) != 0};
  }
  bool read(std::int64_t channels, std::uint8_t* to) override {
    const bool alpha = (image_.format & PNG_FORMAT_FLAG_ALPHA) != 0;
    image_.format = (channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB) | (alpha ? PNG_FORMAT_FLAG_ALPHA : 0);
    if (!alpha)
      return png_image_finish_read(&image_, nullptr, to, 0, nullptr) != 0;
    // Without room for it, the library would mix the transparent parts with a background.
    std::vector<std::uint8_t> whole(PNG_IMAGE_SIZE(image_));
    if (png_image_finish_read(&image_, nullptr, whole.data(), 0, nullptr) == 0)
      return false;
    const auto kept = static_cast<std::size_t>(channels);
    for (std::size_t from = 0; from < whole.size(); from += kept + 1, to += kept)
      std::memcpy(to, whole.data() + from, kept);
    return true;
  }
  std::string message() const override { return PNG_IMAGE_FAILED(image_) ? image_.message : ""; }

private:
  png_image image_{};
};

/// The library reports errors by a function that must not return. It jumps over functions of the library only: those
/// with setjmp() here have no objects that need destructors.
class JpegReader final : public ImageReader {
public:
  explicit JpegReader(std::FILE* file) {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = &fail;
    errors_.base.emit_message = &warn;
    if (setjmp(errors_.jump) != 0)
      return;
    jpeg_create_decompress(&info_);
    jpeg_stdio_src(&info_, file);
    jpeg_read_header(&info_, TRUE);
  }
  ~JpegReader() override { jpeg_destroy_decompress(&info_); }
  ImageForm form() const override {
    return {info_.image_width, info_.image_height, info_.jpeg_color_space != JCS_GRAYSCALE};
  }
  bool read(std::int64_t channels, std::uint8_t* to) override {
    if (setjmp(errors_.jump) != 0)
      return false;
    info_.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = to + std::size_t{info_.output_scanline} * info_.output_width * static_cast<std::size_t>(channels);
      jpeg_read_scanlines(&info_, &row, 1);
    }
    return jpeg_finish_decompress(&info_) != 0;
  }
  std::string message() const override {
    if (errors_.text[0] == '\0' && (info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK))
      return "CMYK colours; accepted: grey, or red, green and blue";
    return errors_.text.data();
  }

private:
  struct Errors {
    jpeg_error_mgr base{};
    std::jmp_buf jump{};
    std::array<char, JMSG_LENGTH_MAX> text{};
  };
  [[noreturn]] static void fail(j_common_ptr info) {
    auto* errors = reinterpret_cast<Errors*>(info->err); // its first member
    info->err->format_message(info, errors->text.data());
    std::longjmp(errors->jump, 1);
  }
  /// Missing or wrong data are only warnings for the library, which makes them grey.
  static void warn(j_common_ptr info, int level) {
    const int code = info->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
                      code == JWRN_MUST_RESYNC || code == JWRN_ARITH_BAD_CODE))
      fail(info);
  }

  jpeg_decompress_struct info_{};
  Errors errors_;
};

OpenImage open_image(const std::string& path) {
  OpenImage file(std::fopen(path.c_str(), "rb"));
  if (!file)
    refuse_image(path, std::strerror(errno));
  return file;
}

/// Checks the header.
std::unique_ptr<ImageReader> reader_of(const std::string& path, std::FILE* file) {
  std::array<unsigned char, 8> start{};
  const std::size_t got = std::fread(start.data(), 1, start.size(), file);
  std::rewind(file);
  std::unique_ptr<ImageReader> reader;
  if (got == start.size() && png_sig_cmp(start.data(), 0, start.size()) == 0)
    reader = std::make_unique<PngReader>(file);
  else if (got >= 3 && std::memcmp(start.data(), "\xFF\xD8\xFF", 3) == 0)
    reader = std::make_unique<JpegReader>(file);
  else
    refuse_image(path, got == 0 ? "is empty, or cannot be read" : "is neither a PNG nor a JPEG image");
  if (const std::string message = reader->message(); !message.empty())
    refuse_image(path, message);
  const ImageForm form = reader->form();
  if (form.width < 1 || form.height < 1 || form.width * form.height > max_pixels)
    refuse_image(path, fmt::format("{} x {} pixels; accepted: up to {} pixels", form.width, form.height,
                                   format_count(max_pixels)));
  return reader;
}

} // namespace

ImageForm read_image_form(const std::string& path) {
  const OpenImage file = open_image(path);
  return reader_of(path, file.get())->form();
}

std::vector<std::uint8_t> read_image(const std::string& path, const ImageForm& form, std::int64_t channels) {
  const OpenImage file = open_image(path);
  const auto reader = reader_of(path, file.get());
  const ImageForm now = reader->form();
  if (now.width != form.width || now.height != form.height)
    refuse_image(path, "has changed while it was read");
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(form.width * form.height * channels));
  if (!reader->read(channels, pixels.data()))
    refuse_image(path, "is damaged: " + reader->message());
  return pixels;
}

} // namespace batchscope::data
