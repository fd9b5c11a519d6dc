/** A valid PDF 1.4; about 115 KB a page. */
export function makePdf(options?: { title?: string; pages?: number; seed?: number; packed?: boolean }): Buffer;
