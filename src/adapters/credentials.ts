import { z } from 'zod'
import { newClientToken, newSecretToken } from '../core/clients/client.ts'
import { readPrivateFile, savePrivateFile } from './disk/private-file.ts'

const credentialsFile = z.strictObject({
  clientToken: z.string().min(1),
  secretClientToken: z.string().min(1),
})

export type Credentials = z.infer<typeof credentialsFile>

/**
 * Reads the tokens of the first client.
 *
 * @returns undefined when the file does not exist
 * @throws Error that names the file when its content is invalid
 */
export async function readCredentials(file: string): Promise<Credentials | undefined> {
  const text = await readPrivateFile(file)
  if (text === undefined) return undefined
  try {
    return credentialsFile.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error(
      `${file}: expected {"clientToken": "…", "secretClientToken": "…"}. Remove it, and the next start writes it again from the records in the bucket`,
      { cause },
    )
  }
}

/** Creates new tokens, in a file that only its owner may read. */
export async function makeCredentials(file: string): Promise<Credentials> {
  const credentials = { clientToken: newClientToken(), secretClientToken: newSecretToken() }
  await saveCredentials(file, credentials)
  return credentials
}

/** Replaces the content of the file atomically. The new content is durable when this resolves. */
export async function saveCredentials(file: string, credentials: Credentials): Promise<void> {
  await savePrivateFile(file, `${JSON.stringify(credentials, null, 2)}\n`)
}
