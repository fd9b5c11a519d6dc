#include "layers/survey.h"

#include "json/unescape.h"
#include "layers/links.h"
#include "layers/naming.h"

namespace sluice::layers {

namespace {

/// The quote that keeps JSON inside a string valid where bytes stood bare, `"` with the backslashes
/// of its depth; empty where no value of JSON stands before the place. `before` is the text up to
/// the place.
std::string quote_for(std::string_view before) {
  const size_t last = before.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  if (before[last] != ':' && before[last] != ',' && before[last] != '[') return {};
  const size_t quote = before.rfind('"');
  if (quote == std::string_view::npos) return before[last] == '[' ? "\"" : "";
  size_t backslashes = 0;
  while (backslashes < quote && before[quote - 1 - backslashes] == '\\') ++backslashes;
  if (backslashes > 15) return {};
  return std::string(backslashes, '\\') + '"';
}

/// The text of a string up to a place in it.
std::string text_before(const Document& document, size_t offset) {
  const size_t begin = document.tape()[document.string_around(offset)].begin + 1;
  std::string text;
  append_unescaped(text, document.text().substr(begin, offset - begin));
  return text;
}

}  // namespace

Status Survey::run(const std::string& reduced, std::string& surveyed) {
  Document document;
  Status status = document.read(reduced, ledger_.size());
  if (!status.ok()) return status;
  std::string quoted;
  if (quote_bare_bytes(document, quoted)) status = document.read(std::move(quoted), ledger_.size());
  if (!status.ok()) return status;

  const Shape shape = call_.transformed ? Shape{} : shape_of(document, ledger_.segments());
  Work work{document};
  if (shape.kind != Shape::Kind::error && !call_.transformed) {
    take_fields(work, shape.body);
    take_files(work, shape.body);
    for (const size_t text : texts_of(document, shape)) survey_text(work, text);
    take_blocks(work, shape);
    note_links(document, shape);
  }
  name_the_rest(document);
  ledger_.annotate();
  surveyed = apply_splices(document.text(), std::move(work.splices));
  return {};
}

// An array of bytes in JSON in a string leaves a reference without quotes behind, which is no JSON.
bool Survey::quote_bare_bytes(const Document& document, std::string& quoted) {
  std::vector<Splice> splices;
  for (const Mark& mark : document.marks(0, document.text().size())) {
    const Segment& segment = ledger_.segment(mark.segment);
    if (segment.kind != SegmentKind::run || segment.form.encoding != Encoding::byte_array) continue;
    const size_t string = document.string_around(mark.offset);
    if (segment.bare || segment.form.suffix.empty() || document.whole(string)) continue;
    std::string& wrap = ledger_.about(mark.segment).wrap;
    wrap = quote_for(text_before(document, mark.offset));
    if (wrap.empty()) continue;
    std::string with;
    append_escaped(with, wrap);
    splices.push_back({mark.offset, mark.offset, with});
    const auto end = static_cast<uint32_t>(mark.offset + kMarkerBytes);
    splices.push_back({end, end, std::move(with)});
  }
  if (splices.empty()) return false;
  quoted = apply_splices(document.text(), std::move(splices));
  return true;
}

}  // namespace sluice::layers
