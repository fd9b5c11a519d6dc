// The short members of a JSON document: what it says beside its lists, and in those of few
// elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::outline {

/// How many containers may stand around a member, and elements in the one list among them.
inline constexpr uint32_t kValueDepth = 8;
inline constexpr uint64_t kValueElements = 3;
/// Bytes of a value's source that are looked at: 512 characters of four bytes, and of a longer one
/// those of its end.
inline constexpr size_t kValueBytes = 2'048;
inline constexpr size_t kValueEnd = 160;

/// The values of members as they go by, at most sixteen. Where there are more, the deepest give
/// way, and of those one in the middle: what a page says of itself stands at an end of it, and far
/// out.
class Values {
 public:
  /// A member's JSON Pointer, and the source of its value: all of it, or its first kValueBytes of
  /// `bytes` and its end, at least kValueEnd.
  void add(std::string_view pointer, uint32_t depth, std::string_view source, uint64_t bytes,
           std::string_view end);

  /// Adds all that others hold.
  void add(const Values& others);

  void clear() { members_.clear(); }

  /// A line for each, `/next_cursor: "b2Zmc2V0"`, at most 1,500 characters together. A value is
  /// whole, or its pointer, size and end stand for it: `/report: 8.1 KB, ending …in all: 12"`.
  std::string finish() const;

 private:
  struct Member {
    uint32_t depth = 0;
    std::string pointer;
    std::string source;  // of a long one its end
    uint64_t bytes = 0;
    bool is_whole = false;
  };

  void add(Member member);

  std::vector<Member> members_;
};

}  // namespace sluice::outline
