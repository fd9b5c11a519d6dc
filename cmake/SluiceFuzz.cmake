# One libFuzzer target for each tests/fuzz/*_fuzz.cpp.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "The fuzz targets need clang: use `cmake --preset native-fuzz`.")
endif()

# The core reports its branches to the fuzzer that is linked in below. Where the tests are built of it too, it does not report what it
# compares, which would take them twice as long.
if(SLUICE_TESTS)
  target_compile_options(sluice_flags INTERFACE -fsanitize-coverage=inline-8bit-counters,pc-table)
else()
  target_compile_options(sluice_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What the tests use to run the gate over a whole document serves here, too.
add_library(gate_fixture STATIC tests/cpp/gate/gate_fixture.cpp)
target_include_directories(gate_fixture PUBLIC tests/cpp)
target_link_libraries(gate_fixture PUBLIC sluice_facts)

file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
foreach(source ${fuzz_sources})
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE gate_fixture sluice_tables)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
endforeach()
