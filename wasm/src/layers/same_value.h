// Whether a text says over again what a JSON value says.
#pragma once

#include <cstddef>

#include "layers/document.h"
#include "layers/ledger.h"

namespace sluice::layers {

/// Whether the text of a string node is the same JSON value as the node `value`: it parses to that
/// value, whatever its white space, order of keys and spelling of numbers and strings, or the value
/// is a string and the text is its content. Markers are the same where their artifacts are. A long
/// text that was diverted whole is the same only where both were spelled alike but for white space
/// and escapes.
bool says_value(const Document& document, size_t text, size_t value, const Ledger& ledger);

}  // namespace sluice::layers
