// Restoring as a host drives it: pieces one after the other, bytes in their forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/form.h"
#include "sluice/restore.h"
#include "sluice/status.h"

namespace sluice {

/// Cuts a document into pieces (sluice/restore.h), returns them as JSON, and writes bytes in a
/// form.
class Restoration {
 public:
  /// Cuts an mcp-dialect result. The last `refs` bytes of `input`, if any, are entries kept beside
  /// it.
  Status cut(std::string_view input, size_t refs = 0);
  /// The text of a stored segment followed by its `refs` bytes of entries.
  Status cut_text(std::string_view input, size_t refs, bool json_source);

  /// The next piece: source text if the first byte is `=`, else
  /// `{"kind":"bytes"|"text"|"json","id":…,"form":…,"raw":…}`. False after the last.
  bool next(std::string& out);

  /// Begins writing bytes. `name` is the `form` of a piece. Unless `raw`, the output is escaped for
  /// an open JSON string.
  Status open_form(std::string_view name, bool raw);
  void write(std::string_view bytes, std::string& out);
  void close(std::string& out);

 private:
  void escape(std::string& out);

  std::vector<Piece> pieces_;
  size_t next_ = 0;
  std::optional<FormWriter> writer_;
  bool raw_ = false;
  std::string text_;
};

}  // namespace sluice
