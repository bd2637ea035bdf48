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

const std::vector<const DataKind*>& data_kinds() {
  static const std::vector<const DataKind*> all = {
#define KIND(name) &name##_data,
#include "core/data/kinds.def"
#undef KIND
  };
  return all;
}

namespace {

const DataKind& kind_named(const std::string& name, const std::string& text) {
  std::string known;
  for (const DataKind* kind : data_kinds()) {
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
  while (!rest.empty())
    add_part(source, kind, std::string(take_part(rest)));
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

/// One stream of a text: its name, and the text of its source.
struct StreamText {
  std::string name;
  std::string source;
};

bool is_stream_name(std::string_view name) {
  constexpr std::size_t longest = 32;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto other = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= longest && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), other);
}

/// Whether a part of a text begins a stream: NAME=KIND:... or NAME=KIND, unless NAME is a parameter of the source so
/// far.
bool begins_stream(std::string_view part, const std::vector<StreamText>& so_far) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos || !is_stream_name(part.substr(0, equals)))
    return false;
  const std::string_view name = part.substr(0, equals);
  const std::string_view source = part.substr(equals + 1);
  if (so_far.empty())
    return true;
  const std::string_view before = so_far.back().source;
  const auto kind = std::find_if(data_kinds().begin(), data_kinds().end(), [&](const DataKind* each) {
    return before.substr(0, before.find_first_of(":,")) == each->name;
  });
  const bool parameter =
      name == "validation" || (kind != data_kinds().end() &&
                               std::find((*kind)->keys.begin(), (*kind)->keys.end(), name) != (*kind)->keys.end());
  return !parameter && (is_stream_name(source) || source.find(':') != std::string_view::npos);
}

void check_streams_of(const std::vector<StreamText>& streams, const std::string& text) {
  constexpr std::size_t most = 32;
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("data '{}': {}", shortened(text), why));
  };
  if (streams.size() == 1)
    refuse(fmt::format("{} is the only stream; accepted: two or more, as in a=SOURCE,b=SOURCE, or a source without a "
                       "name",
                       streams.front().name));
  if (streams.size() > most)
    refuse(fmt::format("{} streams; accepted: up to {}", streams.size(), most));
  for (std::size_t i = 0; i < streams.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (streams[i].name == streams[j].name)
        refuse(fmt::format("two streams have the name {}", streams[i].name));
}

/// Empty if the text is a single source: in that, a colon comes before any equals sign.
std::vector<StreamText> streams_in(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.find(':') < equals || text.find(',') < equals)
    return {};
  std::vector<StreamText> streams;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = take_part(rest);
    if (begins_stream(part, streams))
      streams.push_back({std::string(part.substr(0, part.find('='))), std::string(part.substr(part.find('=') + 1))});
    else if (streams.empty())
      throw input_error(fmt::format("data '{}': '{}' is no name of a stream; accepted: a letter, then letters, digits, "
                                    "_ and -, 32 at most",
                                    shortened(text), shortened(part.substr(0, part.find('=')))));
    else
      streams.back().source += ',' + std::string(part);
  }
  check_streams_of(streams, text);
  return streams;
}

/// The texts of all sources: those of the streams, or the text itself.
std::vector<std::string> sources_in(const std::string& text) {
  std::vector<std::string> sources;
  for (const StreamText& stream : streams_in(text))
    sources.push_back(stream.source);
  return sources.empty() ? std::vector{text} : sources;
}

DataSplit open_source(const std::string& text, const DataOptions& options) {
  const SourceText source = parse(text);
  try {
    return kind_named(source.kind, text).open(source, options);
  } catch (const std::bad_alloc&) {
    source.refuse("does not fit in the memory of this machine");
  } catch (const std::length_error&) {
    source.refuse("does not fit in the memory of this machine");
  }
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
  check_data_text(text);
  const std::vector<StreamText> streams = streams_in(text);
  if (streams.empty())
    return augmented(open_source(text, options), options.augment);
  std::vector<StreamData> opened;
  for (const StreamText& stream : streams)
    opened.push_back({stream.name, open_source(stream.source, options)});
  return augmented(mix_streams(opened), options.augment);
}

std::vector<std::string> data_files(const std::string& text) {
  std::vector<std::string> files;
  for (const std::string& text_of_source : sources_in(text)) {
    const SourceText source = parse(text_of_source);
    const auto list = kind_named(source.kind, text_of_source).list;
    const std::vector<std::string> own = list ? list(source) : source.files;
    files.insert(files.end(), own.begin(), own.end());
  }
  return files;
}

std::vector<std::string> stream_names(const std::string& text) {
  std::vector<std::string> names;
  for (const StreamText& stream : streams_in(text))
    names.push_back(stream.name);
  return names;
}

std::vector<std::string> data_forms() {
  std::vector<std::string> forms;
  for (const DataKind* kind : data_kinds())
    forms.push_back(*kind->more == '\0' ? std::string(kind->form) : fmt::format("{} ({})", kind->form, kind->more));
  return forms;
}

bool lengths_vary(const std::string& text) {
  const std::vector<std::string> sources = sources_in(text);
  return std::any_of(sources.begin(), sources.end(),
                     [](const std::string& source) { return kind_named(parse(source).kind, source).lengths_vary; });
}

void check_data_text(const std::string& text) {
  for (const std::string& source : sources_in(text))
    parse(source);
}

} // namespace batchscope::data
