/**
 * Captures and keys.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "Scapy",
    debian: ["python3-scapy"],
    python: `
from scapy.all import Ether, IP, UDP, wrpcap, PcapNgWriter
p = [Ether() / IP(dst="192.0.2.1") / UDP() for n in range(11)]
for n, one in enumerate(p): one.time = 1700000000 + n
wrpcap("scapy.pcap", p); wrpcap("nano.pcap", p, nano=True)
w = PcapNgWriter("scapy.pcapng")
for one in p: w.write(one)
w.close()
`,
    files: {
      "scapy.pcap": ["packet capture", "Ethernet", "11 packets", "0:10 long"],
      "nano.pcap": ["packet capture", "11 packets"],
      "scapy.pcapng": ["packet capture", "11 packets"],
    },
  },
  {
    maker: "OpenSSL",
    debian: ["openssl"],
    shell: `openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 100 -subj /CN=www.example.org 2>/dev/null
openssl x509 -in cert.pem -outform DER -out cert.der; openssl pkcs12 -export -passout pass:x -inkey key.pem -in cert.pem -out store.p12; openssl crl2pkcs7 -nocrl -certfile cert.pem -out c.p7b; openssl rsa -in key.pem -pubout -out pub.pem 2>/dev/null`,
    files: {
      "cert.pem": ["certificate"],
      "cert.der": ["certificate"],
      "key.pem": ["private key"],
      "pub.pem": ["public key"],
      "store.p12": ["PKCS #12 key store"],
      "c.p7b": ["PKCS #7"],
    },
  },
  {
    maker: "OpenSSH",
    debian: ["openssh-client"],
    shell: `rm -f id*; ssh-keygen -q -t ed25519 -N '' -C me@host -f id; cp id id-private`,
    files: { "id-private": ["SSH private key"], "id.pub": ["SSH public key"] },
  },
  {
    maker: "GnuPG",
    debian: ["gnupg"],
    shell: `export GNUPGHOME=$PWD/g; mkdir -p -m 700 g; gpg -q --batch --passphrase '' --quick-gen-key x@example.org rsa2048 2>/dev/null; gpg -q --armor --export > public.asc; gpg -q --batch --pinentry-mode loopback --passphrase '' --armor --export-secret-keys > private.asc; echo x | gpg -q --batch --trust-model always --armor -e -r x@example.org > message.asc; gpgconf --kill all`,
    files: { "public.asc": ["PGP public key"], "private.asc": ["PGP private key"], "message.asc": ["PGP message"] },
  },
];
