// A segment: one thing that the gate took out of a document.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/fingerprint.h"
#include "sluice/form.h"

namespace sluice {

/// What a segment was: a run's decoded bytes, the text of a long string, or the JSON source of a
/// collapsed sub-tree.
enum class SegmentKind : uint8_t { run, text, json };

/// Code points of a text's beginning that are shown beside the reference to it.
inline constexpr size_t kPreviewChars = 500;

/// What is known of a segment once its last byte has passed.
struct Segment {
  SegmentKind kind = SegmentKind::run;
  Form form;           ///< of a run
  bool whole = false;  ///< it was the whole value of a string (or array, object), nothing beside it
  bool bare =
      false;  ///< its quoted marker stands for JSON source outside of strings: a sub-tree, or
              ///< a byte array (whose brackets are in the form unless it broke off midway)
  uint64_t bytes = 0;     ///< decoded size; of text and json with what stands for references once
                          ///< the host has told it (`resize`)
  uint64_t chars = 0;     ///< code points of source it replaced
  std::string mime_type;  ///< from the bytes, or the declared type where the bytes allow it
  std::string declared;   ///< MIME type the source declared (data URI), if any
  std::string filename;   ///< the name that bytes of a host's own have, as it was given; else empty
  std::string extension;  ///< without the dot, e.g. `pdf`
  std::string description;  ///< computed facts, e.g. `PDF, 2.1 MB`; untrusted quotes marked as such
  std::string preview;      ///< text and json: its beginning, cut clean, as long as the options
                            ///< allow, with a marker for each reference; else empty
  bool previewed_whole = false;  ///< the preview is all of it
  std::string kept;              ///< decoded bytes of an image the host may show inline; else empty
  std::vector<uint32_t> inner;   ///< segments that its text refers to
  bool mangled = false;          ///< text that was binary before some decoder broke it
  std::string members;       ///< json: source of its members that have to stand in the document all
                             ///< the same, a comma before each
  Fingerprint source_print;  ///< of json, and of text that begins like it
  Fingerprint content_print;  ///< of text, as it stands inside a string
};

/// How a marker stands in reduced text: 0x01, four lower-case hex digits of the index, 0x02. JSON
/// forbids these control bytes inside strings, so a marker can be mistaken for nothing else. A
/// value diverted whole is `"` marker `"`; a run inside a string stands among the string's text.
inline constexpr char kMarkerOpen = '\x01';
inline constexpr char kMarkerClose = '\x02';
inline constexpr size_t kMarkerBytes = 6;

/// Appends the marker of segment `index`.
void append_marker(std::string& out, uint32_t index);

/// The index of the marker that starts at `text[at]`, or -1 when none does.
int32_t marker_at(std::string_view text, size_t at);

}  // namespace sluice
