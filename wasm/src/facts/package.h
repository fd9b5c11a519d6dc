// A ZIP archive as a file is described by what stands in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facts/kinds.h"
#include "sniff/structure.h"

namespace sluice {

/// Bytes that an entry is unpacked to, at most.
inline constexpr size_t kEntryBytes = 32'768;

/// The entries that the end of an archive lists. What is not seen has no content.
class Package {
 public:
  /// Nothing where the end of the archive is not seen.
  static std::optional<Package> open(const Glimpse& file);

  uint64_t entries() const { return directory_.entries; }

  /// The entry listed at a place, 0 or the `next` of another; nothing behind the last.
  std::optional<DirectoryEntry> list(uint64_t at) const { return zip_entry(directory_.seen, at); }

  /// The first `limit` bytes of an entry, unpacked; empty where it is not seen, is not there or is
  /// encrypted.
  std::string read(std::string_view name, size_t limit = kEntryBytes) const;

 private:
  Package(const Glimpse& file, const ZipDirectory& directory)
      : file_(file), directory_(directory) {}

  const Glimpse& file_;
  ZipDirectory directory_;
};

/// What a document, a workbook, slides or a book say of themselves: `, 3 pages, 812 words, title
/// (from the file): "Minutes"`, `, 2 sheets (from the file): "Sales" 120 × 4, "Costs" 12 × 2`.
/// `counted` is what the names of the entries say already. False for any other archive.
bool append_office_facts(std::string& line, const Package& package, std::string_view extension,
                         std::string_view counted);

}  // namespace sluice
