// The values of the configuration: read and checked, each by the type of the member it belongs to.
#include <algorithm>
#include <utility>

#include "config/row.h"
#include "text/ascii.h"

namespace sluice::config {

namespace {

/// `1 to 20`
std::string range(uint64_t least, uint64_t most) {
  return grouped(least) + " to " + grouped(most);
}

/// `1 to 20`, or `at most 20` where nothing is too few.
std::string amount(uint64_t least, uint64_t most) {
  return least == 0 ? "at most " + grouped(most) : range(least, most);
}

/// What a string says; null for any other type.
const std::string* text_of(const Json& value) {
  return value.get_ptr<const Json::string_t*>();
}

/// The members of an object, none of any other type.
const Json::object_t& members(const Json& value) {
  static const Json::object_t none;
  const auto* const object = value.get_ptr<const Json::object_t*>();
  return object ? *object : none;
}

}  // namespace

Status wrong_value(const std::string& path, std::string_view expected) {
  Status status;
  status.code = Code::config_value;
  status.path = path;
  status.message = path + " must be ";
  status.message += expected;
  return status;
}

// --- numbers, words and texts ----------------------------------------------------------------

Status check_integer(const Limits& limits, const Json& value, const std::string& path,
                     uint32_t& number) {
  const auto* const read = value.get_ptr<const Json::number_unsigned_t*>();
  if (!read || *read < limits.least || *read > limits.most)
    return wrong_value(path, "an integer from " + range(limits.least, limits.most));
  number = static_cast<uint32_t>(*read);
  return {};
}

Status read_value(const Limits&, const Json& value, const std::string& path, bool& target) {
  const auto* const flag = value.get_ptr<const Json::boolean_t*>();
  if (!flag) return wrong_value(path, "true or false");
  target = *flag;
  return {};
}

Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  std::string& target) {
  if (limits.nullable && value.is_null()) {
    target.clear();
    return {};
  }
  const std::string* const text = text_of(value);
  const size_t chars = text ? count_chars(*text) : 0;
  if (!text || chars < limits.least || chars > limits.most)
    return wrong_value(path, (limits.nullable ? "null or a string of " : "a string of ") +
                                 amount(limits.least, limits.most) + " characters");
  target = *text;
  return {};
}

Status read_value(const Limits&, const Json& value, const std::string& path, Prefer& target) {
  const std::string* const word = text_of(value);
  if (word && *word == "structured")
    target = Prefer::structured;
  else if (word && *word == "content")
    target = Prefer::content;
  else
    return wrong_value(path, R"("structured" or "content")");
  return {};
}

Status read_value(const Limits&, const Json& value, const std::string& path,
                  InlineMedia::Mode& target) {
  const std::string* const word = text_of(value);
  if (word && *word == "auto")
    target = InlineMedia::Mode::automatic;
  else if (word && *word == "off")
    target = InlineMedia::Mode::off;
  else
    return wrong_value(path, R"("auto", "off" or an object {"types", "max_bytes", "max_count"})");
  return {};
}

// --- MIME types and signatures ---------------------------------------------------------------

namespace {

bool is_token(std::string_view text, std::string_view extra) {
  return !text.empty() && text.size() <= kMaxMimeToken &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alphanumeric(c) || is_among(c, extra); });
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
  const std::string* const extension = text_of(value[0]);
  const std::string* const mime_type = text_of(value[1]);
  if (!extension || !is_token(*extension, "") || extension->size() > kMaxExtension) return false;
  if (!mime_type || !is_mime_type(*mime_type, false)) return false;
  type = {*mime_type, *extension, upper(*extension)};
  return true;
}

}  // namespace

Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  std::vector<std::string>& target) {
  Status wrong = wrong_value(path, "a list of " + range(limits.least, limits.most) +
                                       " MIME types such as image/png or image/*");
  if (!value.is_array() || value.size() < limits.least || value.size() > limits.most) return wrong;
  target.clear();
  for (const Json& element : value) {
    const std::string* const text = text_of(element);
    if (!text || !is_mime_type(*text, true)) return wrong;
    target.push_back(*text);
  }
  return {};
}

Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  std::vector<Signature>& target) {
  if (!value.is_object() || value.size() > limits.most)
    return wrong_value(path, "an object of at most " + grouped(limits.most) +
                                 R"( entries such as "JVBERi": ["pdf", "application/pdf"])");
  target.clear();
  for (const auto& [prefix, type] : members(value)) {
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

// --- fields of tools -------------------------------------------------------------------------

namespace {

Status read_member(const ToolFieldRow& row, const Json& value, const std::string& path,
                   ToolField& field) {
  if (row.least == 0 && value.is_null()) return {};
  const std::string* const text = text_of(value);
  const size_t chars = text ? count_chars(*text) : 0;
  if (!text || chars < row.least || chars > row.most) return wrong_value(path, row.expected);
  field.*row.member = *text;
  return {};
}

/// Whether a dot path has an empty step: `a..b`, `.a`, `a.`.
bool has_empty_step(std::string_view path) {
  return path.empty() || path.front() == '.' || path.back() == '.' ||
         path.find("..") != std::string_view::npos;
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

Status read_field(const Json& value, const std::string& path, ToolField& field) {
  if (!value.is_object()) return wrong_value(path, "an object with field_path and content_type");
  for (const auto& [key, member] : members(value)) {
    const auto known =
        std::find_if(kToolFieldRows.begin(), kToolFieldRows.end(),
                     [&key = key](const ToolFieldRow& row) { return row.key == key; });
    if (known == kToolFieldRows.end()) {
      std::array<std::string_view, kToolFieldRows.size()> keys;
      std::transform(kToolFieldRows.begin(), kToolFieldRows.end(), keys.begin(),
                     [](const ToolFieldRow& row) { return row.key; });
      return unknown_key(path, key, keys);
    }
    Status status = read_member(*known, member, path_below(path, key), field);
    if (!status.ok()) return status;
  }
  return check_field(field, path);
}

Status read_fields(const Json& value, const std::string& path, std::vector<ToolField>& list) {
  if (!value.is_array() || value.size() > kMaxToolFields)
    return wrong_value(path, "a list of at most " + std::to_string(kMaxToolFields) + " fields");
  for (const Json& element : value) {
    ToolField field;
    Status status = read_field(element, path + "[" + std::to_string(list.size()) + "]", field);
    if (!status.ok()) return status;
    list.push_back(std::move(field));
  }
  return {};
}

}  // namespace

Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  decltype(Config::tool_fields)& target) {
  if (!value.is_object() || value.size() > limits.most)
    return wrong_value(path, "an object of at most " + grouped(limits.most) +
                                 " tools, each with a list of fields");
  target.clear();
  for (const auto& [tool, fields] : members(value)) {
    if (tool.empty() || count_chars(tool) > kMaxToolName)
      return wrong_value(path, "keyed by tool names of " + range(1, kMaxToolName) + " characters");
    Status status = read_fields(fields, path_below(path, tool), target[tool]);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace sluice::config
