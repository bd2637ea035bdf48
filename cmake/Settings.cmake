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
  # Undefined behaviour aborts the program, so that tests detect it.
  target_compile_options(batchscope_settings INTERFACE
    -fsanitize=${BATCHSCOPE_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(batchscope_settings INTERFACE -fsanitize=${BATCHSCOPE_SANITIZE})
endif()

# ccache needs these two settings for precompiled headers; -fpch-preprocess lets it see their content.
find_program(BATCHSCOPE_CCACHE ccache)
if(BATCHSCOPE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${BATCHSCOPE_CCACHE}")
  target_compile_options(batchscope_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
