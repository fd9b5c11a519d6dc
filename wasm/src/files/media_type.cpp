#include "files/media_type.h"

#include <algorithm>
#include <cstddef>

#include "files/ascii.h"

namespace sluice::files {

namespace {

constexpr size_t kMaxChars = 255;
constexpr size_t kMaxName = 127;

/// The length of the letters, digits and `others` that a text begins with.
size_t span_of(std::string_view text, std::string_view others) {
  const auto end = std::find_if_not(text.begin(), text.end(), [&](char c) {
    return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
  });
  return static_cast<size_t>(end - text.begin());
}

/// Takes a restricted name off the front.
bool take_name(std::string_view& rest) {
  const size_t length = span_of(rest, "!#$&-^_.+");
  if (length == 0 || length > kMaxName || !is_alphanumeric(rest[0])) return false;
  rest.remove_prefix(length);
  return true;
}

bool take_token(std::string_view& rest) {
  const size_t length = span_of(rest, "!#$%&'*+-.^_`|~");
  rest.remove_prefix(length);
  return length > 0;
}

bool take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

void skip_space(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
}

/// Behind the opening quote.
bool take_quoted(std::string_view& rest) {
  while (!rest.empty()) {
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '"') return true;
    const char shown = c == '\\' && !rest.empty() ? rest[0] : c;
    if (c == '\\' && !take(rest, shown)) return false;
    if (shown != '\t' && (shown < ' ' || shown > '~')) return false;
  }
  return false;
}

/// `; charset=utf-8; name="a b"`; a semicolon may stand without a parameter.
bool are_parameters(std::string_view rest) {
  while (!rest.empty()) {
    skip_space(rest);
    if (!take(rest, ';')) return false;
    skip_space(rest);
    if (rest.empty() || rest[0] == ';') continue;
    if (!take_token(rest) || !take(rest, '=')) return false;
    if (!(take(rest, '"') ? take_quoted(rest) : take_token(rest))) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> media_type(std::string_view declared) {
  std::string_view rest = declared;
  if (declared.size() > kMaxChars || !take_name(rest) || !take(rest, '/') || !take_name(rest) ||
      !are_parameters(rest)) {
    return std::nullopt;
  }
  std::string type(declared);
  const auto parameters = type.end() - static_cast<ptrdiff_t>(rest.size());
  std::transform(type.begin(), parameters, type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return type;
}

}  // namespace sluice::files
