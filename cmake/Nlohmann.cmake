# nlohmann_json, header only, as a target to link. Its folder is copied: em++ must never see
# /usr/include, whose C headers are those of another machine. All presets share the copy in build/, so that
# their command lines, and thereby ccache's keys, agree.
find_path(NLOHMANN_INCLUDE nlohmann/json.hpp REQUIRED NO_CMAKE_FIND_ROOT_PATH
  PATHS /usr/include /usr/local/include /opt/homebrew/include)
get_filename_component(copied_include "${CMAKE_BINARY_DIR}/../include" ABSOLUTE)
file(COPY "${NLOHMANN_INCLUDE}/nlohmann" DESTINATION "${copied_include}")

add_library(nlohmann INTERFACE)
target_include_directories(nlohmann SYSTEM INTERFACE "${copied_include}")
# It aborts where it would throw; values are read and written as text in memory.
target_compile_definitions(nlohmann INTERFACE JSON_NOEXCEPTION JSON_NO_IO)
