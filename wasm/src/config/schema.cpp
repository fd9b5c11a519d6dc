#include <nlohmann/json.hpp>

#include "config/row.h"
#include "config/tool_field.h"
#include "sluice/config.h"

namespace sluice {

namespace config {
namespace {

Json described(std::string_view key, std::string_view type, Json standard, uint64_t least,
               uint64_t most, std::string_view description) {
  Json entry = {{"key", key}, {"type", type}, {"default", std::move(standard)}};
  if (most > 0) {
    entry["minimum"] = least;
    entry["maximum"] = most;
  }
  entry["description"] = description;
  return entry;
}

void describe_tool_fields(Json& list) {
  for (const ToolFieldRow& row : kToolFieldRows)
    list.push_back(described("tool_fields.<tool>[]." + std::string(row.key),
                             row.least > 0 ? "string" : "string|null", nullptr, row.least, row.most,
                             row.description));
}

}  // namespace
}  // namespace config

std::string config_schema_json() {
  const Config standard;
  config::Json list = config::Json::array();
  for (const config::Row& row : config::config_rows()) {
    config::Json value = row.show(standard);
    if (row.type.ends_with("null") && value == config::Json("")) value = nullptr;
    list.push_back(config::described(row.key, row.type, std::move(value), row.least, row.most,
                                     row.description));
    if (row.key == "tool_fields") config::describe_tool_fields(list);
  }
  return list.dump();
}

}  // namespace sluice
