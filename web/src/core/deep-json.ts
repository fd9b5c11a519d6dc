/**
 * JSON text of values that nest deeper than `JSON.stringify` recurses.
 * @module
 */

/** A container whose members are being written. */
interface Frame {
  readonly holder: object;
  /** Of an object; the indexes of an array are its length. */
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  next: number;
  written: number;
}

/** As the second argument of `JSON.stringify`. */
export type Replacer = (this: unknown, key: string, value: unknown) => unknown;

/** What `JSON.stringify` gives, for values of any depth. Throws TypeError for cycles and BigInts, as it does. */
export function stringifyDeep(value: unknown, replacer?: Replacer): string | undefined {
  try {
    return JSON.stringify(value, replacer);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return withoutRecursion(value, replacer);
  }
}

function withoutRecursion(root: unknown, replacer: Replacer | undefined): string | undefined {
  const seen = (holder: object, key: string): unknown => {
    const value = asJson((holder as Record<string, unknown>)[key], key);
    return replacer === undefined ? value : replacer.call(holder, key, value);
  };
  const parts: string[] = [];
  const frames: Frame[] = [];
  const open = new Set<object>();
  const write = (value: unknown): void => {
    if (!isContainer(value)) return void parts.push(JSON.stringify(value));
    if (open.has(value)) throw new TypeError("Converting circular structure to JSON");
    open.add(value);
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    frames.push({ holder: value, keys, size: keys?.length ?? (value as unknown[]).length, next: 0, written: 0 });
    parts.push(keys === undefined ? "[" : "{");
  };
  const first = seen({ "": root }, "");
  if (isLeftOut(first)) return undefined;
  write(first);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { holder, keys, size } = frame;
    if (frame.next === size) {
      parts.push(keys === undefined ? "]" : "}");
      open.delete(holder);
      frames.pop();
      continue;
    }
    const key = keys?.[frame.next] ?? String(frame.next);
    frame.next += 1;
    const value = seen(holder, key);
    if (isLeftOut(value) && keys !== undefined) continue;
    if (frame.written++ > 0) parts.push(",");
    if (keys !== undefined) parts.push(JSON.stringify(key), ":");
    write(isLeftOut(value) ? null : value);
  }
  return parts.join("");
}

function asJson(value: unknown, key: string): unknown {
  const { toJSON } = Object(value ?? {}) as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON.call(value, key) as unknown) : value;
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}

/** An array or an object, but none that stands for a string, a number or a boolean. */
function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return !/^\[object (?:String|Number|Boolean|BigInt)\]$/.test(Object.prototype.toString.call(value));
}
