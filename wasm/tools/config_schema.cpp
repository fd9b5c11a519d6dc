// Prints what the configuration may hold as a JSON Schema, or with the argument `types` the MIME
// types that are known by name, as a JSON array: a program of the build, not of the library.
#include <cstdio>
#include <string>
#include <string_view>

#include "sluice/config.h"
#include "sluice/sniff.h"

namespace {

std::string types_json() {
  std::string list = "[";
  for (const std::string_view type : sluice::long_types()) {
    if (list.size() > 1) list += ',';
    list.append("\"").append(type).append("\"");
  }
  return list + ']';
}

}  // namespace

int main(int count, char** arguments) {
  const bool types = count > 1 && std::string_view(arguments[1]) == "types";
  const std::string json = types ? types_json() : sluice::config_schema_json();
  return std::puts(json.c_str()) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}
