/**
 * The web worker in which documents are converted: see `sandbox-web.ts`.
 * @module
 */
import { convert, type Libraries } from "./conversion.js";
import { unreadable } from "./document.js";
import { Pdfium } from "./pdfium.js";
import { checkPixels, type Drawing, fitWithin, type Pixels, type Region, scaleRegion, undecodable } from "./picture.js";
import { toFailure } from "./sandbox.js";
import type { WorkerAnswer, WorkerRequest } from "./sandbox-web.js";

/** The wasm of PDFium beside this file. Bundlers find it by this form. */
const PDFIUM = new URL("./wasm/pdfium.wasm", import.meta.url);

const libraries: Libraries = {
  async pdfium(): Promise<Pdfium> {
    const response = await fetch(PDFIUM).catch(() => undefined);
    if (response?.ok !== true)
      throw unreadable(
        "The part that reads PDF could not be loaded: reload the page, or tell its builder to serve documents/wasm/pdfium.wasm of mcp-sluice beside the worker.",
      );
    return Pdfium.load(await WebAssembly.compile(await response.arrayBuffer()));
  },
  pictures: async () => ({ load: loadImage, draw: drawPixels }),
};

/** The browser decodes it, turned as its orientation says, in the colours of the screen. */
async function loadImage(bytes: Uint8Array, maxSide: number, region?: Region): Promise<Drawing> {
  const image = await createImageBitmap(new Blob([Uint8Array.from(bytes)])).catch(() => {
    throw undecodable();
  });
  checkPixels(image.width, image.height);
  const part =
    region === undefined
      ? { x: 0, y: 0, width: image.width, height: image.height }
      : scaleRegion(region, image.width, image.height);
  const [width, height] = fitWithin(part.width, part.height, maxSide);
  const canvas = new OffscreenCanvas(width, height);
  const context = getContext(canvas);
  context.imageSmoothingQuality = "high";
  context.drawImage(image, part.x, part.y, part.width, part.height, 0, 0, width, height);
  image.close();
  return toDrawing(canvas);
}

async function drawPixels({ width, height, data }: Pixels): Promise<Drawing> {
  const canvas = new OffscreenCanvas(width, height);
  getContext(canvas).putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0);
  return toDrawing(canvas);
}

function getContext(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  return canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
}

function toDrawing(canvas: OffscreenCanvas): Drawing {
  const encode = async (type: string, quality?: number): Promise<Uint8Array> => {
    const blob = await canvas.convertToBlob({ type, ...(quality !== undefined && { quality }) });
    return new Uint8Array(await blob.arrayBuffer());
  };
  return {
    width: canvas.width,
    height: canvas.height,
    encodePng: () => encode("image/png"),
    encodeJpeg: (quality) => encode("image/jpeg", quality / 100),
  };
}

const postAnswer = (answer: WorkerAnswer): void => postMessage(answer);

onmessage = async ({ data: { request, bytes } }: MessageEvent<WorkerRequest>): Promise<void> => {
  try {
    const facts = await convert(bytes, request, libraries, async (content) => postAnswer({ content }));
    postAnswer({ facts });
  } catch (error) {
    postAnswer({ failure: toFailure(error) });
  }
};
