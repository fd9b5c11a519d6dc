// Summary templates (RFC 0.3 §3.4, §5.5).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::layers {

/// A value for a placeholder. Text that came from a server or a file is not `trusted`: it is shown
/// by the rules of `quote_untrusted`.
struct Value {
  std::string name;
  std::string text;
  bool trusted = false;
};

/// The names between braces in a template, each once.
std::vector<std::string> placeholders(std::string_view text);

/// Puts values in place of `{name}`; unknown names stay as written. An untrusted value gets quotes
/// of its own unless the template puts it between quotes.
std::string expand_template(std::string_view text, const std::vector<Value>& values);

}  // namespace sluice::layers
