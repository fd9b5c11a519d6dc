#include "guardrail/share.h"

#include <algorithm>

namespace sluice::guardrail {

namespace {

/// Least room in which part of a value with references is worth showing.
constexpr size_t kPartChars = 120;

class Sharer {
 public:
  Sharer(const Measure& measure, size_t container, size_t budget)
      : measure_(measure),
        tape_(measure.tape()),
        container_(container),
        object_(tape_[container].type == Type::object),
        room_(budget - 2),
        detail_(static_cast<uint32_t>(std::clamp<size_t>(budget / 128, 80, 400))) {}

  Share divide() {
    if (!take_all(detail_) && !(object_ && take_all(kNoteChars))) take_some();
    if (!share_.kept.empty()) pour();
    return std::move(share_);
  }

 private:
  Child child_at(size_t at, uint32_t ordinal) const {
    Child child;
    child.value = static_cast<uint32_t>(object_ ? at + 1 : at);
    child.ordinal = ordinal;
    child.lead = object_ ? 1 + measure_.size(at) : 1;
    return child;
  }

  template <typename Visit>
  void each(Visit visit) const {
    uint32_t ordinal = 0;
    for (size_t at = container_ + 1; at < tape_[container_].next;) {
      const Child child = child_at(at, ++ordinal);
      if (!visit(child)) return;
      at = tape_[child.value].next;
    }
  }

  uint32_t floor(const Child& child, uint32_t detail) const {
    return std::max(measure_.need(child.value), std::min(measure_.size(child.value), detail));
  }

  /// Keeps `child` with its floor if there is room.
  bool take(Child child) {
    const uint64_t cost = uint64_t{child.lead} + child.floor;
    if (cost > room_) return false;
    room_ -= static_cast<size_t>(cost);
    share_.kept.push_back(child);
    return true;
  }

  bool take_all(uint32_t detail) {
    const size_t room = room_;
    bool all = true;
    each([&](Child child) {
      child.floor = floor(child, detail);
      return all = take(child);
    });
    if (all) return true;
    room_ = room;
    share_.kept.clear();
    return false;
  }

  void take_some() {
    room_ -= std::min(room_, 1 + kNoteChars);
    bool broken = false;
    if (measure_.need(container_) > 0) broken = !take_references();
    if (broken) share_.kept.clear();
    if (!broken) take_head();
    share_.left_out = tape_.count(container_) - share_.kept.size();
  }

  /// Takes the children with references that fit. False when an `artifact` member does not.
  bool take_references() {
    bool unbroken = true;
    each([&](Child child) {
      child.floor = measure_.need(child.value);
      if (child.floor == 0 || take(child)) return true;
      if (measure_.whole(child.value)) {
        unbroken = !object_ || tape_[child.value].type != Type::object;
      } else if (room_ >= child.lead + kPartChars && some_fit(child, room_ - child.lead)) {
        child.floor = static_cast<uint32_t>(room_ - child.lead);
        take(child);
      }
      return unbroken;
    });
    return unbroken;
  }

  /// Whether part of a child can show a reference at all.
  bool some_fit(const Child& child, size_t room) const {
    const auto inside = measure_.references().of(child.value);
    return std::any_of(inside.begin(), inside.end(), [&](const Reference& reference) {
      return reference.end - reference.begin + kNoteChars < room;
    });
  }

  /// Takes children from the front, between those with references that are kept already.
  void take_head() {
    const std::vector<Child> references = std::move(share_.kept);
    share_.kept.clear();
    auto next = references.begin();
    each([&](Child child) {
      if (next != references.end() && next->value == child.value) {
        share_.kept.push_back(*next++);
        return true;
      }
      child.floor = std::min(measure_.size(child.value), detail_);
      return take(child);
    });
    share_.kept.insert(share_.kept.end(), next, references.end());
  }

  uint32_t grant(const Child& child, size_t level) const {
    return std::max(child.floor,
                    static_cast<uint32_t>(std::min<size_t>(measure_.size(child.value), level)));
  }

  /// Raises the level as far as the room left allows.
  void pour() {
    const auto fits = [&](size_t level) {
      uint64_t extra = 0;
      for (const Child& child : share_.kept) extra += grant(child, level) - child.floor;
      return extra <= room_;
    };
    size_t low = 0;
    for (size_t high = measure_.limit() + 1; high - low > 1;) {
      const size_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    for (Child& child : share_.kept) child.budget = grant(child, low);
  }

  const Measure& measure_;
  const Tape& tape_;
  size_t container_;
  bool object_;
  size_t room_;
  uint32_t detail_;
  Share share_;
};

}  // namespace

Share share(const Measure& measure, size_t container, size_t budget) {
  return Sharer(measure, container, budget).divide();
}

}  // namespace sluice::guardrail
