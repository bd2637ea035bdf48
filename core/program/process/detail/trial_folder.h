#pragma once

#include <string>

#include "core/base/descriptor.h"
#include "core/program/process/detail/program_folder.h"

namespace batchscope::program {

/// The folder of a program that is tried or asked and is no stored run. It is removed with this object; what a killed
/// BatchScope has left is removed by remove_abandoned_trials(). One thread.
class TrialFolder {
public:
  /// Throws Error (failed) if it cannot be made.
  TrialFolder();
  ~TrialFolder();
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;

  const std::string& uid() const { return uid_; }
  const ProgramFolder& folder() const { return folder_; }

private:
  const std::string uid_;
  const ProgramFolder folder_;
  Descriptor owner_;
};

/// Ends the programs that BatchScopes which were killed were trying (SIGKILL, and never another program), and removes
/// their folders.
void remove_abandoned_trials();

} // namespace batchscope::program
