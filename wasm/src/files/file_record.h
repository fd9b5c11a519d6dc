// What a contract says of files: §6.1, §7.1.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "files/record.h"

namespace sluice::files {

inline constexpr std::array<std::string_view, 4> kCategories = {"report", "dataset",
                                                                "visualization", "draft"};

/// Names that are taken, each once.
class Names {
 public:
  /// Whether it was not there before.
  bool insert(std::string name);
  bool has(std::string_view name) const;

 private:
  std::vector<std::string> sorted_;
};

/// Reads an artifact (§6.1): its name, where its bytes are, and what is said of it.
void read_artifact(Record& record, Names& names);

/// Reads a deferred artifact (§7.1).
void read_deferred(Record& record, Names& names);

}  // namespace sluice::files
