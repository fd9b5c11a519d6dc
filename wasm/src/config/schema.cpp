// What a configuration may hold, as a JSON Schema (draft 2020-12). Only the documentation needs it.
// The keys and their bounds are in keys.cpp, the defaults in include/sluice/defaults.h.
#include <algorithm>

#include "config/row.h"
#include "sluice/config.h"

namespace sluice {

namespace config {

// --- values as they are shown ----------------------------------------------------------------

Json show_value(bool value) {
  return value;
}

Json show_value(uint64_t value) {
  return value;
}

Json show_value(const std::string& value) {
  return value;
}

Json show_value(Prefer value) {
  return value == Prefer::structured ? "structured" : "content";
}

Json show_value(InlineMedia::Mode value) {
  if (value == InlineMedia::Mode::listed) return Json::object();
  return value == InlineMedia::Mode::automatic ? "auto" : "off";
}

Json show_value(const std::vector<std::string>& value) {
  return value.empty() ? Json(defaults::kInlineMediaTypes) : Json(value);
}

Json show_value(const std::vector<Signature>& value) {
  Json shown = Json::object();
  for (const auto& [prefix, type] : value)
    shown[prefix] = Json::array({type.extension, type.mime_type});
  return shown;
}

Json show_value(const decltype(Config::tool_fields)& value) {
  Json shown = Json::object();
  for (const auto& [tool, fields] : value) {
    Json& list = shown[tool] = Json::array();
    for (const ToolField& field : fields) {
      Json& entry = list.emplace_back();
      for (const ToolFieldRow& row : kToolFieldRows)
        entry[std::string(row.key)] = field.*row.member;
    }
  }
  return shown;
}

// --- what a value must be --------------------------------------------------------------------

namespace {

/// `{4,64}`
std::string repeated(size_t least, size_t most) {
  return "{" + std::to_string(least) + "," + std::to_string(most) + "}";
}

/// A regular expression, without anchors, for what `is_mime_type` takes.
std::string mime_pattern(bool wildcard) {
  const std::string token = "[A-Za-z0-9!#$&^_.+-]" + repeated(1, kMaxMimeToken);
  return token + "/(" + token + (wildcard ? "|\\*)" : ")");
}

/// What a ToolFieldRow leaves to the documentation.
struct ToolFieldNote {
  std::string (*pattern)();  ///< null: any text
  std::string_view description;
};

/// In the order of kToolFieldRows.
constexpr std::array<ToolFieldNote, kToolFieldRows.size()> kToolFieldNotes = {{
    {[] { return std::string(R"(^[^.]+(\.[^.]+)*$)"); },
     "Where the artifact is in the tool's result: keys, list indexes and * (every element), "
     "joined by dots."},
    {nullptr,
     "What people call the content, such as pdf or report. It replaces {content_type} in "
     "summaries."},
    {[] { return "^(" + mime_pattern(false) + ")?$"; },
     "The content's MIME type, for its reference and its file name. null: recognised from the "
     "bytes."},
    {nullptr,
     "The summary of this field's artifacts, written like default_summary_template. null: uses "
     "default_summary_template."},
}};

/// Puts the members of `more` behind those of `schema`.
void extend(Json& schema, const Json& more) {
  schema.update(more);
}

Json tool_field_schema(const ToolFieldRow& row, const ToolFieldNote& note) {
  const bool nullable = row.least == 0;
  Json schema = {{"description", note.description}};
  if (nullable) schema["default"] = nullptr;
  const Limits limits{static_cast<uint32_t>(row.least), static_cast<uint32_t>(row.most), nullable};
  extend(schema, schema_of(std::type_identity<std::string>{}, limits));
  if (note.pattern) schema["pattern"] = note.pattern();
  return schema;
}

/// One entry of a tool's list.
Json entry_schema() {
  Json required = Json::array();
  Json properties = Json::object();
  for (size_t i = 0; i < kToolFieldRows.size(); ++i) {
    const ToolFieldRow& row = kToolFieldRows[i];
    if (row.least > 0) required.push_back(row.key);
    properties[std::string(row.key)] = tool_field_schema(row, kToolFieldNotes[i]);
  }
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", std::move(required)},
          {"properties", std::move(properties)}};
}

}  // namespace

Json integer_schema(const Limits& limits) {
  return {{"type", "integer"}, {"minimum", limits.least}, {"maximum", limits.most}};
}

Json schema_of(std::type_identity<bool>, const Limits&) {
  return {{"type", "boolean"}};
}

Json schema_of(std::type_identity<std::string>, const Limits& limits) {
  Json schema;
  schema["type"] = limits.nullable ? Json::array({"string", "null"}) : Json("string");
  if (limits.least > 0) schema["minLength"] = limits.least;
  schema["maxLength"] = limits.most;
  return schema;
}

Json schema_of(std::type_identity<Prefer>, const Limits&) {
  return {{"enum", Json::array({show_value(Prefer::structured), show_value(Prefer::content)})}};
}

Json schema_of(std::type_identity<InlineMedia::Mode>, const Limits&) {
  return {{"enum", Json::array({show_value(InlineMedia::Mode::automatic),
                                show_value(InlineMedia::Mode::off)})}};
}

Json schema_of(std::type_identity<std::vector<std::string>>, const Limits& limits) {
  return {{"type", "array"},
          {"minItems", limits.least},
          {"maxItems", limits.most},
          {"items", {{"type", "string"}, {"pattern", "^" + mime_pattern(true) + "$"}}}};
}

Json schema_of(std::type_identity<std::vector<Signature>>, const Limits& limits) {
  const Json extension = {{"type", "string"},
                          {"pattern", "^[A-Za-z0-9]" + repeated(1, kMaxExtension) + "$"}};
  const Json mime_type = {{"type", "string"}, {"pattern", "^" + mime_pattern(false) + "$"}};
  const std::string prefix = "^[A-Za-z0-9+/]" + repeated(kMinPrefix, kMaxPrefix) + "$";
  return {{"type", "object"},
          {"maxProperties", limits.most},
          {"propertyNames", {{"pattern", prefix}}},
          {"additionalProperties",
           {{"type", "array"},
            {"prefixItems", Json::array({extension, mime_type})},
            {"minItems", 2},
            {"maxItems", 2}}}};
}

Json schema_of(std::type_identity<decltype(Config::tool_fields)>, const Limits& limits) {
  return {{"type", "object"},
          {"maxProperties", limits.most},
          {"propertyNames", {{"title", "tool"}, {"minLength", 1}, {"maxLength", kMaxToolName}}},
          {"additionalProperties",
           {{"type", "array"}, {"maxItems", kMaxToolFields}, {"items", entry_schema()}}}};
}

// --- the whole schema ------------------------------------------------------------------------

namespace {

struct Section {
  std::string_view key;
  std::string_view description;
};

constexpr Section kSections[] = {
    {"binary_detection", "How encoded bytes inside strings are found."},
    {"resources", "How links to a server's resources are handled."},
    {"guardrail", "The last limit on what a model sees, whichever tool it came from."},
};

Json section_schema(std::string_view path, const Config& standard);

/// What may stand at `path`, a key or a section or both.
Json schema_at(std::string_view path, const Config& standard) {
  Json schema;
  const auto rows = config_rows();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.key == path; });
  if (row == rows.end()) {
    const auto* const section = std::find_if(std::begin(kSections), std::end(kSections),
                                             [&](const Section& each) { return each.key == path; });
    if (section != std::end(kSections)) schema["description"] = section->description;
    extend(schema, section_schema(path, standard));
    return schema;
  }
  schema["description"] = row->description;
  const Json value = row->show(standard);
  schema["default"] = row->limits().nullable && value == Json("") ? Json() : value;
  if (keys_below(path).empty())
    extend(schema, row->schema(row->limits()));
  else
    schema["anyOf"] = Json::array({row->schema(row->limits()), section_schema(path, standard)});
  return schema;
}

/// An object of the keys below `path`. Recursion is bounded by the depth of the table.
Json section_schema(std::string_view path, const Config& standard) {
  Json properties = Json::object();
  for (const std::string_view key : keys_below(path))
    properties[std::string(key)] = schema_at(path_below(path, key), standard);
  return {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

}  // namespace
}  // namespace config

std::string config_schema_json() {
  return write_json(config::section_schema("", {}));
}

}  // namespace sluice
