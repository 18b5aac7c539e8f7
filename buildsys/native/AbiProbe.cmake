# Record layouts as the C compiler sees them, shipped beside the libraries as abi.json. The probe is compiled with the
# same flags as they are and read as bytes, never run, so that it works when cross-compiling too.

find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(ABI_VENDOR "${CMAKE_CURRENT_LIST_DIR}/../../vendor/llama.cpp")
set(ABI_REPORT "${CMAKE_BINARY_DIR}/abi.json")

add_library(abi-probe OBJECT "${CMAKE_CURRENT_LIST_DIR}/abi_probe.c")
set_target_properties(abi-probe PROPERTIES C_STANDARD 11 C_EXTENSIONS ON INTERPROCEDURAL_OPTIMIZATION OFF)
target_include_directories(abi-probe PRIVATE
  "${ABI_VENDOR}/include" "${ABI_VENDOR}/ggml/include" "${ABI_VENDOR}/tools/mtmd")
if(NOT MSVC)
  target_compile_options(abi-probe PRIVATE -fno-lto) # bytecode has no layout to read
endif()

add_custom_command(
  OUTPUT "${ABI_REPORT}"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/extract_abi.py" "$<TARGET_OBJECTS:abi-probe>" "${ABI_REPORT}"
  DEPENDS abi-probe "$<TARGET_OBJECTS:abi-probe>" "${CMAKE_CURRENT_LIST_DIR}/extract_abi.py"
  COMMENT "Reading record layouts"
  VERBATIM)
add_custom_target(abi-report ALL DEPENDS "${ABI_REPORT}")
install(FILES "${ABI_REPORT}" DESTINATION llama_cpp/lib COMPONENT runtime)
