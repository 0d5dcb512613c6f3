import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import { eventually } from '../../support/eventually.ts'
import { MIB } from '../../support/heavy.ts'
import { video } from '../../support/media/videos.ts'
import { entriesOf } from '../../support/requests/archive.ts'
import { type Caller, rawPath, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, type Call, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../support/requests/multipart.ts'
import type { Receiver } from '../../support/requests/receiver.ts'
import { metadata, patch, recordIn, tus } from '../../support/requests/tus.ts'
import { noise } from '../../support/stored/noise.ts'
import { type State, storedState } from '../../support/stored/state.ts'

/** A response that a client has to retry later: on a busy machine, calls to Redis or S3 time out, and leases expire. */
class Busy extends Error {}
const BUSY = /(does|did) not respond|cannot be (reached|verified)/

/** A file whose upload was acknowledged. */
interface ModelFile {
  key: string
  src: string
  folder: string
  bytes: Buffer
  /** The keys of its derivatives. */
  derivatives: Set<string>
  isDeleted: boolean
}

/** Requests of all kinds by one client that last until they are stopped, and a model of what they have stored. */
export interface Load {
  /** Requests that failed, with their responses. */
  failures: readonly string[]
  /** Those with 503 and `Retry-After` of these, because Redis or S3 did not respond in time. */
  busy: readonly string[]
  /**
   * Begins two slow uploads by form and two by tus, two slow downloads and two archives. Resolves when half of their time has
   * passed; `ended`, when they have ended.
   */
  beginSlow(): Promise<{ ended: Promise<unknown> }>
  /** Resolves when each kind of requests has ended once more. */
  round(): Promise<void>
  /** Resolves when this number of media jobs run at the same time. */
  runningJobs(count: number): Promise<void>
  /** Resolves when the requests in progress have ended, and those without a final answer are repeated. */
  stop(): Promise<void>
  /** Compares all files, lists, searches, counts and events with the model. */
  compare(): Promise<void>
  /** How this state differs from what has to be stored. */
  differences(state: State): string[]
}

const CLIENT = 'first'
const JOBS_AT_ONCE = 4
const PIECES = 30
const LARGE_BYTES = 16 * MIB

/**
 * Starts it. No request is repeated, except those of {@link Load.busy} at its end.
 *
 * @param options.slowMs how long a slow transfer takes; `receiver`: gets the events
 */
export async function startLoad({
  caller,
  receiver,
  slowMs,
}: {
  caller: Caller
  receiver: Pick<Receiver, 'received'>
  slowMs: number
}): Promise<Load> {
  const Authorization = caller.tokens.secretClientToken
  const files: ModelFile[] = []
  const failures: string[] = []
  const busy: string[] = []
  /** What the service was too busy for. */
  const later: Array<() => Promise<unknown>> = []
  /** Finished uploads can be requested for a while. */
  const tusRecords: string[] = []
  const turns = new EventEmitter()
  const film = await video()
  let isOver = false

  /** A request with the secret that must succeed. */
  async function ask(target: string, call: Call = {}, statuses = [200]): Promise<Answer> {
    const answer = await exchange(caller, target, { ...call, headers: { Authorization, ...call.headers } })
    return due(answer, `${call.method ?? 'GET'} ${target}`, statuses)
  }

  /** Does `again` at the end when the service is too busy for `work`. */
  async function orLater(work: () => Promise<unknown>, again = work): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof Busy) later.push(again)
      throw error
    }
  }

  function stored(record: WireRecord | undefined, folder: string, bytes: Buffer): ModelFile {
    if (!record) throw new Error('an upload was answered without a record')
    const { s3PathOriginal: key, src } = record
    const file = { key, src, folder, bytes, derivatives: new Set<string>(), isDeleted: false }
    files.push(file)
    return file
  }

  async function upload(folder: string, name: string, bytes: Buffer, ms = 0, onHalf = () => {}) {
    const form = multipart([{ disposition: `name="file"; filename="${name}"`, bytes }])
    const headers = { 'Content-Type': MULTIPART, 'Content-Length': form.length }
    const body = ms === 0 ? form : paced(form, ms, onHalf)
    const answer = await ask(`/v1/upload?path=${folder}`, { method: 'POST', headers, body })
    return stored(JSON.parse(answer.body.toString())[0], folder, bytes)
  }

  async function uploadByTus(bytes: Buffer, onHalf: () => void): Promise<void> {
    const named = { 'Upload-Length': bytes.length, ...metadata({ filename: 'slow-tus.bin', path: 'slow' }) }
    const begun = await tus(caller, '/v1/tus', { method: 'POST', headers: named })
    const address = String(due(begun, 'POST of tus', [201]).headers.location)
    const send = async () => {
      const headers = { 'Content-Length': bytes.length }
      const body = paced(bytes, slowMs, onHalf)
      const answer = due(await patch(caller, address, { offset: 0, body, headers }), 'PATCH of tus', [204])
      stored(recordIn(answer), 'slow', bytes)
      tusRecords.push(`${CLIENT}/.sluice/tus/uploads/${CLIENT}/${address.split('/').pop()}.json`)
    }
    await orLater(send, () => tus(caller, address, { method: 'DELETE' }))
  }

  /** Reads a response at the pace at which `size` bytes take the slow time. */
  async function readSlowly(
    target: string,
    size: number,
    onHalf: () => void,
    json?: object,
  ): Promise<Buffer> {
    const sent = request(caller.url, {
      path: target,
      method: json ? 'POST' : 'GET',
      headers: { Authorization, 'Content-Type': 'application/json' },
    })
    const arrived = once(sent, 'response') as Promise<[IncomingMessage]>
    sent.end(json && JSON.stringify(json))
    const [response] = await arrived
    const { statusCode: status = 0, headers } = response
    if (status !== 200) due({ status, headers, body: await buffer(response) }, target, [200])
    const since = performance.now()
    const chunks: Buffer[] = []
    let read = 0
    for await (const chunk of response) {
      chunks.push(chunk)
      read += chunk.length
      if (read > size / 2) onHalf()
      await pause(since + (slowMs * read) / size - performance.now())
    }
    return Buffer.concat(chunks)
  }

  async function downloadSlowly({ key, bytes }: ModelFile, onHalf: () => void): Promise<void> {
    const body = await readSlowly(rawPath(caller, key), bytes.length, onHalf)
    if (!body.equals(bytes)) throw new Error(`${key} was delivered with other bytes`)
  }

  async function archiveSlowly(members: readonly ModelFile[], onHalf: () => void): Promise<void> {
    const size = members.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const json = { archiveName: 'slow', files: members.map(({ key: path }) => ({ path })) }
    const entries = entriesOf(await readSlowly('/v1/zip', size, onHalf, json))
    for (const { key, bytes } of members)
      if (!entries.some((entry) => entry.bytes.equals(bytes))) throw new Error(`${key} is not in the archive`)
  }

  const lanes: Record<string, (i: number) => Promise<unknown>> = {
    /** Each second file is deleted again. */
    async files(i) {
      const file = await upload(i % 2 ? 'stored' : 'deleted', `text-${i}.bin`, noise(20_000))
      const path = rawPath(caller, file.key)
      if (!(await ask(path)).body.equals(file.bytes)) throw new Error(`${file.key} has other bytes`)
      if (i % 2 === 0)
        await orLater(
          () => removed(file),
          () => removed(file, [200, 404]),
        )
    },
    async derivatives(i) {
      const picture = await sharp(randomBytes(64 * 48 * 3), { raw: { width: 64, height: 48, channels: 3 } })
        .png()
        .toBuffer()
      const file = await upload('pictures', `picture-${i}.png`, picture)
      for (const query of ['w=32', 'w=20&f=webp']) await orLater(() => derived(file, query))
    },
    async lists() {
      for (const query of ['files?limit=5', 'files?search=picture', 'folders', 'usage'])
        await ask(`/v1/${query}`)
    },
    ...Object.fromEntries(Array.from({ length: JOBS_AT_ONCE }, (_, lane) => [`jobs ${lane}`, transcode])),
  }

  async function removed(file: ModelFile, statuses = [200]): Promise<void> {
    await ask(`/v1/upload/${file.key}`, { method: 'DELETE' }, statuses)
    file.isDeleted = true
    await ask(rawPath(caller, file.key), {}, [404])
  }

  async function derived(file: ModelFile, query: string): Promise<void> {
    const { body, headers } = await ask(`${file.src}?${query}`)
    if (body.equals(file.bytes)) throw new Error(`${file.key}?${query} was not transformed`)
    file.derivatives.add(JSON.parse(headers.etag ?? ''))
  }

  async function transcode(i: number): Promise<void> {
    const file = await upload('films', `film-${i}.mp4`, film)
    await orLater(async () => {
      const answer = await ask(`${file.src}?w=80`, {}, [200, 423])
      if (answer.status === 423) await doneJob(String(jsonOf(answer).job))
      await derived(file, 'w=80')
    })
  }

  async function doneJob(job: string): Promise<void> {
    for (let state = ''; state !== 'done'; await pause(500)) {
      state = String(jsonOf(await ask(job)).state)
      if (state === 'failed') throw new Error(`${job} failed`)
    }
  }

  async function note(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const list = error instanceof Busy ? busy : failures
      list.push(`${new Date().toISOString()} ${what}: ${(error as Error).message}`)
    }
  }

  const large = [
    await upload('large', 'large-0.bin', noise(LARGE_BYTES)),
    await upload('large', 'large-1.bin', noise(LARGE_BYTES)),
  ] as const
  const ended = Object.entries(lanes).map(async ([name, work]) => {
    for (let i = 0; !isOver; i += 1) {
      await note(name, () => work(i))
      turns.emit(name)
      // Leaves CPU time to the service, also when all requests fail.
      await pause(200)
    }
  })
  const storedFiles = () => files.filter(({ isDeleted }) => !isDeleted)

  return {
    failures,
    busy,
    async beginSlow() {
      const begun: Array<Promise<unknown>> = []
      const slow = (what: string, work: (onHalf: () => void) => Promise<unknown>) => {
        let onHalf = () => {}
        begun.push(new Promise<void>((resolve) => (onHalf = resolve)))
        // One that has failed is not waited for.
        return note(what, () => work(onHalf)).finally(onHalf)
      }
      const all = [0, 1].flatMap((i) => [
        slow('slow form', (onHalf) => upload('slow', 'slow-form.bin', noise(3 * MIB), slowMs, onHalf)),
        slow('slow tus', (onHalf) => uploadByTus(noise(3 * MIB), onHalf)),
        slow('slow download', (onHalf) => downloadSlowly(large[i as 0], onHalf)),
        slow('slow archive', (onHalf) => archiveSlowly(large, onHalf)),
      ])
      await Promise.all(begun)
      return { ended: Promise.all(all) }
    },
    async round() {
      await Promise.all(Object.keys(lanes).map((name) => once(turns, name)))
    },
    async runningJobs(count) {
      for (let found = 0; found < count; await pause(200)) {
        const { jobs } = jsonOf(await patiently(() => ask('/v1/jobs?state=active')))
        found = (jobs as unknown[]).length
      }
    },
    async stop() {
      isOver = true
      await Promise.all(ended)
      for (const work of later) await patiently(work)
    },
    async compare() {
      for (const { key, bytes, isDeleted } of files) {
        const { body } = await sure(rawPath(caller, key), isDeleted ? 404 : 200)
        if (!isDeleted) expect(body.equals(bytes), `bytes of ${key}`).to.equal(true)
      }
      const byKey = (some: readonly ModelFile[]) => some.map(({ key }) => key).sort()
      expect(await listed('sort=key&limit=100')).to.deep.equal(byKey(storedFiles()))
      const folders: Record<string, unknown> = {}
      for (const folder of new Set(files.map((file) => file.folder))) {
        const inside = storedFiles().filter((file) => file.folder === folder)
        const prefix = `prefix=${folder}&limit=1000`
        expect(await listed(prefix), folder).to.deep.equal(byKey(inside))
        expect(jsonOf(await sure(`/v1/files?${prefix}&count=1`)).total, folder).to.equal(inside.length)
        if (inside.length > 0)
          folders[folder] = { files: inside.length, bytes: sum(inside.map(({ bytes }) => bytes.length)) }
      }
      const counted = jsonOf(await sure('/v1/folders')).folders as Array<Record<string, unknown>>
      expect(
        Object.fromEntries(counted.map(({ path, files, bytes }) => [path, { files, bytes }])),
      ).to.deep.equal(folders)
      const pictures = storedFiles().filter(({ folder }) => folder === 'pictures')
      expect(await listed('search=PICTURE-&limit=1000')).to.deep.equal(byKey(pictures))
      expect(jsonOf(await sure('/v1/usage'))).to.include({
        files: storedFiles().length,
        storedBytes: sum(storedFiles().map(({ bytes }) => bytes.length)),
      })
      await eventually(() => expect(eventsIn(receiver)).to.deep.equal(eventsOf(files)))
    },
    differences(state) {
      const variants = storedFiles().map(({ key, derivatives }) => [
        key,
        [...derivatives].map((each) => each.slice(key.length + 1)),
      ])
      const due = storedState(CLIENT, Object.fromEntries(variants))
      due.files.push(...tusRecords)
      return (['files', 'rows'] as const).flatMap((kind) => [
        ...without(state[kind], due[kind]).map((each) => `left over: ${each}`),
        ...without(due[kind], state[kind]).map((each) => `missing: ${each}`),
      ])
    },
  }

  function sure(target: string, status = 200): Promise<Answer> {
    return patiently(() => ask(target, {}, [status]))
  }

  async function listed(query: string): Promise<string[]> {
    const keys: string[] = []
    for (let cursor: unknown = ''; cursor !== null; ) {
      const at = cursor ? `&cursor=${encodeURIComponent(String(cursor))}` : ''
      const page = jsonOf(await sure(`/v1/files?${query}${at}`))
      keys.push(...(page.files as Array<{ s3PathOriginal: string }>).map((each) => each.s3PathOriginal))
      cursor = page.cursor
    }
    return keys.sort()
  }
}

