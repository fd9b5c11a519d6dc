// The gate: one streaming pass over a JSON text that lets small things through and diverts the
// rest.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/bytes.h"
#include "sluice/defaults.h"
#include "sluice/segment.h"
#include "sluice/sniff.h"
#include "sluice/status.h"

namespace sluice {

struct ToolField;

/// Limits and switches of the gate. Characters are code points. What the configuration has a key
/// for has that key's default.
struct GateOptions {
  /// A string's reduced length above which it is diverted.
  size_t max_inline_size = defaults::kMaxInlineSize;
  size_t max_document_chars = 50'000;  ///< reduced length above which a sub-tree is diverted
  /// A run shorter than this is left alone (not data: URIs).
  size_t min_run_chars = defaults::kMinSizeForDetection;
  /// Decoded bytes looked at to recognise a run.
  size_t max_probe_bytes = defaults::kMaxDecodeBytes;
  size_t max_segments = 256;  ///< segments of one message, before sub-trees go whole
  size_t max_depth = 512;     ///< containers deeper than this are diverted
  bool detect_runs = defaults::kDetectionEnabled;
  /// A run without a signature needs to exceed max_inline_size.
  bool require_magic = defaults::kRequireMagicBytes;
  /// Long strings and large documents.
  bool divert_text = defaults::kAutoArtifactLargeContent;
  bool protect = false;  ///< keeps the members that have to pass unchanged (gate/document.h)
  size_t preview_chars = kPreviewChars;  ///< of a text's beginning, kept in `Segment::preview`
  size_t previews_chars = 0;             ///< of all of them, after which each has kPreviewChars
  size_t keep_bytes = 0;                 ///< images up to this size are kept in `Segment::kept`
  size_t keep_count = 0;                 ///< … and this many of them
  std::vector<Signature> signatures;     ///< the host's own, beside the built-in table
  /// Places whose values leave a sub-tree or text that is diverted as a whole, however short they
  /// are. Their owner keeps them.
  const std::vector<ToolField>* fields = nullptr;
};

/// A push-based pass. The same bytes in any chunks give the same reduced text, segments and
/// records. Memory is bounded by the options and the chunk size, not by the input, if `divert_text`
/// is on.
class Gate {
 public:
  explicit Gate(GateOptions options);
  ~Gate();
  Gate(Gate&&) noexcept;
  Gate& operator=(Gate&&) noexcept;

  /// Room for the next `size` bytes. Write them there, then call `push(size)`. Valid until the next
  /// call.
  uint8_t* input(size_t size);
  Status push(size_t size);

  /// The same with a copy.
  Status push(Bytes bytes);

  /// Begins raw bytes where a value is expected. They become a segment, and its marker the value,
  /// like a base64 string that is diverted whole. False if no value is expected or there is no room
  /// for a segment; then the host writes the string itself. `declared` and `filename` are what the
  /// host was told of the bytes.
  bool open_bytes(std::string_view declared = {}, std::string_view filename = {});
  /// Room for more of these bytes, valid until the next call. Then call `bytes_written`.
  uint8_t* bytes_room(size_t size);
  void bytes_written(size_t size);
  void close_bytes();

  /// Ends the input. Fails with `json_end` if the document is incomplete.
  Status finish();

  /// The log of events since the caller last cleared it.
  std::string& events();

  /// After `finish`: the document with markers in place of segments.
  const std::string& reduced() const;
  const std::vector<Segment>& segments() const;
  Segment& segment(uint32_t index);

 private:
  class Pass;
  std::unique_ptr<Pass> pass_;
};

}  // namespace sluice
