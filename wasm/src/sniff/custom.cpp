// Signatures that the host's configuration adds.
#include "sniff/custom.h"

namespace sluice::sniffing {
namespace {

/// The six bits of a base64 character, or -1.
int six_bits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

//   byte       0        1        2        3
//   bits       aaaaaabb bbbbcccc ccdddddd eeeeee…
//   character  0     1      2      3      4
bool begins_encoded(Bytes head, std::string_view prefix) {
  if (prefix.empty() || prefix.size() > head.size() / 3 * 4 + head.size() % 3 * 8 / 6) return false;
  for (size_t i = 0; i < prefix.size(); ++i) {
    const size_t at = i * 6 / 8;
    const uint32_t following = at + 1 < head.size() ? head[at + 1] : 0u;
    const uint32_t pair = uint32_t{head[at]} << 8 | following;
    const uint32_t expected = pair >> (10 - i * 6 % 8) & 63;
    if (six_bits(prefix[i]) != static_cast<int>(expected)) return false;
  }
  return true;
}

const Signature* match_custom(Bytes head, const std::vector<Signature>& signatures) {
  for (const Signature& signature : signatures) {
    if (begins_encoded(head, signature.base64_prefix)) return &signature;
  }
  return nullptr;
}

}  // namespace sluice::sniffing
