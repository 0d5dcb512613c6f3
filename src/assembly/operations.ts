import type { Config } from '../../config/load.ts'
import { VARIABLES } from '../../config/schema.ts'
import type { Variable } from '../../config/variable.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import { outcome, type ReadinessChecks } from '../http/system/health.ts'
import type { SystemFacts } from '../http/system/report.ts'
import type { PluginSet } from '../pipeline/load/load.ts'
import { version } from '../process/version.ts'
import { createClientPresets } from '../service/clients/presets.ts'
import { createClientJobs } from '../service/delivery/client-jobs.ts'
import type { Loaded } from './plugins.ts'
import type { Services } from './services.ts'
import type { openTransformations } from './transforms.ts'

type Transformations = ReturnType<typeof openTransformations>

interface Dependencies {
  config: Config
  loaded: Loaded
  transformations: Transformations
}

/** What people manage in addition to files: presets, jobs, and the installation. */
export function openOperations(
  { clients, originals }: Services,
  { config, loaded, transformations }: Dependencies,
) {
  const { presets: shared, plugins } = loaded
  return {
    clientJobs: createClientJobs({ ...transformations, originals }),
    presets: createClientPresets({ shared, transforms: plugins.transforms, clients }),
    systemFacts: systemFacts(config, plugins),
  }
}

/** The checks of `/readyz`. The metrics have the result of those that say whether a store responds. */
export function readinessChecks(
  { backends, buckets, index, completion }: Services,
  {
    loaded: { ffmpeg, fonts },
    isStopping = () => false,
    metrics,
  }: { loaded: Loaded; isStopping?: (() => boolean) | undefined; metrics: Pick<Metrics, 'watchStores'> },
): ReadinessChecks {
  metrics.watchStores(async () => {
    const [ofBucket, ofIndex] = await Promise.all([outcome(buckets.ping()), outcome(index.ping())])
    return { bucket: ofBucket === 'ok', index: ofIndex === 'ok' }
  })
  return {
    version: version(),
    isStopping,
    bucket: () => buckets.ping(),
    index: () => index.ping(),
    ffmpeg: () => ffmpeg.isMissing(),
    comparison: () => completion.state(),
    scriptsWithoutFont: fonts.lacking,
    ...(backends.disk ? { disk: backends.disk } : {}),
  }
}

function systemFacts(config: Config, { transforms, events, detector, scanner }: PluginSet): SystemFacts {
  return {
    storage: {
      files: config.S3_BUCKET ? 's3' : 'disk',
      directUploads: config.S3_BUCKET !== undefined,
      state: config.REDIS_URL ? 'redis' : 'embedded',
    },
    plugins: [
      ...transforms.map(({ plugin: { name }, media }) => ({
        name,
        kind: 'transform' as const,
        types: [...media],
      })),
      ...events.map(({ plugin: { name } }) => ({ name, kind: 'event' as const })),
      ...(detector ? [{ name: detector.plugin.name, kind: 'detector' as const }] : []),
      ...(scanner ? [{ name: scanner.plugin.name, kind: 'scanner' as const }] : []),
    ],
    settings: settingsOf(config),
  }
}

/** All values in the order of the documentation. Secrets are left out. */
function settingsOf(config: Config): SystemFacts['settings'] {
  const variables = Object.entries(VARIABLES) as Array<[keyof Config, Variable<unknown>]>
  return variables.flatMap(([name, { help, secret }]) => {
    const value = secret ? undefined : shownValue(config[name])
    return value === undefined ? [] : [{ name, value, help }]
  })
}

function shownValue(value: unknown): number | string | string[] | undefined {
  if (typeof value === 'number' || value === undefined) return value
  return Array.isArray(value) ? value.map(String) : String(value)
}
