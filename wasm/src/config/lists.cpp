// The values that are lists and maps: MIME types, signatures, fields of tools.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/nearest.h"
#include "config/tool_field.h"
#include "config/value.h"
#include "sluice/tape.h"

namespace sluice::config {

namespace {

bool is_alphanumeric(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

bool is_token(std::string_view text, std::string_view extra) {
  return !text.empty() && text.size() <= 127 && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alphanumeric(c) || extra.find(c) != std::string_view::npos;
  });
}

/// `type/subtype` by RFC 6838 §4.2; `type/*` as well when `wildcard`.
bool is_mime_type(std::string_view text, bool wildcard) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_token(text.substr(0, slash), "!#$&-^_.+"))
    return false;
  const std::string_view subtype = text.substr(slash + 1);
  return (wildcard && subtype == "*") || is_token(subtype, "!#$&-^_.+");
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// `["pdf", "application/pdf"]` as a type; false when it is something else.
bool read_type(const Json& value, FileType& type) {
  if (!value.is_array() || value.size() != 2) return false;
  const auto* const extension = value[0].get_ptr<const std::string*>();
  const auto* const mime_type = value[1].get_ptr<const std::string*>();
  if (extension == nullptr || mime_type == nullptr) return false;
  if (!is_token(*extension, "") || extension->size() > 16 || !is_mime_type(*mime_type, false))
    return false;
  type = {*mime_type, *extension, upper(*extension)};
  return true;
}

Status read_field(const Json& value, const std::string& path, ToolField& field) {
  if (!value.is_object()) return wrong_value(path, "an object with field_path and content_type");
  for (const auto& [key, member] : value.items()) {
    const auto known =
        std::find_if(kToolFieldRows.begin(), kToolFieldRows.end(),
                     [&key = key](const ToolFieldRow& row) { return row.key == key; });
    if (known == kToolFieldRows.end()) return unknown_key(path, key, tool_field_keys());
    const std::string place = path_below(path, key);
    if (known->least == 0 && member.is_null()) continue;
    const auto* const text = member.get_ptr<const std::string*>();
    const size_t chars = text == nullptr ? 0 : count_chars(*text);
    if (text == nullptr || chars < known->least || chars > known->most)
      return wrong_value(place, known->expected);
    field.*known->member = *text;
  }
  for (const ToolFieldRow& row : kToolFieldRows)
    if (row.least > 0 && (field.*row.member).empty())
      return wrong_value(path_below(path, row.key), "given: " + std::string(row.expected));
  if (!field.mime_type.empty() && !is_mime_type(field.mime_type, false))
    return wrong_value(path_below(path, "mime_type"), "a MIME type such as application/pdf");
  if (has_empty_step(field.field_path))
    return wrong_value(path_below(path, "field_path"),
                       "a dot path such as result.pages.0.image or items.*.data");
  return {};
}

}  // namespace

Status read_value(const Row& row, const Json& value, const std::string& path,
                  std::vector<std::string>& target) {
  const std::string expected = "a list of " + std::to_string(row.least) + " to " +
                               std::to_string(row.most) +
                               " MIME types such as image/png or image/*";
  if (!value.is_array() || value.size() < row.least || value.size() > row.most)
    return wrong_value(path, expected);
  target.clear();
  for (const Json& element : value) {
    const auto* const text = element.get_ptr<const std::string*>();
    if (text == nullptr || !is_mime_type(*text, true)) return wrong_value(path, expected);
    target.push_back(*text);
  }
  return {};
}

Status read_value(const Row& row, const Json& value, const std::string& path,
                  std::vector<Signature>& target) {
  if (!value.is_object() || value.size() > row.most)
    return wrong_value(path, "an object of at most " + std::to_string(row.most) +
                                 R"( entries such as "JVBERi": ["pdf", "application/pdf"])");
  target.clear();
  for (const auto& [prefix, type] : value.items()) {
    if (!is_token(prefix, "+/") || prefix.size() < 4 || prefix.size() > 64)
      return wrong_value(path, "keyed by the first 4 to 64 characters of the base64 encoding");
    Signature signature{prefix, {}};
    if (!read_type(type, signature.type))
      return wrong_value(path_below(path, prefix),
                         R"(an extension and a MIME type such as ["pdf", "application/pdf"])");
    target.push_back(std::move(signature));
  }
  return {};
}

Status read_value(const Row& row, const Json& value, const std::string& path,
                  decltype(Config::tool_fields)& target) {
  if (!value.is_object() || value.size() > row.most)
    return wrong_value(path, "an object of at most " + std::to_string(row.most) +
                                 " tools, each with a list of fields");
  target.clear();
  for (const auto& [tool, fields] : value.items()) {
    if (tool.empty() || count_chars(tool) > kMaxToolName)
      return wrong_value(
          path, "keyed by tool names of 1 to " + std::to_string(kMaxToolName) + " characters");
    const std::string place = path_below(path, tool);
    if (!fields.is_array() || fields.size() > kMaxToolFields)
      return wrong_value(place, "a list of at most " + std::to_string(kMaxToolFields) + " fields");
    std::vector<ToolField>& list = target[tool];
    for (const Json& element : fields) {
      ToolField field;
      Status status = read_field(element, place + "[" + std::to_string(list.size()) + "]", field);
      if (!status.ok()) return status;
      list.push_back(std::move(field));
    }
  }
  return {};
}

Json show_value(const std::vector<std::string>& value) {
  return value;
}

Json show_value(const std::vector<Signature>& value) {
  Json shown = Json::object();
  for (const Signature& signature : value)
    shown[signature.base64_prefix] = {signature.type.extension, signature.type.mime_type};
  return shown;
}

Json show_value(const decltype(Config::tool_fields)& value) {
  Json shown = Json::object();
  for (const auto& [tool, fields] : value) {
    Json list = Json::array();
    for (const ToolField& field : fields) {
      Json entry = Json::object();
      for (const ToolFieldRow& row : kToolFieldRows)
        entry[std::string(row.key)] = field.*row.member;
      list.push_back(std::move(entry));
    }
    shown[tool] = std::move(list);
  }
  return shown;
}

}  // namespace sluice::config
