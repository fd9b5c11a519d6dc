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

/// What of a block was diverted: `data` of an image or audio or `blob` of a resource where it is a
/// marker but for white space, or a `text` that is one as a whole. Nothing for blocks that keep
/// their place.
std::optional<Load> load_of_block(const Document& document, size_t block);

/// The same for an entry of `contents`, or for a block's `resource`.
std::optional<Load> load_of_resource(const Document& document, size_t resource);

/// The string that should be bytes, `data` or `blob`, where it is more than those of one marker:
/// text beside it, or a second one. It is told as the text that it is.
std::optional<size_t> text_for_bytes(const Document& document, size_t block);

/// The same of an entry of `contents`, or of a block's `resource`.
std::optional<size_t> text_for_blob(const Document& document, size_t resource);

/// A block as an observation shows it: `{"type","artifact","summary"}` in place of bytes, and what
/// else the server said of it.
std::string show_block(const Document& document, size_t block, const Notes& notes,
                       const Ledger& ledger, Media& media);

/// An entry of `contents`: `{"uri","artifact","summary"}`.
std::string show_resource(const Document& document, size_t resource, const Notes& notes);

}  // namespace sluice::layers
