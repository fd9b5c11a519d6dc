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
    python: `
open("adt.hl7", "w", newline="").write("MSH|^~\\\\&|A|B|C|D|20261101||ADT^A01|1|P|2.5\\rPID|1||1^^^X||Doe^Jane\\rPV1|1|I\\r")
open("cda.xml", "w").write('<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3"><title>Summary</title></ClinicalDocument>')
`,
    files: { "adt.hl7": ["HL7 message"], "cda.xml": ["CDA document"] },
  },
];
