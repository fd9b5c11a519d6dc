/** Arrays as rows: of NumPy, NetCDF 3 and FITS, whole, by variable or table, and in parts. Made by NumPy, SciPy and Astropy. */
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Converted, ConvertOptions } from "../../../web/src/documents/document.js";
import { convertFits } from "../../../web/src/documents/fits.js";
import { convertNetcdf } from "../../../web/src/documents/netcdf.js";
import { convertNumpy } from "../../../web/src/documents/npy.js";
import { findFaults, readAll } from "../../support/documents.js";

const unpack = (packed: string): Uint8Array => new Uint8Array(gunzipSync(Buffer.from(packed, "base64")));

type Convert = (bytes: Uint8Array, options: ConvertOptions) => Converted;

const convertRows =
  (convert: Convert, sheet?: string) =>
  async (bytes: Uint8Array): Promise<string> =>
    (await readAll(convert(bytes, { form: "rows", ...(sheet !== undefined && { sheet }) }))).text.trimEnd();

const readRows = (convert: Convert, packed: string, sheet?: string): Promise<string> =>
  convertRows(convert, sheet)(unpack(packed));

const NUMPY = {
  CUBE: "H4sIAAAAAAACA53IsU7CUBSH8eNGmBgcGBhujPFWckOEtoq12gJSEKxxcXAyjW3jYKxpiYsh4R14UR9BTL/FlbP8zvffPjzFj88H8iXfOs2q11J7Svv5UBul86JclcnHS1Gm2d8eJe9Vtturt+Qz27VlG+UY5Z4atVb7XVP+3U/AE9Y0sIWH2MYOKjzCYzxBC7tosIdn2McB2uigi+d4gUO8RA+v0MdrvMEAw9oNyohGGdMoExrllkaZ0igRjTKjUeY0yh2NsqBRljTKPY0S03H4C5pa4qBgAgAA",
  FORTRAN:
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG6TaaGuo6Cell9UUpSYF59flJIKEg8pKk0FChdnJBakArkaRjoKxpo6CrUK5AMuBihghtKMUJoFSjNBaVYoDQD3O3gUsAAAAA==",
  FLOATS:
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG6TZqKuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6CkaaOgq1CmQDrrNnztgyMByoZ2BoAGKFAwAkXGE8kAAAAA==",
  WORDS:
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG4Taqauo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6mjoKtQoUAC4nBgaGVCAuAuI8BgSIAuI/UPFMIE4G4gwgBgCuJl6VsAAAAA==",
  MOMENTS:
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG7jaxFdWhyrrqOgnpZfVFKUmBefX5SSCpJzS8wpTgWKF2ckFqQC+RpGOpo6CrUKZAIuByHvK2s92RigoAEAGSbyPZAAAAA=",
  RECORDS:
    "H4sIAAAAAAACA5vsF+obEMnIsI2hWj0ltTi5SN1KIVpDPTNFXUdB3SbTQl1TR0FDvRzEs0szgfDywHKhxhBeAUSlEZDSMNLR1IwFctPyi0qKEvPi84tSUkEmuiXmFKcCxYszEgtSgXyQQh2FWgWKARcjAwTYA3EFAwIwMjABIVTuAANDJZIcMwMLAwDR19Ea+AAAAA==",
  COMPLEX:
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG6TbGimrqOgnpZfVFKUmBefX5SSCpJwS8wpTgWKF2ckFqQC+RpGOpo6CrUK5AMuBjD4YA+hGRwgFAeUFjgAADdF+LqgAAAA",
  OBJECTS:
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loF7jr66joJ6WX1RSlJgXn1+UkgoSdkvMKU4FihdnJBakAvkahjqaOgq1CpQArgbm5LzS3IJKveT8olS93NKckszEoqLESq74otTk/LzikqLS5BKuQgaIKq68FIhsIaM3Q2shkzNjUiFzeyFLUCGrhjejN2NrIRtUYUpJZUEqVyF7BBMDA4O/RSFHZ0d7IWdQIZeGN3MEI1CsppDbz8/P6z8QgAlv+5JCnqTO2ELe2kK+xJJC/iQ9AAjtKh0cAQAA",
  SCALAR:
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG6TZqGuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5Gpo6CrUKFAEuBjDgcQAAPT7jW4gAAAA=",
};

