# What is particular to DLLs: their names, the C runtime that they share, and what they export.

# The loader of backends looks for ggml-*.dll, where MinGW's convention is libggml-*.dll.
set(CMAKE_SHARED_LIBRARY_PREFIX "")
set(CMAKE_SHARED_MODULE_PREFIX "")

if(MINGW)
  add_link_options("LINKER:-s")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
else()
  # The C++ runtime is linked statically, so that no redistributable package has to be installed. The C runtime stays the
  # system's: memory and files that one library opens, another closes.
  set(CMAKE_MSVC_RUNTIME_LIBRARY MultiThreaded)
  add_link_options("LINKER:/NODEFAULTLIB:libucrt.lib" "LINKER:/DEFAULTLIB:ucrt.lib")
endif()

# The headers mark exports for the MSVC ABI only. In the MinGW flavour the version scripts of Linux say what leaves a DLL.
function(limit_dll_exports target version_script)
  if(NOT MINGW)
    return()
  endif()
  set(linking "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/link_with_exports.py")
  set(launcher "${Python3_EXECUTABLE};${linking};$<TARGET_FILE_NAME:${target}>;${version_script};${CMAKE_BINARY_DIR}/${target}.def")
  set_target_properties(${target} PROPERTIES C_LINKER_LAUNCHER "${launcher}" CXX_LINKER_LAUNCHER "${launcher}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${version_script}" "${linking}")
endfunction()
