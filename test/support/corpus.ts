import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { type Caller, uploadOne } from './client.ts'
import { exchange, jsonOf } from './exchange.ts'

/** What Sluice makes of a file, and sharp alone. */
export interface CorpusOutcome {
  group: string
  format: string
  /** Of `?w=64`: the status, and the type of the picture or the code of the problem. */
  transformed: string
  /** The format that sharp alone reads it as. */
  sharp?: string
}

const AT_ONCE = 4

/** Uploads each file of a folder and requests `?w=64` of it. */
export async function corpusOutcomes(
  service: Caller,
  folder: string,
): Promise<Record<string, CorpusOutcome>> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  const found = new Map<string, CorpusOutcome>()
  const waiting = [...names]
  async function work() {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      found.set(name, await outcome(service, name, await readFile(join(folder, name))))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return Object.fromEntries(names.sort().map((name) => [name, found.get(name) as CorpusOutcome]))
}

async function outcome(service: Caller, name: string, bytes: Buffer): Promise<CorpusOutcome> {
  const record = await uploadOne(service, { name, bytes })
  const known = { group: record.mimeType, format: record.format }
  // It would queue a job for each of them.
  if (known.group === 'video') return { ...known, transformed: 'not requested' }
  const answer = await exchange(service, `${record.src}?w=64`)
  const said = answer.status === 200 ? answer.headers['content-type'] : jsonOf(answer).code
  const alone = await sharp(bytes)
    .metadata()
    .catch(() => undefined)
  return {
    ...known,
    transformed: `${answer.status} ${said}`,
    ...(alone ? { sharp: alone.format } : {}),
  }
}
