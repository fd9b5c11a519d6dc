#include "layers/json_text.h"

namespace sluice::layers {

namespace {

/// ED A0…BF: how WTF-8 writes a surrogate.
bool has_surrogate(std::string_view text) {
  for (size_t at = text.find('\xED'); at != std::string_view::npos;
       at = text.find('\xED', at + 1)) {
    if (at + 1 < text.size() && static_cast<uint8_t>(text[at + 1]) >= 0xA0) return true;
  }
  return false;
}

}  // namespace

bool read_json_text(const Document& document, size_t node, size_t segments, Document& inner) {
  const std::string_view source = document.inside(node);
  // White space may be written in escapes; anything else than these begins no array or object.
  const size_t first = source.find_first_not_of(" \\ntr\t");
  if (first == std::string_view::npos || (source[first] != '{' && source[first] != '['))
    return false;
  std::string text = document.tape().string(node);
  if (has_surrogate(text) || !inner.read(std::move(text), segments).ok()) return false;
  const Type type = inner.tape()[0].type;
  return type == Type::array || type == Type::object;
}

}  // namespace sluice::layers