describe("an array of NumPy", () => {
  test("of one dimension is a column, of two a table, of more a row for each item", async () => {
    expect(await readRows(convertNumpy, NUMPY.WORDS)).toBe("value\nBern\nZürich");
    expect(await readRows(convertNumpy, NUMPY.FLOATS)).toBe("c0,c1\n0.1,\ninf,-2.5");
    expect(await readRows(convertNumpy, NUMPY.CUBE)).toMatch(/^d0,d1,d2,value\n0,0,0,0\n0,0,1,1\n[^]*\n2,3,4,59$/);
    expect(await readRows(convertNumpy, NUMPY.SCALAR)).toBe("value\n3.5");
  });

  test("in the order of Fortran has its rows where they belong", async () => {
    expect(await readRows(convertNumpy, NUMPY.FORTRAN)).toBe("c0,c1,c2\n0,1,2\n3,4,5");
  });

  test("has moments to the digit that they have, complex numbers, and records with their fields", async () => {
    expect(await readRows(convertNumpy, NUMPY.MOMENTS)).toBe("value\n2026-01-31T12:00:00.123456");
    expect(await readRows(convertNumpy, NUMPY.COMPLEX)).toBe("value\n1+2i\n3-4i");
    expect(await readRows(convertNumpy, NUMPY.RECORDS)).toBe('id,w,n,p\n1,0.5,x,"[1,2]"\n2,1.5,y,"[3,4]"');
  });

  test.each([
    ["[1, :, 2]", "value\n22\n27\n32\n37"],
    ["[-1, -2:, ::3]", "c0,c3\n50,53\n55,58"],
    ["[2:9, 0, 0]", "value\n40"],
    ["[3:, 0, 0]", "value"],
    ["[0, 1, 2]", "value\n7"],
  ])("is read in parts: %s", async (sheet, rows) => {
    expect(await readRows(convertNumpy, NUMPY.CUBE, sheet)).toBe(rows);
  });

  test.each(["[3]", "[0,0,0,0]", "[::0]", "[1:2:3:4]", "[--1]", "[,]"])(
    "has no part %s, and says what it has",
    async (sheet) => {
      await expect(readRows(convertNumpy, NUMPY.CUBE, sheet)).rejects.toMatchObject({
        code: "E_INVALID_ARGUMENT",
        message: expect.stringContaining("3 × 4 × 5") as string,
      });
    },
  );

  test("of Python's objects is refused, and never loaded", async () => {
    await expect(readRows(convertNumpy, NUMPY.OBJECTS)).rejects.toMatchObject({
      code: "E_DOCUMENT",
      message: expect.stringContaining("objects of Python") as string,
    });
  });

  test("that is cut or changed anywhere ends in rows or a coded error", async () => {
    expect(await findFaults(convertRows(convertNumpy), unpack(NUMPY.CUBE), { from: 8, step: 3 })).toEqual([]);
    expect(await findFaults(convertRows(convertNumpy), unpack(NUMPY.RECORDS), { from: 8, step: 3 })).toEqual([]);
  });

  test("that claims more items than it has is damaged, however many", async () => {
    const text = new TextDecoder("latin1").decode(unpack(NUMPY.CUBE));
    for (const type of ["'|V0'", "[('a',[('b','|V0',(9999,))],(9999,))]"]) {
      const header = `{'descr': ${type}, 'fortran_order': False, 'shape': (9999999999999,), }\n`;
      const bytes = Uint8Array.from(`\u{93}NUMPY\u{1}\0${String.fromCharCode(header.length)}\0${header}`, (sign) =>
        sign.charCodeAt(0),
      );
      await expect(convertRows(convertNumpy)(bytes)).rejects.toMatchObject({ code: "E_DOCUMENT" });
    }
    for (const shape of ["(9, 4, 5)", "(9999999999999999, 4, 5)", "(3, -4, 5)"]) {
      const claimed = text.replace(/\(3, 4, 5\), \} */, (all) => `${shape}, }`.padEnd(all.length));
      const bytes = Uint8Array.from(claimed, (sign) => sign.charCodeAt(0));
      await expect(readAll(convertNumpy(bytes, { form: "rows" }))).rejects.toMatchObject({ code: "E_DOCUMENT" });
    }
  });
});

const CLIMATE =
  "H4sIAAAAAAACA3N2cWNkYGBgBmIuKM1SkpmbygABzDmJJSCaCYgZ8yBiLAwIwA3ls+YkJqXmQMTAaqE0DIDYHEDhBUhmMkIxDLBC1axAcgNMngfKZi3NyywpRpgpmpJYWaxQnJmXnKpgZGBkpmtgCEQIdwIx4waweam5BUhuYoSaCbKTpzg5MSc1Pi0xuSS/CCrGaHvmzFlQmCSmpMTnp6UVp5bA3cjo3DHZGCQX75aZkxOWmFMKCS1Q2DH+kYSoQ3MnozeEzZmTn5cen5cIC2CQHL9jZpECyH2pRYklpUWpMLNAbt/ilFqUF1WaquBkPXOWk+3MWWBdKQwnwH5IBdvGxJDGcAoAN1JA5sgBAAA=";
