#include "describe/boxes.h"
#include "sluice/describe.h"
#include "sniff/fields.h"

namespace sluice {

void Tail::push(std::string_view bytes) {
  if (bytes.size() >= kDescribeTail) {
    ring_ = bytes.substr(bytes.size() - kDescribeTail);
    at_ = 0;
    return;
  }
  if (ring_.empty()) ring_.reserve(kDescribeTail);
  const size_t grows = std::min(kDescribeTail - ring_.size(), bytes.size());
  ring_.append(bytes.substr(0, grows));
  for (bytes.remove_prefix(grows); !bytes.empty();) {
    const size_t piece = std::min(kDescribeTail - at_, bytes.size());
    bytes.copy(ring_.data() + at_, piece);
    at_ = (at_ + piece) % kDescribeTail;
    bytes.remove_prefix(piece);
  }
}

std::string Tail::finish(std::string_view head) const {
  const size_t missing = std::min(kDescribeTail - ring_.size(), head.size());
  std::string tail(head.substr(head.size() - missing));
  tail.append(ring_, at_);
  return tail.append(ring_, 0, at_);
}

bool wants_tail(Bytes head) {
  if (stands(head, 0, "PK") || stands(head, 0, "OggS")) return true;
  if (as_text(head).substr(0, 1024).find("%PDF-") != std::string_view::npos) return true;
  const auto box = first_box(head);
  return box &&
         (box->type == "ftyp" || box->type == "moov" || box->type == "wide" || box->type == "mdat");
}

}  // namespace sluice
