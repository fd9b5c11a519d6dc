/**
 * Archives and disks.
 * @module
 */

const TREE = `mkdir -p tree/folder; echo one > tree/one.txt; echo two > tree/folder/two.txt; echo three > tree/folder/three.csv`;

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "GNU tar",
    debian: ["tar"],
    shell: `${TREE}
long=tree/folder/$(printf 'a%.0s' $(seq 120)).txt; echo x > $long
for f in gnu pax ustar v7; do tar --format=$f -cf $f.tar tree/one.txt tree/folder/two.txt; done
tar --format=gnu -cf long-gnu.tar $long tree/folder; tar --format=pax -cf long-pax.tar $long; rm $long
tar -czf tree.tar.gz tree; tar -cJf tree.tar.xz tree; tar --zstd -cf tree.tar.zst tree; tar -cjf tree.tar.bz2 tree`,
    files: {
      "gnu.tar": ["tar archive", "2 entries", "two.txt"],
      "pax.tar": ["tar archive", "2 entries", "two.txt"],
      "ustar.tar": ["tar archive", "2 entries", "two.txt"],
      "v7.tar": ["tar archive", "2 entries", "two.txt"],
      "long-gnu.tar": ["tar archive", "4 entries", "tree/folder/aaaaaaaaaa"],
      "long-pax.tar": ["tar archive", "1 entry", "tree/folder/aaaaaaaaaa"],
      "tree.tar.gz": ["gzip file", "tar archive", "one.txt"],
      "tree.tar.xz": ["XZ archive"],
      "tree.tar.zst": ["Zstandard archive"],
    },
  },
  {
    maker: "Info-ZIP",
    debian: ["zip"],
    shell: `${TREE}
zip -qr info.zip tree; zip -q -P secret locked.zip tree/one.txt`,
    files: { "info.zip": ["ZIP archive", "3 entries", "one.txt"], "locked.zip": ["ZIP archive", "encrypted"] },
  },
  {
    maker: "7-Zip",
    debian: ["7zip"],
    shell: `${TREE}
7zz a -bso0 seven.7z tree || 7z a seven.7z tree >/dev/null; 7zz a -bso0 seven.zip tree || 7z a seven.zip tree > /dev/null`,
    files: { "seven.7z": ["7-Zip archive"], "seven.zip": ["ZIP archive", "3 entries"] },
  },
  {
    maker: "genisoimage",
    debian: ["genisoimage"],
    shell: `${TREE}
genisoimage -quiet -V BACKUP -o disc.iso tree 2>/dev/null`,
    files: { "disc.iso": ["disc image", "BACKUP"] },
  },
  {
    maker: "squashfs, cpio, qemu-img",
    debian: ["squashfs-tools", "cpio", "qemu-utils"],
    shell: `${TREE}
mksquashfs tree tree.squashfs -quiet -noappend >/dev/null; find tree | cpio -o -H newc > tree.cpio 2>/dev/null
qemu-img create -q -f qcow2 d.qcow2 5G; qemu-img create -q -f vmdk d.vmdk 2G`,
    files: {
      "tree.squashfs": ["SquashFS image"],
      "tree.cpio": ["cpio archive"],
      "d.qcow2": ["QEMU disk", "5.0 GB disk"],
      "d.vmdk": ["VMware disk", "2.0 GB disk"],
    },
  },
  {
    maker: "git",
    debian: ["git"],
    shell: `rm -rf r; git init -q r; cd r; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git bundle create -q ../r.bundle HEAD; git archive --format=zip -o ../r.zip HEAD || true`,
    files: { "r.bundle": ["git bundle"] },
  },
  {
    maker: "dpkg and rpm",
    debian: ["dpkg", "rpm"],
    shell: `mkdir -p p/DEBIAN; printf 'Package: hello\\nVersion: 1.2\\nArchitecture: all\\nMaintainer: A <a@b.c>\\nDescription: x\\n' > p/DEBIAN/control; dpkg-deb -b p hello.deb >/dev/null
printf 'Name: hello\\nVersion: 1.2\\nRelease: 1\\nSummary: x\\nLicense: MIT\\nBuildArch: noarch\\n%%description\\nx\\n%%files\\n' > h.spec; rpmbuild -bb --quiet --define "_topdir $PWD/rpm" h.spec 2>/dev/null; cp rpm/RPMS/noarch/*.rpm hello.rpm`,
    files: { "hello.deb": ["Debian package"], "hello.rpm": ["RPM package", "hello-1.2"] },
  },
  {
    maker: "xorriso",
    debian: ["xorriso"],
    shell: `${TREE}
xorriso -as mkisofs -quiet -V XO_DISC -J -R -o xorriso.iso tree 2>/dev/null`,
    files: { "xorriso.iso": ["disc image", "XO_DISC"] },
  },
  {
    maker: "pycdlib",
    debian: ["python3-pycdlib"],
    python: `
import pycdlib, io
iso = pycdlib.PyCdlib(); iso.new(vol_ident="PYDISC"); iso.add_fp(io.BytesIO(b"x"), 1, "/A.TXT;1"); iso.write("pycdlib.iso"); iso.close()
`,
    files: { "pycdlib.iso": ["disc image", "PYDISC"] },
  },
  {
    maker: "compressors",
    debian: ["zstd", "lz4", "lzip", "xz-utils", "bzip2"],
    shell: `seq 9999 > many.txt; zstd -q -f many.txt -o many.zst; lz4 -q -f many.txt many.lz4; lzip -k -f many.txt -o many.lz; xz -k -f many.txt; bzip2 -k -f many.txt; gzip -k -f many.txt; tar -cf - many.txt | zstd -q > many.tar.zst`,
    files: {
      "many.zst": ["Zstandard archive"],
      "many.lz4": ["LZ4 archive"],
      "many.lz": ["lzip archive"],
      "many.txt.xz": ["XZ archive"],
      "many.txt.bz2": ["bzip2 archive"],
      "many.txt.gz": ["gzip file", "many.txt"],
    },
  },
  {
    maker: "ARJ",
    debian: ["arj"],
    shell: `${TREE}
arj a -y -i one.arj tree/one.txt >/dev/null`,
    files: { "one.arj": ["ARJ archive"] },
  },
  {
    maker: "disk file systems",
    debian: ["dosfstools", "e2fsprogs", "mtools", "erofs-utils", "udftools"],
    shell: `${TREE}
truncate -s 1M fat.img; mkfs.vfat -n STICK fat.img >/dev/null; truncate -s 2M ext.img; mkfs.ext4 -q -F -L ROOTFS ext.img; mkfs.erofs --quiet tree.erofs tree >/dev/null 2>&1 || mkfs.erofs tree.erofs tree >/dev/null`,
    files: { "fat.img": [/FAT/, "STICK"], "ext.img": [/ext4|ext2/, "ROOTFS"], "tree.erofs": [/EROFS/] },
  },
  {
    maker: "qemu-img, other disks",
    debian: ["qemu-utils"],
    shell: `for f in vdi vhdx vpc; do qemu-img create -q -f $f other.$f 64M; done`,
    files: {
      "other.vdi": [/VirtualBox/, "64.0 MB disk"],
      "other.vhdx": [/Hyper-V/],
      "other.vpc": [/Virtual PC|VHD|Hyper-V/],
    },
  },
  {
    maker: "umoci",
    debian: ["umoci"],
    shell: `rm -rf oci; umoci init --layout oci; umoci new --image oci:latest; tar -cf oci.tar -C oci .`,
    files: { "oci.tar": [/tar archive|container image/, "oci-layout"] },
  },
  {
    maker: "Python wheel",
    debian: ["python3-wheel", "python3-setuptools"],
    shell: `rm -rf whl; mkdir whl; cd whl; printf 'from setuptools import setup\\nsetup(name="sample-tool", version="2.5", py_modules=["sample"])\\n' > setup.py; echo "x = 1" > sample.py; python3 setup.py -q bdist_wheel sdist 2>/dev/null >/dev/null; cp dist/*.whl dist/*.tar.gz ..`,
    files: {
      "sample_tool-2.5-py3-none-any.whl": [/Python wheel/, /entries|sample/],
      "sample-tool-2.5.tar.gz": ["gzip file", "tar archive"],
    },
  },
  {
    maker: "JDK",
    debian: ["default-jdk-headless"],
    shell: `echo 'public class Main { public static void main(String[] a) {} }' > Main.java; javac Main.java; jar --create --file main.jar --main-class Main Main.class`,
    files: { "main.jar": ["Java archive", "1 class file"], "Main.class": ["Java class"] },
  },
  {
    maker: "npm pack",
    debian: ["tar"],
    shell: `rm -rf pk; mkdir pk; cd pk; echo '{"name":"small-package","version":"3.1.4"}' > package.json; echo 1 > index.js; npm pack --silent >/dev/null; cp *.tgz ..`,
    files: { "small-package-3.1.4.tgz": ["gzip file", "tar archive", "package/"] },
  },
  {
    maker: "JSZip",
    npm: ["jszip@3.10.2"],
    node: `
import { writeFileSync } from "node:fs";
import JSZip from "jszip";
const zip = new JSZip(); zip.file("a.txt", "one"); zip.file("b/c.csv", "x,y"); zip.file("d.json", "{}");
writeFileSync("jszip.zip", await zip.generateAsync({ type: "nodebuffer" })); writeFileSync("jszip-stream.zip", await zip.generateAsync({ type: "nodebuffer", streamFiles: true, compression: "DEFLATE" }));
`,
    files: {
      "jszip.zip": ["ZIP archive", "3 entries", "a.txt"],
      "jszip-stream.zip": ["ZIP archive", "3 entries", "a.txt"],
    },
  },
  {
    maker: "other ZIPs of npm",
    npm: ["fflate@0.8.3", "archiver@8.0.0", "yazl@3.3.1", "adm-zip@0.6.1"],
    node: `
import { createWriteStream, writeFileSync } from "node:fs";
import { zipSync } from "fflate";
import { ZipArchive } from "archiver";
import yazl from "yazl";
import AdmZip from "adm-zip";
writeFileSync("fflate.zip", zipSync({ "a.txt": new Uint8Array(9), "b.txt": new Uint8Array(9) }));
const ended = (stream) => new Promise((resolve) => stream.on("close", resolve));
const one = new ZipArchive(); const out = createWriteStream("archiver.zip"); one.pipe(out); one.append("x", { name: "a.txt" }); one.append("y", { name: "b.txt" }); one.finalize(); await ended(out);
const two = new yazl.ZipFile(); two.addBuffer(Buffer.from("x"), "a.txt"); two.addBuffer(Buffer.from("y"), "b.txt"); two.end({ forceZip64Format: true }); const file = createWriteStream("yazl.zip"); two.outputStream.pipe(file); await ended(file);
const three = new AdmZip(); three.addFile("a.txt", Buffer.from("x")); three.addFile("b.txt", Buffer.from("y")); three.writeZip("adm.zip");
`,
    files: {
      "fflate.zip": ["ZIP archive", "2 entries", "a.txt"],
      "archiver.zip": ["ZIP archive", "2 entries", "a.txt"],
      "yazl.zip": ["ZIP archive", "2 entries", "a.txt"],
      "adm.zip": ["ZIP archive", "2 entries", "a.txt"],
    },
  },
  {
    maker: "node-tar",
    npm: ["tar@7.5.23"],
    node: `
import { mkdirSync, writeFileSync } from "node:fs";
import * as tar from "tar";
mkdirSync("nt/" + "d".repeat(90), { recursive: true }); writeFileSync("nt/a.txt", "x"); writeFileSync("nt/" + "d".repeat(90) + "/" + "f".repeat(80) + ".txt", "y");
await tar.create({ file: "node.tar" }, ["nt/a.txt", "nt/" + "d".repeat(90)]); await tar.create({ file: "node.tgz", gzip: true }, ["nt/a.txt"]);
`,
    files: {
      "node.tar": ["tar archive", "2 entries", "nt/a.txt"],
      "node.tgz": ["gzip file", "tar archive", "nt/a.txt"],
    },
  },
  {
    maker: "Mercurial and Subversion",
    debian: ["mercurial", "subversion"],
    shell: `rm -rf hg svn; hg init hg; cd hg; echo x > a; hg add -q a; hg commit -q -u a -m one; hg bundle -q --all ../hg.bundle; cd ..; svnadmin create svn; svnadmin dump -q svn > svn.dump`,
    files: { "hg.bundle": [/Mercurial bundle/], "svn.dump": [/Subversion dump/] },
  },
  {
    maker: "Wget",
    debian: ["wget"],
    shell: `mkdir -p www; echo hello > www/a.txt; python3 -m http.server 38471 --bind 127.0.0.1 -d www >/dev/null 2>&1 & p=$!; sleep 1; wget -q -O /dev/null --no-warc-compression --warc-file=wget http://127.0.0.1:38471/a.txt; wget -q -O /dev/null --warc-file=wget-gz http://127.0.0.1:38471/a.txt; kill $p`,
    files: { "wget.warc": ["web archive", /records/], "wget-gz.warc.gz": ["gzip file", "web archive"] },
  },
];
