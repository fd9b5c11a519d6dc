#include "codec/kernels.h"

namespace sluice::codec::scalar {

namespace {

constexpr std::array<std::array<bool, 256>, 4> kMembers = {
    set_table(Set::standard), set_table(Set::url), set_table(Set::hex), set_table(Set::any_base64)};

}  // namespace

size_t span(Bytes text, Set set) {
  const auto& member = kMembers[static_cast<size_t>(set)];
  size_t at = 0;
  while (at < text.size() && member[text[at]]) ++at;
  return at;
}

}  // namespace sluice::codec::scalar
