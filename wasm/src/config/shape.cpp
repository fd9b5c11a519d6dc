#include "config/shape.h"

#include <array>

#include "config/lists.h"
#include "config/show.h"
#include "config/tool_field.h"

namespace sluice::config {

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

std::string any_text() {
  return {};
}

std::string dot_path() {
  return R"(^[^.]+(\.[^.]+)*$)";
}

std::string mime_type_or_nothing() {
  return "^(" + mime_pattern(false) + ")?$";
}

/// What a ToolFieldRow leaves to the documentation.
struct ToolFieldNote {
  std::string (*pattern)();  ///< empty: any text
  std::string_view description;
};

/// In the order of kToolFieldRows.
constexpr std::array<ToolFieldNote, kToolFieldRows.size()> kToolFieldNotes = {{
    {dot_path,
     "Where the artifact stands in the tool's result: keys, list indexes and * (every element) "
     "joined by dots. What stands there is stored."},
    {any_text,
     "What a person calls the content, such as pdf or report: shown where a summary says "
     "{content_type}."},
    {mime_type_or_nothing,
     "The content's MIME type, for its reference and its file name. null: found out from the "
     "bytes."},
    {any_text,
     "The summary shown for this field's artifacts, written like default_summary_template. null: "
     "that one."},
}};

void append_tool_field(const ToolFieldRow& row, const ToolFieldNote& note, std::string& out) {
  append_member(out, row.key);
  out += '{';
  append_member(out, "description", note.description);
  if (row.least == 0) {
    append_member(out, "default");
    out += "null";
  }
  const bool nullable = row.least == 0;
  append_shape(std::type_identity<std::string>{},
               {static_cast<uint32_t>(row.least), static_cast<uint32_t>(row.most), nullable}, out);
  if (const std::string pattern = note.pattern(); !pattern.empty())
    append_member(out, "pattern", pattern);
  out += '}';
}

/// One entry of a tool's list.
void append_entry(std::string& out) {
  append_member(out, "type", "object");
  append_member(out, "additionalProperties");
  out += "false";
  append_member(out, "required");
  out += '[';
  for (const ToolFieldRow& row : kToolFieldRows) {
    if (row.least == 0) continue;
    if (out.back() != '[') out += ',';
    append_quoted(out, row.key);
  }
  out += ']';
  append_member(out, "properties");
  out += '{';
  for (size_t i = 0; i < kToolFieldRows.size(); ++i)
    append_tool_field(kToolFieldRows[i], kToolFieldNotes[i], out);
  out += '}';
}

}  // namespace

void append_member(std::string& out, std::string_view key) {
  if (!out.empty() && out.back() != '{') out += ',';
  append_quoted(out, key);
  out += ':';
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  append_member(out, key);
  append_quoted(out, text);
}

void append_member(std::string& out, std::string_view key, uint64_t number) {
  append_member(out, key);
  show_value(number, out);
}

void append_integer_shape(const Limits& limits, std::string& out) {
  append_member(out, "type", "integer");
  append_member(out, "minimum", limits.least);
  append_member(out, "maximum", limits.most);
}

void append_shape(std::type_identity<bool>, const Limits&, std::string& out) {
  append_member(out, "type", "boolean");
}

void append_shape(std::type_identity<std::string>, const Limits& limits, std::string& out) {
  append_member(out, "type");
  out += limits.nullable ? R"(["string","null"])" : R"("string")";
  if (limits.least > 0) append_member(out, "minLength", limits.least);
  append_member(out, "maxLength", limits.most);
}

void append_shape(std::type_identity<Prefer>, const Limits&, std::string& out) {
  append_member(out, "enum");
  out += '[';
  show_value(Prefer::structured, out);
  out += ',';
  show_value(Prefer::content, out);
  out += ']';
}

void append_shape(std::type_identity<InlineMedia::Mode>, const Limits&, std::string& out) {
  append_member(out, "enum");
  out += '[';
  show_value(InlineMedia::Mode::automatic, out);
  out += ',';
  show_value(InlineMedia::Mode::off, out);
  out += ']';
}

void append_shape(std::type_identity<std::vector<std::string>>, const Limits& limits,
                  std::string& out) {
  append_member(out, "type", "array");
  append_member(out, "minItems", limits.least);
  append_member(out, "maxItems", limits.most);
  append_member(out, "items");
  out += '{';
  append_member(out, "type", "string");
  append_member(out, "pattern", "^" + mime_pattern(true) + "$");
  out += '}';
}

void append_shape(std::type_identity<std::vector<Signature>>, const Limits& limits,
                  std::string& out) {
  append_member(out, "type", "object");
  append_member(out, "maxProperties", limits.most);
  append_member(out, "propertyNames");
  out += '{';
  append_member(out, "pattern", "^[A-Za-z0-9+/]" + repeated(kMinPrefix, kMaxPrefix) + "$");
  out += '}';
  append_member(out, "additionalProperties");
  out += '{';
  append_member(out, "type", "array");
  append_member(out, "prefixItems");
  out += "[{";
  append_member(out, "type", "string");
  append_member(out, "pattern", "^[A-Za-z0-9]" + repeated(1, kMaxExtension) + "$");
  out += "},{";
  append_member(out, "type", "string");
  append_member(out, "pattern", "^" + mime_pattern(false) + "$");
  out += "}]";
  append_member(out, "minItems", 2);
  append_member(out, "maxItems", 2);
  out += '}';
}

void append_shape(std::type_identity<decltype(Config::tool_fields)>, const Limits& limits,
                  std::string& out) {
  append_member(out, "type", "object");
  append_member(out, "maxProperties", limits.most);
  append_member(out, "propertyNames");
  out += '{';
  append_member(out, "title", "tool");
  append_member(out, "minLength", 1);
  append_member(out, "maxLength", kMaxToolName);
  out += '}';
  append_member(out, "additionalProperties");
  out += '{';
  append_member(out, "type", "array");
  append_member(out, "maxItems", kMaxToolFields);
  append_member(out, "items");
  out += '{';
  append_entry(out);
  out += "}}";
}

}  // namespace sluice::config
