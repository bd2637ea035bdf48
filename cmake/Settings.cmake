# Compiler settings of every target, as one interface library that all of them link.
add_library(batchscope_settings INTERFACE)
target_include_directories(batchscope_settings INTERFACE "${PROJECT_SOURCE_DIR}")
# Designated initializers leave out fields on purpose: their defaults are the ones that are meant.
target_compile_options(batchscope_settings INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
# GCC 12 sees overlaps in std::string's operator+ that are not there (its bug 105651).
target_compile_options(batchscope_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Where several files are compiled as one, none of them counts as the main one, in which this is no mistake.
target_compile_options(batchscope_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
if(BATCHSCOPE_SANITIZE)
  # Undefined behaviour ends the program, so that a test that meets it fails.
  target_compile_options(batchscope_settings INTERFACE
    -fsanitize=${BATCHSCOPE_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(batchscope_settings INTERFACE -fsanitize=${BATCHSCOPE_SANITIZE})
endif()

# ccache takes precompiled headers only with these two liberties; -fpch-preprocess lets it see what they hold.
find_program(BATCHSCOPE_CCACHE ccache)
if(BATCHSCOPE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${BATCHSCOPE_CCACHE}")
  target_compile_options(batchscope_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
