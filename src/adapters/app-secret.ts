import { randomBytes } from 'node:crypto'
import { readPrivateFile, savePrivateFile } from './private-file.ts'

/**
 * The secret that all keys of the service are made of, made once and kept in a file that only its owner reads.
 *
 * @throws Error with the file's name when it holds something else
 */
export async function loadAppSecret(file: string): Promise<string> {
  const kept = await readPrivateFile(file)
  if (kept === undefined) {
    const secret = randomBytes(32).toString('base64url')
    await savePrivateFile(file, `${secret}\n`)
    return secret
  }
  const secret = kept.trim()
  // As what was made above: less of it is a file that somebody has cut.
  if (/^[\w-]{43}$/.test(secret)) return secret
  throw new Error(
    `${file}: expected 43 letters, digits, "-" or "_"; restore it, or remove it, which ends all signed links and forgets the credentials of clients' own buckets`,
  )
}
