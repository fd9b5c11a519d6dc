#include "sluice/status.h"

#include <array>

#include "json/object.h"

namespace sluice {

std::string_view code_name(Code code) {
  constexpr std::array<std::string_view, 11> kNames = {
      "OK",          "E_JSON_SYNTAX", "E_JSON_DEPTH", "E_JSON_NUMBER",  "E_JSON_END",
      "E_TOO_LARGE", "E_CONFIG_JSON", "E_CONFIG_KEY", "E_CONFIG_VALUE", "E_RESTORE_REFS",
      "E_MISUSE"};
  static_assert(kNames.size() == static_cast<size_t>(Code::misuse) + 1);
  return kNames[static_cast<size_t>(code)];
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
