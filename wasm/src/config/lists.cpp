// The values that are lists and maps: MIME types, signatures, fields of tools.
#include "config/lists.h"

#include <algorithm>

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
  return !text.empty() && text.size() <= kMaxMimeToken &&
         std::all_of(text.begin(), text.end(), [&](char c) {
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
bool read_type(const Value& value, FileType& type) {
  const std::vector<Value> pair = elements(value, 2);
  if (pair.size() != 2) return false;
  const auto extension = pair[0].text();
  const auto mime_type = pair[1].text();
  if (!extension || !is_token(*extension, "") || extension->size() > kMaxExtension) return false;
  if (!mime_type || !is_mime_type(*mime_type, false)) return false;
  type = {*mime_type, *extension, upper(*extension)};
  return true;
}

Status read_member(const ToolFieldRow& row, const Value& value, const std::string& path,
                   ToolField& field) {
  if (row.least == 0 && value.is(Type::null)) return {};
  auto text = value.text();
  const size_t chars = text ? count_chars(*text) : 0;
  if (!text || chars < row.least || chars > row.most) return wrong_value(path, row.expected);
  field.*row.member = std::move(*text);
  return {};
}

/// Checks what a whole field must be.
Status check_field(const ToolField& field, const std::string& path) {
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

Status read_field(const Value& value, const std::string& path, ToolField& field) {
  if (!value.is(Type::object))
    return wrong_value(path, "an object with field_path and content_type");
  for (const auto& [key, member] : members(value, kToolFieldRows.size())) {
    const auto known =
        std::find_if(kToolFieldRows.begin(), kToolFieldRows.end(),
                     [&key = key](const ToolFieldRow& row) { return row.key == key; });
    if (known == kToolFieldRows.end()) return unknown_key(path, key, tool_field_keys());
    Status status = read_member(*known, member, path_below(path, key), field);
    if (!status.ok()) return status;
  }
  return check_field(field, path);
}

Status read_fields(const Value& value, const std::string& path, std::vector<ToolField>& list) {
  const std::vector<Value> fields = elements(value, kMaxToolFields);
  if (!value.is(Type::array) || fields.size() > kMaxToolFields)
    return wrong_value(path, "a list of at most " + std::to_string(kMaxToolFields) + " fields");
  for (const Value& element : fields) {
    ToolField field;
    Status status = read_field(element, path + "[" + std::to_string(list.size()) + "]", field);
    if (!status.ok()) return status;
    list.push_back(std::move(field));
  }
  return {};
}

}  // namespace

Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  std::vector<std::string>& target) {
  Status wrong = wrong_value(path, "a list of " + range(limits.least, limits.most) +
                                       " MIME types such as image/png or image/*");
  const std::vector<Value> types = elements(value, limits.most);
  if (!value.is(Type::array) || types.size() < limits.least || types.size() > limits.most)
    return wrong;
  target.clear();
  for (const Value& element : types) {
    auto text = element.text();
    if (!text || !is_mime_type(*text, true)) return wrong;
    target.push_back(std::move(*text));
  }
  return {};
}

Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  std::vector<Signature>& target) {
  const std::vector<Member> entries = members(value, limits.most);
  if (!value.is(Type::object) || entries.size() > limits.most)
    return wrong_value(path, "an object of at most " + std::to_string(limits.most) +
                                 R"( entries such as "JVBERi": ["pdf", "application/pdf"])");
  target.clear();
  for (const auto& [prefix, type] : entries) {
    if (!is_token(prefix, "+/") || prefix.size() < kMinPrefix || prefix.size() > kMaxPrefix)
      return wrong_value(path, "keyed by the first " + range(kMinPrefix, kMaxPrefix) +
                                   " characters of the base64 encoding");
    Signature signature{prefix, {}};
    if (!read_type(type, signature.type))
      return wrong_value(path_below(path, prefix),
                         R"(an extension and a MIME type such as ["pdf", "application/pdf"])");
    target.push_back(std::move(signature));
  }
  return {};
}

Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  decltype(Config::tool_fields)& target) {
  const std::vector<Member> tools = members(value, limits.most);
  if (!value.is(Type::object) || tools.size() > limits.most)
    return wrong_value(path, "an object of at most " + std::to_string(limits.most) +
                                 " tools, each with a list of fields");
  target.clear();
  for (const auto& [tool, fields] : tools) {
    if (tool.empty() || count_chars(tool) > kMaxToolName)
      return wrong_value(path, "keyed by tool names of " + range(1, kMaxToolName) + " characters");
    Status status = read_fields(fields, path_below(path, tool), target[tool]);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace sluice::config
