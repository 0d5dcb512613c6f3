import { join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { programEnvironment, transformerEnvironment } from '../../config/programs.ts'
import { measuredJobs, watchJobs } from '../adapters/jobs/measured.ts'
import { createAccounts } from '../core/budgets/accounts.ts'
import { createCpuTime } from '../core/budgets/cpu-time.ts'
import { waitingShares } from '../core/budgets/shares.ts'
import type { Log } from '../core/log.ts'
import { OWN_EXTENSION, OWN_FOLDER } from '../core/own-files.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import { sizeInHeader } from '../engines/image/forecast.ts'
import { imageInspector } from '../engines/image/inspector.ts'
import { reduce } from '../engines/image/smaller-copies/reduce.ts'
import { jobUrl } from '../http/wire/urls.ts'
import { cachedPlans } from '../pipeline/plan/cached-plans.ts'
import { createPlanner } from '../pipeline/plan/plan.ts'
import { usesOffice } from '../pipeline/plan/runs-as-job.ts'
import { createAdmission } from '../pipeline/run/admission.ts'
import { copyPlans, internalPlugin } from '../pipeline/run/copy-plans.ts'
import { createDispatcher } from '../pipeline/run/dispatch.ts'
import { encodingRunner } from '../pipeline/run/encoding-plan.ts'
import { informedRunner } from '../pipeline/run/info-plan.ts'
import { createChildRunner } from '../pipeline/run/remote-runner.ts'
import { createRunner } from '../pipeline/run/run.ts'
import { createSmallerCopies } from '../pipeline/run/smaller-copies.ts'
import { createDeliveries } from '../service/delivery/deliver.ts'
import { createFilePlans } from '../service/delivery/find-planned.ts'
import { MEDIA_KINDS } from '../service/delivery/media-job.ts'
import { createMediaJobs } from '../service/delivery/media-jobs.ts'
import { createOriginalSizes } from '../service/delivery/original-sizes.ts'
import { createAssets } from '../service/delivery/referenced-files.ts'
import { createDerivations } from '../service/derivatives/derive.ts'
import { createFindLateTruncation } from '../service/derivatives/late-truncation.ts'
import { createNotedUses } from '../service/derivatives/noted-uses.ts'
import { createSourceNotes } from '../service/derivatives/source-facts.ts'
import { withEncodedCopies } from '../service/encodings/encoded-copies.ts'
import { createAnnotate } from '../service/files/annotate.ts'
import { createRecompression, RECOMPRESS_KIND } from '../service/recompression/recompression.ts'
import { createCheckDecodable } from '../service/upload/rules/decodable.ts'
import type { TransformerSetup } from '../transformer.ts'
import type { Loaded } from './plugins.ts'
import type { Services } from './services.ts'
import { tracedTransforms } from './telemetry/traced-transforms.ts'
import { limitsOf, threadsForTransforms, transformsAtOnce } from './transform-limits.ts'

// The memory of all concurrent transformations in this process. With it, the process
// stays below 400 MB, including what glibc retains of earlier ones. Larger ones run
// in a child process. So no thread is busy for longer than 10 s: 7 MP as GIF.
const IN_PROCESS_BYTES = 100_000_000
const TRANSFORMER = join(OWN_FOLDER, 'src', `transformer${OWN_EXTENSION}`)

// Reading a header may load the whole file, of 40 MB. One untrusted IP address may have two such reads at a time.
const LOOKS_AT_ONCE = 3

// Images are compressed again while more of the CPU than this is idle: one core of two.
const IDLE_SHARE = 0.5

// WebP is the fallback for an image that is too large for AVIF.
const AUTO_ACCEPT = { webp: 'image/webp', avif: 'image/avif,image/webp' } as const

/** Opens the services that find and render derivatives. Web processes and workers share them. */
export function openTransformations(
  services: Services,
  { config, baseUrl, log, loaded, metrics }: TransformationsOptions,
) {
  const { backends, buckets, index, events, evict, pendingStores, presentClient, originals, records, scans } =
    services
  const { chain, engines, ffmpeg, office, fonts, ownEngines, folders, plugins, presets, openPool } = loaded
  const atOnce = transformsAtOnce(config)
  const maxMemoryBytes = config.TRANSFORM_MAX_MEMORY_BYTES
  const accounts = createAccounts()
  const { TRANSFORM_WAITING: atMost, TRANSFORM_WAITING_ADDRESS: perAddress } = config
  const lines = {
    waiting: waitingShares({ atMost, perAddress }),
    waitMs: config.TRANSFORM_WAIT_SECONDS * 1000,
  }
  const memory = { heavyFrom: IN_PROCESS_BYTES, heavyBytes: maxMemoryBytes }
  const traced = tracedTransforms(services.tracing)
  const admit = traced.admission(createAdmission({ ...lines, ...memory, atOnce }, { accounts }))
  const look = createAdmission({ ...lines, ...memory, atOnce: LOOKS_AT_ONCE }, { accounts })
  metrics.watchTransforms(() => ({ ...admit.load(), maxWaiting: atMost }))
  const inform = informedRunner(createRunner(engines), { images: imageInspector, media: ffmpeg })
  const here = traced.runner(inform, 'own')
  const setup: TransformerSetup = { folders, chain, env: programEnvironment(), maxMemoryBytes }
  const cpuTime = createCpuTime(backends.limits.cpu)
  const env = transformerEnvironment()
  const plans = copyPlans(internalPlugin(reduce))
  const pool = openPool({ script: TRANSFORMER, setup, env, most: atOnce, maxMemoryBytes, log })
  const dispatch = createDispatcher({
    engines,
    admit,
    look,
    cpuTime,
    copies: createSmallerCopies({
      proxyFromPixels: config.PROXY_FROM_MEGAPIXELS * 1_000_000,
      pixels: plans.pixels,
    }),
    here,
    // Child processes only have the engines of Sluice.
    elsewhere: ownEngines ? traced.runner(createChildRunner(pool), 'child') : here,
    room: { bytes: IN_PROCESS_BYTES, atOnce: threadsForTransforms(config) },
    hangMs: config.TRANSFORM_KILL_SECONDS * 1000,
    metrics,
  })
  const run = encodingRunner(dispatch)
  const uses = createNotedUses({ index, log })
  const assets = createAssets({ originals, buckets, scans })
  const limits = limitsOf(config)
  const untraced = createDerivations({
    pendingStores,
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
    proxies:
      config.PROXY_FROM_MEGAPIXELS > 0
        ? { uses, plan: plans.proxy, isBusy: () => admit.load().waiting > 0 }
        : undefined,
    log,
  })
  const planner = createPlanner(plugins.transforms, chain.ignoredParams, {
    presets,
    ...(config.AUTO_FORMAT === 'accept' ? {} : { autoAccept: AUTO_ACCEPT[config.AUTO_FORMAT] }),
    ...(plugins.detector ? { detector: plugins.detector } : {}),
    lacksFont: fonts.lacking,
  })
  const derivations = traced.derivations(untraced)
  const plan = cachedPlans(traced.planner(planner))
  services.decodable.check = createCheckDecodable({ run, plan, limits, log })
  const jobs = measuredJobs(backends.jobs, { metrics, log })
  const others = [...services.delivery.kinds, ...services.scanning.kinds]
  watchJobs(jobs, [...MEDIA_KINDS, 'derive', RECOMPRESS_KIND, ...others], metrics)
  const media = createMediaJobs({
    originals,
    derivations,
    plan,
    jobs,
    presentClient,
    urlOf: ({ token }, key) => jobUrl(key, { baseUrl, token }),
    // Web processes may run without the programs when workers run the jobs.
    ensureInstalled: async (wanted) => {
      if (!isLeftToWorkers(config)) await (usesOffice(wanted) ? office : ffmpeg).ensureInstalled()
    },
    timeoutMs: config.MEDIA_TIMEOUT_SECONDS * 1000,
    atMost: config.MEDIA_JOBS_LIMIT,
    allowed: config.MEDIA_JOBS_FOR,
    concurrency: { media: config.MEDIA_CONCURRENCY, document: config.DOCUMENT_CONCURRENCY },
  })
  const findLateTruncation = createFindLateTruncation({
    annotate: createAnnotate({ index, originals, records }),
    buckets,
    log,
  })
  const sizes = createOriginalSizes({
    buckets,
    measure: (source, signal) => sizeInHeader(source, { limits, signal }),
    look,
  })
  const sourceNotes = createSourceNotes(fonts.lacking)
  const plainDeliveries = createDeliveries({
    originals,
    filePlans: createFilePlans({ originals, scans, sizes, plan }),
    derivations,
    media,
    buckets,
    plan,
    metrics,
    usage: services.usage,
    scans,
    findLateTruncation,
    sourceNotes,
    uses,
    onLimit: chain.onLimit,
  })
  const encodedDeliveries =
    config.NO_COMPRESSION === '1'
      ? plainDeliveries
      : withEncodedCopies(plainDeliveries, { originals, derivations, uses, log })
  const recompression =
    config.RECOMPRESS_AFTER === 0
      ? undefined
      : createRecompression({
          deliveries: encodedDeliveries,
          after: config.RECOMPRESS_AFTER,
          originals,
          index,
          derivations,
          uses,
          jobs,
          presentClient,
          isIdle: async (signal) => {
            const { running, waiting } = admit.load()
            return running + waiting === 0 && (await loaded.idleCpu(signal)) > IDLE_SHARE
          },
          metrics,
          log,
        })
  const deliveries = recompression?.deliveries ?? encodedDeliveries
  return {
    admit,
    assets,
    derivations,
    jobs,
    limits,
    plan,
    media,
    recompression,
    deliveries,
    findLateTruncation,
    sourceNotes,
    pool,
    run,
  }
}

export type Transformations = ReturnType<typeof openTransformations>

export interface TransformationsOptions {
  config: Config
  /** The URL of the service for clients, without a trailing slash. */
  baseUrl: string
  log: Log
  loaded: Loaded
  metrics: Metrics
}

/** Whether media jobs run only in worker processes: `npm run worker`. */
export function isLeftToWorkers({ REDIS_URL, MEDIA_JOBS_RUN_IN }: Config): boolean {
  return REDIS_URL !== undefined && MEDIA_JOBS_RUN_IN === 'worker'
}
