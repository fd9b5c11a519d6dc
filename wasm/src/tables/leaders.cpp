#include "tables/leaders.h"

#include <algorithm>

namespace sluice::tables {

namespace {

/// Most bytes of a value.
constexpr size_t kMostBytes = 256;

}  // namespace

void Leaders::begin(size_t count, bool is_descending) {
  values_.clear();
  count_ = count;
  is_descending_ = is_descending;
}

bool Leaders::comes_before(const Value& a, const Value& b) const {
  const int order = compare(a, b);
  return is_descending_ ? order > 0 : order < 0;
}

bool Leaders::is_behind(const Value& value) const {
  return values_.size() == count_ && comes_before(values_.front().get(), value);
}

void Leaders::add(const Value& value) {
  if (values_.size() == count_ && !comes_before(value, values_.front().get())) return;
  if (value.bytes.size() > kMostBytes) {
    begin(0, is_descending_);
    return;
  }
  const auto is_before = [this](const KeptValue& a, const KeptValue& b) {
    return comes_before(a.get(), b.get());
  };
  if (values_.size() == count_) {
    std::pop_heap(values_.begin(), values_.end(), is_before);
    values_.pop_back();
  }
  values_.push_back(keep_value(value));
  std::push_heap(values_.begin(), values_.end(), is_before);
}

}  // namespace sluice::tables
