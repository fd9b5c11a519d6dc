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
  {
    maker: "Octave",
    debian: ["octave"],
    shell: `octave-cli --no-gui --eval 'a = zeros(3, 4); b = 1:9; save -v7 oct7.mat a b; save -v6 oct6.mat a b; save -v4 oct4.mat a b; save -hdf5 oct.h5 a; save -text oct.txt a' 2>/dev/null`,
    files: {
      "oct7.mat": ["MATLAB data"],
      "oct6.mat": ["MATLAB data"],
      "oct4.mat": ["MATLAB data"],
      "oct.h5": ["HDF5 data"],
      "oct.txt": ["text", "lines"],
    },
  },
  {
    maker: "GMT",
    debian: ["gmt"],
    shell: `gmt grdmath -R0/10/0/5 -I1 X Y MUL = gmt.nc && gmt grdconvert gmt.nc gmt.grd=cf`,
    files: { "gmt.nc": [/NetCDF/] },
  },
  {
    maker: "xarray",
    debian: ["python3-xarray", "python3-scipy", "python3-netcdf4"],
    python: `
import xarray, numpy
d = xarray.Dataset({"rain": (("time", "lat", "lon"), numpy.zeros((4, 5, 6), dtype="f4"))}, coords={"time": range(4), "lat": range(5), "lon": range(6)})
d.to_netcdf("xarray3.nc", engine="scipy"); d.to_netcdf("xarray4.nc", engine="netcdf4")
`,
    files: { "xarray3.nc": ["NetCDF data", '"rain"'], "xarray4.nc": [/NetCDF|HDF5/] },
  },
  {
    maker: "NCO and CDO",
    debian: ["nco", "cdo"],
    shell: `cdo -s -O -f nc topo,r36x18 cdo.nc 2>/dev/null; cdo -s -O -f grb topo,r36x18 cdo.grb 2>/dev/null; ncks -O -3 cdo.nc nco3.nc 2>/dev/null; ncks -O -5 cdo.nc nco5.nc 2>/dev/null`,
    files: {
      "cdo.nc": [/NetCDF/],
      "cdo.grb": ["GRIB data", "edition 1"],
      "nco3.nc": ["NetCDF data", '"topo"'],
      "nco5.nc": ["NetCDF data", '"topo"'],
    },
  },
  {
    maker: "PyTables and Zarr",
    debian: ["python3-tables", "python3-zarr"],
    python: `
import tables, zarr, numpy
f = tables.open_file("tables.h5", "w"); f.create_array("/", "speed", numpy.zeros((3, 4))); f.close()
s = zarr.ZipStore("zarr.zip", mode="w"); z = zarr.group(store=s); z.create_dataset("speed", shape=(30, 40), dtype="f4")[:] = 1; s.close()
`,
    files: { "tables.h5": ["HDF5 data"], "zarr.zip": [/Zarr|ZIP/, /entries/] },
  },
  {
    maker: "Biopython",
    debian: ["python3-biopython"],
    python: `
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from Bio import SeqIO
records = [SeqRecord(Seq("ACGTACGTAAGGCCTT" * 8), id="seq%d" % n, description="", annotations={"molecule_type": "DNA"}) for n in range(6)]
SeqIO.write(records, "bio.fasta", "fasta"); SeqIO.write(records, "bio.gb", "genbank"); SeqIO.write(records, "bio.embl", "embl")
for r in records: r.letter_annotations["phred_quality"] = [30] * len(r)
SeqIO.write(records, "bio.fastq", "fastq")
`,
    files: {
      "bio.fasta": ["FASTA sequences", "6 sequences"],
      "bio.gb": ["GenBank", "6 sequences"],
      "bio.embl": ["EMBL", "6 sequences"],
      "bio.fastq": ["FASTQ reads", "6 reads"],
    },
  },
  {
    maker: "Open Babel",
    debian: ["openbabel"],
    shell: `for e in mol sdf mol2 pdb xyz cif cml; do obabel -:"CCO" -o$e -O ob.$e --gen3d 2>/dev/null; done`,
    files: {
      "ob.sdf": [/SDF|MDL|molecule/],
      "ob.mol2": [/Mol2|molecule/],
      "ob.pdb": ["PDB structure", "9 atoms"],
      "ob.xyz": [/XYZ|molecule|text/],
      "ob.cif": [/CIF/],
      "ob.cml": [/CML|Chemical/],
    },
  },
  {
    maker: "BEDTools and htslib",
    debian: ["bedtools", "samtools", "tabix"],
    shell: `printf '>chr1\\n%s\\n' $(printf 'ACGT%.0s' $(seq 40)) > b.fa; samtools faidx b.fa; bedtools makewindows -g b.fa.fai -w 40 > windows.bed; bgzip -c windows.bed > windows.bed.gz; tabix -p bed windows.bed.gz; samtools view -bS a.bam -o b.bam 2>/dev/null || true; printf '@SQ\\tSN:chr1\\tLN:160\\nr1\\t0\\tchr1\\t1\\t60\\t4M\\t*\\t0\\t0\\tACGT\\tIIII\\n' > b.sam; samtools view -C -T b.fa b.sam -o b.cram; samtools sort -O bam b.sam -o s.bam; samtools index s.bam`,
    files: {
      "windows.bed": [/BED|TSV/, /4 (?:regions|rows|features)/],
      "b.sam": [/SAM/],
      "b.cram": [/CRAM/],
      "s.bam": [/BAM/],
      "s.bam.bai": [/BAM index/],
    },
  },
  {
    maker: "PLINK",
    debian: ["plink1.9"],
    shell: `printf '1 1 0 0 1 1 A A G G\\n2 2 0 0 2 2 A C G T\\n' > p.ped; printf '1 rs1 0 1\\n1 rs2 0 2\\n' > p.map; plink1.9 --silent --file p --make-bed --out plink >/dev/null 2>&1`,
    files: { "plink.bed": [/PLINK/] },
  },
  {
    maker: "mrcfile and ASE",
    debian: ["python3-mrcfile", "python3-ase"],
    python: `
import mrcfile, numpy, ase.build, ase.io
with mrcfile.new("em.mrc", overwrite=True) as f: f.set_data(numpy.zeros((8, 16, 32), dtype="float32"))
a = ase.build.molecule("H2O"); ase.io.write("ase.xyz", a); ase.io.write("ase.traj", a); ase.io.write("ase.json", a)
`,
    files: { "em.mrc": [/MRC/, "32 × 16 × 8"], "ase.traj": [/ASE|ULM/], "ase.xyz": [/XYZ|text/] },
  },
  {
    maker: "VTK",
    debian: ["python3-vtk9"],
    python: `
import vtk
s = vtk.vtkSphereSource(); s.Update()
for w, n in [(vtk.vtkXMLPolyDataWriter(), "vtk.vtp"), (vtk.vtkPolyDataWriter(), "vtk.vtk")]:
    w.SetFileName(n); w.SetInputData(s.GetOutput()); w.Write()
i = vtk.vtkImageData(); i.SetDimensions(4, 5, 6); i.AllocateScalars(vtk.VTK_FLOAT, 1)
w = vtk.vtkXMLImageDataWriter(); w.SetFileName("vtk.vti"); w.SetInputData(i); w.Write()
`,
    files: { "vtk.vtp": [/VTK/], "vtk.vtk": [/VTK/], "vtk.vti": [/VTK/] },
  },
  {
    maker: "h5wasm",
    npm: ["h5wasm@0.10.3"],
    node: `
import { writeFileSync } from "node:fs";
import h5wasm from "h5wasm/node";
await h5wasm.ready;
const f = new h5wasm.File("wasm.h5", "w"); f.create_dataset({ name: "v", data: new Float32Array(12), shape: [3, 4] }); f.close();
`,
    files: { "wasm.h5": ["HDF5 data"] },
  },
];
