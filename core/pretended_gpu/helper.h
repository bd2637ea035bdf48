#pragma once

#include <memory>
#include <mutex>

#include "core/base/json.h"
#include "core/pretended_gpu/rig.h"

namespace batchscope::pretended_gpu {

/// A process on pretended GPUs that answers questions (app/card/main.cpp), each in a process of its own, whose first
/// use of the GPU it is. It is started with the first question, which takes about a second, and ends with this object.
/// Any thread; questions wait for each other.
class Helper {
public:
  Helper();
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  /// Throws Error: unavailable if no GPU can be pretended here, or the process cannot do it; else of the kind and with
  /// the text that the answering process has thrown.
  Json ask(const Gpu& gpu, const Json& question);

private:
  class Process;
  std::mutex mutex_;
  std::unique_ptr<Process> process_; ///< null before the first question; guarded by mutex_
};

} // namespace batchscope::pretended_gpu
