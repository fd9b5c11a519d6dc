#include "describe/values.h"

#include <algorithm>

#include "sluice/describe.h"
#include "sluice/tape.h"

namespace sluice::outline {

namespace {

constexpr size_t kMost = 16;
constexpr size_t kLongest = 512;
constexpr size_t kTogether = 1'500;

}  // namespace

void Values::add(std::string_view pointer, uint32_t depth, std::string_view source,
                 uint64_t bytes) {
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
  const bool is_short = bytes == source.size() && count_chars(source) <= kLongest;
  members_.push_back({depth, std::string(pointer), std::string(is_short ? source : ""), bytes});
}

std::string Values::finish() const {
  std::vector<std::string> lines(members_.size());
  size_t left = kTogether;
  for (uint32_t depth = 1; depth <= kValueDepth; ++depth) {
    for (size_t at = 0; at < members_.size(); ++at) {
      const Member& member = members_[at];
      if (member.depth != depth) continue;
      const std::string place = member.pointer + ": ";
      std::string line = place + member.source;
      if (member.source.empty() || count_chars(line) >= left) {
        line = place + human_size(member.bytes);
      }
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
