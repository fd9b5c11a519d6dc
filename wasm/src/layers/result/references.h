// References inside strings: written, parsed, put in place of markers; and the list
// `_meta["sluice/refs"]` that makes the mcp dialect reversible.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/result/document.h"
#include "layers/result/notes.h"
#include "sluice/codec.h"

namespace sluice::layers {

/// The parts of a reference.
struct Reference {
  std::string id;
  std::string mime_type;
  Form form;
};

/// Appends `text` percent-decoded (RFC 3986 §2.1). False if an escape in it is malformed; that
/// stays as it is.
bool undo_percent(std::string_view text, std::string& out);

/// How restoring writes what a segment holds: the name of its form, or of its spelling.
std::string form_of(const Segment& segment);

/// `artifact://<id>` without a query.
std::string plain_uri(std::string_view id);

/// Parses what `reference` writes. Empty if it is no reference or its form is malformed.
std::optional<Reference> read_reference(std::string_view uri);

// --- references in place of markers, and the list that undoes them -------------------------------

/// `path` extended by one JSON pointer step (RFC 6901). `duplicate` is the position among members
/// of the same name if it is not the last of them, else -1. It is written as `~d<n>`, which no
/// plain pointer contains.
std::string pointer_to(std::string_view path, std::string_view key, int duplicate = -1);
std::string pointer_to(std::string_view path, size_t index);

/// What a reference replaced.
enum class Hole : uint8_t {
  run,    ///< bytes inside a string
  text,   ///< text inside a string
  bytes,  ///< an array of bytes in place of the string
  json,   ///< a JSON value in place of the string
};

/// What an entry calls them, by their order.
inline constexpr std::array<std::string_view, 4> kHoleNames = {"", "text", "bytes", "json"};

/// The entries as JSON, in the order they are added.
///
///   {"at":"/structuredContent/pdf","uri":"artifact://…"}                 a run in a string
///   {"at":"/content/0/text","uri":"artifact://…","n":2,"kind":"text"}    after two references
///   {"at":"/rows","uri":"artifact://…","kind":"json"}                    a value that is no string
///   {"at":"/artifact:~1~1…","uri":"artifact://…","key":true}             in the key of the member
///   {"at":"/content/0/text","uri":"artifact://…","wrap":"\""}            quotes were added
///   {"at":"/content/0/text","uri":"artifact://…","form":"base64-w76-b0a"}
///                                         how the bytes are written (sluice/codec.h); of a text in
///                                         JSON in the string, how it is spelled (json/spelling.h)
///   {"at":"/content/0/data","uri":"artifact://…","kind":"text","from":"artifact://…"}
///                                         no form writes it, so `from` holds the original text
///   {"at":"/content/1","was":{…},"refs":[…]}                             replaced a value
///   {"at":"/content/2","added":true}                                     was not there before
///
/// `at` is a pointer into the written result. `n` counts the `artifact://` before it in the string.
class Edits {
 public:
  void reference(std::string_view at, std::string_view uri, size_t n, Hole kind, bool key,
                 std::string_view wrap, std::string_view form, std::string_view from);
  void replaced(std::string_view at, std::string_view was, const Edits& inside);
  void added(std::string_view at);

  bool empty() const { return text_.empty(); }
  /// The array.
  std::string json() const { return "[" + text_ + "]"; }

 private:
  void add(const std::string& entry);

  std::string text_;
};

/// A value rewritten on its own, with its own edits.
struct Rewritten {
  std::string text;
  Edits edits;
};

/// Replaces markers by references that name their form.
class Referrer {
 public:
  Referrer(const Document& document, const SegmentTable& table, const Notes& notes)
      : document_(document), table_(table), notes_(notes) {}

  /// Rewrites the markers of a value. `at` is its pointer in the written result.
  void refer(size_t node, const std::string& at, std::vector<Splice>& splices, Edits& edits);

  /// Rewrites the key and the value of one member.
  void refer_member(size_t value, const std::string& at, std::vector<Splice>& splices,
                    Edits& edits);

  /// Rewrites the key of one member.
  void refer_key(size_t value, const std::string& at, std::vector<Splice>& splices, Edits& edits);

  /// Rewrites a value apart from the document.
  Rewritten alone(size_t node);

  /// The pointers of an object's members, in order. Duplicate keys get different pointers.
  std::vector<std::string> members(const std::string& at, size_t object) const;

  /// The segments that references were written for, in order.
  const std::vector<uint32_t>& referred() const { return referred_; }

 private:
  void refer_string(size_t node, const std::string& at, bool key, std::vector<Splice>& splices,
                    Edits& edits);
  std::string write_uri(const Mark& mark, bool whole) const;
  std::string key_of(size_t value) const;

  const Document& document_;
  const SegmentTable& table_;
  const Notes& notes_;
  std::vector<uint32_t> referred_;
};

}  // namespace sluice::layers
