# Flags for everything of ours, as two targets to link: `sluice_flags`, `sluice_warnings`.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A file that took five seconds to compile takes 15 ms the second time, in any build folder: the folder's
# name, which debug information would hold, does not count.
find_program(CCACHE ccache NO_CMAKE_FIND_ROOT_PATH)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_NOHASHDIR=1 "${CCACHE}")
endif()

add_library(sluice_flags INTERFACE)

# Errors are values in the core: no exceptions, no type information, natively as in WASM. On the link
# line as well, since Emscripten picks its run-time libraries by these flags.
target_compile_options(sluice_flags INTERFACE -fno-exceptions -fno-rtti)
target_link_options(sluice_flags INTERFACE -fno-exceptions -fno-rtti)

# nlohmann_json aborts where it would throw.
target_compile_definitions(sluice_flags INTERFACE JSON_NOEXCEPTION)

if(SLUICE_SMALL_BUFFERS)
  target_compile_definitions(sluice_flags INTERFACE SLUICE_SMALL_BUFFERS)
endif()

if(EMSCRIPTEN)
  # -O3 and not -Os: -Os is three times slower for a tenth less size. LTO drops what Embind never calls.
  target_compile_options(sluice_flags INTERFACE -O3 -flto -msimd128)
  target_link_options(sluice_flags INTERFACE -O3 -flto -msimd128)
endif()

if(SLUICE_SANITIZE)
  # One error ends the run; frame pointers make its stack readable.
  set(sanitize -fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(sluice_flags INTERFACE ${sanitize})
  target_link_options(sluice_flags INTERFACE ${sanitize})
endif()

if(SLUICE_COVERAGE)
  target_compile_options(sluice_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(sluice_flags INTERFACE -fprofile-instr-generate)
endif()

add_library(sluice_warnings INTERFACE)
target_compile_options(sluice_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow)

# New compilers bring new warnings: only the versions that the tests run with turn them into errors.
if((EMSCRIPTEN AND EMSCRIPTEN_VERSION VERSION_LESS 3.1.7)
    OR (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    OR (NOT EMSCRIPTEN AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang"
        AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  set(known_compiler ON)
else()
  set(known_compiler OFF)
endif()
option(SLUICE_WERROR "Warnings in our own sources are errors" ${known_compiler})
if(SLUICE_WERROR)
  target_compile_options(sluice_warnings INTERFACE -Werror)
endif()
