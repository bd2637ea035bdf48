#pragma once

namespace batchscope::run {

class Engine;

namespace detail {

/// The library that engine() loads, which lies beside core's, and its C entry point.
inline constexpr const char* engine_library = "libbatchscope_engine.so";
inline constexpr const char* engine_entry = "batchscope_engine";
using EngineEntry = Engine* (*)();

} // namespace detail
} // namespace batchscope::run
