# install.cmake - what `cmake --install build` puts where. The programs and libraries find each other by relative paths (KC_*_FROM_*).
set(PRIVATE_DIR ${CMAKE_INSTALL_LIBDIR}/kc) # kc-runner, kc-rtc and the modules that are loaded on first use
set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kc)
set(SOURCES ${CMAKE_CURRENT_LIST_DIR})

install(TARGETS kc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS kc-runner kc-rtc RUNTIME DESTINATION ${PRIVATE_DIR})
install(TARGETS kc_exact kc_zip kc_line LIBRARY DESTINATION ${PRIVATE_DIR})
install(TARGETS kc_shared EXPORT kcTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES host/kc.h host/kc_driver.h host/kc_extension.h host/npy.h host/diff.h lua/kc_embed.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kc)
install(DIRECTORY contracts DESTINATION ${CMAKE_INSTALL_DATADIR}/kc)

# The module of stock Lua finds libkc from where it lies, unless somebody moves it.
if(KC_MODULE_RPATH)
  set(RPATH ${KC_MODULE_RPATH})
else()
  cmake_path(ABSOLUTE_PATH KC_INSTALL_LUADIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE FULL_LUADIR)
  file(RELATIVE_PATH RPATH ${FULL_LUADIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(RPATH "$ORIGIN/${RPATH}")
endif()
set_target_properties(kc_module PROPERTIES INSTALL_RPATH "${RPATH}")
install(TARGETS kc_module LIBRARY DESTINATION ${KC_INSTALL_LUADIR})

# For other people's builds: pkg-config and CMake.
file(RELATIVE_PATH PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${SOURCES}/kc.pc.in ${GENERATED}/kc.pc @ONLY)
install(FILES ${GENERATED}/kc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_package_config_file(${SOURCES}/kcConfig.cmake.in ${GENERATED}/kcConfig.cmake
  INSTALL_DESTINATION ${PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${GENERATED}/kcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${GENERATED}/kcConfig.cmake ${GENERATED}/kcConfigVersion.cmake DESTINATION ${PACKAGE_DIR})
install(EXPORT kcTargets NAMESPACE kc:: DESTINATION ${PACKAGE_DIR})
