import sharp, { type Metadata } from 'sharp'
import { type Asset, assetFromBytes, readAll } from '../../../src/core/bytes/asset.ts'
import { formatOfMediaType, knownFormat } from '../../../src/core/media/formats.ts'
import type { TransformLimits } from '../../../src/core/plugin-api/limits.ts'
import type { Engine, EngineName } from '../../../src/core/plugin-api/plugin.ts'
import type { LoadedDetector, LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { createRunner, type WorkContext } from '../../../src/pipeline/run/run.ts'
import { STRANGER } from '../../support/requests/callers.ts'
import { recordLog } from '../../support/service.ts'
import { ENGINES, loadWith } from '../load/drop-ins.ts'

export const LIMITS: TransformLimits = {
  sourceMaxBytes: 40_000_000,
  videoMaxBytes: 4_000_000_000,
  sourceMaxPixels: 50_000_000,
  outputMaxSide: 5000,
  outputMaxBytes: 1_000_000_000,
  outputMaxPixels: 50_000_000,
  timeoutMs: 30_000,
  cores: 2,
}

export function context({
  clientId = 'client',
  caller = STRANGER,
  asset = async (key) => Promise.reject(new Error(`there is no ${key}`)),
  signal = new AbortController().signal,
  limits = LIMITS,
  afterwards = () => {},
  storePart = (name) => Promise.reject(new Error(`there is no place for ${name}`)),
  ...rest
}: Partial<WorkContext> = {}): WorkContext {
  return { ...rest, clientId, caller, asset, signal, limits, afterwards, storePart, log: recordLog() }
}

/** The file in the bucket. */
export function assetOf(bytes: Uint8Array, format: string): Asset {
  return assetFromBytes(bytes, { mediaType: knownFormat(format).mediaType, lastModified: new Date(0) })
}

export interface Transformation {
  /** As it stands in a URL. */
  query: string
  source: Asset
  accept?: string
  limits?: Partial<TransformLimits>
  signal?: AbortSignal
  /** The files that parameters of type `key` name. */
  assets?: Readonly<Record<string, Asset>>
  /** The included plugins by default. */
  transforms?: readonly LoadedPlugin[]
  detector?: LoadedDetector
  engines?: ReadonlyMap<EngineName, Engine>
}

/** What came out. */
export interface Outcome {
  bytes: Buffer
  mediaType: string
  metadata: Metadata
}

let shipped: Promise<readonly LoadedPlugin[]> | undefined

/** Plans and runs a transformation as the service would, without storing anything. */
export async function transform(request: Transformation): Promise<Outcome> {
  const outcome = await rendered(request)
  return { ...outcome, metadata: await metadataOf(outcome.bytes) }
}

/** As `transform`, for an output that sharp cannot read. */
export async function rendered({
  query,
  source,
  accept = '',
  limits,
  signal,
  assets = {},
  transforms,
  detector,
  engines = ENGINES,
}: Transformation): Promise<Omit<Outcome, 'metadata'>> {
  shipped ??= loadWith({}).then((set) => set.transforms)
  const format = formatOfMediaType(source.mediaType)
  const planner = createPlanner(transforms ?? (await shipped), [], detector ? { detector } : {})
  const plan = planner({ query: new URLSearchParams(query), format, preferences: { accept } })
  const asset = await createRunner(engines)(
    plan,
    source,
    context({
      asset: async (key) => assets[key] ?? Promise.reject(new Error(`there is no ${key}`)),
      limits: { ...LIMITS, ...limits },
      ...(signal ? { signal } : {}),
    }),
  )
  const bytes = await readAll(asset)
  if (asset.size !== bytes.length)
    throw new Error(`the asset says ${asset.size} bytes and has ${bytes.length}`)
  return { bytes, mediaType: asset.mediaType }
}

// The reader of gain maps that the service does not use.
const OTHER_READER = { operation: ['VipsForeignLoadUhdr'] }

async function metadataOf(bytes: Buffer): Promise<Metadata> {
  sharp.unblock(OTHER_READER)
  try {
    return await sharp(bytes).metadata()
  } finally {
    sharp.block(OTHER_READER)
  }
}

/** Transforms a picture in memory. */
export async function transformed(
  bytes: Uint8Array,
  query: string,
  { format = 'png', ...rest }: Partial<Omit<Transformation, 'source' | 'query'>> & { format?: string } = {},
): Promise<Outcome> {
  return transform({ ...rest, query, source: assetOf(bytes, format) })
}
