// Layer 2: content blocks of known types (MCP 2025-11-25, "Tool Result"), and the images that stay
// in place for vision models (`inline_media`). Layer 1: resource links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/result/document.h"
#include "layers/result/notes.h"
#include "sluice/config.h"
#include "sluice/layers.h"

namespace sluice::layers {

/// Whether `inline_media` lets images of a type stay: for any client (`listed`), for those that
/// show them, or for none.
enum class Staying : uint8_t { never, where_shown, always };
Staying staying(const InlineMedia& media, const std::string& mime_type);

/// A block with something in place of its bytes, as JSON source: `annotations` and `_meta` stay.
std::string block_shown(const Document& document, size_t block, const Shown& shown);

/// The segment that replaced the content of a block.
struct Load {
  uint32_t segment = 0;
  size_t holder = 0;        ///< the block, or the resource inside it
  std::string_view member;  ///< `data`, `blob` or `text` of the holder
};

/// An entry of `contents`, or a block's `resource`, with its `blob` as `text`, as JSON source: if
/// that is text of at most `most` characters and declared to be text, or a page or JSON that a
/// server answers in the place of a file. Empty for any other.
std::optional<std::string> resource_as_text(const Document& document, size_t resource, size_t most);

/// A text block in the place of an image or audio block whose data is such an answer in base64, or
/// words as they are: an error, a path.
std::optional<std::string> media_as_text(const Document& document, size_t block, size_t most);

/// What stands in the place of a block from which nothing was taken: a text if its bytes are
/// missing, or are a text. Empty where it stays as it is.
std::optional<std::string> block_instead(const Document& document, size_t block, size_t most);

/// What a block with bytes is. Empty for any other.
std::optional<Showable::Kind> kind_of_block(const Document& document, size_t block,
                                            const Load& load);

/// The diverted content of a block: the `data` of an image or audio block, the `blob` of a
/// resource, or a `text`. Bytes may have white space around the marker; text must be the marker
/// alone. Empty for blocks that stay as they are.
std::optional<Load> load_of_block(const Document& document, size_t block);

/// The same for an entry of `contents`, or for a block's `resource`.
std::optional<Load> load_of_resource(const Document& document, size_t resource);

/// A `data` or `blob` string with more in it than one marker: extra text, or a second marker. It is
/// not valid base64, so it is shown as text.
std::optional<size_t> text_for_bytes(const Document& document, size_t block);

/// The same for an entry of `contents`, or for a block's `resource`.
std::optional<size_t> text_for_blob(const Document& document, size_t resource);

/// A block as an observation shows it: `{"type","artifact","summary"}` in place of the bytes, plus
/// the other members that the server sent. `most`: characters of a text that stays.
std::string show_block(const Document& document, size_t block, const Notes& notes,
                       const SegmentTable& table, size_t most);

/// An entry of `contents`: `{"uri","artifact","summary"}`.
std::string show_resource(const Document& document, size_t resource, const Notes& notes,
                          size_t most);

// --- layer 1: resource links, kept lazy ----------------------------------------------------------

/// The blocks of type `resource_link`, in order. The position here is the link's number.
std::vector<uint32_t> links_of(const Document& document, const Shape& shape);

/// A link as an observation shows it: `{"type","uri",…,"mime_type","size_bytes","fetched","hint"}`.
/// `fetched` is the host's answer, a JSON object whose members are added, or empty. The hint names
/// `<namespace>.resources_read`; it is left out once the resource was fetched.
std::string show_link(const Document& document, size_t block, const Notes& notes,
                      std::string_view name_space, const std::string& fetched);

}  // namespace sluice::layers
