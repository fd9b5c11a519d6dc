#include "layers/template.h"

#include <algorithm>
#include <tuple>

#include "sluice/describe.h"

namespace sluice::layers {

namespace {

/// The next `{name}` at or behind `at`: where it begins and its length, braces included; npos when
/// there is none.
std::pair<size_t, size_t> next_placeholder(std::string_view text, size_t at) {
  for (size_t open = text.find('{', at); open != std::string_view::npos;
       open = text.find('{', open + 1)) {
    const size_t stop = text.find_first_of("{}", open + 1);
    if (stop == std::string_view::npos) break;
    if (text[stop] == '}' && stop > open + 1) return {open, stop + 1 - open};
  }
  return {std::string_view::npos, 0};
}

std::string without_quotes(std::string_view quoted) {
  return std::string(quoted.substr(1, quoted.size() - 2));
}

/// Between single quotes an apostrophe must not look like the end.
std::string curled(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "’";
    } else {
      out += c;
    }
  }
  return out;
}

std::string shown(const Value& value, char before, char behind) {
  if (value.trusted) return value.text;
  std::string quoted = quote_untrusted(value.text);
  if (before != behind || (before != '\'' && before != '"')) return quoted;
  std::string bare = without_quotes(quoted);
  return before == '\'' ? curled(bare) : bare;
}

}  // namespace

std::vector<std::string> placeholders(std::string_view text) {
  std::vector<std::string> names;
  for (auto [at, size] = next_placeholder(text, 0); size != 0;
       std::tie(at, size) = next_placeholder(text, at + size)) {
    std::string name(text.substr(at + 1, size - 2));
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::string expand_template(std::string_view text, const std::vector<Value>& values) {
  std::string out;
  size_t copied = 0;
  for (auto [at, size] = next_placeholder(text, 0); size != 0;
       std::tie(at, size) = next_placeholder(text, at + size)) {
    const std::string_view name = text.substr(at + 1, size - 2);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const Value& candidate) { return candidate.name == name; });
    if (value == values.end()) continue;
    const char before = at > 0 ? text[at - 1] : '\0';
    const char behind = at + size < text.size() ? text[at + size] : '\0';
    out += text.substr(copied, at - copied);
    out += shown(*value, before, behind);
    copied = at + size;
  }
  out += text.substr(copied);
  return out;
}

}  // namespace sluice::layers
