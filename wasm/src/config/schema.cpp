#include "config/row.h"
#include "config/show.h"
#include "config/tool_field.h"
#include "sluice/config.h"

namespace sluice {

namespace config {
namespace {

/// Appends an entry to the list; `standard` is the default as JSON.
void describe(std::string& list, std::string_view key, std::string_view type,
              std::string_view standard, uint64_t least, uint64_t most,
              std::string_view description) {
  list += list.size() > 1 ? R"(,{"key":)" : R"({"key":)";
  append_quoted(list, key);
  list += R"(,"type":)";
  append_quoted(list, type);
  list += R"(,"default":)";
  list += standard;
  if (most > 0) {
    list += R"(,"minimum":)";
    show_value(least, list);
    list += R"(,"maximum":)";
    show_value(most, list);
  }
  list += R"(,"description":)";
  append_quoted(list, description);
  list += '}';
}

void describe_tool_fields(std::string& list) {
  for (const ToolFieldRow& row : kToolFieldRows)
    describe(list, "tool_fields.<tool>[]." + std::string(row.key),
             row.least > 0 ? "string" : "string|null", "null", row.least, row.most,
             row.description);
}

}  // namespace
}  // namespace config

std::string config_schema_json() {
  const Config standard;
  std::string list = "[";
  for (const config::Row& row : config::config_rows()) {
    std::string value;
    row.show(standard, value);
    if (row.type.ends_with("null") && value == "\"\"") value = "null";
    config::describe(list, row.key, row.type, value, row.least, row.most, row.description);
    if (row.key == "tool_fields") config::describe_tool_fields(list);
  }
  return list + ']';
}

}  // namespace sluice
