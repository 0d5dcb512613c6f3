import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * For servers of tests that are called secure.test and other.test: a P-256 key and a certificate that it has signed
 * itself, with openssl, valid from 2020 to 2120. No other program trusts it.
 */
export const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2HLb5luN0vIT2h8N
xynQ4W6gVzlroVPIhZzvTyxvM6OhRANCAAQ6CtcPgEfAxT2CAhFSXMw4r94m0YGn
mSj1qy3AbmLbuGUBjcdou5F5Yg3aOpT2fbYxwjPLNcCh945HaVKetVBC
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBdDCCARmgAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAtzZWN1cmUu
dGVzdDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLc2VjdXJlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ6CtcPgEfA
xT2CAhFSXMw4r94m0YGnmSj1qy3AbmLbuGUBjcdou5F5Yg3aOpT2fbYxwjPLNcCh
945HaVKetVBCo1YwVDAiBgNVHREEGzAZggtzZWN1cmUudGVzdIIKb3RoZXIudGVz
dDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBTYShX0Ed6V30sBUwLX+6y6/p/l
dzAKBggqhkjOPQQDAgNJADBGAiEAvI+2ECqjAtfNz0+uRnH2/uCW4a9CWOzL246q
k/SxG3QCIQCMx03XrSm9l70vOyQy2IMfmVmfX8KvgJuoz734GeJ1AA==
-----END CERTIFICATE-----
`,
}

/** The files of a certificate for 127.0.0.1, and its text. */
export interface LocalCertificate {
  cert: string
  key: string
  ca: string
}

/** Creates a certificate for 127.0.0.1 that it has signed itself. @param folder for its files */
export async function newLocalCertificate(folder: string): Promise<LocalCertificate> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1']
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key]
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...names, ...newKey, '-out', cert], {
    stdio: 'pipe',
  })
  return { cert, key, ca: await readFile(cert, 'utf8') }
}
