// OLE compound files ([MS-CFB]): streams by name, as far as both ends of a file show them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sniff/structure.h"

namespace sluice {

/// A file of sectors that are chained by a table, with a directory of named streams.
class CompoundFile {
 public:
  struct Entry {
    std::string name;  ///< its ASCII; other characters are left out
    uint32_t start = 0;
    uint64_t size = 0;
  };

  /// Nothing where the header is cut or makes no sense.
  static std::optional<CompoundFile> open(const Glimpse& file);

  /// What the directory lists, as far as it is seen.
  const std::vector<Entry>& entries() const { return entries_; }

  /// How many listed names begin so.
  uint32_t count(std::string_view begin) const;

  /// The first `limit` bytes of a stream; shorter where a sector of it is not seen.
  std::string read(std::string_view name, size_t limit) const;

 private:
  explicit CompoundFile(const Glimpse& file) : file_(file) {}

  uint32_t find_next(uint32_t sector) const;
  std::string read_chain(uint32_t sector, uint64_t limit) const;

  const Glimpse& file_;
  uint32_t shift_ = 9;
  std::vector<Entry> entries_;
};

}  // namespace sluice