const WIDE_OFFSETS =
  "H4sIAAAAAAACA3N2cWNiYGBgBmIuKM1SkpmbygABzDmJJSAapIYxDyLGwoAA3FA+a05iUmoORAysFkrDAIjNAWEybkAylxGKYYAVSd0OJLfA1PBA2ayleZklxQizRVMSK4sVijPzklMVjAyMzHQNDIEI4V6omxkPgM1MzS1Ach8j1FyQ3TzFyYk5qfFpickl+UVQMUbbM2fOgsInMSUlPj8trTi1BO5WRueOycYguXi3zJycsMScUkjIgcKR8Y8kRB2aWxm9IWzOnPy89Pi8RFhgg+T4HTOLFEDuSy1KLCktSoWZBXP/EafUoryo0lQFJ+uZs5xsZ84CC6cwnAD7IxVsIxNDGsMpAPiHl0/YAQAA";
const ONE_RECORD = "H4sIAAAAAAACA3N2cWNkYGBgBWIuIAaxGUsYMAA3TK4CwmdEk2cGYiYgDgDKMAF5LAysAJ96FEVaAAAA";

describe("a file of NetCDF 3", () => {
  test("lists its variables", async () => {
    expect(await readRows(convertNetcdf, CLIMATE)).toBe(
      "variable,type,dimensions,units,long_name\nlabel,text,lat 2 × n 4,,\nlat,float32,lat 2,,\n" +
        "time,int32,time 3,days since 2026-01-01,\ntemp,int16,time 3 × lat 2,K,Air temperature",
    );
  });

  test.each([CLIMATE, WIDE_OFFSETS])(
    "has values with their coordinates, unpacked, and nothing where they are missing",
    async (file) => {
      const rows = "time,lat,temp\n0,46.9,283.15\n0,47.4,293.15\n1,46.9,283.25\n1,47.4,\n2,46.9,283.35\n2,47.4,293.35";
      expect(await readRows(convertNetcdf, file, "temp")).toBe(rows);
      expect(await readRows(convertNetcdf, file, "TEMP[1:, 0]")).toBe("time,temp\n1,283.25\n2,283.35");
      expect(await readRows(convertNetcdf, file, "label")).toBe("lat,label\n46.9,Bern\n47.4,Zue");
    },
  );

  test("has no bytes between records of its only variable", async () => {
    expect(await readRows(convertNetcdf, ONE_RECORD, "x")).toBe("x\n1\n2\n3\n4\n5");
  });

  test("names its variables where there is none of a name", async () => {
    await expect(readRows(convertNetcdf, CLIMATE, "rain")).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringContaining('"temp"') as string,
    });
  });

  test("that is cut or changed anywhere ends in rows or a coded error", async () => {
    expect(await findFaults(convertRows(convertNetcdf), unpack(CLIMATE), { from: 8, step: 1 })).toEqual([]);
    expect(await findFaults(convertRows(convertNetcdf, "temp"), unpack(CLIMATE), { from: 8, step: 1 })).toEqual([]);
  });
});

const STARS =
  "H4sIAAAAAAACA+2Y347SQBSHu/5JvPQRzl31wmCLy8IFccsybLqW0tDZpHo3SMFGaElbjFytj7KPsg+wvotvsLYzXbOrUwg6MTGeL2mADv3yOzPN9IBvDz2HAHRBAoUGvE/iWZIuM8gTGNjUhyxn8ZSlU5DSs6lnBzW+duFjaco2MGU5g3yzCmEHrhXYPtT4Xha+eL2chCkks1tztAzjLEriTOojASVuv7beveEyBEEQBEEQ5L+hbCd9e+R2Qe/ZLrV6DtHvDDdgEsUs3UDOJosQws+5aE5rfX+1fzb375+5z5D7Dst+fBHG8/xD6fthAmNHPnNLPpnPrPd5J6Nzl8p9xv1652myXsGKpWwZ5mEqr/d0i6+o6xdftmM96MAmTt+X+zr3fOKWmUXhYlpvpfStR/h66FH1k0z/k/uZDkbjofC9ARW+Mh9fXz0u5llNPuFrWaryNblvyeaK5k/4iLL5e8V9yUdV6yt8jrJ8h9y3SjJF+YTP7KvK1+K+NaiaP+GzlfjekfGoJdlfmuZRq/2b9R7xfJMoz9TUK3zNQNV6tLnvk7L1ED7v7Jn5XEm+jtivlOUTvjMlPvfccTry59ELY38fCahrDUmZz6fW2P8pX+NOy3K7f2/34f9hyB5ogoNh0yheutfXX+nrb+LccTX25eCy/Eb59qbgaXXaPT0BQ7u40rTB8ZPqimrs4qb0PiiOR8XxuLq6/PxQQxAEQRAEQZB/mO8c2QpqwCEAAA==";
