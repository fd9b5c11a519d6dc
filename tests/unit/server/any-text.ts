/**
 * Texts of any UTF-16 units, halves of pairs among them.
 * @module
 */
import * as fc from "fast-check";

/** Cheaper to draw than `unit: "binary"`, which lists all characters first, and ruder. */
export function anyText(maxLength = 40): fc.Arbitrary<string> {
  const unit = fc.oneof(fc.nat(0x7f), fc.nat(0x24ff), fc.nat(0xffff));
  return fc.array(unit, { maxLength }).map((units) => String.fromCharCode(...units));
}
