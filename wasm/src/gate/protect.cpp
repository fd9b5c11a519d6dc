// Members that pass as they came (part of Document).
#include <algorithm>
#include <iterator>

#include "gate/document.h"
#include "json/unescape.h"

namespace sluice::gate {

Member member_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"jsonrpc",        "result",       "icons",
                                         "_meta",          "requestState", "inputRequests",
                                         "inputResponses", "nextCursor",   "resultType"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  const auto index = static_cast<size_t>(found - kNames);
  return found == std::end(kNames) ? Member::other : std::min(Member::fixed, Member(index + 1));
}

// The key that closes; it may be spelled with escapes.
void Document::name_member() {
  const std::string_view source = std::string_view(out_).substr(string_begin_ + 1);
  std::string name;
  if (source.size() <= kMaxMemberSource) append_unescaped(name, source);
  open_member(member_named(name), string_begin_);
}

// What streams into a segment anyhow is not protected there, but the members of the result that
// does are: they have to stand in the document, too.
void Document::open_member(Member member, size_t begin) {
  if (protecting_) return;
  const bool body = frames_.back().body;
  if (frames_.size() == 1) {
    into_result_ = member == Member::result;
    envelope_ = envelope_ || member == Member::jsonrpc;
  }
  const bool streams = collapsed() && frames_.size() > json_frame_ + 1;
  if (streams || unspent_ == 0) return;
  wants_array_ = member == Member::icons;
  protecting_ = wants_array_ || (body && member == Member::fixed);
  protect_begin_ = begin;
  protect_depth_ = frames_.size();
}

void Document::open_protected(uint8_t first) {
  if (wants_array_ && first != '[') protecting_ = false;
  wants_array_ = false;
}

void Document::close_member() {
  protecting_ = false;
  if (!frames_.back().body) return;
  std::string& members = members_[frames_.size() - 1];
  members += ',';
  members.append(out_, protect_begin_);
}

void Document::spend(uint64_t chars) {
  unspent_ -= std::min(unspent_, chars);
  if (unspent_ == 0) protecting_ = false;
}

}  // namespace sluice::gate
