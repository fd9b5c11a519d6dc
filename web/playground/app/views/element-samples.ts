/**
 * What the page of all elements shows: files made in the page, and both sides of a result.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "mcp-sluice/ui";
import type { ResourceReader } from "../../../ui/resources.js";
import { salesChart } from "../../demo/chart.js";
import { jingle, sourceCode, webPage } from "../../demo/files.js";
import { pdf } from "../../demo/report.js";
import { csv, orders } from "../../demo/sales.js";

/** An artifact with its bytes. */
export interface Sample {
  readonly artifact: ShownArtifact;
  readonly bytes?: ArtifactBytes;
}

/** A file that is made when its bytes are first asked for. */
function makeSample(
  filename: string,
  mime_type: string,
  description: string,
  make: () => Promise<BlobPart> | BlobPart,
): Sample {
  let made: Promise<Blob> | undefined;
  const artifact = { id: `sample_${filename}`, filename, mime_type, namespace: "demo" };
  const bytes: ArtifactBytes = {
    open: async (range) => {
      made ??= (async () => new Blob([await make()], { type: mime_type }))();
      return (await made).slice(range?.start, range?.end).stream();
    },
  };
  return { artifact: { ...artifact, source: { tool: "sample", description } }, bytes };
}

const withSize = ({ artifact, bytes }: Sample, size_bytes: number): Sample => ({
  artifact: { ...artifact, size_bytes },
  ...(bytes !== undefined && { bytes }),
});

const TABLE = csv(orders(2000));
const CODE = sourceCode();
const PAGE = webPage();
const NOTES = `# Notes

The fair is on **Saturday**, at the lake. Bring:

- five boxes of rain shells
- two boxes of head torches

| stand | people |
|---|--:|
| food | 3 |
| tents | 5 |

\`\`\`ts
const stands = 2;
\`\`\`
`;
const NOISE = Uint8Array.from({ length: 4096 }, (_, at) => (at * 167 + (at >> 3) * 31) & 255);
const DOCUMENT = pdf("A page", [
  {
    drawing: "0.09 0.17 0.3 rg BT /F2 28 Tf 60 740 Td (A page of PDF) Tj ET",
    picture: { width: 1, height: 1, rgb: Uint8Array.of(255, 255, 255) },
  },
]);
const TUNE = jingle(2);

const picture = makeSample("sales_chart.png", "image/png", "PNG image, 960 × 540", () => salesChart("bar"));
const table = withSize(
  makeSample("orders.csv", "text/csv", 'CSV, 2,000 rows, columns (from the file): "order", "date"', () => TABLE),
  TABLE.length,
);
const unknown = withSize(
  makeSample("backup.bin", "application/octet-stream", "data", () => NOISE),
  NOISE.length,
);
const broken: ArtifactBytes = { open: async () => null };

/** Files, each with what its preview is. */
export const FILES: readonly (readonly [state: string, sample: Sample])[] = [
  ["A picture", picture],
  ["A table", table],
  [
    "Pages of PDF",
    withSize(
      makeSample("page.pdf", "application/pdf", "PDF, 1 page", () => DOCUMENT),
      DOCUMENT.length,
    ),
  ],
  [
    "A page of HTML",
    withSize(
      makeSample("sales.html", "text/html", "HTML page", () => PAGE),
      PAGE.length,
    ),
  ],
  [
    "Markdown",
    withSize(
      makeSample("notes.md", "text/markdown", "Markdown", () => NOTES),
      NOTES.length,
    ),
  ],
  [
    "Code",
    withSize(
      makeSample("prices.ts", "text/typescript", "TypeScript", () => CODE),
      CODE.length,
    ),
  ],
  [
    "Sound",
    withSize(
      makeSample("jingle.wav", "audio/wav", "WAV audio, 0:02 long", () => TUNE),
      TUNE.length,
    ),
  ],
  ["Anything else, as bytes", unknown],
  ["Its bytes are gone", { artifact: { ...table.artifact, id: "sample_gone" }, bytes: broken }],
  ["Without bytes, what is known of it", { artifact: unknown.artifact }],
];

/** Cards: what they are given beside their artifact. */
export const CARDS: readonly (readonly [state: string, sample: Sample, given?: object])[] = [
  ["A picture of it", picture],
  ["A type that is not drawn", unknown],
  ["One line: compact", table, { compact: true }],
  ["Chosen actions", table, { actions: ["preview"] }],
  [
    "Not stored yet: deferred",
    {
      artifact: {
        id: "sample_deferred",
        filename: "sales-q3.pdf",
        mime_type: "application/pdf",
        deferred: true,
        source: { tool: "find_reports", description: "Sales report Q3 2025" },
      },
    },
  ],
  [
    "Not stored: its bytes were not kept",
    {
      artifact: {
        id: "truncated_1",
        filename: "film.mp4",
        mime_type: "video/mp4",
        sha256: null,
        size_bytes: 734_003_200,
        source: { tool: "record", truncated: true, warning: "Content not stored: it is larger than 512 MiB." },
      },
    },
  ],
  ["Without bytes: no download", { artifact: table.artifact }],
  [
    "A name that is too long",
    { artifact: { ...unknown.artifact, filename: `${"quarterly-report-of-all-regions-".repeat(4)}final.bin` } },
  ],
];

