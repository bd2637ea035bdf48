# `make install`: both programs, the libraries that they load, and desktop integration files. An installed program finds
# its files in ../share/batchscope (core/base/resources.h) and its libraries in ../lib/batchscope, whatever the prefix
# is, and LibTorch in its current place.
set(resources "${PROJECT_SOURCE_DIR}/resources")
set_target_properties(batchscope batchscope-cli PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/batchscope")
set_target_properties(batchscope_engine batchscope_formula PROPERTIES
  INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS batchscope batchscope-cli DESTINATION bin)
install(TARGETS batchscope_core batchscope_engine batchscope_formula DESTINATION lib/batchscope)
if(TARGET batchscope-card)
  set_target_properties(batchscope-card PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS batchscope-card DESTINATION lib/batchscope)
endif()
if(TARGET batchscope_pretended_gpu) # with links to it
  install(DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pretended-gpu" DESTINATION lib/batchscope
    USE_SOURCE_PERMISSIONS)
endif()
install(DIRECTORY "${resources}/demo" "${resources}/cards" "${resources}/advice" DESTINATION share/batchscope)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/build/docs/" DESTINATION share/doc/batchscope OPTIONAL) # by `make docs`
install(FILES "${resources}/desktop/batchscope.desktop" DESTINATION share/applications)
install(FILES "${resources}/desktop/batchscope.metainfo.xml" DESTINATION share/metainfo)
install(FILES "${resources}/desktop/batchscope.xml" DESTINATION share/mime/packages)
install(FILES "${resources}/icons/batchscope.svg" DESTINATION share/icons/hicolor/scalable/apps)
install(FILES "${resources}/icons/batchscope.svg" DESTINATION share/icons/hicolor/scalable/mimetypes
  RENAME application-x-batchscope-runs.svg)
