// What instruments measured: FITS, NetCDF, and pictures of patients.
#include "describe/markup.h"
#include "facts/families/families.h"
#include "sniff/structure.h"
#include "text/ascii.h"

namespace sluice::families {

using namespace std::string_view_literals;

// --- FITS ----------------------------------------------------------------------------------------

namespace {

/// The number on a card of a FITS header (FITS 4.0 §4.2), behind `from`.
uint64_t read_card(std::string_view head, std::string name, size_t from) {
  name.resize(8, ' ');
  const size_t at = head.find(name + '=', from);
  if (at == head.npos) return 0;
  const std::string_view value = head.substr(at + 9);
  return read_number(value.substr(std::min(value.find_first_not_of(' '), value.size())));
}

}  // namespace

void append_fits(std::string& line, const Glimpse& file) {
  const std::string_view head = as_text(file.head);
  const uint64_t axes = std::min<uint64_t>(read_card(head, "NAXIS", 0), 9);
  for (uint64_t i = 1; i <= axes; ++i) {
    const uint64_t side = read_card(head, "NAXIS" + std::to_string(i), 0);
    if (side == 0) return;
    append_side(line, side, i == 1);
  }
  const size_t table = head.find("XTENSION= 'BINTABLE");
  if (axes > 0 || table == head.npos) return;
  append_count(line, read_card(head, "NAXIS2", table), "row");
  append_count(line, read_card(head, "TFIELDS", table), "column");
}

// --- NetCDF 3 ------------------------------------------------------------------------------------

namespace {

/// Walks the header (versions 1, 2 and 5): numbers of four bytes, of eight in version 5.
class NetCdf {
 public:
  explicit NetCdf(Bytes bytes) : bytes_(bytes), wide_(u8(bytes, 3) == 5) { count(); }

  uint64_t number() { return take(4); }
  uint64_t count() { return take(wide_ ? 8 : 4); }
  std::string_view name() {
    const uint64_t size = count();
    const std::string_view text = read_text(bytes_, at_, size);
    pass(size);
    return text;
  }
  void attributes() {
    static constexpr uint8_t kSizes[] = {1, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    number();
    for (uint64_t left = count(); left > 0 && !done(); --left) {
      name();
      const uint64_t size = kSizes[std::min<uint64_t>(number(), 11)];
      pass(std::min<uint64_t>(count(), bytes_.size()) * size);
    }
  }
  /// Passes what stands behind a variable's attributes: type, size, place.
  void place() { at_ += 4 + (wide_ ? 16 : u8(bytes_, 3) == 2 ? 12 : 8); }
  bool done() const { return at_ >= bytes_.size(); }

 private:
  uint64_t take(size_t width) {
    const uint64_t value = be(bytes_, at_, width);
    at_ += width;
    return value;
  }
  void pass(uint64_t size) { at_ += (std::min<uint64_t>(size, bytes_.size()) + 3) & ~uint64_t{3}; }

  Bytes bytes_;
  uint64_t at_ = 4;
  bool wide_;
};

}  // namespace

void append_netcdf(std::string& line, const Glimpse& file) {
  constexpr uint64_t kMost = 1'024;
  if (!stands(file.head, 0, "CDF")) return;
  NetCdf header(file.head);
  header.number();
  const uint64_t dimensions = header.count();
  for (uint64_t left = dimensions; left > 0 && !header.done(); --left) {
    header.name();
    header.count();
  }
  header.attributes();
  header.number();
  const uint64_t variables = header.count();
  if (header.done() || variables > kMost) return;
  append_count(line, dimensions, "dimension");
  append_count(line, variables, "variable");
  Quotes names(line, "");
  for (uint64_t left = variables; left > 0 && !header.done(); --left) {
    if (!names.add(header.name())) break;
    for (uint64_t i = std::min(header.count(), kMost); i > 0; --i) header.count();
    header.attributes();
    header.place();
  }
}

// --- pictures of patients ------------------------------------------------------------------------

void append_nifti(std::string& line, const Glimpse& file) {
  if (stands(file.head, 4, "n+2")) {
    const uint64_t axes = le(file.head, 16, 8);
    for (uint64_t i = 1; i <= axes && i <= 7; ++i) {
      append_side(line, le(file.head, 16 + 8 * i, 8), i == 1);
    }
    return;
  }
  // How many axes there are tells which byte comes first.
  const bool big = le16(file.head, 40) > 7;
  const uint64_t axes = read_integer(file.head, 40, 2, big);
  for (uint64_t i = 1; i <= axes && i <= 7; ++i) {
    append_side(line, read_integer(file.head, 40 + 2 * i, 2, big), i == 1);
  }
}

namespace {

/// Letters of a code, as DICOM pads them.
std::string read_code(std::string_view text) {
  std::string code;
  for (const char letter : text.substr(0, 16)) {
    if (is_alphanumeric(letter)) code += letter;
  }
  return code;
}

}  // namespace

// PS3.5 §7.1: group:2 element:2, then VR:2 length:2, or VR:2 0:2 length:4 for the long ones, or
// without VR length:4. Only what describes the picture is read: nothing of the patient.
void append_dicom(std::string& line, const Glimpse& file) {
  constexpr std::string_view kLong = "OBOWOFODOLOVSQUCUNURUT";
  constexpr uint32_t kSyntax = 0x0002'0010, kModality = 0x0008'0060, kPart = 0x0018'0015;
  constexpr uint32_t kFrames = 0x0028'0008, kRows = 0x0028'0010, kColumns = 0x0028'0011;
  constexpr uint32_t kPixels = 0x7fe0'0010;
  constexpr uint64_t kOpen = 0xffff'ffff;
  const Bytes head = file.head;
  std::string modality;
  std::string part;
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t frames = 0;
  bool implicit = false;
  uint64_t at = stands(head, 128, "DICM") ? 132 : 0;
  for (int i = 0; i < 2'000 && holds(head, at, 8); ++i) {
    const uint32_t tag = le16(head, at) << 16 | le16(head, at + 2);
    uint64_t size = le32(head, at + 4);
    if (tag >> 16 == 2 || !implicit) {
      const std::string_view kind = read_text(head, at + 4, 2);
      const size_t found = kLong.find(kind);
      const bool is_long = found != kLong.npos && found % 2 == 0;
      size = is_long ? le32(head, at + 8) : le16(head, at + 6);
      if (is_long) at += 4;
      if (!is_upper(kind[0])) break;
    }
    at += 8;
    const std::string_view value = read_text(head, at, size);
    if (tag == kSyntax) implicit = value.substr(0, value.find('\0')) == "1.2.840.10008.1.2";
    if (tag == kModality) modality = read_code(value);
    if (tag == kPart) part = read_code(value);
    if (tag == kFrames) frames = read_number(value);
    if (tag == kRows) rows = le16(head, at);
    if (tag == kColumns) columns = le16(head, at);
    if (tag >= kPixels) break;
    if (size == kOpen) {
      // A sequence of no given length ends with its own mark.
      const size_t end = as_text(head).find("\xfe\xff\xdd\xe0\0\0\0\0"sv, static_cast<size_t>(at));
      if (end == std::string_view::npos) break;
      at = end + 8;
    } else {
      at += size;
    }
  }
  if (!modality.empty()) line += ", " + modality;
  if (rows > 0 && columns > 0) {
    append_side(line, columns, true);
    append_side(line, rows, false);
  }
  if (frames > 1) append_count(line, frames, "frame");
  if (!part.empty()) line += ", " + lowered(part);
}

}  // namespace sluice::families
