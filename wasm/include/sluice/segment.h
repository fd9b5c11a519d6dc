// A segment: one thing that the gate took out of a document, its fingerprint, and the log of what
// passes, a flat text that crosses the boundary as one view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/bytes.h"
#include "sluice/codec.h"

namespace sluice {

// --- fingerprints: what a JSON text says, the same for any white space and spelling of strings ---

struct Segment;

/// A polynomial over the bytes, modulo 2^64, and their number. Texts that differ by accident do not
/// share one (a text that was made to do so hides nothing but itself); that of two texts in a row
/// is made of those of both.
struct Fingerprint {
  /// Odd, so that no bit is lost.
  static constexpr uint64_t kBase = 0x9E3779B97F4A7C15;

  uint64_t hash = 0;
  uint64_t length = 0;  ///< 0: not known

  void add(char byte) {
    hash = hash * kBase + 1 + static_cast<uint8_t>(byte);
    ++length;
  }
  void add(std::string_view text);
  void add(const Fingerprint& behind);

  bool operator==(const Fingerprint&) const = default;
};

/// The fingerprint of JSON source that comes in pieces, cut anywhere: without white space between
/// tokens, strings in one spelling. Which artifacts stand in it is not part of it, only where.
class SourcePrint {
 public:
  void push(std::string_view source);

  /// The reference to a segment stands here.
  [[gnu::cold]] void refer(const Segment& segment);

  /// Not known where something inside is not.
  Fingerprint finish();

 private:
  void open_quote();
  void quote();
  [[gnu::cold]] void escaped(char c);
  [[gnu::cold]] void unit();
  const char* unchanged(const char* at, const char* end);
  const char* inside(const char* at);
  const char* outside(const char* at);

  Fingerprint print_;
  std::string escape_;   // behind a backslash, while it is not complete
  uint32_t high_ = 0;    // half of a surrogate pair that ends what came so far
  char last_ = '[';      // the last character outside of strings
  bool gap_ = false;     // white space behind it
  bool inside_ = false;  // a string
  bool opened_ = false;  // … whose quote is not in print_: a value that stands bare has none
  bool bare_ = false;    // … that is such a value
  bool escaping_ = false;
  bool unknown_ = false;
};

/// The fingerprint of text as it stands inside a JSON string, piece by piece.
class ContentPrint {
 public:
  void push(std::string_view text);
  void refer();
  const Fingerprint& finish() const { return print_; }

 private:
  Fingerprint print_;
};

// --- segments ------------------------------------------------------------------------------------

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
  uint64_t bytes = 0;  ///< decoded size; of text and json with what stands for references once
                       ///< the host has told it (`resize`)
  uint64_t chars = 0;  ///< code points of source it replaced
  /// Of text and json: how the strings were spelled that stood between it and the outermost one,
  /// from the innermost outwards (json/spelling.h), a dot between two.
  std::string spelling;
  size_t spelled = 0;     ///< how many of them lie inside the segment that refers to it
  std::string mime_type;  ///< from the bytes, or the declared type where the bytes allow it
  std::string declared;   ///< MIME type the source declared (data URI), if any
  std::string filename;   ///< the name that bytes of a host's own have, as it was given; else empty
  std::string extension;  ///< without the dot, e.g. `pdf`
  std::string description;  ///< computed facts, e.g. `PDF, 2.1 MB`; untrusted quotes marked as such
  std::string evidence;  ///< both ends of a file whose facts sluice/facts.h tells, until the host
                         ///< takes them; else empty
  std::string preview;   ///< text and json: its beginning, cut clean, as long as the options
                         ///< allow, with a marker for each reference; else empty
  bool previewed_whole = false;  ///< the preview is all of it
  std::string excerpt;           ///< what a text is shown by, see sluice/describe.h; else empty
  std::string error_excerpt;     ///< the same in a result that tells an error, where it differs
  std::string values;            ///< of JSON: what it says beside its lists, see sluice/describe.h
  std::string kept;              ///< decoded bytes of an image the host may show inline; else empty
  std::vector<uint32_t> inner;   ///< segments that its text refers to
  bool mangled = false;          ///< text that was binary before some decoder broke it
  bool cut = false;      ///< of a run: what follows says that the server left the rest of it out
  bool no_text = false;  ///< of a run: its bytes are text in no encoding, whatever is declared
  uint32_t field = 0;    ///< of `GateOptions::fields`, counted from 1; 0: none
  std::string members;   ///< json: source of its members that have to stand in the document all
                         ///< the same, a comma before each
  Fingerprint source_print;   ///< of json, and of text that begins like it
  Fingerprint content_print;  ///< of text, as it stands inside a string
};

/// How references begin inside strings, and the member of `_meta` that lists those of a result.
inline constexpr std::string_view kScheme = "artifact://";
inline constexpr std::string_view kRefsKey = "sluice/refs";

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

/// `text` with what `write` gives for its segment in place of each marker.
template <typename Write>
std::string replace_markers(std::string_view text, Write write) {
  std::string out;
  size_t copied = 0;
  for (size_t at = text.find(kMarkerOpen); at != std::string_view::npos;
       at = text.find(kMarkerOpen, at + 1)) {
    const int32_t segment = marker_at(text, at);
    if (segment < 0) continue;
    out += text.substr(copied, at - copied);
    out += write(static_cast<uint32_t>(segment));
    copied = at + kMarkerBytes;
  }
  return out += text.substr(copied);
}

// --- events: what the gate tells its host while bytes pass ---------------------------------------

/// A record is three little-endian uint32 (kind, segment, length) and `length` bytes of payload.
enum class EventKind : uint32_t {
  open = 1,       ///< a segment begins; no payload
  data = 2,       ///< bytes of a segment
  reference = 3,  ///< payload: uint32 index of an inner segment, already closed, whose reference
                  ///< text stands here in this segment
  close = 4,      ///< the segment is complete; no payload; its record can be read now
};

/// Bytes of a record before its payload.
inline constexpr size_t kEventHeader = 12;

void append_event(std::string& log, EventKind kind, uint32_t segment,
                  std::string_view payload = {});

/// Logs that the reference to a closed segment `inner` stands here.
void append_reference_event(std::string& log, uint32_t segment, uint32_t inner);

/// Sets the payload length of the record that begins at `at`: its payload was written in place.
void set_event_length(std::string& log, size_t at, uint32_t length);

}  // namespace sluice
