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
    shell: `export GNUPGHOME=$PWD/g; mkdir -p -m 700 g; gpg -q --batch --passphrase '' --quick-gen-key x@example.org default default never 2>/dev/null; gpg -q --armor --export > public.asc; gpg -q --batch --pinentry-mode loopback --passphrase '' --armor --export-secret-keys > private.asc; echo x | gpg -q --batch --trust-model always --armor -e -r x@example.org > message.asc; gpgconf --kill all`,
    files: { "public.asc": ["PGP public key"], "private.asc": ["PGP private key"], "message.asc": ["PGP message"] },
  },
  {
    maker: "tcpdump",
    debian: ["tcpdump", "python3-scapy"],
    shell: `python3 -c "
from scapy.all import Ether, IP, UDP, wrpcap
p = [Ether() / IP(dst='192.0.2.1') / UDP() for n in range(8)]
for n, one in enumerate(p): one.time = 1700000000 + n
wrpcap('in.pcap', p)"
tcpdump -Z root -r in.pcap -w tcpdump.pcap 2>/dev/null; tcpdump -Z root -r in.pcap --time-stamp-precision=nano -w tcpdump-nano.pcap 2>/dev/null`,
    files: {
      "tcpdump.pcap": ["packet capture", "Ethernet", "8 packets", "0:07 long"],
      "tcpdump-nano.pcap": ["packet capture", "8 packets"],
    },
  },
  {
    maker: "Wireshark's tools",
    debian: ["tshark", "python3-scapy"],
    shell: `python3 -c "
from scapy.all import Ether, IP, UDP, wrpcap
p = [Ether() / IP(dst='192.0.2.1') / UDP() for n in range(8)]
for n, one in enumerate(p): one.time = 1700000000 + n
wrpcap('in2.pcap', p)"
editcap in2.pcap editcap.pcapng; mergecap -w mergecap.pcapng in2.pcap in2.pcap; printf '000000 00 01 02 03 04 05 06 07 08 09 0a 0b 08 00 45 00\\n' > hex.txt; text2pcap -q hex.txt text2pcap.pcapng 2>/dev/null; tshark -r in2.pcap -T json > tshark.json 2>/dev/null; tshark -r in2.pcap -T pdml > tshark.pdml 2>/dev/null; tshark -r in2.pcap > tshark.txt 2>/dev/null`,
    files: {
      "editcap.pcapng": ["packet capture", "8 packets"],
      "mergecap.pcapng": ["packet capture", "16 packets"],
      "text2pcap.pcapng": ["packet capture", "1 packet"],
      "tshark.json": ["JSON", "array of 8"],
      "tshark.txt": ["text", "8 lines"],
    },
  },
  {
    maker: "GnuTLS",
    debian: ["gnutls-bin"],
    shell: `certtool --generate-privkey --key-type=ecdsa --outfile gnutls.key 2>/dev/null; printf 'cn = mail.example.org\\nexpiration_days = 90\\n' > c.cfg; certtool --generate-self-signed --load-privkey gnutls.key --template c.cfg --outfile gnutls.crt 2>/dev/null; certtool --generate-request --load-privkey gnutls.key --template c.cfg --outfile gnutls.csr 2>/dev/null; certtool --generate-self-signed --load-privkey gnutls.key --template c.cfg --outder --outfile gnutls.der 2>/dev/null`,
    files: {
      "gnutls.key": ["private key"],
      "gnutls.crt": ["certificate", "mail.example.org"],
      "gnutls.csr": ["certificate request"],
      "gnutls.der": ["certificate", "mail.example.org"],
    },
  },
  {
    maker: "keytool",
    debian: ["default-jdk-headless"],
    shell: `rm -f k.p12 k.jks; keytool -genkeypair -alias a -keyalg RSA -dname CN=app.example.org -storepass secret -keystore k.p12 -storetype PKCS12 2>/dev/null; keytool -genkeypair -alias a -keyalg RSA -dname CN=app.example.org -storepass secret -keypass secret -keystore k.jks -storetype JKS 2>/dev/null; keytool -exportcert -alias a -keystore k.p12 -storepass secret -file k.cer 2>/dev/null; keytool -exportcert -rfc -alias a -keystore k.p12 -storepass secret -file k.pem 2>/dev/null`,
    files: {
      "k.p12": ["PKCS #12 key store"],
      "k.jks": [/Java key ?store/],
      "k.cer": ["certificate", "app.example.org"],
      "k.pem": ["certificate", "app.example.org"],
    },
  },
  {
    maker: "age, minisign and signify",
    debian: ["age", "minisign", "signify-openbsd"],
    shell: `rm -f age.key mini.key mini.pub s.pub s.sec; age-keygen -o age.key 2> age.out; echo secret > s.txt; age -r $(grep -o 'age1.*' age.out) -o s.age s.txt; age -a -r $(grep -o 'age1.*' age.out) -o a.age s.txt; minisign -G -W -p mini.pub -s mini.key >/dev/null 2>&1; minisign -S -s mini.key -m s.txt >/dev/null 2>&1; signify-openbsd -G -n -p s.pub -s s.sec; signify-openbsd -S -s s.sec -m s.txt -x signify.sig`,
    files: {
      "s.age": [/age/],
      "a.age": [/age/],
      "age.key": [/age (?:private|secret) key|private key/],
      "mini.pub": [/minisign/],
      "mini.key": [/private key|minisign/],
      "s.sec": [/private key|signify/],
    },
  },
  {
    maker: "Sequoia and RNP",
    debian: ["sq", "rnp"],
    shell: `rm -rf sq.* .rnp; sq key generate --userid "<x@example.org>" --export sq.key --rev-cert sq.rev >/dev/null 2>&1; sq key extract-cert sq.key -o sq.cert >/dev/null 2>&1; sq dearmor sq.cert -o sq.bin 2>/dev/null; echo hi | sq encrypt --recipient-cert sq.cert -o sq.msg 2>/dev/null; echo hi | sq sign --signer-key sq.key --detached -o sq.sig 2>/dev/null`,
    files: {
      "sq.key": ["PGP private key"],
      "sq.cert": ["PGP public key"],
      "sq.bin": ["PGP public key"],
      "sq.msg": ["PGP message"],
      "sq.sig": ["PGP signature"],
    },
  },
  {
    maker: "BIND and WireGuard",
    debian: ["bind9utils", "wireguard-tools"],
    shell: `rm -f K*; dnssec-keygen -q -a ECDSAP256SHA256 example.org >/dev/null; mv K*.private dnssec.private; mv K*.key dnssec.key; printf '[Interface]\\nPrivateKey = %s\\n' $(wg genkey) > wg.conf`,
    files: { "dnssec.private": [/private key/], "wg.conf": [/private key|WireGuard/] },
  },
  {
    maker: "cryptography",
    debian: ["python3-cryptography"],
    python: `
from cryptography.hazmat.primitives.asymmetric import ed25519, ec
from cryptography.hazmat.primitives import serialization as s, hashes
from cryptography import x509
from cryptography.x509.oid import NameOID
import datetime
k = ec.generate_private_key(ec.SECP256R1())
open("py.key", "wb").write(k.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.BestAvailableEncryption(b"x"))); open("py-trad.key", "wb").write(k.private_bytes(s.Encoding.PEM, s.PrivateFormat.TraditionalOpenSSL, s.NoEncryption()))
open("py-key.der", "wb").write(k.private_bytes(s.Encoding.DER, s.PrivateFormat.PKCS8, s.NoEncryption()))
n = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "api.example.org")]); t = datetime.datetime(2026, 1, 1)
c = x509.CertificateBuilder().subject_name(n).issuer_name(n).public_key(k.public_key()).serial_number(5).not_valid_before(t).not_valid_after(t.replace(year=2036)).sign(k, hashes.SHA256())
open("py.crt", "wb").write(c.public_bytes(s.Encoding.PEM)); open("py.der", "wb").write(c.public_bytes(s.Encoding.DER))
`,
    files: {
      "py.key": [/private key/, "encrypted"],
      "py-trad.key": ["private key"],
      "py-key.der": ["private key"],
      "py.crt": ["certificate", "api.example.org", "2036"],
      "py.der": ["certificate", "api.example.org", "2036"],
    },
  },
  {
    maker: "node-forge, jose and OpenPGP.js",
    npm: ["node-forge@1.4.3", "jose@6.2.17", "openpgp@6.3.2"],
    node: `
import { writeFileSync } from "node:fs";
import forge from "node-forge";
import { exportJWK, exportPKCS8, generateKeyPair } from "jose";
import { generateKey } from "openpgp";
const keys = forge.pki.rsa.generateKeyPair(1024); const cert = forge.pki.createCertificate();
cert.publicKey = keys.publicKey; cert.serialNumber = "01"; cert.validity.notBefore = new Date(1700000000000); cert.validity.notAfter = new Date(2000000000000);
const who = [{ name: "commonName", value: "web.example.org" }]; cert.setSubject(who); cert.setIssuer(who); cert.sign(keys.privateKey, forge.md.sha256.create());
writeFileSync("forge.pem", forge.pki.certificateToPem(cert)); writeFileSync("forge.p12", Buffer.from(forge.asn1.toDer(forge.pkcs12.toPkcs12Asn1(keys.privateKey, [cert], "x")).getBytes(), "binary"));
const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
writeFileSync("jose.key", await exportPKCS8(privateKey)); writeFileSync("jose.jwks.json", JSON.stringify({ keys: [await exportJWK(publicKey)] })); writeFileSync("private.jwk.json", JSON.stringify(await exportJWK(privateKey)));
const pgp = await generateKey({ userIDs: [{ email: "x@example.org" }] }); writeFileSync("openpgpjs.asc", pgp.publicKey); writeFileSync("openpgpjs-private.asc", pgp.privateKey);
`,
    files: {
      "forge.pem": ["certificate", "web.example.org"],
      "forge.p12": ["PKCS #12 key store"],
      "jose.key": ["private key"],
      "jose.jwks.json": ["JSON Web Key Set"],
      "private.jwk.json": [/private key/],
      "openpgpjs.asc": ["PGP public key"],
      "openpgpjs-private.asc": ["PGP private key"],
    },
  },
  {
    maker: "Nmap",
    debian: ["nmap"],
    shell: `nmap -sL -n -oX nmap.xml 127.0.0.1 >/dev/null`,
    files: { "nmap.xml": [/Nmap/] },
  },
];
