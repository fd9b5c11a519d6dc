#include "describe/boxes.h"
#include "describe/image/dimensions.h"
#include "sniff/fields.h"

namespace sluice::image {
namespace {

/// Bits from the lowest of each byte on; 0 behind the end.
class Bits {
 public:
  explicit Bits(Bytes bytes) : bytes_(bytes) {}

  uint32_t take(uint32_t count) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; ++i, ++at_) {
      value |= (u8(bytes_, at_ / 8) >> (at_ % 8) & 1) << i;
    }
    return value;
  }

  bool past_end() const { return at_ > uint64_t{bytes_.size()} * 8; }

 private:
  Bytes bytes_;
  uint64_t at_ = 0;
};

/// One side: in steps of eight, or in as many bits as a selector says.
uint64_t side(Bits& bits, bool small) {
  if (small) return (uint64_t{bits.take(5)} + 1) * 8;
  static constexpr uint32_t kWidths[] = {9, 13, 18, 30};
  const uint32_t selector = bits.take(2);
  return uint64_t{bits.take(kWidths[selector])} + 1;
}

uint64_t width_by_ratio(uint64_t height, uint32_t ratio) {
  static constexpr uint32_t kRatios[][2] = {{1, 1},  {12, 10}, {4, 3}, {3, 2},
                                            {16, 9}, {5, 4},   {2, 1}};
  const auto& [over, under] = kRatios[ratio - 1];
  return height * over / under;
}

/// The naked codestream of a file, or of its first jxlc or jxlp box.
Bytes codestream(Bytes head) {
  if (stands(head, 0, "\xff\x0a")) return head;
  if (!stands(head, 4, "JXL \r\n\x87\n")) return {};
  const Bytes whole = find_box(head, "jxlc");
  if (!whole.empty()) return whole;
  const Bytes part = find_box(head, "jxlp");
  return part.size() < 4 ? Bytes{} : part.subspan(4);
}

}  // namespace

// ISO/IEC 18181-1 §D.2, SizeHeader: small:1 height ratio:3 [width when the ratio is 0]
std::optional<Dimensions> jxl_dimensions(Bytes head) {
  const Bytes stream = codestream(head);
  if (!stands(stream, 0, "\xff\x0a")) return std::nullopt;
  Bits bits(stream.subspan(2));
  const bool small = bits.take(1) == 1;
  const uint64_t height = side(bits, small);
  const uint32_t ratio = bits.take(3);
  const uint64_t width = ratio == 0 ? side(bits, small) : width_by_ratio(height, ratio);
  if (bits.past_end()) return std::nullopt;
  return Dimensions{width, height};
}

}  // namespace sluice::image
