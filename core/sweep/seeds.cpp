#include "core/sweep/detail/seeds.h"

#include "core/program/process/command.h"

namespace batchscope::sweep::detail {

bool takes_seed(const run::RunSpec& spec) {
  return !spec.program || spec.program->attach || program::placeholders_of(*spec.program).contains("seed");
}

} // namespace batchscope::sweep::detail
