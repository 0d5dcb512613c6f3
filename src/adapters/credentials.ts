import { z } from 'zod'
import { newClientToken, newSecretToken } from '../core/clients/client.ts'
import { readPrivateFile, savePrivateFile } from './disk/private-file.ts'

const credentialsFile = z.strictObject({
  clientToken: z.string().min(1),
  secretClientToken: z.string().min(1),
})

export type Credentials = z.infer<typeof credentialsFile>

/**
 * The first client's tokens, as the file holds them.
 *
 * @returns undefined when there is no such file
 * @throws Error with the file's name when it holds something else
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

/** Puts them in the place of what the file holds, all or nothing, and on the disk when it resolves. */
export async function saveCredentials(file: string, credentials: Credentials): Promise<void> {
  await savePrivateFile(file, `${JSON.stringify(credentials, null, 2)}\n`)
}
