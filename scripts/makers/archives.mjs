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
];
