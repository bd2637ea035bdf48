# embed_migrations(FOLDER OUTPUT): generates a C++ source with every NNN.sql of FOLDER, in order, that defines
# embedded_migrations() of core/store/file/detail/migrations.h. Runs at configure time; a changed file triggers a new
# configure.
function(embed_migrations folder output)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/[0-9][0-9][0-9].sql")
  list(SORT files)
  set(literals "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(APPEND literals "      R\"sql(${text})sql\",\n")
  endforeach()
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [[
#include "core/store/file/detail/migrations.h"

namespace batchscope::store::detail {

std::vector<std::string_view> embedded_migrations() {
  return {
@literals@  };
}

} // namespace batchscope::store::detail
]])
endfunction()
