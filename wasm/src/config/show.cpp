#include "config/show.h"

#include "config/tool_field.h"
#include "sluice/tape.h"

namespace sluice::config {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

void show_value(bool value, std::string& out) {
  out += value ? "true" : "false";
}

void show_value(uint64_t value, std::string& out) {
  out += std::to_string(value);
}

void show_value(const std::string& value, std::string& out) {
  append_quoted(out, value);
}

void show_value(Prefer value, std::string& out) {
  append_quoted(out, value == Prefer::structured ? "structured" : "content");
}

void show_value(InlineMedia::Mode value, std::string& out) {
  switch (value) {
    case InlineMedia::Mode::automatic:
      return append_quoted(out, "auto");
    case InlineMedia::Mode::off:
      return append_quoted(out, "off");
    case InlineMedia::Mode::listed:
      out += "{}";
  }
}

namespace {

void show_list(const auto& elements, std::string& out) {
  out += '[';
  for (const std::string_view element : elements) {
    if (out.back() != '[') out += ',';
    append_quoted(out, element);
  }
  out += ']';
}

}  // namespace

void show_value(const std::vector<std::string>& value, std::string& out) {
  if (value.empty())
    show_list(kUsualImages, out);
  else
    show_list(value, out);
}

void show_value(const std::vector<Signature>& value, std::string& out) {
  out += '{';
  for (const Signature& signature : value) {
    if (out.back() != '{') out += ',';
    append_quoted(out, signature.base64_prefix);
    out += ":[";
    append_quoted(out, signature.type.extension);
    out += ',';
    append_quoted(out, signature.type.mime_type);
    out += ']';
  }
  out += '}';
}

namespace {

void show_field(const ToolField& field, std::string& out) {
  out += '{';
  for (const ToolFieldRow& row : kToolFieldRows) {
    if (out.back() != '{') out += ',';
    append_quoted(out, row.key);
    out += ':';
    append_quoted(out, field.*row.member);
  }
  out += '}';
}

}  // namespace

void show_value(const decltype(Config::tool_fields)& value, std::string& out) {
  out += '{';
  for (const auto& [tool, fields] : value) {
    if (out.back() != '{') out += ',';
    append_quoted(out, tool);
    out += ":[";
    for (const ToolField& field : fields) {
      if (out.back() != '[') out += ',';
      show_field(field, out);
    }
    out += ']';
  }
  out += '}';
}

}  // namespace sluice::config
