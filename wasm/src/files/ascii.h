// Letters and digits of ASCII.
#pragma once

namespace sluice::files {

constexpr bool is_alphanumeric(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace sluice::files
