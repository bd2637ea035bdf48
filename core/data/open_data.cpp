#include <algorithm>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/augmentation.h"
#include "core/data/sources.h"

namespace batchscope::data {

#define KIND(name) extern const DataKind name##_data;
#include "core/data/kinds.def"
#undef KIND

namespace {

const std::vector<const DataKind*>& kinds() {
  static const std::vector<const DataKind*> all = {
#define KIND(name) &name##_data,
#include "core/data/kinds.def"
#undef KIND
  };
  return all;
}

const DataKind& kind_named(const std::string& name, const std::string& text) {
  std::string known;
  for (const DataKind* kind : kinds()) {
    if (name == kind->name)
      return *kind;
    known += (known.empty() ? "" : ", ") + std::string(kind->form);
  }
  throw input_error(fmt::format("data '{}': unknown kind '{}'; accepted: {}", shortened(text), shortened(name), known));
}

void add_part(SourceText& source, const DataKind& kind, const std::string& part) {
  const std::size_t equals = part.find('=');
  const std::string key = part.substr(0, equals);
  const bool known = std::find(kind.keys.begin(), kind.keys.end(), key) != kind.keys.end() || key == "validation";
  if (equals == std::string::npos || !known) {
    source.files.push_back(part);
    return;
  }
  if (source.find(key))
    source.refuse(fmt::format("'{}' is given twice", key));
  source.parameters.emplace_back(key, part.substr(equals + 1));
}

SourceText parse(const std::string& text) {
  SourceText source;
  source.text = text;
  const std::size_t colon = text.find(':');
  source.kind = text.substr(0, colon);
  const DataKind& kind = kind_named(source.kind, text);
  std::string_view rest = colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    add_part(source, kind, std::string(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  const auto wrong_file = std::find(source.files.begin(), source.files.end(), "");
  if (source.files.size() > kind.files)
    source.refuse(fmt::format("unexpected part '{}'; accepted: {}[,validation=0.2]",
                              shortened(source.files[kind.files]), kind.form));
  if (source.files.size() < kind.files || wrong_file != source.files.end())
    source.refuse(fmt::format("a file name is missing; accepted: {}[,validation=0.2]", kind.form));
  if (const std::string* fraction = source.find("validation")) {
    source.validation = parse_number(*fraction, fmt::format("data '{}', validation", shortened(text)));
    if (!(source.validation >= 0 && source.validation <= 0.9))
      source.refuse(fmt::format("validation is {}; accepted: 0 to 0.9", shortened(*fraction)));
  }
  return source;
}

} // namespace

const std::string* SourceText::find(std::string_view key) const {
  for (const auto& [name, value] : parameters)
    if (name == key)
      return &value;
  return nullptr;
}

void SourceText::refuse(const std::string& why) const {
  throw input_error(fmt::format("data '{}': {}", shortened(text), why));
}

DataSplit open_data(const std::string& text, const DataOptions& options) {
  constexpr std::int64_t longest_context = 1 << 20;
  if (options.context < 1 || options.context > longest_context)
    throw input_error(fmt::format("context is {}; accepted: 1 to {}", options.context, longest_context));
  const SourceText source = parse(text);
  try {
    return augmented(kind_named(source.kind, text).open(source, options), options.augment);
  } catch (const std::bad_alloc&) {
    source.refuse("does not fit in the memory of this machine");
  } catch (const std::length_error&) {
    source.refuse("does not fit in the memory of this machine");
  }
}

std::vector<std::string> data_files(const std::string& text) {
  const SourceText source = parse(text);
  const auto list = kind_named(source.kind, text).list;
  return list ? list(source) : source.files;
}

void check_data_text(const std::string& text) {
  parse(text);
}

} // namespace batchscope::data
