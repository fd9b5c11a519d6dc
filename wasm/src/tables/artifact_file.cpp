#include "tables/artifact_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::tables {

namespace {

/// Where a database says which versions write and read it: 1, or 2 with a log beside it (SQLite
/// file format §1.3.3).
constexpr uint64_t kVersions = 18;

/// What SQLite holds of an open file.
struct OpenFile : sqlite3_file {
  ArtifactFile* file;
};

ArtifactFile* offered = nullptr;

ArtifactFile& get_file(sqlite3_file* file) {
  return *static_cast<OpenFile*>(file)->file;
}

int read_file(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  const std::span<char> bytes(static_cast<char*>(into), static_cast<size_t>(size));
  const ptrdiff_t count = get_file(file).read(static_cast<uint64_t>(offset), bytes);
  if (count < 0) return SQLITE_IOERR_READ;
  if (count == size) return SQLITE_OK;
  // SQLite wants zeros behind the end.
  std::memset(bytes.data() + count, 0, bytes.size() - static_cast<size_t>(count));
  return SQLITE_IOERR_SHORT_READ;
}
int tell_size(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(get_file(file).size());
  return SQLITE_OK;
}
int close_file(sqlite3_file* /*file*/) {
  return SQLITE_OK;
}
int refuse_write(sqlite3_file* /*file*/, const void* /*bytes*/, int /*size*/,
                 sqlite3_int64 /*offset*/) {
  return SQLITE_READONLY;
}
int refuse_truncate(sqlite3_file* /*file*/, sqlite3_int64 /*size*/) {
  return SQLITE_READONLY;
}
int take_flags(sqlite3_file* /*file*/, int /*flags*/) {
  return SQLITE_OK;
}
int find_lock(sqlite3_file* /*file*/, int* found) {
  *found = 0;
  return SQLITE_OK;
}
int refuse_control(sqlite3_file* /*file*/, int /*what*/, void* /*argument*/) {
  return SQLITE_NOTFOUND;
}
int tell_sector(sqlite3_file* /*file*/) {
  return 4096;
}
/// An artifact never changes, so SQLite looks for neither locks nor journals.
int tell_traits(sqlite3_file* /*file*/) {
  return SQLITE_IOCAP_IMMUTABLE;
}

const sqlite3_io_methods kFileMethods = [] {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = close_file;
  methods.xRead = read_file;
  methods.xWrite = refuse_write;
  methods.xTruncate = refuse_truncate;
  methods.xSync = take_flags;
  methods.xFileSize = tell_size;
  methods.xLock = take_flags;
  methods.xUnlock = take_flags;
  methods.xCheckReservedLock = find_lock;
  methods.xFileControl = refuse_control;
  methods.xSectorSize = tell_sector;
  methods.xDeviceCharacteristics = tell_traits;
  return methods;
}();

/// The database is the only file there is.
int open_file(sqlite3_vfs* /*system*/, const char* /*name*/, sqlite3_file* file, int flags,
              int* out) {
  file->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || offered == nullptr) return SQLITE_CANTOPEN;
  auto& open = *static_cast<OpenFile*>(file);
  open.file = std::exchange(offered, nullptr);
  open.pMethods = &kFileMethods;
  if (out != nullptr) *out = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  return SQLITE_OK;
}

}  // namespace

void offer(ArtifactFile* file) {
  offered = file;
  if (sqlite3_vfs_find(kArtifactSystem) != nullptr) return;
  // All else is as the system has it in which no file is ever opened.
  static sqlite3_vfs system = *sqlite3_vfs_find(nullptr);
  system.pNext = nullptr;
  system.szOsFile = sizeof(OpenFile);
  system.zName = kArtifactSystem;
  system.xOpen = open_file;
  sqlite3_vfs_register(&system, 0);
}

const ArtifactFile::Block* ArtifactFile::find(uint64_t number) {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const Block& each) { return each.number == number; });
  if (found != blocks_.end()) {
    blocks_.splice(blocks_.begin(), blocks_, found);
    return &blocks_.front();
  }
  // The memory of the one that was not read for longest is used again.
  if (blocks_.size() < kBlocks)
    blocks_.emplace_front();
  else
    blocks_.splice(blocks_.begin(), blocks_, std::prev(blocks_.end()));
  Block& block = blocks_.front();
  block.number = number;
  const uint64_t start = number * kBlock;
  block.bytes.resize(static_cast<size_t>(std::min<uint64_t>(kBlock, size_ - start)));
  for (size_t filled = 0; filled < block.bytes.size();) {
    const ptrdiff_t count = read_(start + filled, std::span(block.bytes).subspan(filled));
    if (count <= 0) {
      has_failed_ = true;
      blocks_.pop_front();
      return nullptr;
    }
    filled += static_cast<size_t>(count);
  }
  if (start <= kVersions && block.bytes.size() > kVersions + 1) {
    // What was in the log is lost, and the rest is read as if there had been none.
    for (char& version : std::span(block.bytes).subspan(kVersions, 2)) {
      if (version != 2) continue;
      had_log_ = true;
      version = 1;
    }
  }
  return &block;
}

ptrdiff_t ArtifactFile::read(uint64_t offset, std::span<char> into) {
  size_t filled = 0;
  while (filled < into.size() && offset < size_) {
    const Block* const block = find(offset / kBlock);
    if (block == nullptr) return -1;
    const auto from = static_cast<size_t>(offset % kBlock);
    const size_t count = std::min(block->bytes.size() - from, into.size() - filled);
    std::memcpy(into.data() + filled, block->bytes.data() + from, count);
    filled += count;
    offset += count;
  }
  return static_cast<ptrdiff_t>(filled);
}

}  // namespace sluice::tables
