#include "sluice/status.h"

#include "json/object.h"

namespace sluice {

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
  Object out;
  out.text("code", code_name(status.code));
  if (!status.message.empty()) out.text("message", status.message);
  if (status.line != 0) out.number("line", status.line);
  if (status.column != 0) out.number("column", status.column);
  if (!status.path.empty()) out.text("path", status.path);
  return out.end();
}

}  // namespace sluice
