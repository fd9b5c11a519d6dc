/**
 * Pictures and records of patients.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "pydicom",
    debian: ["python3-pydicom", "python3-numpy"],
    python: `
import pydicom, numpy
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian, generate_uid
def make(name, syntax, modality, frames=1, image=True, preamble=True):
    d = Dataset(); d.file_meta = FileMetaDataset(); d.file_meta.TransferSyntaxUID = syntax; d.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2"; d.file_meta.MediaStorageSOPInstanceUID = generate_uid()
    d.SOPClassUID = d.file_meta.MediaStorageSOPClassUID; d.SOPInstanceUID = d.file_meta.MediaStorageSOPInstanceUID
    d.PatientName = "Doe^Jane"; d.PatientID = "4711"; d.Modality = modality; d.BodyPartExamined = "CHEST"
    if image:
        d.Rows = 40; d.Columns = 50; d.NumberOfFrames = frames; d.BitsAllocated = 8; d.BitsStored = 8; d.HighBit = 7; d.SamplesPerPixel = 1; d.PixelRepresentation = 0; d.PhotometricInterpretation = "MONOCHROME2"; d.PixelData = bytes(40 * 50 * frames)
    d.is_little_endian = True; d.is_implicit_VR = syntax == ImplicitVRLittleEndian
    d.save_as(name, write_like_original=not preamble)
make("ct.dcm", ExplicitVRLittleEndian, "CT"); make("mr.dcm", ImplicitVRLittleEndian, "MR", 6); make("sr.dcm", ExplicitVRLittleEndian, "SR", image=False)
`,
    files: {
      "ct.dcm": ["DICOM", "CT", "50 × 40", "chest"],
      "mr.dcm": ["DICOM", "MR", "50 × 40", "6 frames"],
      "sr.dcm": ["DICOM file", "SR"],
    },
  },
  {
    maker: "NiBabel",
    debian: ["python3-nibabel", "python3-numpy"],
    python: `
import nibabel, numpy
i = nibabel.Nifti1Image(numpy.zeros((10, 12, 14), dtype="int16"), numpy.eye(4)); nibabel.save(i, "brain.nii"); nibabel.save(i, "brain.nii.gz")
`,
    files: { "brain.nii": ["NIfTI volume", "10 × 12 × 14"], "brain.nii.gz": [/NIfTI volume/, "10 × 12 × 14"] },
  },
  {
    maker: "HL7 by Python",
    program: ["python3", "--version"],
    python: `
open("adt.hl7", "w", newline="").write("MSH|^~\\\\&|A|B|C|D|20261101||ADT^A01|1|P|2.5\\rPID|1||1^^^X||Doe^Jane\\rPV1|1|I\\r")
open("cda.xml", "w").write('<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3"><title>Summary</title></ClinicalDocument>')
`,
    files: { "adt.hl7": ["HL7 message"], "cda.xml": ["CDA document"] },
  },
  {
    maker: "DCMTK",
    debian: ["dcmtk", "python3-reportlab", "imagemagick"],
    shell: `convert -size 64x48 gradient:gray -quality 90 m.jpg; convert m.jpg -type TrueColor bmp3:m.bmp; img2dcm m.jpg dcmtk-jpeg.dcm -k "PatientName=Doe^Jane" -k "Modality=OT" 2>/dev/null; img2dcm -i BMP m.bmp dcmtk-plain.dcm -k "PatientName=Doe^Jane" -k Modality=OT 2>/dev/null; dcmcrle dcmtk-plain.dcm dcmtk-rle.dcm 2>/dev/null; dcmconv -F dcmtk-plain.dcm dcmtk-dataset.dcm 2>/dev/null; dcmconv +tb dcmtk-plain.dcm dcmtk-big.dcm 2>/dev/null
python3 -c "
from reportlab.pdfgen import canvas
p = canvas.Canvas('m.pdf'); p.setTitle('Letter'); p.drawString(9, 9, 'x'); p.showPage(); p.save()"
pdf2dcm m.pdf dcmtk-pdf.dcm -k "PatientName=Doe^Jane" 2>/dev/null; dcm2json dcmtk-plain.dcm dcmtk.dcm.json 2>/dev/null; dcmmkdir +r --output-file DICOMDIR dcmtk-plain.dcm 2>/dev/null || dcmmkdir DICOMDIR 2>/dev/null || true`,
    files: {
      "dcmtk-jpeg.dcm": ["DICOM", "OT", "64 × 48"],
      "dcmtk-plain.dcm": ["DICOM", "OT", "64 × 48"],
      "dcmtk-rle.dcm": ["DICOM", "OT", "64 × 48"],
      "dcmtk-dataset.dcm": ["DICOM", "OT", "64 × 48"],
      "dcmtk-big.dcm": ["DICOM", "OT", "64 × 48"],
      "dcmtk-pdf.dcm": ["DICOM file", /PDF|DOC/],
    },
  },
  {
    maker: "GDCM",
    debian: ["libgdcm-tools"],
    shell: `printf 'P5\\n24 16\\n255\\n' > g.pgm; head -c 384 /dev/zero >> g.pgm; gdcmimg g.pgm gdcm.dcm; gdcmconv --jpeg gdcm.dcm gdcm-jpeg.dcm; gdcmconv --j2k gdcm.dcm gdcm-j2k.dcm`,
    files: {
      "gdcm.dcm": ["DICOM", "24 × 16"],
      "gdcm-jpeg.dcm": ["DICOM", "24 × 16"],
      "gdcm-j2k.dcm": ["DICOM", "24 × 16"],
    },
  },
  {
    maker: "NiBabel's other formats",
    debian: ["python3-nibabel"],
    python: `
import nibabel, numpy
data = numpy.zeros((4, 5, 6), dtype="float32")
nibabel.save(nibabel.Nifti2Image(data, numpy.eye(4)), "two.nii"); nibabel.save(nibabel.MGHImage(data, numpy.eye(4)), "surf.mgz"); nibabel.save(nibabel.MGHImage(data, numpy.eye(4)), "surf.mgh"); nibabel.save(nibabel.Nifti1Pair(data, numpy.eye(4)), "pair.hdr")
`,
    files: {
      "two.nii": ["NIfTI volume", "4 × 5 × 6"],
      "surf.mgh": [/MGH/, "4 × 5 × 6"],
      "pair.hdr": [/NIfTI/, "4 × 5 × 6"],
    },
  },
  {
    maker: "python-hl7",
    debian: ["python3-hl7"],
    python: `
import hl7
m = hl7.Message("|", []) if False else hl7.parse("MSH|^~\\\\&|LAB|B|C|D|20261101||ORU^R01|1|P|2.5\\rPID|1||1^^^X||Doe^Jane\\rOBR|1|||GLU\\rOBX|1|NM|GLU||5.5|mmol/L\\r")
open("oru.hl7", "w", newline="").write(str(m))
`,
    files: { "oru.hl7": ["HL7 message", "ORU^R01"] },
  },
  {
    maker: "dcmjs",
    npm: ["dcmjs@0.52.2"],
    node: `
import { writeFileSync } from "node:fs";
import dcmjs from "dcmjs";
const { DicomDict, DicomMetaDictionary } = (dcmjs.default ?? dcmjs).data;
const set = { PatientName: "Doe^Jane", Modality: "US", SOPClassUID: "1.2.840.10008.5.1.4.1.1.6.1", SOPInstanceUID: "1.2.3.4", Rows: 20, Columns: 30, BodyPartExamined: "LIVER" };
const dict = new DicomDict(DicomMetaDictionary.denaturalizeDataset({ TransferSyntaxUID: "1.2.840.10008.1.2.1", MediaStorageSOPClassUID: set.SOPClassUID, MediaStorageSOPInstanceUID: "1.2.3.4" }));
dict.dict = DicomMetaDictionary.denaturalizeDataset(set);
writeFileSync("dcmjs.dcm", Buffer.from(dict.write()));
`,
    files: { "dcmjs.dcm": ["DICOM", "US", "30 × 20", "liver"] },
  },
  {
    maker: "FHIR by Node",
    program: ["node", "--version"],
    shell: `node -e 'const fs = require("fs"); fs.writeFileSync("patient.json", JSON.stringify({ resourceType: "Patient", id: "x", name: [{ family: "Doe", given: ["Jane"] }], birthDate: "1970-01-01" })); fs.writeFileSync("bundle.ndjson", ["Patient", "Observation", "Observation"].map((resourceType) => JSON.stringify({ resourceType, id: "x" })).join("\\n") + "\\n")'; printf '<?xml version="1.0"?>\\n<Bundle xmlns="http://hl7.org/fhir"><type value="collection"/><entry></entry><entry></entry></Bundle>\\n' > bundle.xml`,
    files: {
      "patient.json": ["FHIR", "Patient"],
      "bundle.ndjson": [/NDJSON|FHIR/, "3 lines"],
      "bundle.xml": ["FHIR Bundle", "2 entries"],
    },
  },
];
