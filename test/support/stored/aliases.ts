import { ask } from '../requests/ask.ts'
import type { Caller } from '../requests/client.ts'

/** A version of an alias, as responses have it. */
export interface WireVersion {
  version: number
  file: string
  setAt: string
  missing: boolean
}

/** The response of `GET /v1/aliases/<name>`. */
export interface WireAlias extends WireVersion {
  name: string
  src: string
  versions: WireVersion[]
}

export interface WireAliasList {
  aliases: Array<Omit<WireAlias, 'versions'>>
  cursor: string | null
}

type Options = { headers?: Record<string, string>; secret?: string }

/** Any request for one alias. */
export function askAlias(
  caller: Caller,
  name: string,
  options: Parameters<typeof ask>[2] = {},
): Promise<{ status: number; body: never; headers: Headers }> {
  return ask(caller, `/v1/aliases/${name.split('/').map(encodeURIComponent).join('/')}`, options)
}

/** Sets an alias, which must succeed. */
export async function setAlias(
  caller: Caller,
  name: string,
  file: string,
  options: Options = {},
): Promise<WireAlias> {
  const { status, body } = await askAlias(caller, name, { method: 'PUT', json: { file }, ...options })
  if (status !== 200 && status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** The status and the code of a response; without a code for a success. */
export function outcomeOf({ status, body }: { status: number; body: unknown }): string {
  const { code } = (body ?? {}) as { code?: string }
  return code === undefined ? String(status) : `${status} ${code}`
}
