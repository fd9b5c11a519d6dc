# Flags for everything of ours, as two targets to link: `sluice_flags`, `sluice_warnings`.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A file that took five seconds to compile takes 15 ms the second time, in any build folder of any checkout: the folder's
# name, which debug information would hold, does not count.
find_program(CCACHE ccache NO_CMAKE_FIND_ROOT_PATH)
if(CCACHE)
  # What is compiled with a precompiled header is only cached where macros of time and of that header do not count.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_NOHASHDIR=1 "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
    CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
endif()

add_library(sluice_flags INTERFACE)

# Sources that every byte passes through. What runs in them once a run or a document is `[[gnu::cold]]`, and compiled for
# size.
set(fast_sources "^wasm/src/(codec/(scalar|simd128)|gate/(inner|pass_|scan|run/(byte_array|run|token))|describe/outline|json/(fingerprint|reader|escape|spelling)|text/damage|tables/(constraint|csv|groups|hash_index|json_rows|leaders|lines|number|table|value))")
# Inlining a function may make its caller this much larger, in LLVM's units: a call costs about 25. LLVM's own 225 is a
# hundredth of the module for no time that can be measured; with 40 rows of small values take a sixth longer.
set(fast_inline 80)
set(small_inline -5)
# At the link, where hot code meets the library's: a little more is a tenth of the time of a small message; from
# 18 on it is 3 % of the module and no time.
set(link_inline 15)

# Errors are values in the core: no exceptions, no type information, natively as in WASM. On the link
# line as well, since Emscripten picks its run-time libraries by these flags.
target_compile_options(sluice_flags INTERFACE -fno-exceptions -fno-rtti)
target_link_options(sluice_flags INTERFACE -fno-exceptions -fno-rtti)

if(EMSCRIPTEN)
  # Every engine with SIMD has the other three. What is worth a vector is written with intrinsics: vectors
  # and unrolled loops elsewhere are size without speed. LTO drops what Embind never calls.
  set(wasm -flto -msimd128 -mbulk-memory -msign-ext -mnontrapping-fptoint)
  target_compile_options(sluice_flags INTERFACE
    -O3 "SHELL:-mllvm -inline-threshold=${fast_inline}" ${wasm} -fno-vectorize -fno-slp-vectorize -fno-unroll-loops)
  # The linker optimises once more: it must not inline what was compiled to be small.
  target_link_options(sluice_flags INTERFACE -Oz ${wasm} -Wl,-mllvm,-inline-threshold=${link_inline})
endif()

# What every byte passes through is compiled for speed. The rest runs once a message or a segment, and
# travels to every browser: compiled for size, it is half as large.
function(sluice_compile_small)
  if(NOT EMSCRIPTEN)
    return()
  endif()
  set(small ${ARGN})
  list(FILTER small EXCLUDE REGEX "${fast_sources}")
  # -Oz alone keeps em++ from inlining anything, even what is shorter than its call.
  set_source_files_properties(${small} PROPERTIES
    COMPILE_OPTIONS "-Oz;-finline-functions;-mllvm;-inline-threshold=${small_inline}")
endfunction()

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
