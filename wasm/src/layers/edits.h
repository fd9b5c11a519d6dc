// The list that makes the mcp dialect reversible: `_meta["sluice/refs"]`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::layers {

inline constexpr std::string_view kRefsKey = "sluice/refs";

/// One step of a JSON pointer (RFC 6901) below `path`. `duplicate` is the place among members of
/// the same name where it is not the last of them (`~d<n>`, which no plain pointer contains), else
/// -1.
std::string pointer_to(std::string_view path, std::string_view key, int duplicate = -1);
std::string pointer_to(std::string_view path, size_t index);

/// What stands at a reference: the original's kind.
enum class Hole : uint8_t {
  run,    ///< bytes inside a string
  text,   ///< text inside a string
  bytes,  ///< an array of bytes in place of the string
  json,   ///< a JSON value in place of the string
};

/// Entries as JSON, in the order they are added.
///
///   {"at":"/structuredContent/pdf","uri":"artifact://…"}                a run in a string
///   {"at":"/content/0/text","uri":"artifact://…","n":2,"kind":"text"}   behind two other
///   references
///   {"at":"/rows","uri":"artifact://…","kind":"json"}                   the string stood for a
///   value
///   {"at":"/artifact:~1~1…","uri":"artifact://…","key":true}            in the key of the member
///   {"at":"/content/0/text","uri":"artifact://…","wrap":"\""}           quotes on both sides were
///   added
///   {"at":"/content/0/data","uri":"artifact://…","kind":"text","from":"artifact://…"}   written as
///   no form writes it, so another artifact is that text
///   {"at":"/content/1","was":{…},"refs":[…]}                            the value replaced
///   something else
///   {"at":"/content/2","added":true}                                    there was nothing
///
/// `at` is a pointer in the written result, `n` counts the `artifact://` in the string before it.
class Edits {
 public:
  void reference(std::string_view at, std::string_view uri, size_t n, Hole kind, bool key,
                 std::string_view wrap, std::string_view from);
  void replaced(std::string_view at, std::string_view was, const Edits& inside);
  void added(std::string_view at);

  bool empty() const { return text_.empty(); }
  /// The array.
  std::string json() const { return "[" + text_ + "]"; }

 private:
  void add(const std::string& entry);

  std::string text_;
};

}  // namespace sluice::layers
