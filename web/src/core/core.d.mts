/**
 * The built module as JavaScript sees it; `wasm/bindings/core.cpp` is its other side. Calls that can fail
 * answer false: `output` is then the error as JSON. Questions are answered by 1 or 0. Views die when memory grows.
 */

/** One Session of the core with its buffers. */
export interface Core {
  /** Room for a message to the core: JSON text, an id, a piece of text or bytes. */
  input(size: number): Uint8Array;
  /** What the last call wrote. */
  output(): Uint8Array;
  configure(): boolean;
  /** `{"inlineTextUnderChars":…,"cacheReads":…}` of the configuration. */
  policy(): void;
  begin(): boolean;
  /** Room for the next bytes of the document. */
  body(size: number): Uint8Array;
  push(size: number): boolean;
  finish(): boolean;
  /** 0 where bytes cannot take the place of a value here: their base64 is then written as a string. */
  openBytes(): number;
  /** Room for the next bytes of a value, then `bytesWritten`. */
  bytesRoom(size: number): Uint8Array;
  bytesWritten(size: number): void;
  closeBytes(): void;
  /** What the layers make of the document, for the call in `input` or, not told of one, that of `begin`; may be asked again. */
  plan(told: boolean): boolean;
  events(): Uint8Array;
  clearEvents(): void;
  /** A closed segment, of which `bytes` were written. */
  segment(index: number, bytes: number): void;
  reference(index: number): void;
  referenceNote(index: number, offset: number): void;
  tasks(): void;
  stored(): boolean;
  beginDecode(segment: number): void;
  /** 0 when the text is none that bytes were encoded as. */
  decode(): number;
  endDecode(): number;
  /** The segment that the decoded text itself is from now on; -1 when nothing needs it any more. */
  original(segment: number): number;
  link(number: number): void;
  render(): boolean;
  report(): void;
  refs(): void;
  storeWhole(): void;
  storedWhole(): boolean;
  clamp(maxChars: number): boolean;
  sniff(size: number): void;
  /** A file begins; `input` has the media type, of so many bytes, and the name that it is said to have. */
  look(mimeTypeBytes: number): void;
  /** Its next bytes are in `input`. */
  lookAt(): void;
  /** The file is over: what `segment` tells of it. */
  looked(): void;
  restore(): boolean;
  restoreWith(refs: number): boolean;
  restoreText(refs: number, json: boolean): boolean;
  /** 0 behind the last one. */
  nextPiece(): number;
  openForm(raw: boolean): boolean;
  writeForm(): void;
  closeForm(): void;
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
