// The short members of a JSON document: what it says beside its lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::outline {

/// How deep a member may stand, objects alone around it.
inline constexpr uint32_t kValueDepth = 4;
/// Bytes of a value's source that are looked at: 512 characters of four bytes.
inline constexpr size_t kValueBytes = 2'048;

/// The values of members as they go by, at most sixteen. Where there are more, the deepest give
/// way, and of those one in the middle: what a page says of itself stands at an end of it, and far
/// out.
class Values {
 public:
  /// A member's JSON Pointer, and the source of its value, all of it or its first kValueBytes of
  /// `bytes`.
  void add(std::string_view pointer, uint32_t depth, std::string_view source, uint64_t bytes);

  void clear() { members_.clear(); }

  /// A line for each, `/next_cursor: "b2Zmc2V0"`, at most 1,500 characters together. A value is
  /// whole, or its pointer and size stand for it: `/report: 8.1 KB`.
  std::string finish() const;

 private:
  struct Member {
    uint32_t depth = 0;
    std::string pointer;
    std::string source;  // empty if it is too long
    uint64_t bytes = 0;
  };

  std::vector<Member> members_;
};

}  // namespace sluice::outline
