#include "sluice/status.h"

#include "sluice/tape.h"

namespace sluice {

namespace {

void append_text(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += ",\"";
  out += name;
  out += "\":\"";
  append_escaped(out, value);
  out += '"';
}

void append_number(std::string& out, std::string_view name, uint64_t value) {
  if (value == 0) return;
  out += ",\"";
  out += name;
  out += "\":";
  out += std::to_string(value);
}

}  // namespace

std::string_view code_name(Code code) {
  switch (code) {
    case Code::ok:
      return "OK";
    case Code::json_syntax:
      return "E_JSON_SYNTAX";
    case Code::json_depth:
      return "E_JSON_DEPTH";
    case Code::json_number:
      return "E_JSON_NUMBER";
    case Code::json_end:
      return "E_JSON_END";
    case Code::too_large:
      return "E_TOO_LARGE";
    case Code::config_json:
      return "E_CONFIG_JSON";
    case Code::config_key:
      return "E_CONFIG_KEY";
    case Code::config_value:
      return "E_CONFIG_VALUE";
    case Code::restore_refs:
      return "E_RESTORE_REFS";
    case Code::misuse:
      return "E_MISUSE";
  }
  return "E_MISUSE";
}

std::string status_json(const Status& status) {
  std::string out = "{\"code\":\"";
  out += code_name(status.code);
  out += '"';
  append_text(out, "message", status.message);
  append_number(out, "line", status.line);
  append_number(out, "column", status.column);
  append_text(out, "path", status.path);
  out += '}';
  return out;
}

}  // namespace sluice
