#include "files/reference.h"

#include <algorithm>
#include <cstddef>

#include "files/ascii.h"

namespace sluice::files {

namespace {

constexpr std::string_view kScheme = "artifact://";
constexpr size_t kMaxRest = 1'024;

/// RFC 3986 §2, without the brackets of IP addresses.
bool stands_in_uri(char c) {
  constexpr std::string_view kOthers = "-._~:/?#@!$&'()*+,;=%";
  return is_alphanumeric(c) || kOthers.find(c) != std::string_view::npos;
}

}  // namespace

bool is_reference(std::string_view text) {
  if (!text.starts_with(kScheme)) return false;
  text.remove_prefix(kScheme.size());
  return !text.empty() && text.size() <= kMaxRest &&
         std::all_of(text.begin(), text.end(), stands_in_uri);
}

}  // namespace sluice::files
