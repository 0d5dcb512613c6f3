import { randomBytes } from 'node:crypto'
import { readPrivateFile, savePrivateFile } from './disk/private-file.ts'

/**
 * Reads the secret from which all keys of the service are derived.
 *
 * @returns undefined when the file does not exist
 * @throws Error that names the file when its content is not a secret
 */
export async function readAppSecret(file: string): Promise<string | undefined> {
  const secret = (await readPrivateFile(file))?.trim()
  // The format that makeAppSecret writes. A shorter text is a truncated file.
  if (secret === undefined || /^[\w-]{43}$/.test(secret)) return secret
  throw new Error(
    `${file}: expected 43 letters, digits, "-" or "_". Restore it from a backup, or set APP_SECRET to a new value, which invalidates all signed links and URLs and the credentials of clients' own buckets`,
  )
}

/** Creates a secret, in a file that only its owner may read. */
export async function makeAppSecret(file: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await savePrivateFile(file, `${secret}\n`)
  return secret
}
