/**
 * Measurements, sequences and arrays.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "NumPy",
    debian: ["python3-numpy"],
    python: `
import numpy
numpy.save("array.npy", numpy.zeros((3, 4, 5))); numpy.save("ints.npy", numpy.zeros(7, dtype="int32")); numpy.savez("both.npz", a=numpy.zeros(3), b=numpy.zeros(4))
`,
    files: {
      "array.npy": ["NumPy array", "3 × 4 × 5 of float64"],
      "ints.npy": ["NumPy array", "7 of int32"],
      "both.npz": [/ZIP|NumPy/, "2 entries", "a.npy"],
    },
  },
  {
    maker: "SciPy",
    debian: ["python3-scipy"],
    python: `
import numpy, scipy.io
scipy.io.savemat("data.mat", {"speed": numpy.zeros((3, 4))})
f = scipy.io.netcdf_file("old.nc", "w"); f.createDimension("time", 10); f.createDimension("x", 5)
v = f.createVariable("temp", "f4", ("time", "x")); v.units = "K"; v[:] = 0; f.createVariable("time", "f8", ("time",))[:] = 0; f.close()
`,
    files: { "data.mat": ["MATLAB data"], "old.nc": ["NetCDF data", "2 dimensions", "2 variables", '"temp"'] },
  },
  {
    maker: "Astropy",
    debian: ["python3-astropy"],
    python: `
import numpy
from astropy.io import fits
fits.PrimaryHDU(numpy.zeros((20, 30))).writeto("image.fits", overwrite=True)
fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns([fits.Column("a", "J", array=numpy.arange(12)), fits.Column("b", "D", array=numpy.arange(12.0))])]).writeto("table.fits", overwrite=True)
`,
    files: { "image.fits": ["FITS image", "30 × 20"], "table.fits": ["FITS data", "12 rows", "2 columns"] },
  },
  {
    maker: "h5py and netCDF4",
    debian: ["python3-h5py", "python3-netcdf4"],
    python: `
import h5py, netCDF4, numpy
f = h5py.File("h5py.h5", "w"); f["a"] = numpy.zeros(3); f.close()
d = netCDF4.Dataset("four.nc", "w"); d.createDimension("x", 4); d.createVariable("v", "f4", ("x",)); d.close()
`,
    files: { "h5py.h5": ["HDF5 data"], "four.nc": [/HDF5|NetCDF/] },
  },
  {
    maker: "eccodes",
    debian: ["libeccodes-tools"],
    shell: `d=/usr/share/eccodes/samples; cp $d/GRIB1.tmpl one.grib 2>/dev/null || cp $(find / -name 'GRIB1.tmpl' -not -path '/proc/*' 2>/dev/null | head -1) one.grib; cp $(find / -name 'GRIB2.tmpl' -not -path '/proc/*' 2>/dev/null | head -1) two.grib; cp $(find / -name 'BUFR4.tmpl' -not -path '/proc/*' 2>/dev/null | head -1) four.bufr`,
    files: {
      "one.grib": ["GRIB data", "edition 1"],
      "two.grib": ["GRIB data", "edition 2"],
      "four.bufr": ["BUFR data", "edition 4"],
    },
  },
  {
    maker: "samtools and bcftools",
    debian: ["samtools", "bcftools", "tabix"],
    shell: `printf '>chr1 x\\n%s\\n>chr2\\nACGTACGT\\n' $(printf 'ACGT%.0s' $(seq 20)) > g.fa
printf '@r1\\nACGT\\n+\\nIIII\\n@r2\\nACGA\\n+\\nIIII\\n' > r.fq
printf '@SQ\\tSN:chr1\\tLN:80\\nr1\\t0\\tchr1\\t1\\t60\\t4M\\t*\\t0\\t0\\tACGT\\tIIII\\n' | samtools view -b - > a.bam
printf '##fileformat=VCFv4.2\\n##contig=<ID=chr1>\\n#CHROM\\tPOS\\tID\\tREF\\tALT\\tQUAL\\tFILTER\\tINFO\\nchr1\\t1\\t.\\tA\\tG\\t.\\t.\\t.\\nchr1\\t2\\t.\\tA\\tG\\t.\\t.\\t.\\n' | bcftools view > v.vcf; bgzip -c v.vcf > v.vcf.gz`,
    files: {
      "g.fa": ["FASTA sequences", "2 sequences"],
      "r.fq": ["FASTQ reads", "2 reads"],
      "a.bam": [/BAM/],
      "v.vcf": ["VCF variants", "2 variants"],
      "v.vcf.gz": [/VCF variants/],
    },
  },
];