const CHART = {
  id: "demo_6b7fa434f92a",
  mime_type: "image/png",
  size_bytes: 55_312,
  filename: "sales_chart.png",
  namespace: "demo",
  source: { tool: "sales_chart", description: "PNG image, 960 × 540, 54.0 KB" },
} satisfies ShownArtifact;

const URI = `artifact://${CHART.id}?type=image/png&size=${CHART.size_bytes}`;

const HEAD = { type: "text", text: "Revenue by month, 2025:" };

/** A result of which a picture was stored. */
const RESULT = {
  reduced: JSON.stringify({
    content: [
      HEAD,
      { type: "text", text: `[sluice] ${CHART.source.description}. Stored, not shown: artifact://${CHART.id}` },
    ],
    _meta: {
      "sluice/refs": [
        {
          at: "/content/1",
          was: { type: "image", data: URI, mimeType: "image/png" },
          refs: [{ at: "/data", uri: URI }],
        },
        { at: "/_meta", added: true },
      ],
    },
  }),
  observation: JSON.stringify({
    content: [
      HEAD,
      {
        type: "image",
        artifact: {
          id: CHART.id,
          mime_type: CHART.mime_type,
          size_bytes: CHART.size_bytes,
          filename: CHART.filename,
        },
        summary: CHART.source.description,
      },
    ],
  }),
  artifacts: [CHART],
  bytesIn: 73_904,
  bytesOut: 226,
  bytes: (): ArtifactBytes | undefined => picture.bytes,
};

const SMALL = JSON.stringify({ content: [{ type: "text", text: "Five regions, ten products." }] });
const FAILED = JSON.stringify({ content: [{ type: "text", text: "The warehouse does not answer." }], isError: true });

/** Results, with the properties of each. */
export const RESULTS: readonly (readonly [state: string, given: object])[] = [
  ["Both sides: split", RESULT],
  ["One text against the other: diff", { ...RESULT, view: "diff" }],
  ["One side alone: model", { ...RESULT, view: "model" }],
  ["Unchanged", { reduced: SMALL, observation: SMALL, bytesIn: SMALL.length, bytesOut: SMALL.length }],
  ["The tool failed", { reduced: FAILED, observation: FAILED, bytesIn: FAILED.length, bytesOut: FAILED.length }],
];

/** A reader of its own for each list: what was read is remembered with it. */
const makeReader = (): ResourceReader => ({
  supports: { subscribe: true, complete: true },
  read: async (uri) => ({
    contents: [{ kind: "text", uri, mime_type: "text/plain", text: "Fair at the lake on Saturday." }],
  }),
  subscribe: async () => undefined,
  unsubscribe: async () => undefined,
  complete: async (_, __, value) => ["2024", "2025"].filter((year) => year.startsWith(value)),
  variables: () => [{ name: "year", isRequired: true }],
  expand: (template, { year = "" }) => template.replace("{year}", year),
});

const NOTE = { uri: "note://today", name: "today", title: "Today's note", mime_type: "text/plain", size_bytes: 29 };
const LIST = [NOTE, { uri: "report://q3", name: "q3", title: "Sales report Q3", mime_type: "application/pdf" }];
const TEMPLATE = { uri_template: "sales://{year}", name: "sales", title: "A year's sales", mime_type: "text/csv" };
const makeList = (): object => ({ resources: LIST, templates: [TEMPLATE], reader: makeReader() });

/** Lists of resources, with the properties of each. */
export const LISTS: readonly (readonly [state: string, given: object])[] = [
  ["A list", makeList()],
  ["One that is opened", { ...makeList(), selected: NOTE.uri }],
  ["Templates", { ...makeList(), tab: "templates" }],
  [
    "One that cannot be read",
    {
      ...makeList(),
      reader: { ...makeReader(), read: () => Promise.reject(new Error("refused")) },
      selected: NOTE.uri,
    },
  ],
  ["Nothing to read", { reader: makeReader() }],
];

const PDF = { sent: 5_592_990, seen: 263, decoded: 4_195_865 };

/** Meters, with the properties of each. */
export const METERS: readonly (readonly [state: string, given: object])[] = [
  ["Much was kept out", { ...PDF, price: 2 }],
  ["Tokens that were counted", { ...PDF, tokensSent: 2_104_411, tokensSeen: 86, estimator: "o200k" }],
  ["A file that was dropped", { ...PDF, file: true, price: 2 }],
  ["Unchanged", { sent: 79, seen: 79, unchanged: true }],
  ["It grew", { sent: 339, seen: 716 }],
  ["The tool failed", { sent: 110, seen: 79, failed: true }],
  ["One line: compact", { ...PDF, compact: true }],
];