function without(all: readonly string[], some: readonly string[]): string[] {
  const excluded = new Set(some)
  return all.filter((each) => !excluded.has(each))
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

function due<A extends Pick<Answer, 'status' | 'headers' | 'body'>>(
  answer: A,
  what: string,
  statuses: readonly number[],
): A {
  if (statuses.includes(answer.status)) return answer
  const text = `${what}: ${answer.status} instead of ${statuses}, ${answer.body.subarray(0, 300)}`
  const isBusy = answer.status === 503 && 'retry-after' in answer.headers && BUSY.test(text)
  throw isBusy ? new Busy(text) : new Error(text)
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Busy)) throw error
      await pause(1000)
    }
  }
}

/** The bytes in pieces, over this time. `onHalf` is called after half of it. */
function paced(bytes: Buffer, ms: number, onHalf: () => void): Readable {
  async function* pieces() {
    const size = Math.ceil(bytes.length / PIECES)
    const since = performance.now()
    for (let i = 0; i < PIECES; i += 1) {
      yield bytes.subarray(i * size, (i + 1) * size)
      if (i === PIECES / 2) onHalf()
      await pause(since + ((i + 1) * ms) / PIECES - performance.now())
    }
  }
  return Readable.from(pieces())
}

const EVENTS = ['original.stored', 'original.deleted', 'derivative.stored', 'derivative.failed']

/** Each event once, however often it was delivered. */
function eventsIn({ received }: Pick<Receiver, 'received'>): string[] {
  const byId = new Map(received.map(({ headers, body }) => [headers['webhook-id'], body]))
  return [...byId.values()]
    .map((body) => JSON.parse(body.toString()))
    .filter(({ type }) => EVENTS.includes(type))
    .map(({ type, data }) => `${type} ${data.key}`)
    .sort()
}

function eventsOf(files: readonly ModelFile[]): string[] {
  return files
    .flatMap(({ key, derivatives, isDeleted }) => [
      `original.stored ${key}`,
      ...[...derivatives].map((derivative) => `derivative.stored ${derivative}`),
      ...(isDeleted ? [`original.deleted ${key}`] : []),
    ])
    .sort()
}
