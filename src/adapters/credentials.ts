import { z } from 'zod'
import { newClientToken, newSecretToken } from '../core/client.ts'
import { readPrivateFile, savePrivateFile } from './private-file.ts'

const credentialsFile = z.strictObject({
  clientToken: z.string().min(1),
  secretClientToken: z.string().min(1),
})

export type Credentials = z.infer<typeof credentialsFile>

/**
 * The first client's tokens, made once and kept in a file that only its owner reads.
 *
 * @throws Error with the file's name when it holds something else
 */
export async function loadCredentials(file: string): Promise<Credentials> {
  const text = await readPrivateFile(file)
  if (text === undefined) return makeCredentials(file)
  try {
    return credentialsFile.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error(
      `${file}: expected {"clientToken": "…", "secretClientToken": "…"}; remove it to get new tokens`,
      { cause },
    )
  }
}

async function makeCredentials(file: string): Promise<Credentials> {
  const credentials = { clientToken: newClientToken(), secretClientToken: newSecretToken() }
  await saveCredentials(file, credentials)
  return credentials
}

/** Puts them in the place of what the file holds, all or nothing, and on the disk when it resolves. */
export async function saveCredentials(file: string, credentials: Credentials): Promise<void> {
  await savePrivateFile(file, `${JSON.stringify(credentials, null, 2)}\n`)
}
