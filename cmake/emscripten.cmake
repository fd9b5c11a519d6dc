# The toolchain file: makes `cmake --preset wasm-release` work without `emcmake`, whose emulator flag
# (--experimental-wasm-bulk-memory) Node 20 rejects.
find_program(EM_CONFIG em-config NO_CMAKE_FIND_ROOT_PATH REQUIRED)
execute_process(COMMAND "${EM_CONFIG}" EMSCRIPTEN_ROOT
  OUTPUT_VARIABLE EMSCRIPTEN_ROOT_PATH OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include("${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake")
if(EMSCRIPTEN_VERSION VERSION_LESS 3.1.6)
  message(FATAL_ERROR "Emscripten ${EMSCRIPTEN_VERSION} is too old: install 3.1.6 or later.")
endif()

find_program(NODE node NO_CMAKE_FIND_ROOT_PATH REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR "${NODE}")

# Debian keeps acorn, which the link step needs, outside of node's default search path.
if(EXISTS /usr/share/nodejs/acorn)
  set(CMAKE_CXX_LINKER_LAUNCHER "${CMAKE_COMMAND};-E;env;NODE_PATH=/usr/share/nodejs")
endif()