const SKY =
  "H4sIAAAAAAACA+2aTW7aQBTHh3y0abvpEd6OVlXAH0CSBWoMmMipMSieSLQ7E5wUNdjIdqqwSo/So/QA6V16g9T2kIgUD2lgFjR9P8lC2PJPb+ZZZvw3ttHqmDpAFTKgUIQT3zv1g2EIkQ9Ng9oQRo7Xd4I+ZFIzaMfoZvvkSuxzgsAZQ9+JHIjGIxcewNK6hg2c+pTY510Me24A/umteTB0vXDgeyHfJ3N8JXg0qU/h+NTH+/Qu1a0Gtx+PpmbXNW5/5QXqS4pDEARBEAT5jyGE5MgaWScbZJM8I8/JFnlBXpJXBEEQBEEQBEGQGZK40zbaVhXyNcOiWs3U81PL6yL0Bp4TjCFyeucuuJcRC3f5eeec/Bl2Vzt/Lkux79z1zqLPie/ONC+nnZs/Kxyfwvd16u1ji3Ly+/vjPQv8ixGMnMAZupEbZI/3YI4vHteML3ygH7Rp6GbDzvbt3fOxS+Z04J73+VZKP3b0tB/5weSVRn6Z50HabB+1mO8DiPAl9aX9zXvxPIupj/kqmqj61NQ3dM4EzR/z6cLmr5T6/C+i+st8prD6yqlv5IeC6mM+pSGqvkrquwBR88d8hhDfJ/2oXcm4v6jKTmV3wfHupPX1BlEoZrzMp3ZF9WM39X0V1g/m6xy+Ud4KqW+P3a+E1cd8h0J81rFp7mX/Hm0v8j60Sy2tpSf12VQ7sv+orzi1ZLm9f+P7VURk/pyQa6ly/FG9vv5J3/9i+/Ynx77lvqcpdcxNzOvJbuugDjK5+kFIc39rcsbk2NVN4l2Lt41425ycnXxfxycWBEEQBEEQ5Inkz2n4PPP8ptl1w/jr+Pmfzp8VebXzZ5BWPH9Wl8qfL4XlJcxnlEX4avW2KYv7//hUnj0WNl7m02WloAoZL+96riyVj4fCxst8WklUf1XO+54F8tOpPKxtNmbqwzwMQRDkCZEsA+RCWZL0d5Lk3K39YFspSGxn7wRnCUEQBEEQBEEAfgN1MoIygEMAAA==";

describe("a file of FITS", () => {
  test("of one table is its rows: scaled, with what is missing left empty", async () => {
    expect(await readRows(convertFits, STARS)).toBe(
      'id,name,mag,ok,pos,u,bits,v,n\n1,M31,0.1,true,"[1,2]",1,0xa0,1 items,\n' +
        '1152921504606846976,NGC 1,,false,"[3,4]",65535,0x20,2 items,5',
    );
  });

  test("of several parts lists them, and each is read by its name or number", async () => {
    expect(await readRows(convertFits, SKY)).toBe(
      'part,name,kind,size,columns\n1,,image,3 × 4,\n2,STARS,table,2 rows,"id, name, mag, ok, pos, u, bits, v, n"\n3,OLD,text table,2 rows,"x, y, s"',
    );
    expect(await readRows(convertFits, SKY, "old")).toBe("x,y,s\n1,1.5,a\n2,-2,bc");
    expect(await readRows(convertFits, SKY, "1[0:2, 1:3]")).toBe("c1,c2\n1,2\n5,6");
  });

  test("that is cut or changed anywhere ends in rows or a coded error", async () => {
    expect(await findFaults(convertRows(convertFits), unpack(SKY), { from: 8, step: 37 })).toEqual([]);
    expect(await findFaults(convertRows(convertFits, "STARS"), unpack(SKY), { from: 8, step: 37 })).toEqual([]);
  });
});
