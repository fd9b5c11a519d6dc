// The strict reader behind the tape: RFC 8259, no recursion, every bound checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/status.h"
#include "sluice/tape.h"

namespace sluice::json {

/// Longest number kept as source, in characters.
inline constexpr size_t kMaxNumberChars = 65'536;

/// Most nodes of one tape: 512 MiB of index.
inline constexpr size_t kMaxNodes = size_t{1} << 25;

/// One reading of a text. `run` once; `nodes` is complete only when it succeeds.
class Reader {
 public:
  Reader(std::string_view text, std::vector<Node>& nodes, size_t max_depth, bool markers)
      : begin_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()),
        nodes_(nodes),
        max_depth_(max_depth),
        markers_(markers) {}

  Status run();

 private:
  bool document();
  bool value(bool& opened);
  bool rest(bool& done);
  bool open(Type type);
  void close();
  bool key();
  bool string();
  bool escape();
  bool unicode();
  bool control();
  bool number();
  bool digits();
  bool literal(std::string_view word, Type type);

  void skip_space();
  bool at_end() const { return at_ == end_; }
  bool add(Type type, const char* begin);
  uint32_t offset(const char* at) const { return static_cast<uint32_t>(at - begin_); }
  bool fail(Code code, std::string_view message);
  bool fail_here(std::string_view expected);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::vector<Node>& nodes_;
  std::vector<uint32_t> open_;
  size_t max_depth_;
  bool markers_;
  Status status_;
};

}  // namespace sluice::json
