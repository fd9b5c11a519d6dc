#include <algorithm>

#include "config/row.h"
#include "config/shape.h"
#include "config/show.h"
#include "sluice/config.h"

namespace sluice {

namespace config {
namespace {

struct Section {
  std::string_view key;
  std::string_view description;
};

constexpr Section kSections[] = {
    {"binary_detection", "How bytes that a server wrote into strings are found."},
    {"resources", "What is done with links to resources of a server."},
    {"guardrail", "The last clamp on what a model sees, whatever tool it came from."},
};

void append_section(std::string_view path, const Config& standard, std::string& out);

/// What may stand at `path`, a key or a section or both, without its braces.
void append_node(std::string_view path, const Config& standard, std::string& out) {
  const auto rows = config_rows();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.key == path; });
  if (row == rows.end()) {
    const auto* const section = std::find_if(std::begin(kSections), std::end(kSections),
                                             [&](const Section& each) { return each.key == path; });
    if (section != std::end(kSections)) append_member(out, "description", section->description);
    return append_section(path, standard, out);
  }
  append_member(out, "description", row->description);
  append_member(out, "default");
  std::string value;
  row->show(standard, value);
  out += row->limits().nullable && value == "\"\"" ? "null" : value;
  if (keys_below(path).empty()) return row->shape(row->limits(), out);
  append_member(out, "anyOf");
  out += "[{";
  row->shape(row->limits(), out);
  out += "},{";
  append_section(path, standard, out);
  out += "}]";
}

/// An object of the keys below `path`. Recursion is bounded by the depth of the table.
void append_section(std::string_view path, const Config& standard, std::string& out) {
  append_member(out, "type", "object");
  append_member(out, "additionalProperties");
  out += "false";
  append_member(out, "properties");
  out += '{';
  for (const std::string_view key : keys_below(path)) {
    append_member(out, key);
    out += '{';
    append_node(path_below(path, key), standard, out);
    out += '}';
  }
  out += '}';
}

}  // namespace
}  // namespace config

std::string config_schema_json() {
  std::string schema = "{";
  config::append_section("", {}, schema);
  return schema + '}';
}

}  // namespace sluice
