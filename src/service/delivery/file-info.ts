import pLimit from 'p-limit'
import { z } from 'zod'
import { anySignal } from '../../core/async/any-signal.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Asset, readAll } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import type { Log } from '../../core/log.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { ImageInformation, ImageInspector, MediaFacts } from '../../core/plugin-api/inspectors.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { fileNotFound, Problem, unavailable } from '../../core/problem.ts'
import type { Planner } from '../../pipeline/plan/plan.ts'
import { informationPlan, isInspected } from '../../pipeline/run/info-plan.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { FindLateTruncation } from '../derivatives/late-truncation.ts'
import { sourceFacts } from '../derivatives/source-facts.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'

/** What is known of an original: all of it public, as its bytes are. */
export interface Information extends FoundOriginal {
  /** Of a picture; what its header says at least, where it has one that can be read. */
  image?: Partial<ImageInformation>
  /** Of a video or sound that can be read. */
  media?: MediaFacts
  /** Why not all is known that there is to know. */
  problem?: Problem
}

/** Who asks, and for how long. */
export interface Asked {
  caller: Caller
  /** Asked before it is found out what is not known yet: what it throws is the answer. */
  beforeRender?: () => Promise<void>
  signal: AbortSignal
}

/** Tells of stored files. */
export interface FileInfos {
  /**
   * What is known of the original that a path means.
   * @throws Problem 400, 404 as delivery does, 503
   */
  ofPath(request: {
    client: Client
    caller: Caller
    group: MediaGroup
    /** Decoded once, not checked yet. */
    path: string
    beforeRender?: () => Promise<void>
    signal: AbortSignal
  }): Promise<Information>
  /** What can be found out of some at the moment, in their order. Throws nothing but `signal.reason`. */
  ofStored(client: Client, found: readonly FoundOriginal[], asked: Asked): Promise<Information[]>
}

// Of a picture that cannot be transformed. A JPEG's header is in the first 100 kB, a WebP's can be read of all of it only.
const HEAD_BYTES = 16 * 1024 * 1024
const HEADS_AT_ONCE = 2
// An SVG's is all of it, and may stand for a billion elements; a TIFF's may be half a million directories.
const COSTLY_HEADERS = new Set(['svg', 'tiff'])
// Of one upload's files: a form of a hundred must not fill the queue.
const CONCURRENCY = 2

const imageInformation = z.object({
  width: z.number(),
  height: z.number(),
  pages: z.number().optional(),
  hasAlpha: z.boolean(),
  colorSpace: z.string(),
  exif: z
    .object({
      tags: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.number())])),
      location: z
        .object({ latitude: z.number(), longitude: z.number(), altitude: z.number().optional() })
        .optional(),
    })
    .optional(),
  dominantColor: z.string().optional(),
  thumbHash: z.string(),
  blurHash: z.string(),
})

const mediaFacts = z.object({
  container: z.string(),
  duration: z.number().optional(),
  bitrate: z.number().optional(),
  videoCodec: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
  rotation: z.number().optional(),
  frameRate: z.number().optional(),
  audioCodec: z.string().optional(),
  channels: z.number().optional(),
  sampleRate: z.number().optional(),
})

export function createFileInfos({
  originals,
  derivations,
  buckets,
  plan,
  inspector,
  findLateTruncation,
  patienceMs = 30_000,
  log,
}: {
  originals: Originals
  derivations: Derivations
  buckets: Buckets
  plan: Planner
  inspector: ImageInspector
  findLateTruncation: FindLateTruncation
  /** How long an upload waits for what is known of its files. */
  patienceMs?: number
  log: Log
}): FileInfos {
  const reading = pLimit(HEADS_AT_ONCE)

  async function loadOrRender(client: Client, found: FoundOriginal, asked: Asked): Promise<Asset> {
    const { key, format } = found.name
    const stored = await originals.derivativeToRead(client, key, derivativeKey(key, INFORMATION_VARIANT))
    return stored ?? derivations.derive({ ...found, client, plan: informationPlan(plan, format), ...asked })
  }

  async function inspected(client: Client, found: FoundOriginal, asked: Asked): Promise<Information> {
    const { signal } = asked
    const isImage = found.name.format.group === 'image'
    try {
      const asset = await loadOrRender(client, found, asked)
      const known = JSON.parse((await readAll(asset, signal)).toString('utf8'))
      if (isImage) return { ...found, image: imageInformation.parse(known) }
      return { ...found, media: mediaFacts.parse(known) }
    } catch (error) {
      // Broken, past a limit, or nothing here that reads it: that is known of it, and perhaps its header.
      if (!(error instanceof Problem) || ![422, 501].includes(error.status)) throw error
      const marked = await findLateTruncation(client, found, error)
      if (marked) return inspected(client, marked, asked)
      return { ...found, ...(isImage ? await headOf(client, found, signal) : {}), problem: error }
    }
  }

  async function headOf(client: Client, { name, record }: FoundOriginal, signal: AbortSignal) {
    if (COSTLY_HEADERS.has(name.format.name)) return {}
    const image = await reading(async () => {
      signal.throwIfAborted()
      const source = await buckets.of(client).find(name.key, record)
      return (
        source &&
        source.size > 0 &&
        inspector.facts({ ...source, ...sourceFacts(record) }, { maxBytes: HEAD_BYTES, signal })
      )
    })
    return image ? { image } : {}
  }

  async function knownInTime(
    client: Client,
    { name, record }: FoundOriginal,
    asked: Asked,
  ): Promise<Information> {
    const found = { name, record }
    if (!isInspected(name.format.group)) return found
    try {
      return await inspected(client, found, asked)
    } catch (error) {
      if (error instanceof Problem) return { ...found, problem: error }
      if (!asked.signal.aborted)
        log.error({ err: error, client: client.id, key: name.key }, 'file information could not be read')
      return { ...found, problem: unknownAsYet() }
    }
  }

  return {
    async ofPath({ client, group, path, ...asked }) {
      const found = await originals.resolveToRead(client, parsePath(path, { group }))
      if (!found || found.name.format.group !== group) throw fileNotFound()
      if (found.variant !== undefined) throw informationOfDerivative()
      const { name, record } = found
      if (isInspected(group)) return inspected(client, { name, record }, asked)
      if (!(await buckets.of(client).find(name.key, record))) throw fileNotFound()
      return { name, record }
    },

    async ofStored(client, found, { caller, signal }) {
      const inTime = anySignal([signal, AbortSignal.timeout(patienceMs)])
      const work = (each: FoundOriginal) => knownInTime(client, each, { caller, signal: inTime.signal })
      try {
        const known: Information[] = []
        for await (const each of mapConcurrent(found, { concurrency: CONCURRENCY, work })) {
          signal.throwIfAborted()
          known.push(each)
        }
        return known
      } finally {
        inTime.leave()
      }
    },
  }
}

function informationOfDerivative(): Problem {
  return new Problem({
    status: 400,
    code: 'information_of_derivative',
    detail: 'expected the path of an original, not of a derivative',
  })
}

function unknownAsYet(): Problem {
  return unavailable('File information is not available yet. Retry in a few seconds.')
}
