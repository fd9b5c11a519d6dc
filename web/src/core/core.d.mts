/**
 * The built module as JavaScript sees it; `wasm/bindings/core.cpp` is its other side, and `wasm/include/sluice/session.h` tells
 * the order of the calls. A call reads its argument from `input` and writes its result to `output`. Calls that can fail answer
 * false: `output` is then the error as JSON. Questions are answered by 1 or 0. Views die when memory grows.
 */

/** One Session of the core with its buffers. */
export interface Core {
  // Buffers.

  /** Room for the argument of the next call: JSON text, an id, a piece of text or bytes. */
  input(size: number): Uint8Array;
  /** The result of the last call that writes one. */
  output(): Uint8Array;

  // One message, from its first byte to its end.

  /** Takes the configuration. */
  configure(): boolean;
  /** Writes `{"inlineTextUnderChars":…,"cacheReads":…}` of the configuration. */
  policy(): void;
  /** Begins a message: `{"tool":…,"namespace":…,"dialect":…,"clientShowsImages":…,"structureNotes":…,"readTool":…,"transformed":…}`. */
  begin(): boolean;
  /** Room for the next bytes of the document, then `push`. */
  body(size: number): Uint8Array;
  push(size: number): boolean;
  /** Ends the document. */
  finish(): boolean;

  // Bytes in place of a value: openBytes, then bytesRoom and bytesWritten by turns, then closeBytes.

  /**
   * Takes `{"mime_type":…,"filename":…}`. 0 where bytes cannot take the place of a value: their base64 is then written as a
   * string.
   */
  openBytes(): number;
  /** Room for the next bytes of a value, then `bytesWritten`. */
  bytesRoom(size: number): Uint8Array;
  bytesWritten(size: number): void;
  closeBytes(): void;

  // Segments, while they are stored.

  /** The records since `clearEvents`: `EventKind` in `wasm/include/sluice/segment.h`. */
  events(): Uint8Array;
  clearEvents(): void;
  /**
   * Describes a closed segment, of which `bytes` were written:
   * `{"kind":…,"mime_type":…,"extension":…,"size_bytes":…,"description":…}`.
   */
  segment(index: number, bytes: number): void;
  /**
   * Writes the evidence of what `segment`, `sniff` or `looked` has told last, once, and gives its size: what facts.wasm needs for a
   * better description; 0 where there is none.
   */
  evidence(): number;
  /** Takes the description that the evidence of a segment led to. */
  describe(index: number): void;
  /** Takes the id that a segment is stored under, and writes the reference to it for the text of another segment. */
  reference(index: number): void;
  /** Takes the same id, and writes the note of that reference, which stands at `offset` of the text. */
  referenceNote(index: number, offset: number): void;

  // The layers, and what they ask for.

  /** Applies the layers: for the call in `input`, or if not told of one, for that of `begin`. May be repeated. */
  plan(told: boolean): boolean;
  /** Writes the list of tasks. A decode adds one, so ask again after it. */
  tasks(): void;
  /** Takes `{"segment":…,"id":…,"filename":…,"mime_type":…,"warning":…,"opaque":…}`. */
  stored(): boolean;
  /** Begins a decode task: the stored text then goes through `decode` piece by piece. */
  beginDecode(segment: number): void;
  /** Writes the bytes of the text in `input`. 0 if it is not base64 after all: the segment then stays as it is. */
  decode(): number;
  /** Writes the last bytes. 0 as in `decode`. */
  endDecode(): number;
  /** The segment that now holds the original text of a decoded one, or -1 if it is not needed. */
  original(segment: number): number;
  /** Takes what a read task found: an object with `fetched`, and what the link's block shows. */
  link(number: number): void;

  /** Writes what may come back, texts of at most `maxText` bytes among it: `Session::showable` of `session.h`. */
  showable(maxText: number): void;
  /** Writes the bytes of a segment, if the gate kept them. */
  kept(segment: number): void;
  /** Puts one back. Takes `{"segment":…,"kind":…,"mime_type":…,"note":…}`, which has so many bytes, and behind it its base64 or text. */
  show(jsonBytes: number): boolean;

  // The answer.

  /** Writes the answer. */
  render(): boolean;
  /** What `render` did: 1 if the result differs from what came, 2 if it was clamped, 4 if the whole of it should be stored. */
  outcome(): number;
  /** Describes what `render` or `clamp` clamped: `{"clamped":…,"original_chars":…,"clamped_chars":…,"method":…}`. */
  report(): void;
  /** Writes the entries of `_meta["sluice/refs"]`, for an mcp result that has no place for them. */
  refs(): void;
  /** Logs the whole observation as segment 0 of `events`. */
  storeWhole(): void;
  /** Takes the argument of `stored` for that segment, and writes the answer that refers to it. */
  storedWhole(): boolean;
  /** Applies the guardrail alone to the JSON text in `input`. A `maxChars` of 0 stands for the configured limit. */
  clamp(maxChars: number): boolean;

  // Files.

  /** Describes a file of `size` bytes by its beginning, as `segment` does. */
  sniff(size: number): void;
  /** Begins a file. Takes its media type, which has so many bytes, and behind it its name. */
  look(mimeTypeBytes: number): void;
  /** Takes the next bytes of the file. */
  lookAt(): void;
  /** Ends the file, and writes what `segment` tells of it. */
  looked(): void;

  // Restoring: cut a document, then take its pieces.

  /** Cuts the mcp result in `input`. */
  restore(): boolean;
  /** The same with entries of `refs` bytes behind it, for a result that does not carry them. */
  restoreWith(refs: number, named: boolean): boolean;
  /** Cuts the text of a stored segment, with `refs` bytes of entries behind it. `json` says that the text is JSON source. */
  restoreText(refs: number, form: number, json: boolean): boolean;
  /** Writes the next piece: source text behind a `=`, or `{"kind":…,"id":…,"form":…,"raw":…}`. 0 after the last. */
  nextPiece(): number;
  /** Takes the form of a piece. Its bytes then go through `writeForm`, escaped for a JSON string unless `raw`. */
  openForm(raw: boolean): boolean;
  /** Writes the bytes in `input` in the form. */
  writeForm(): void;
  /** Writes the rest of the form. */
  closeForm(): void;

  /** Of Embind. The library does not call it: an instance is dropped with its memory. */
  delete(): void;
}

export interface CoreModule {
  readonly Core: new () => Core;
  readonly HEAPU8: Uint8Array;
}

export interface CoreModuleOptions {
  /** Instantiates with the imports given and hands the instance on. Their types are named where those of the DOM are. */
  instantiateWasm(imports: object, receive: (instance: object) => void): Record<string, unknown>;
  /** Always given: without it the glue looks for a script element. */
  locateFile(name: string): string;
  print(text: string): void;
  printErr(text: string): void;
}

export default function createCoreModule(options: CoreModuleOptions): Promise<CoreModule>;
