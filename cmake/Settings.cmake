# Compiler settings of every target, as one interface library that all of them link.
add_library(batchscope_settings INTERFACE)
target_include_directories(batchscope_settings INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(batchscope_settings INTERFACE -Wall -Wextra)
if(BATCHSCOPE_SANITIZE)
  target_compile_options(batchscope_settings INTERFACE -fsanitize=${BATCHSCOPE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(batchscope_settings INTERFACE -fsanitize=${BATCHSCOPE_SANITIZE})
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()
