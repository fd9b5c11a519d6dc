// Restores what the mcp dialect reduced: the document with holes, and what fills each hole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/codec.h"
#include "sluice/segment.h"
#include "sluice/status.h"

namespace sluice {

/// A piece of the restored text, in order.
struct Piece {
  enum class Kind : uint8_t {
    literal,  ///< JSON source as it is
    bytes,  ///< the artifact's bytes written in `form`, escaped, inside a JSON string already open;
            ///< or `raw`
    text,   ///< the artifact's text, escaped, inside a JSON string already open; references listed
            ///< in its own record are expanded in turn
    json,   ///< the artifact's text as JSON source, its references expanded in turn
  };
  Kind kind = Kind::literal;
  std::string literal;
  std::string id;
  Form form;
  std::string spelling;  ///< of `text`: of the strings between it and the one that is open
  bool raw = false;      ///< `bytes` stand outside of any string: what `form` writes is JSON source
};

/// Reads `_meta["sluice/refs"]` of an mcp-dialect result (or of the `result` of a JSON-RPC
/// response, or of one per line) and cuts the text into pieces. Puts back only listed references
/// and removes blocks and notes that were added. A document without refs is one literal. Fails with
/// `restore_refs`.
Status restore_pieces(std::string_view json, std::vector<Piece>& pieces);

/// The same with entries kept beside the document (`Layers::refs_json`), for a result that has no
/// `_meta`, or has the name of the entries in their place there (`named`).
Status restore_pieces(std::string_view json, std::string_view refs_json, std::vector<Piece>& pieces,
                      bool named = false);

/// Cuts the text of a stored segment. `refs_json` is an array of what `inner_ref` wrote, or empty.
/// With `json_source` the text is JSON source (a json segment); otherwise it is the text of a
/// string, and literal pieces are escaped for an open JSON string, before that in the `spelling` of
/// the strings between. Fails with `restore_refs`.
Status restore_text_pieces(std::string_view text, std::string_view refs_json, bool json_source,
                           std::string_view spelling, std::vector<Piece>& pieces);

/// The note that a host keeps for each reference in a stored text, in order:
/// `{"offset":…,"uri":…}`, plus `"kind"` unless it is a run in a string, and the `"form"` of an
/// entry of `_meta["sluice/refs"]`. `offset` is the byte position of `reference(inner, id)`.
std::string inner_ref(const Segment& inner, std::string_view id, uint64_t offset);

// --- as a host drives it: pieces one after the other, bytes in their forms -----------------------

/// Cuts a document into pieces, returns them as JSON, and writes bytes in a form.
class Restoration {
 public:
  /// Cuts an mcp-dialect result. The last `refs` bytes of `input`, if any, are entries kept beside
  /// it, which it may name.
  Status cut(std::string_view input, size_t refs = 0, bool named = false);
  /// The text of a stored segment followed by its `refs` bytes of entries and the `form` of the
  /// piece that it fills.
  Status cut_text(std::string_view input, size_t refs, size_t form, bool json_source);

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
