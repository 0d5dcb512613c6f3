import pLimit from 'p-limit'
import { anySignal } from '../../core/async/any-signal.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type Asset, readAll } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, type ObjectKey } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import type { Log } from '../../core/log.ts'
import { isOffice, isText, isZip, transformedAs } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type {
  ArchiveFacts,
  ArchiveInspector,
  ImageInformation,
  ImageInspector,
  MediaFacts,
  TextFacts,
  TextInspector,
} from '../../core/plugin-api/inspectors.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { fileNotFound, Problem, unavailable, unlessStatus } from '../../core/problem.ts'
import type { Planner } from '../../pipeline/plan/plan.ts'
import { informationPlan, isInspected } from '../../pipeline/run/info-plan.ts'
import { imageInformation, mediaFacts } from '../../pipeline/run/stored-information.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { FindLateTruncation } from '../derivatives/late-truncation.ts'
import { sourceFacts } from '../derivatives/source-facts.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'
import { pdfKeyOf } from './pdf-source.ts'

/** Information about an original. It is as public as the bytes of the file. */
export interface Information extends FoundOriginal {
  /** For images. If the image cannot be decoded, only the values of its header; absent without a readable header. */
  image?: Partial<ImageInformation>
  /** For videos and audio that can be parsed. */
  media?: MediaFacts
  /** For a ZIP that can be read. */
  archive?: ArchiveFacts
  /** For a text. */
  text?: TextFacts
  /** Set for an Office document without a PDF. With a PDF, the information has its pages. */
  isProvisional?: true
  /** Why the information is incomplete. */
  problem?: Problem
}

/** The caller of a request for information. */
export interface InfoOptions {
  caller: Caller
  /** Called before a file is inspected for the first time. Its error is the response. */
  beforeRender?: () => Promise<void>
  signal: AbortSignal
}

/** Options with the derivative from which the information is read; by default, from the original. */
type FromOptions = InfoOptions & { from?: ObjectKey }

/** Returns information about stored files. Each file is inspected once; the result is stored next to it. */
export interface FileInfos {
  /**
   * Information about the original that a path names.
   * @throws Problem 400, 404 as for a delivery, 503
   */
  ofPath(request: {
    client: Client
    caller: Caller
    group: MediaGroup
    /** Decoded once, not validated yet. */
    path: string
    beforeRender?: () => Promise<void>
    signal: AbortSignal
  }): Promise<Information>
  /** Information about several originals, in their order; incomplete for those that fail. Throws only `signal.reason`. */
  ofStored(client: Client, found: readonly FoundOriginal[], options: InfoOptions): Promise<Information[]>
}

// For images that cannot be decoded. The header of a JPEG is in its first 100 kB; that of a WebP needs the complete file.
const HEAD_BYTES = 16 * 1024 * 1024
const HEADS_AT_ONCE = 2
// An SVG has to be parsed completely, and may expand to a billion elements. A TIFF may have half a million directories.
const COSTLY_HEADERS = new Set(['svg', 'tiff'])
// Per upload: a form with a hundred files must not fill the queue.
const CONCURRENCY = 2

export function createFileInfos({
  originals,
  scans,
  derivations,
  buckets,
  plan,
  inspector,
  archives,
  texts,
  findLateTruncation,
  patienceMs = 30_000,
  log,
}: {
  originals: Originals
  scans: Pick<ScanQueue, 'check'>
  derivations: Derivations
  buckets: Buckets
  plan: Planner
  inspector: ImageInspector
  archives: ArchiveInspector
  texts: TextInspector
  findLateTruncation: FindLateTruncation
  /** How long an upload waits for the information about its files. */
  patienceMs?: number
  log: Log
}): FileInfos {
  const reading = pLimit(HEADS_AT_ONCE)

  async function loadOrRender(client: Client, found: FoundOriginal, options: FromOptions): Promise<Asset> {
    const { key, format } = found.name
    const stored = await originals.derivativeToRead(client, key, derivativeKey(key, INFORMATION_VARIANT))
    return stored ?? derivations.derive({ ...found, client, plan: informationPlan(plan, format), ...options })
  }

  async function inspected(client: Client, found: FoundOriginal, options: FromOptions): Promise<Information> {
    const { signal } = options
    const isImage = transformedAs(found.name.format) === 'image'
    try {
      const asset = await loadOrRender(client, found, options)
      const known = JSON.parse((await readAll(asset, signal)).toString('utf8'))
      if (isImage) return { ...found, image: imageInformation.parse(known) }
      return { ...found, media: mediaFacts.parse(known) }
    } catch (error) {
      // The file is broken, exceeds a limit, or has an unsupported format. Its header may be readable.
      if (!(error instanceof Problem) || ![422, 501].includes(error.status)) throw error
      const marked = await findLateTruncation(client, found, error)
      if (marked) return inspected(client, marked, options)
      return { ...found, ...(isImage ? await headOf(client, found, signal) : {}), problem: error }
    }
  }

  /** The pages of an Office document are those of its PDF. No PDF is rendered for this: that takes a job. */
  async function ofOffice(client: Client, found: FoundOriginal, options: InfoOptions): Promise<Information> {
    const pdf = await unlessStatus(400, (async () => pdfKeyOf(plan, found.name))())
    if (!pdf || !(await originals.derivativeToRead(client, found.name.key, pdf)))
      return { ...found, isProvisional: true }
    return inspected(client, found, { ...options, from: pdf })
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
    options: InfoOptions,
  ): Promise<Information> {
    const found = { name, record }
    if (!isInspected(name.format)) return found
    try {
      return await inspected(client, found, options)
    } catch (error) {
      if (error instanceof Problem) return { ...found, problem: error }
      if (!options.signal.aborted)
        log.error({ err: error, client: client.id, key: name.key }, 'file information could not be read')
      return { ...found, problem: unknownAsYet() }
    }
  }

  return {
    async ofPath({ client, group, path, ...options }) {
      const found = await originals.resolveToRead(client, parsePath(path, { group }))
      if (!found || found.name.format.group !== group) throw fileNotFound()
      if (found.variant !== undefined) throw informationOfDerivative()
      scans.check(client, found.record)
      const { name, record } = found
      if (isInspected(name.format)) return inspected(client, { name, record }, options)
      if (isOffice(name.format)) return ofOffice(client, { name, record }, options)
      const source = await buckets.of(client).find(name.key, record)
      if (!source) throw fileNotFound()
      if (!isZip(name.format) && !isText(name.format)) return { name, record }
      await options.beforeRender?.()
      if (isText(name.format))
        return { name, record, text: await reading(() => texts.facts(source, options.signal)) }
      const archive = await reading(() => archives.entries(source, options.signal))
      return { name, record, ...(archive ? { archive } : {}) }
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
