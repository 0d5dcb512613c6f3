import { availableParallelism } from 'node:os'
import { extname, join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { transformerEnvironment } from '../../config/programs.ts'
import { measuredJobs, watchJobs } from '../adapters/jobs/measured.ts'
import { createAccounts } from '../core/budgets/accounts.ts'
import { createCpuTime } from '../core/budgets/cpu-time.ts'
import { waitingShares } from '../core/budgets/shares.ts'
import type { Log } from '../core/log.ts'
import type { TransformLimits } from '../core/plugin-api/limits.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import { imageInspector } from '../engines/image/inspector.ts'
import { jobUrl } from '../http/wire/urls.ts'
import { createPlanner } from '../pipeline/plan/plan.ts'
import { createAdmission } from '../pipeline/run/admission.ts'
import { createDispatcher } from '../pipeline/run/dispatch.ts'
import { informedRunner } from '../pipeline/run/info-plan.ts'
import { createChildRunner } from '../pipeline/run/remote-runner.ts'
import { createRunner } from '../pipeline/run/run.ts'
import { createPool } from '../process/child-pool/pool.ts'
import { createDeliveries } from '../service/delivery/deliver.ts'
import { createMediaJobs } from '../service/delivery/media-jobs.ts'
import { createAssets } from '../service/delivery/referenced-files.ts'
import { createDerivations } from '../service/derivatives/derive.ts'
import { createFindLateTruncation } from '../service/derivatives/late-truncation.ts'
import { createNotedUses } from '../service/derivatives/noted-uses.ts'
import { createAnnotate } from '../service/files/annotate.ts'
import type { TransformerSetup } from '../transformer.ts'
import type { Loaded } from './plugins.ts'
import type { Services } from './services.ts'

/** What one request may cost: by default 40 MB of file, 50 MP x 4 bytes = 200 MB of pixels, half a minute of a core. */
function limitsOf(config: Config): TransformLimits {
  const {
    IMAGE_MAX_BYTES,
    VIDEO_MAX_BYTES,
    IMAGE_MAX_PIXELS,
    TRANSFORM_TIMEOUT_SECONDS,
    MEDIA_MAX_MEMORY_BYTES,
  } = config
  return {
    sourceMaxBytes: IMAGE_MAX_BYTES,
    videoMaxBytes: VIDEO_MAX_BYTES,
    sourceMaxPixels: IMAGE_MAX_PIXELS,
    outputMaxSide: 5000,
    // Two frames of the largest sides: a small animation in a large box is as costly as a large one.
    outputMaxPixels: 50_000_000,
    outputMaxBytes: config.OUTPUT_MAX_BYTES,
    timeoutMs: TRANSFORM_TIMEOUT_SECONDS * 1000,
    truncated: config.IMAGE_TRUNCATED,
    mediaMaxMemoryBytes: MEDIA_MAX_MEMORY_BYTES,
  }
}

// All transformations in this process together: it stays below 400 MB, with what glibc keeps of the ones before. What takes
// more has a process of its own, so that no thread of this one is busy for longer than 10 s either: 7 MP as GIF.
const HERE_BYTES = 100_000_000
const TRANSFORMER = join(import.meta.dirname, '..', `transformer${extname(import.meta.filename)}`)
// Of the four that libuv has by itself.
const THREADS_FOR_FILES = 2

// A header may take the whole file, of 40 MB. One untrusted address may have two looks at once.
const LOOKS_AT_ONCE = 3

// A picture that is too large for AVIF is a WebP.
const AUTO_ACCEPT = { webp: 'image/webp', avif: 'image/avif,image/webp' } as const

/** What makes derivatives, and finds them: what a web process and a worker both stand on. */
export function openTransformations(
  { backends, buckets, index, events, evict, answered, presentClient, originals, records }: Services,
  { config, baseUrl, log, loaded, metrics }: TransformationsOptions,
) {
  const { chain, engines, ffmpeg, ownEngines, folders, plugins, presets } = loaded
  const atOnce = transformsAtOnce(config)
  const maxMemoryBytes = config.TRANSFORM_MAX_MEMORY_BYTES
  const accounts = createAccounts()
  const { TRANSFORM_WAITING: atMost, TRANSFORM_WAITING_ADDRESS: perAddress } = config
  const lines = {
    waiting: waitingShares({ atMost, perAddress }),
    waitMs: config.TRANSFORM_WAIT_SECONDS * 1000,
  }
  const memory = { heavyFrom: HERE_BYTES, heavyBytes: maxMemoryBytes }
  const admit = createAdmission({ ...lines, ...memory, atOnce }, { accounts })
  const look = createAdmission({ ...lines, ...memory, atOnce: LOOKS_AT_ONCE }, { accounts })
  metrics.watchTransforms(admit.load)
  const here = informedRunner(createRunner(engines), { images: imageInspector, media: ffmpeg })
  const setup: TransformerSetup = { folders, chain, maxMemoryBytes }
  const cpuTime = createCpuTime(backends.limits.cpu)
  const env = transformerEnvironment()
  const pool = createPool({ script: TRANSFORMER, setup, env, most: atOnce, maxMemoryBytes, log })
  const run = createDispatcher({
    engines,
    admit,
    look,
    cpuTime,
    here,
    // Those processes have the engines that Sluice comes with.
    elsewhere: ownEngines ? createChildRunner(pool) : here,
    room: { bytes: HERE_BYTES, atOnce: threadsForTransforms(config) },
    hangMs: config.TRANSFORM_KILL_SECONDS * 1000,
    metrics,
  })
  const assets = createAssets({ originals, buckets })
  const limits = limitsOf(config)
  const derivations = createDerivations({
    answered,
    index,
    buckets,
    assets,
    originals,
    locks: backends.locks,
    events,
    run,
    cpuTime,
    limits,
    derivativeLimits: {
      variantLimit: config.VARIANT_LIMIT,
      derivativesMaxBytes: config.DERIVATIVES_MAX_BYTES,
      derivativesMaxTimes: config.DERIVATIVES_MAX_TIMES,
    },
    evict,
    log,
  })
  const plan = createPlanner(plugins.transforms, chain.ignoredParams, {
    presets,
    ...(config.AUTO_FORMAT === 'accept' ? {} : { autoAccept: AUTO_ACCEPT[config.AUTO_FORMAT] }),
    ...(plugins.detector ? { detector: plugins.detector } : {}),
  })
  const jobs = measuredJobs(backends.jobs, { metrics, log })
  watchJobs(jobs, ['media', 'derive'], metrics)
  const media = createMediaJobs({
    originals,
    derivations,
    plan,
    jobs,
    presentClient,
    urlOf: ({ token }, key) => jobUrl(key, { baseUrl, token }),
    // The web processes may have been set up without it.
    ensureInstalled: isLeftToWorkers(config) ? async () => {} : () => loaded.ffmpeg.ensureInstalled(),
    timeoutMs: config.MEDIA_TIMEOUT_SECONDS * 1000,
    atMost: config.MEDIA_JOBS_LIMIT,
    allowed: config.MEDIA_JOBS_FOR,
    concurrency: config.MEDIA_CONCURRENCY,
  })
  const findLateTruncation = createFindLateTruncation({
    annotate: createAnnotate({ index, originals, records }),
    buckets,
    log,
  })
  const deliveries = createDeliveries({
    originals,
    derivations,
    media,
    buckets,
    plan,
    metrics,
    findLateTruncation,
    uses: createNotedUses({ index, log }),
    onLimit: chain.onLimit,
  })
  return {
    admit,
    assets,
    derivations,
    jobs,
    limits,
    plan,
    media,
    deliveries,
    findLateTruncation,
    pool,
    run,
  }
}

export type Transformations = ReturnType<typeof openTransformations>

export interface TransformationsOptions {
  config: Config
  /** Where clients reach the service; without a slash at its end. */
  baseUrl: string
  log: Log
  loaded: Loaded
  metrics: Metrics
}

/** Whether videos are made by processes of their own: `npm run worker`. */
export function isLeftToWorkers({ REDIS_URL, MEDIA_JOBS_RUN_IN }: Config): boolean {
  return REDIS_URL !== undefined && MEDIA_JOBS_RUN_IN === 'worker'
}

/**
 * As many as there are cores, which are shared with the other web processes of this machine, and one more where a thread is
 * left for it: between the end of one and the beginning of the next a core would stand still, 6 % of the time. In another
 * process that one would cost more than it brings.
 */
function transformsAtOnce(config: Config): number {
  const cores = Math.max(1, Math.floor(availableParallelism() / config.WEB_CONCURRENCY))
  return threadsForTransforms(config) > cores ? cores + 1 : cores
}

/** In this process: some threads of libuv's pool are left to files, or none would be served while all transform. */
function threadsForTransforms({ UV_THREADPOOL_SIZE }: Config): number {
  return Math.max(1, UV_THREADPOOL_SIZE - THREADS_FOR_FILES)
}
