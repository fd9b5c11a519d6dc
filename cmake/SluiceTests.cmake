# One GoogleTest binary from tests/cpp: native under sanitizers, or WASM in node.
find_path(GOOGLETEST_SOURCE src/gtest-all.cc REQUIRED NO_CMAKE_FIND_ROOT_PATH
  HINTS ENV GOOGLETEST_SOURCE PATHS /usr/src/googletest/googletest)

# Compiled here with our own flags: a library built without them would mix instrumented containers with
# plain ones, and has no WASM twin.
add_library(gtest_ours STATIC
  "${GOOGLETEST_SOURCE}/src/gtest-all.cc" "${GOOGLETEST_SOURCE}/src/gtest_main.cc")
target_include_directories(gtest_ours SYSTEM PUBLIC "${GOOGLETEST_SOURCE}/include")
target_include_directories(gtest_ours PRIVATE "${GOOGLETEST_SOURCE}")
target_link_libraries(gtest_ours PUBLIC sluice_flags)
# Test code runs briefly and compiles long: without optimisation in a third of the time. The core keeps its own flags.
set(unoptimised -O0 $<$<BOOL:${EMSCRIPTEN}>:-fno-lto>)
target_compile_options(gtest_ours PRIVATE ${unoptimised})
# Nothing here uses threads, and the WASM build has none.
target_compile_definitions(gtest_ours PUBLIC GTEST_HAS_PTHREAD=0)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/cpp/*.cpp)
add_executable(sluice_tests ${test_sources})
# -O1 has to stand behind the flags of the core: linked for size, the binary takes longest of all that `npm test` builds.
target_link_libraries(sluice_tests PRIVATE sluice_core sluice_facts sluice_tables gtest_ours $<$<BOOL:${EMSCRIPTEN}>:-O1>)
target_include_directories(sluice_tests PRIVATE tests/cpp)
# What all of them include, compiled once: two thirds of the time of a first build. The options are those that ccache needs for it.
target_precompile_headers(sluice_tests PRIVATE <gtest/gtest.h> <string> <string_view> <vector>)
target_compile_options(sluice_tests PRIVATE
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
# The same of the standard library for what is tested: a third of its time. The module that ships is compiled without, so that a file that
# forgets what it includes is found.
if(NOT EMSCRIPTEN)
  foreach(library sluice_core sluice_facts sluice_tables)
    target_precompile_headers(${library} PRIVATE
      <algorithm> <array> <cstdint> <functional> <memory> <optional> <span> <string> <string_view> <vector>)
    target_compile_options(${library} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  endforeach()
endif()
# Tests compare sizes with literals all day: no -Wconversion.
target_compile_options(sluice_tests PRIVATE -Wall -Wextra -Wshadow $<$<BOOL:${SLUICE_WERROR}>:-Werror>
  ${unoptimised})

if(EMSCRIPTEN)
  # .cjs, since package.json makes .js an ES module and this glue is CommonJS.
  set_target_properties(sluice_tests PROPERTIES SUFFIX .cjs)
  target_link_options(sluice_tests PRIVATE
    "SHELL:--pre-js ${CMAKE_SOURCE_DIR}/tests/cpp/environment.js"
    -sENVIRONMENT=node
    -sEXIT_RUNTIME=1
    -sWASM_ASYNC_COMPILATION=0
    # Fixtures are read from, and reports written to, the real file system.
    -sNODERAWFS=1
    -sALLOW_MEMORY_GROWTH=1
    -sINITIAL_MEMORY=67108864
    -sMAXIMUM_MEMORY=4294967296
    # The stack of the module that ships, so that what overflows there overflows here.
    -Wl,--stack-first
    -s${stack_size}=1048576)
endif()
