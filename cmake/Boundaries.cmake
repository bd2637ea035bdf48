# Build-time checks of what core's headers expose and its libraries link.

# prove_headers_plain(TARGET): core's public headers (all outside detail/ folders) compile together without LibTorch on
# the include path, and expose neither SQLite nor Qt.
function(prove_headers_plain target)
  file(GLOB_RECURSE headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/*.h")
  list(FILTER headers EXCLUDE REGEX "/detail/")
  set(text "")
  foreach(header IN LISTS headers)
    string(APPEND text "#include \"${header}\"\n")
  endforeach()
  string(APPEND text [[
#if defined(SQLITE_VERSION) || defined(SQLITECPP_VERSION)
#error "a header of core outside detail/ shows SQLite"
#elif defined(C10_API)
#error "a header of core outside detail/ shows LibTorch"
#elif defined(QT_VERSION_STR)
#error "a header of core outside detail/ shows Qt"
#endif
]])
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "${text}" @ONLY)
  add_library(${target} OBJECT "${source}")
  target_link_libraries(${target} PRIVATE batchscope_settings nlohmann_json::nlohmann_json)
endfunction()

# prove_links_alone(LIBRARY): the shared LIBRARY links with only its own dependencies, hence without Qt; the linker
# rejects undefined symbols.
function(prove_links_alone library)
  target_link_options(${library} PRIVATE -Wl,-z,defs)
  get_target_property(needs ${library} LINK_LIBRARIES)
  if(needs MATCHES "Qt")
    message(FATAL_ERROR "${library} links Qt: ${needs}")
  endif()
endfunction()
