// Layer 2: content blocks of known types (MCP 2025-11-25, "Tool Result").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layers/document.h"
#include "layers/media.h"
#include "layers/notes.h"

namespace sluice::layers {

/// The bytes or the text that make a block too large to pass.
struct Load {
  uint32_t segment = 0;
  size_t holder = 0;        ///< the block, or the resource inside it
  std::string_view member;  ///< `data`, `blob` or `text` of the holder
};

/// What of a block was diverted: `data` of an image or audio, `blob` of a resource with any marker
/// in it, or a `text` that is a marker as a whole. Nothing for blocks that keep their place.
std::optional<Load> load_of_block(const Document& document, size_t block);

/// The same for an entry of `contents`, or for a block's `resource`.
std::optional<Load> load_of_resource(const Document& document, size_t resource);

/// A block as an observation shows it: `{"type","artifact","summary"}` in place of bytes, and what
/// else the server said of it.
std::string show_block(const Document& document, size_t block, const Notes& notes,
                       const Ledger& ledger, Media& media);

/// An entry of `contents`: `{"uri","artifact","summary"}`.
std::string show_resource(const Document& document, size_t resource, const Notes& notes);

}  // namespace sluice::layers
