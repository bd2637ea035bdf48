# embed_texts(OUTPUT HEADER NAMESPACE FUNCTION FILE...): generates a C++ source that defines each FUNCTION of HEADER,
# `std::string_view FUNCTION()`, as the text of its FILE. Runs at configure time; a changed file triggers a new configure.
function(embed_texts output header namespace)
  set(functions "")
  list(LENGTH ARGN count)
  math(EXPR last "${count} - 1")
  foreach(index RANGE 0 ${last} 2)
    math(EXPR next "${index} + 1")
    list(GET ARGN ${index} function)
    list(GET ARGN ${next} file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(APPEND functions "std::string_view ${function}() {\n  return R\"text(${text})text\";\n}\n\n")
  endforeach()
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [[
#include "@header@"

namespace @namespace@ {

@functions@} // namespace @namespace@
]])
endfunction()
