import { ask } from '../requests/ask.ts'
import type { Caller } from '../requests/client.ts'
import type { WireFile } from './files.ts'

/** The outcome for one file of a copy or move. */
export interface CopyOutcome {
  path: string
  status: string
  file?: WireFile
  redirectUntil?: string
  code?: string
  detail?: string
}

interface FileToCopy {
  from: string
  to: string
  redirect?: string
}

/** `POST /v1/files/copy` or `POST /v1/files/move` that must be accepted. */
export async function copyOrMove(
  caller: Caller,
  action: 'copy' | 'move',
  files: readonly FileToCopy[],
  options: { secret?: string } = {},
): Promise<CopyOutcome[]> {
  const { status, body } = await ask(caller, `/v1/files/${action}`, {
    method: 'POST',
    json: { files },
    ...options,
  })
  if (status !== 200) throw new Error(`refused: ${status} ${JSON.stringify(body)}`)
  return (body as { results: CopyOutcome[] }).results
}

/** The file after a copy or move that must be successful. */
export async function copiedOrMoved(
  caller: Caller,
  action: 'copy' | 'move',
  file: FileToCopy,
): Promise<WireFile & Pick<CopyOutcome, 'redirectUntil'>> {
  const [outcome] = await copyOrMove(caller, action, [file])
  if (!outcome?.file) throw new Error(JSON.stringify(outcome))
  const { redirectUntil } = outcome
  return { ...outcome.file, ...(redirectUntil === undefined ? {} : { redirectUntil }) }
}
