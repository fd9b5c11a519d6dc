// Errors are values: a code, a place and a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// The kind of error. `code_name` is the public spelling.
enum class Code : uint8_t {
  ok,
  json_syntax,   ///< the input is not JSON; line and column say where
  json_depth,    ///< containers nested deeper than the limit
  json_number,   ///< a number with more characters than the limit
  json_end,      ///< the input ended inside a value
  too_large,     ///< a bound on memory was reached
  config_json,   ///< the configuration is not a JSON object
  config_key,    ///< a configuration key is unknown; `path` names it
  config_value,  ///< a configuration value has a wrong type or range; `path` names it
  restore_refs,  ///< `_meta["sluice/refs"]` does not fit the document
  misuse,        ///< a call out of order
};

/// The outcome of a step. Lines and columns count from 1, columns in code points; 0 is "no place".
struct Status {
  Code code = Code::ok;
  uint64_t line = 0;
  uint64_t column = 0;
  std::string path;     ///< the configuration key or JSON pointer concerned, if any
  std::string message;  ///< one sentence that names the remedy; never quotes the input at length

  bool ok() const { return code == Code::ok; }
};

/// The public spelling of a code, e.g. `E_JSON_SYNTAX`.
std::string_view code_name(Code code);

/// The status as JSON: `{"code":…,"message":…,"line":…,"column":…,"path":…}` without empty fields.
std::string status_json(const Status& status);

}  // namespace sluice
