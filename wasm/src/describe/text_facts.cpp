#include "describe/rows.h"
#include "sluice/describe.h"

namespace sluice {

struct TextFacts::State {
  Outline outline;
  Rows rows;
  bool counts = true;  // lines and rows: of what begins as JSON they are not worth the time
};

TextFacts::TextFacts(std::string_view head)
    : state_(new State{{}, Rows(head, head.size() < kSniffHead)}) {
  state_->outline.push(as_bytes(head));
  state_->counts = head.size() < kSniffHead || !state_->outline.may_be();
}
TextFacts::~TextFacts() = default;

void TextFacts::push(Bytes bytes) {
  state_->outline.push(bytes);
  if (state_->counts) state_->rows.push(bytes);
}

void TextFacts::tell(Subject& subject) const {
  subject.outline = state_->outline.finish();
  subject.is_lines = state_->outline.is_lines();
  if (state_->counts) subject.lines = state_->rows.lines();
  if (state_->counts) subject.table = state_->rows.facts();
  if (subject.type.mime_type != "text/plain") return;
  if (!subject.outline.empty()) {
    subject.type = type_of_mime(subject.is_lines ? "application/x-ndjson" : "application/json");
  } else if (!subject.table.empty()) {
    const bool tabs = state_->rows.delimiter() == '\t';
    subject.type = type_of_mime(tabs ? "text/tab-separated-values" : "text/csv");
  }
}

void tell_text(std::string_view text, Subject& subject) {
  const std::string_view head = text.substr(0, kSniffHead);
  TextFacts facts(head);
  facts.push(as_bytes(text.substr(head.size())));
  facts.tell(subject);
}

}  // namespace sluice
