// Prints what the configuration may hold as a JSON Schema, or with the argument `types` the MIME
// types that are known by name: a program of the build, not of the library.
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "sluice/config.h"
#include "sluice/sniff.h"

namespace {

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

/// `{"pdf": "application/pdf"}`: the type by extension. Of two types with one extension the first
/// row counts.
std::string types_by_extension() {
  std::map<std::string, std::string> types;
  const auto add = [&](std::string_view type, auto... extensions) {
    (types.emplace(extensions, type), ...);
  };
#define EXTENSION(...) add(__VA_ARGS__);
#include "sniff/extensions.def"
  for (const std::string_view named : sluice::named_types()) {
    const sluice::FileType type = sluice::type_of_mime(named);
    add(type.mime_type, type.extension);
  }
  types.erase("");
  std::string json;
  for (const auto& [extension, type] : types) {
    json += (json.empty() ? "" : ",") + quoted(extension) + ':' + quoted(type);
  }
  return '{' + json + '}';
}

/// `{"long": ["application/…"], "extensions": {"application/pdf": "pdf"}, "types": {…}}`: the types
/// that are no short word, the extension of every type that has one, and the types by extension.
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
  return "{\"long\":[" + list + "],\"extensions\":{" + extensions +
         "},\"types\":" + types_by_extension() + '}';
}

}  // namespace

int main(int count, char** arguments) {
  const bool types = count > 1 && std::string_view(arguments[1]) == "types";
  const std::string json = types ? types_json() : sluice::config_schema_json();
  return std::puts(json.c_str()) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}
