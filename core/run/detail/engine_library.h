#pragma once

namespace batchscope::run {

class Engine;

namespace detail {

/// What engine() loads: this library, beside core's own, and in it this function of C.
inline constexpr const char* engine_library = "libbatchscope_engine.so";
inline constexpr const char* engine_entry = "batchscope_engine";
using EngineEntry = Engine* (*)();

} // namespace detail
} // namespace batchscope::run
