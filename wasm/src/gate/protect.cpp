// Members that pass as they came (part of Document).
#include <algorithm>

#include "gate/document.h"
#include "json/unescape.h"

namespace sluice::gate {

// The key that closes; it may be spelled with escapes.
void Document::name_member() {
  const std::string_view source = std::string_view(out_).substr(string_begin_ + 1);
  std::string name;
  if (source.size() <= kMaxMemberSource) append_unescaped(name, source);
  open_member(member_named(name, place()), string_begin_);
}

// What streams into a segment anyhow is not protected there, but the members of the result that
// does are: they have to stand in the document, too.
void Document::open_member(Member member, size_t begin) {
  if (protecting_) return;
  const Frame& frame = frames_.back();
  next_ = place_of(member, frame.place);
  if (frames_.size() == 1) envelope_ = envelope_ || member == Member::jsonrpc;
  const bool streams = collapsed() && (frames_.size() > json_frame_ + 1 || !frame.body);
  if (streams || unspent_ == 0) return;
  wants_array_ = member == Member::icons;
  protecting_ = wants_array_ || is_protected(member, frame.place);
  protect_begin_ = begin;
  protect_depth_ = frames_.size();
}

// An object in an array is what the array holds: a result in an array is none.
Place Document::place_within(bool object) const {
  if (frames_.empty()) return Place::result;
  const Frame& around = frames_.back();
  if (around.object) return object ? place_of_object(next_) : next_;
  const bool holds = object && (around.place == Place::blocks || around.place == Place::entries);
  return holds ? place_of_object(around.place) : Place::elsewhere;
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
