#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <QByteArray>

#include <png.h>

#include <jpeglib.h>

// Images of the readers' tests. `pixels`: row by row, the channels of a pixel together.

/// `format` is libpng's: PNG_FORMAT_GRAY, PNG_FORMAT_RGBA, ...
inline QByteArray png_of(unsigned width, unsigned height, unsigned format, const QByteArray& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = format;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  QByteArray bytes(static_cast<qsizetype>(size), '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0)
    qFatal("%s", image.message);
  return bytes;
}

/// Of one grey.
inline QByteArray grey_png(unsigned width, unsigned height, int value) {
  return png_of(width, height, PNG_FORMAT_GRAY, QByteArray(qsizetype(width * height), static_cast<char>(value)));
}

inline QByteArray jpeg_of(unsigned width, unsigned height, J_COLOR_SPACE space, int components,
                          const QByteArray& pixels, bool progressive = false) {
  jpeg_error_mgr errors{};
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = width;
  info.image_height = height;
  info.input_components = components;
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  if (progressive)
    jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (unsigned row = 0; row < height; ++row) {
    auto* line = reinterpret_cast<JSAMPROW>(const_cast<char*>(pixels.data()) + row * width * unsigned(components));
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  QByteArray result(reinterpret_cast<const char*>(bytes), static_cast<qsizetype>(size));
  std::free(bytes);
  return result;
}
