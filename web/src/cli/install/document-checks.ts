/**
 * Which kinds of files a model can read here: a small file of each kind is read, by the program that reads them.
 * @module
 */
import type { ConversionRequest } from "../../documents/conversion.js";
import { convertApart } from "../../documents/sandbox-node.js";
import { clause, onOneLine } from "../terminal/terminal.js";

/** Whether files of a kind can be read. */
export interface DocumentCheck {
  /** Kinds as a person calls them. */
  readonly kinds: string;
  /** Why they cannot be read; undefined if they can. */
  readonly problem: string | undefined;
}

const encoder = new TextEncoder();

/** An empty page (ISO 32000-1). */
const PDF = encoder.encode(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>",
);

/** One black pixel (GIF89a). */
const GIF = Uint8Array.from(
  [
    0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0,
  ].concat([0, 2, 2, 0x44, 1, 0, 0x3b]),
);

const LIMITS = { maxSide: 100, maxBytes: 1024 * 1024 };

/** What is tried, and which kinds are read in the same way. */
const SAMPLES: readonly { readonly kinds: string; readonly request: ConversionRequest; readonly bytes: Uint8Array }[] =
  [
    { kinds: "text of PDF", request: { kind: "pdf", form: "text" }, bytes: PDF },
    {
      kinds: "pages of PDF as pictures",
      request: { kind: "pdf", form: "picture", page: 1, limits: LIMITS },
      bytes: PDF,
    },
    {
      kinds: "pictures (PNG, JPEG, WebP, GIF, BMP, TIFF)",
      request: { kind: "image", form: "picture", page: 1, limits: LIMITS },
      bytes: GIF,
    },
    {
      kinds: "Word, Excel, PowerPoint, OpenDocument, EPUB, HTML, Parquet, archives",
      request: { kind: "html", form: "text" },
      bytes: encoder.encode("<p>Hello</p>"),
    },
  ];

/** Tries each kind, in processes of their own. Never throws. */
export async function checkDocuments(): Promise<readonly DocumentCheck[]> {
  return Promise.all(
    SAMPLES.map(async ({ kinds, request, bytes }) => {
      try {
        await convertApart({ request, input: readOnce(bytes), write: async () => undefined });
        return { kinds, problem: undefined };
      } catch (error) {
        return { kinds, problem: clause(onOneLine((error as Error).message)) };
      }
    }),
  );
}

async function* readOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
