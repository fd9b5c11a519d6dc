// Source text copied with something in place of its markers, as an observation wants it.
#pragma once

#include <string>

#include "layers/document.h"
#include "layers/notes.h"

namespace sluice::layers {

/// Appends a value's source: values diverted whole become artifact objects, all else references.
void append_showing(std::string& out, const Document& document, size_t node, const Notes& notes);

/// The same where only a string may stand: markers become references.
void append_referring(std::string& out, const Document& document, size_t node, const Notes& notes);

/// A member of an object, its key and its value.
void append_member(std::string& out, const Document& document, size_t value, const Notes& notes);

}  // namespace sluice::layers
