// An artifact as a file that SQLite reads: read-only, never locked, and nothing beside it.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "tables/rows.h"

struct sqlite3_file;

namespace sluice::tables {

/// The bytes of an artifact in blocks, of which the last ones are kept: pages are read in any
/// order, and a host gives much more than one at a time.
class ArtifactFile {
 public:
  ArtifactFile(Read read, uint64_t size) : read_(std::move(read)), size_(size) {}
  ArtifactFile(const ArtifactFile&) = delete;
  ArtifactFile& operator=(const ArtifactFile&) = delete;

  uint64_t size() const { return size_; }
  /// Whether it was written with a log beside it, where its last changes may be.
  bool had_log() const { return had_log_; }
  /// Whether reading failed; the host knows why.
  bool has_failed() const { return has_failed_; }

  /// Reads as much as there is, and tells how much. -1 where the host cannot read.
  ptrdiff_t read(uint64_t offset, std::span<char> into);

 private:
  static constexpr size_t kBlock = size_t{1024} * 1024;
  static constexpr size_t kBlocks = 64;

  struct Block {
    uint64_t number;
    std::vector<char> bytes;
  };

  Read read_;
  uint64_t size_;
  bool had_log_ = false;
  bool has_failed_ = false;
  /// The last one that was read is the first.
  std::list<Block> blocks_;

  const Block* find(uint64_t number);
};

/// The name of the file system of artifacts, and of the one file in it: that of `offer`.
inline constexpr const char* kArtifactSystem = "artifact";

/// Makes `file` the one that SQLite opens next.
void offer(ArtifactFile* file);

}  // namespace sluice::tables
