/** The program of Chromium or Chrome: `SLUICE_CHROMIUM` where it is set, else what is installed, or nothing. */
export function findChromium(): string | undefined;
