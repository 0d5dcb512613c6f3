import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { isOffice, knownFormat } from '../../../src/core/media/formats.ts'
import { isSequence, sequenceIn } from '../../../src/engines/image/sequences/tracks.ts'
import { type Caller, uploadOne } from '../requests/client.ts'
import { exchange, jsonOf } from '../requests/exchange.ts'

/** What Sluice makes of a file. */
export interface CorpusOutcome {
  group: string
  format: string
  /** The result of `?w=64`: the status, and the type and size of the image, the type of the video, or the error code. */
  transformed: string
}

const AT_ONCE = 4
// A transcode of half a second of video takes a second; the others may be ahead of it.
const MAX_WAITS = 6

/** Uploads each file of a folder, or only those with these names, and requests `?w=64` of it. */
export async function corpusOutcomes(
  service: Caller,
  folder: string,
  only?: readonly string[],
): Promise<Record<string, CorpusOutcome>> {
  const names = only ?? (await filesOf(folder))
  const found = await ofEach(names, async (name) =>
    outcome(service, name, await readFile(join(folder, name))),
  )
  return Object.fromEntries(names.map((name) => [name, found.get(name) as CorpusOutcome]))
}

/** The files of a folder, in order. */
export async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
}

/** Does the same for each name, four at a time. */
export async function ofEach<T>(
  names: readonly string[],
  work: (name: string) => Promise<T>,
): Promise<Map<string, T>> {
  const found = new Map<string, T>()
  const waiting = [...names]
  async function inTurn() {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      found.set(name, await work(name))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, inTurn))
  return found
}

async function outcome(service: Caller, name: string, bytes: Buffer): Promise<CorpusOutcome> {
  const record = await uploadOne(service, { name, bytes })
  const known = { group: record.mimeType, format: record.format }
  const needsJob = known.group === 'video' || isOffice(knownFormat(known.format))
  const path = `${record.src}?w=64${needsJob ? '&wait=30' : ''}`
  let answer = await exchange(service, path)
  for (let waits = 1; answer.status === 423 && waits < MAX_WAITS; waits += 1)
    answer = await exchange(service, path)
  const { status, headers, body } = answer
  const type = headers['content-type']
  const said =
    status !== 200
      ? jsonOf({ body }).code
      : type?.startsWith('image/')
        ? `${type} ${await sizeOf(body)}`
        : type
  return { ...known, transformed: `${status} ${said}` }
}

/** The size that sharp renders with its default options, without enlarging, as Sluice; undefined when it refuses the file. */
export async function plainSharp(bytes: Buffer): Promise<string | undefined> {
  return sharp(bytes)
    .resize({ width: 64, withoutEnlargement: true })
    .toBuffer({ resolveWithObject: true })
    .then(
      ({ info }) => `${info.width}x${info.height}`,
      () => undefined,
    )
}

/** sharp cannot read animations of AVIF. */
async function sizeOf(image: Buffer): Promise<string> {
  const { width, height } = isSequence(image) ? (sequenceIn(image) ?? {}) : await sharp(image).metadata()
  return `${width}x${height}`
}
