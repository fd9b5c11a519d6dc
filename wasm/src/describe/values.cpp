#include "describe/values.h"

#include <algorithm>
#include <utility>

#include "sluice/describe.h"
#include "sluice/tape.h"

namespace sluice::outline {

namespace {

constexpr size_t kMost = 16;
constexpr size_t kLongest = 512;
constexpr size_t kTogether = 1'500;

}  // namespace

namespace {

/// The end of a string's source, from a word or a line on: never within a character or an escape.
std::string_view find_last_words(std::string_view end) {
  end.remove_prefix(end.size() - std::min(end.size(), kValueEnd));
  const size_t space = end.find(' ');
  const size_t line = end.find("\\n");
  if (space == end.npos && line == end.npos) return {};
  return end.substr(space < line ? space + 1 : line + 2);
}

}  // namespace

void Values::add(std::string_view pointer, uint32_t depth, std::string_view source, uint64_t bytes,
                 std::string_view end) {
  const bool is_whole = bytes == source.size() && count_chars(source) <= kLongest;
  add({depth, std::string(pointer), std::string(is_whole ? source : find_last_words(end)), bytes,
       is_whole});
}

void Values::add(const Values& others) {
  for (const Member& member : others.members_) add(member);
}

void Values::add(Member added) {
  const uint32_t depth = added.depth;
  if (members_.size() == kMost) {
    uint32_t deepest = 0;
    for (const Member& member : members_) deepest = std::max(deepest, member.depth);
    if (depth > deepest) return;
    const auto is_deepest = [&](const Member& member) { return member.depth == deepest; };
    auto left = std::count_if(members_.begin(), members_.end(), is_deepest) / 2;
    members_.erase(std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
      return is_deepest(member) && left-- == 0;
    }));
  }
  members_.push_back(std::move(added));
}

std::string Values::finish() const {
  std::vector<std::string> lines(members_.size());
  size_t left = kTogether;
  for (uint32_t depth = 1; depth <= kValueDepth; ++depth) {
    for (size_t at = 0; at < members_.size(); ++at) {
      const Member& member = members_[at];
      if (member.depth != depth) continue;
      const std::string place = member.pointer + ": ";
      const std::string size = place + human_size(member.bytes);
      std::string line = member.is_whole ? place + member.source : size;
      if (!member.is_whole && !member.source.empty()) line += ", ending …" + member.source;
      if (count_chars(line) >= left) line = size;
      if (count_chars(line) >= left) continue;
      left -= count_chars(line) + 1;
      lines[at] = std::move(line);
    }
  }
  std::string out;
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    if (!out.empty()) out += '\n';
    out += line;
  }
  return out;
}

}  // namespace sluice::outline
