#include "describe/shape.h"

#include <algorithm>

namespace sluice::outline {
namespace {

void add(Kinds& kinds, Kind kind) {
  kinds = static_cast<Kinds>(kinds | static_cast<Kinds>(kind));
}

/// The field of `key`, made while there is room; null when the key is to be counted only.
Field* field_of(Record& record, const Key& key) {
  for (Field& field : record.fields) {
    if (field.key == key) return &field;
  }
  if (record.fields.size() == kFields) return nullptr;
  if (record.fields.empty()) record.fields.reserve(kFields);  // fields stay where they are
  return &record.fields.emplace_back(Field{key, 0, nullptr});
}

}  // namespace

void Shape::value(Kind kind, uint32_t depth) {
  if (depth == 0) {
    root_ = kind;
    if (kind == Kind::array) open_list_ = &list_;
    return;
  }
  const uint32_t element = list_depth();
  if (depth == element && open_list_ != nullptr) {
    add(open_list_->kinds, kind);
    open_item_ = ++open_list_->count <= kSampled && kind == Kind::object;
    unnamed_ = 0;
  } else if (depth == element + 1 && open_item_ && item_field_ != nullptr) {
    add(item_field_->kinds, kind);
  } else if (depth == 1 && field_ != nullptr) {
    add(field_->kinds, kind);
    if (kind != Kind::array) return;
    field_->list = std::make_unique<List>();  // of duplicate keys the last counts
    open_list_ = field_->list.get();
  }
}

void Shape::begin_lines() {
  if (lines_) return;
  lines_ = true;
  list_ = {};
  list_.count = 1;
  add(list_.kinds, root_);
  list_.items = std::move(record_);
  for (Field& field : list_.items.fields) field.list = nullptr;
  root_ = Kind::array;
  open_list_ = &list_;
  field_ = nullptr;
  item_field_ = nullptr;
}

void Shape::close(uint32_t depth) {
  const uint32_t element = list_depth();
  if (depth == element && open_item_) {
    Record& items = open_list_->items;
    items.unnamed = std::max(items.unnamed, unnamed_);
    open_item_ = false;
  } else if (depth + 1 == element) {
    open_list_ = nullptr;
  }
}

bool Shape::wants_key(uint32_t depth) const {
  return depth == list_depth() + 1 ? open_item_ : depth == 1 && root_ == Kind::object;
}

void Shape::key(const Key& key, uint32_t depth) {
  if (depth == 1) {
    field_ = field_of(record_, key);
    if (field_ == nullptr) ++record_.unnamed;
  } else {
    item_field_ = field_of(open_list_->items, key);
    if (item_field_ == nullptr) ++unnamed_;
  }
}

}  // namespace sluice::outline
