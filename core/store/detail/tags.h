#pragma once

#include <string>
#include <vector>

// How tags are stored: a JSON array of texts in ascending order, each once.
namespace batchscope::store::detail {

/// Empty if the text is not such an array.
std::vector<std::string> tags_from(const std::string& stored);
std::string stored_tags(const std::vector<std::string>& tags);

} // namespace batchscope::store::detail
