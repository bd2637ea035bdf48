# Compiler settings of all targets, as an interface library that they link.
add_library(batchscope_settings INTERFACE)
target_include_directories(batchscope_settings INTERFACE "${PROJECT_SOURCE_DIR}")
# Designated initializers omit fields on purpose, to keep their defaults.
target_compile_options(batchscope_settings INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
# False positive of GCC 12 in std::string's operator+ (GCC bug 105651).
target_compile_options(batchscope_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# GCC does not warn about this in a main file, but in a unity build no file is the main one.
target_compile_options(batchscope_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
if(BATCHSCOPE_SANITIZE)
  # Undefined behaviour aborts the program, so that tests detect it. What is left out doubles the time to compile, and
  # is seen by the address sanitizer or by the processor. Reports name functions; with -g1 they name lines too.
  target_compile_options(batchscope_settings INTERFACE
    -fsanitize=${BATCHSCOPE_SANITIZE} -fno-sanitize=null,alignment,object-size,vptr
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(batchscope_settings INTERFACE -fsanitize=${BATCHSCOPE_SANITIZE})
endif()

# ccache needs these two settings for precompiled headers; -fpch-preprocess lets it see their content.
# A header of the project that is precompiled and included again must have an include guard: after a change of comments
# alone ccache gives the header that it precompiled before, and GCC no longer sees that "#pragma once" means the same
# file.
find_program(BATCHSCOPE_CCACHE ccache)
if(BATCHSCOPE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${BATCHSCOPE_CCACHE}")
  target_compile_options(batchscope_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

# moc_files_are_included(TARGET): each source of TARGET that needs it includes what moc makes of its header, so that it
# is compiled there; the file in which moc would collect the rest is nearly empty.
function(moc_files_are_included target)
  set_source_files_properties("${CMAKE_CURRENT_BINARY_DIR}/${target}_autogen/mocs_compilation.cpp" PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON)
endfunction()
