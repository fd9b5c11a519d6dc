/**
 * The web worker in which documents are converted: see `sandbox-web.ts`.
 * @module
 */
import type { PdfAddresses } from "../core/types.js";
import { convert, type OptionalLibraries } from "./conversion.js";
import type { SluiceError } from "../errors/error.js";
import { unreadable } from "./document.js";
import type { Canvas, CanvasLibrary } from "./picture.js";
import type { PdfLibrary } from "./pdf.js";
import { failureOf } from "./sandbox.js";
import type { WorkerAnswer, WorkerRequest } from "./sandbox-web.js";

const librariesFor = (addresses: PdfAddresses | undefined): OptionalLibraries => ({
  async pdf(): Promise<PdfLibrary> {
    if (addresses === undefined) {
      throw unreadable("PDF is not set up on this page: its builder gives `pdf` to Sluice.");
    }
    return pdfLibrary(addresses);
  },
  async canvas(): Promise<CanvasLibrary> {
    return {
      createCanvas,
      loadImage: (bytes) => createImageBitmap(new Blob([Uint8Array.from(bytes)])),
    };
  },
});

/** PDF.js reads in a worker of its own, which ends with this one. */
async function pdfLibrary({ librarySrc, workerSrc, ...folders }: PdfAddresses): Promise<PdfLibrary> {
  const port = new Worker(workerSrc, { type: "module" });
  const isLost = new Promise<never>((_resolve, reject) => {
    port.addEventListener("error", () => reject(notLoaded("workerSrc")));
  });
  const isReady = new Promise((resolve) => port.addEventListener("message", resolve, { once: true }));
  const imported = import(/* @vite-ignore */ librarySrc) as Promise<PdfLibrary["pdfjs"]>;
  const library = imported.catch(() => Promise.reject(notLoaded("librarySrc")));
  const [pdfjs] = await Promise.all([library, Promise.race([isReady, isLost])]);
  const hasFonts = folders.standardFontDataUrl !== undefined;
  return {
    pdfjs,
    options: {
      ...folders,
      worker: pdfjs.PDFWorker.create({ port }),
      useWorkerFetch: true,
      // Fonts of the system are drawn as text, all others as paths.
      useSystemFonts: !hasFonts,
      disableFontFace: hasFonts,
      ownerDocument: { fonts: (self as unknown as { fonts: FontFaceSet }).fonts } as unknown as HTMLDocument,
      CanvasFactory,
      FilterFactory,
    },
  };
}

function notLoaded(option: keyof PdfAddresses): SluiceError {
  return unreadable(`PDF.js could not be loaded: its builder checks pdf.${option}, which says where it is.`);
}

/** Makes canvases where there is no document. */
class CanvasFactory {
  create(width: number, height: number): CanvasAndContext {
    const canvas = createCanvas(width, height);
    return { canvas, context: canvas.getContext("2d") };
  }

  reset({ canvas }: CanvasAndContext, width: number, height: number): void {
    Object.assign(canvas, { width, height });
  }

  destroy({ canvas }: CanvasAndContext): void {
    Object.assign(canvas, { width: 0, height: 0 });
  }
}

interface CanvasAndContext {
  readonly canvas: Canvas;
  readonly context: unknown;
}

/** Filters are elements of SVG, of which there are none without a document. */
class FilterFactory {
  addFilter = none;
  addHCMFilter = none;
  addAlphaFilter = none;
  addLuminosityFilter = none;
  addHighlightHCMFilter = none;
  destroy(): void {}
}

function none(): string {
  return "none";
}

function createCanvas(width: number, height: number): Canvas {
  const canvas = new OffscreenCanvas(width, height);
  const encode = async (format: "png" | "jpeg", quality?: number): Promise<Uint8Array> => {
    const options = { type: `image/${format}`, ...(quality !== undefined && { quality: quality / 100 }) };
    return new Uint8Array(await (await canvas.convertToBlob(options)).arrayBuffer());
  };
  return Object.assign(canvas, { encode }) as unknown as Canvas;
}

const told = (answer: WorkerAnswer): void => postMessage(answer);

onmessage = async ({ data: { request, bytes, pdf } }: MessageEvent<WorkerRequest>): Promise<void> => {
  try {
    const facts = await convert(bytes, request, librariesFor(pdf), async (content) => told({ content }));
    told({ facts });
  } catch (error) {
    told({ failure: failureOf(error) });
  }
};
