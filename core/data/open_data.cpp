#include <algorithm>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/sources.h"

namespace batchscope::data {

namespace {

/// The form of a kind of data.
struct Form {
  std::string_view kind;
  std::string_view form;
  std::size_t files;
  std::vector<std::string_view> keys; ///< besides `validation`
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"demo", "demo", 0, {}},
      {"idx", "idx:IMAGES,LABELS", 2, {}},
      {"text", "text:FILE", 1, {}},
      {"lines", "lines:FILE", 1, {}},
      {"csv", "csv:FILE,target=NAME or csv:FILE,header=no,target=NUMBER", 1, {"target", "header"}},
      {"synthetic",
       "synthetic:examples=N,shape=CxHxW,classes=K or synthetic:examples=N,vocabulary=V",
       0,
       {"examples", "shape", "classes", "vocabulary"}},
  };
  return all;
}

const Form& find_form(const std::string& kind, const std::string& text) {
  std::string known;
  for (const Form& form : forms()) {
    if (form.kind == kind)
      return form;
    known += (known.empty() ? "" : ", ") + std::string(form.form);
  }
  throw input_error(fmt::format("data '{}': unknown kind '{}'; accepted: {}", shortened(text), shortened(kind), known));
}

void add_part(SourceText& source, const Form& form, const std::string& part) {
  const std::size_t equals = part.find('=');
  const std::string key = part.substr(0, equals);
  const bool known = std::find(form.keys.begin(), form.keys.end(), key) != form.keys.end() || key == "validation";
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
  const Form& form = find_form(source.kind, text);
  std::string_view rest = colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    add_part(source, form, std::string(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  const auto wrong_file = std::find(source.files.begin(), source.files.end(), "");
  if (source.files.size() > form.files)
    source.refuse(fmt::format("unexpected part '{}'; accepted: {}[,validation=0.2]",
                              shortened(source.files[form.files]), form.form));
  if (source.files.size() < form.files || wrong_file != source.files.end())
    source.refuse(fmt::format("a file name is missing; accepted: {}[,validation=0.2]", form.form));
  if (const std::string* share = source.find("validation")) {
    source.validation = parse_number(*share, fmt::format("data '{}', validation", shortened(text)));
    if (!(source.validation >= 0 && source.validation <= 0.9))
      source.refuse(fmt::format("validation is {}; accepted: 0 to 0.9", shortened(*share)));
  }
  return source;
}

DataSplit open(const SourceText& source, const DataOptions& options) {
  if (source.kind == "demo")
    return open_demo(source);
  if (source.kind == "idx")
    return open_idx(source);
  if (source.kind == "text")
    return open_text(source, options);
  if (source.kind == "lines")
    return open_lines(source, options);
  if (source.kind == "csv")
    return open_csv(source);
  return open_synthetic(source, options);
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
    return open(source, options);
  } catch (const std::bad_alloc&) {
    source.refuse("does not fit in the memory of this machine");
  } catch (const std::length_error&) {
    source.refuse("does not fit in the memory of this machine");
  }
}

std::vector<std::string> data_files(const std::string& text) {
  return parse(text).files;
}

void check_data_text(const std::string& text) {
  parse(text);
}

} // namespace batchscope::data
