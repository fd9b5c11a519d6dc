// Small files of the families that describe knows, and the line about each.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/describe.h"
#include "sluice/facts.h"
#include "sluice/session.h"

namespace sluice {

/// An integer as `bytes` bytes, the lowest first or the highest.
inline std::string le(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return out;
}
inline std::string be(uint64_t value, size_t bytes) {
  const std::string out = le(value, bytes);
  return {out.rbegin(), out.rend()};
}
inline std::string zeros(size_t count) {
  return std::string(count, '\0');
}

struct ZipEntry {
  std::string name;
  uint16_t flags = 0;
  std::string content = "x";
};

/// A ZIP archive of stored entries.
inline std::string zip(const std::vector<ZipEntry>& entries, const std::string& comment = "",
                       bool zip64 = false) {
  std::string file;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const std::string sizes = le(entry.content.size(), 4) + le(entry.content.size(), 4);
    const std::string shared = le(entry.flags, 2) + zeros(10) + sizes + le(entry.name.size(), 2);
    directory +=
        "PK\1\2" + le(20, 2) + le(20, 2) + shared + zeros(12) + le(file.size(), 4) + entry.name;
    file += "PK\3\4" + le(20, 2) + shared + zeros(2) + entry.name + entry.content;
  }
  const uint64_t at = file.size();
  file += directory;
  const uint64_t count = entries.size();
  if (zip64) {
    const uint64_t record = file.size();
    file += "PK\6\6" + le(44, 8) + zeros(12) + le(count, 8) + le(count, 8) +
            le(directory.size(), 8) + le(at, 8);
    file += "PK\6\7" + zeros(4) + le(record, 8) + le(1, 4);
  }
  const uint64_t shown = zip64 ? 0xffff : count;
  return file + "PK\5\6" + zeros(4) + le(shown, 2) + le(shown, 2) +
         le(zip64 ? 0xffff'ffff : directory.size(), 4) + le(zip64 ? 0xffff'ffff : at, 4) +
         le(comment.size(), 2) + comment;
}

/// What a host is told of a file: by `describe`, or of what that leaves open by `tell_facts`.
inline std::string describe(const Subject& subject) {
  Segment segment;
  describe(subject, segment);
  return segment.evidence.empty() ? segment.description : tell_facts(segment.evidence);
}

/// The same of a report, as the JSON string that it has, or would have.
inline std::string description_of(const FileReport& report) {
  if (!report.evidence.empty()) return tell_facts(report.evidence);
  const std::string_view written = report.json;
  std::string line;
  for (size_t i = written.find("\"description\":\"") + 15; written[i] != '"'; ++i) {
    if (written[i] == '\\') ++i;
    line += written[i];
  }
  return line;
}

/// The facts that describe adds to label and size for a file whose ends are seen as they are when
/// it streams by.
inline std::string facts_of(std::string_view file, std::string_view mime,
                            std::string_view extension, size_t head_bytes = kDescribeHead) {
  Subject subject;
  subject.type = {std::string(mime), std::string(extension), "file"};
  subject.size_bytes = file.size();
  subject.head = as_bytes(file.substr(0, head_bytes));
  const size_t tail = file.size() < kDescribeTail ? file.size() : kDescribeTail;
  subject.tail = as_bytes(file.substr(file.size() - tail));
  const std::string line = describe(subject);
  const std::string known = "file, " + human_size(file.size());
  return line.starts_with(known) ? line.substr(known.size()) : "unexpected: " + line;
}

/// A box of an ISO base media file.
inline std::string box(std::string_view type, const std::string& content) {
  return be(content.size() + 8, 4) + std::string(type) + content;
}

}  // namespace sluice
