#include "describe/outline_reader.h"
#include "sluice/describe.h"

namespace sluice {
namespace {

constexpr size_t kOutlineChars = 300;

}  // namespace

Outline::Outline() = default;
Outline::~Outline() = default;
Outline::Outline(Outline&&) noexcept = default;
Outline& Outline::operator=(Outline&&) noexcept = default;

void Outline::push(Bytes bytes) {
  if (bytes.empty()) return;
  if (!reader_) reader_ = std::make_unique<Reader>();
  reader_->push(bytes);
}

bool Outline::is_lines() const {
  return reader_ && reader_->shape().is_lines();
}

bool Outline::may_be() const {
  return reader_ && !reader_->failed();
}

std::string Outline::finish() const {
  return reader_ && reader_->complete() ? outline::shape_text(reader_->shape(), kOutlineChars)
                                        : std::string();
}

}  // namespace sluice
