#include "tables/lines.h"

#include "tables/window.h"
#include "text/ascii.h"
#include "text/block.h"

namespace sluice::tables {

namespace {

class LineRows : public Rows {
 public:
  explicit LineRows(Read read) : window_(std::move(read)) {}

  void begin(std::span<const char> /*wanted*/) override {
    window_.seek(0);
    at_ = 0;
    number_ = 0;
  }

  Step next() override {
    is_cut_ = false;
    for (size_t from = at_;;) {
      const char* const data = window_.data();
      const char* const end = data + window_.size();
      const char* const stop = find_byte(data + from, end, '\n');
      if (stop != end ||
          (window_.is_last() && (end - data > static_cast<ptrdiff_t>(at_) || is_cut_))) {
        if (!is_cut_) line_ = {data + at_, static_cast<size_t>(stop - data) - at_};
        if (!is_cut_ && line_.ends_with('\r')) line_.remove_suffix(1);
        line_ = line_.substr(0, kMaxLine);
        at_ = static_cast<size_t>(stop - data) + (stop != end ? 1 : 0);
        ++number_;
        return Step::kRow;
      }
      if (window_.is_last()) return Step::kEnd;
      // Of a long line no more than its beginning is kept.
      if (!is_cut_ && window_.size() - at_ > kMaxLine) {
        kept_.assign(data + at_, kMaxLine);
        line_ = kept_;
        is_cut_ = true;
      }
      if (is_cut_) at_ = window_.size();
      if (!window_.refill(at_)) return Step::kUnread;
      from = at_ = 0;
    }
  }

  Cell cell(size_t column) override {
    Cell cell;
    cell.kind = column == 0 ? Cell::Kind::kInteger : Cell::Kind::kText;
    cell.integer = number_;
    cell.text = line_;
    return cell;
  }

  uint64_t offset() const override { return window_.base() + at_; }

 private:
  Window window_;
  size_t at_ = 0;
  int64_t number_ = 0;
  bool is_cut_ = false;
  std::string kept_;
  std::string_view line_;
};

}  // namespace

std::vector<Column> list_line_columns() {
  return {{"number", Type::kInteger}, {"line", Type::kText}};
}

std::unique_ptr<Rows> make_line_rows(Read read) {
  return std::make_unique<LineRows>(std::move(read));
}

}  // namespace sluice::tables
