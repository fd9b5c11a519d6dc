// What the core hands over of a file whose facts are told elsewhere.
#include "describe/evidence.h"

#include <algorithm>

#include "describe/wide_text.h"
#include "sluice/facts.h"
#include "sniff/structure.h"
#include "sniff/types.h"

namespace sluice {

namespace {

constexpr std::string_view kImage = "image/";

/// Pictures that `describe` tells all of.
constexpr std::string_view kPictures[][1] = {{"png"}, {"jpeg"}, {"gif"}, {"webp"}};

/// Extensions of the kinds in facts/families that neither their type nor `wants_tail` gives away.
constexpr std::string_view kFamilies[][1] = {
    {"iso"},     {"qcow2"},  {"vmdk"}, {"squashfs"}, {"rpm"},    {"sav"},  {"grib"},    {"bufr"},
    {"pmtiles"}, {"stl"},    {"fbx"},  {"mid"},      {"sqlite"}, {"gpkg"}, {"mbtiles"}, {"npy"},
    {"dta"},     {"fits"},   {"nc"},   {"nii"},      {"dcm"},    {"shp"},  {"las"},     {"laz"},
    {"pcap"},    {"pcapng"}, {"der"},  {"glb"},      {"ply"},    {"mrc"},  {"mgh"},     {"img"},
    {"vdi"},     {"dbf"},    {"mo"},   {"fgb"},      {"avro"},
};

template <const auto& Table>
bool has_text(std::string_view wanted) {
  for (sniffing::Texts texts(sniffing::packed<Table>); !texts.done();) {
    if (texts.next() == wanted) return true;
  }
  return false;
}

void append_number(std::string& out, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(number >> shift & 0xff);
}

}  // namespace

bool has_facts(const FileType& type, Bytes head) {
  using namespace std::string_view_literals;
  const std::string_view mime = type.mime_type;
  if (head.empty()) return false;
  if (mime.starts_with(kImage)) return !has_text<kPictures>(mime.substr(kImage.size()));
  return mime.starts_with("audio/") || mime.starts_with("video/") || mime == "application/ogg" ||
         mime == "application/x-tar" || stands(head, 0, "\x1f\x8b\x08"sv) || wants_tail(head) ||
         has_text<kFamilies>(type.extension) ||
         (mime == "application/octet-stream" && may_be_old_text(head));
}

std::string write_evidence(const Subject& subject) {
  const Bytes head = subject.head.first(std::min(subject.head.size(), kDescribeHead));
  const bool whole = head.size() >= subject.size_bytes;
  const Bytes tail =
      whole ? Bytes() : subject.tail.last(std::min(subject.tail.size(), kDescribeTail));
  const FileType& type = subject.type;
  std::string out;
  out.reserve(kEvidenceNumbers * 8 + head.size() + tail.size() + 256);
  append_number(out, subject.size_bytes);
  append_number(out, whole ? 1 : 0);
  append_number(out, type.mime_type.size());
  append_number(out, type.extension.size());
  append_number(out, type.label.size());
  append_number(out, head.size());
  out.append(type.mime_type).append(type.extension).append(type.label);
  out.append(as_text(head)).append(as_text(tail));
  return out;
}

void set_evidence_size(std::string& evidence, uint64_t bytes) {
  if (evidence.empty()) return;
  std::string size;
  append_number(size, bytes);
  evidence.replace(0, size.size(), size);
}

bool read_evidence(std::string_view evidence, Subject& subject, Glimpse& file) {
  const auto number = [&](uint64_t index) { return le(as_bytes(evidence), index * 8, 8); };
  uint64_t at = kEvidenceNumbers * 8;
  bool holds_all = evidence.size() >= at;
  const auto take = [&](uint64_t size) {
    holds_all = holds_all && size <= evidence.size() - at;
    if (!holds_all) return std::string_view();
    at += size;
    return evidence.substr(static_cast<size_t>(at - size), static_cast<size_t>(size));
  };
  if (!holds_all) return false;
  subject.size_bytes = number(0);
  subject.type.mime_type = take(number(2));
  subject.type.extension = take(number(3));
  subject.type.label = take(number(4));
  file.head = as_bytes(take(number(5)));
  if (!holds_all) return false;
  const bool whole = number(1) == 1;
  file.tail = whole ? file.head : as_bytes(evidence.substr(static_cast<size_t>(at)));
  file.size = whole ? file.head.size()
                    : std::max<uint64_t>({subject.size_bytes, file.head.size(), file.tail.size()});
  return true;
}

}  // namespace sluice
