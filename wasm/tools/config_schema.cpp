// Prints what the configuration may hold as a JSON Schema, or with the argument `types` the MIME
// types that are known by name: a program of the build, not of the library.
#include <cstdio>
#include <string>
#include <string_view>

#include "sluice/config.h"
#include "sluice/sniff.h"

namespace {

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

/// `{"long": ["application/…"], "extensions": {"application/pdf": "pdf"}}`: the types that are no
/// short word, and the extension of every type that has one.
std::string types_json() {
  std::string list;
  for (const std::string_view type : sluice::long_types()) {
    list += (list.empty() ? "" : ",") + quoted(type);
  }
  std::string extensions;
  for (const std::string_view type : sluice::named_types()) {
    const std::string extension = sluice::type_of_mime(type).extension;
    if (extension.empty()) continue;
    extensions += (extensions.empty() ? "" : ",") + quoted(type) + ':' + quoted(extension);
  }
  return "{\"long\":[" + list + "],\"extensions\":{" + extensions + "}}";
}

}  // namespace

int main(int count, char** arguments) {
  const bool types = count > 1 && std::string_view(arguments[1]) == "types";
  const std::string json = types ? types_json() : sluice::config_schema_json();
  return std::puts(json.c_str()) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}
