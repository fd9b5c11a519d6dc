// JSON that stands in a string.
#pragma once

#include "layers/document.h"

namespace sluice::layers {

/// Reads the object or array that a string node holds as text. False when it holds none, or holds
/// lone surrogates, which JSON text could not carry.
bool read_json_text(const Document& document, size_t node, size_t segments, Document& inner);

}  // namespace sluice::layers
