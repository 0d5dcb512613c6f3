import { resolve } from 'node:path'
import type { Config } from '../../../config/load.ts'
import { silenceNodeWarning } from '../../../config/node-warning.ts'
import { type Checkup, checkupOf, type Finding } from '../../core/checkup.ts'
import { checkAddress } from './address.ts'
import { checkBucket, checkClock } from './bucket.ts'
import { checkBucketCors } from './bucket-cors.ts'
import { checkPurge } from './cdn-purge.ts'
import { checkConfiguration, checkNode } from './configuration.ts'
import { checkDataDir } from './data-dir.ts'
import { checkIssuer } from './issuer.ts'
import { checkFonts, checkImages, checkMedia, checkOffice } from './media.ts'
import { checkMemory } from './memory.ts'
import { checkRedis } from './redis.ts'
import { checkScanner } from './scanner.ts'

silenceNodeWarning()

/** What the checks need. */
export interface DoctorOptions {
  /** Default: the environment of this process. */
  environment?: Readonly<Record<string, string | undefined>> | undefined
  /** The project's folder. */
  root: string
  /** Current time, in milliseconds since 1970. */
  now?: () => number
  /** The version of Node: `24.1.0`. */
  node?: string
}

/**
 * Checks the configuration, and everything that the service needs with it. It changes nothing: files, objects and folders of the
 * checks are deleted. It may run next to the service.
 *
 * @yields each result when it is known, in a fixed order. After an invalid configuration, only checks without it
 */
export async function* examine({
  environment,
  root,
  now = Date.now,
  node = process.versions.node,
}: DoctorOptions): AsyncGenerator<Checkup> {
  yield checkupOf('Node', checkNode(node))
  const { config, plugins, findings } = await checkConfiguration({ environment, root })
  yield checkupOf('configuration', findings)
  if (!config) return
  const absolute: Config = { ...config, DATA_DIR: resolve(config.DATA_DIR) }
  const { S3_BUCKET: bucket, REDIS_URL: redis } = config
  const checks: Array<false | readonly [name: string, check: Promise<Finding[]>]> = [
    ['data folder', checkDataDir(absolute)],
    bucket !== undefined && ['bucket', bothOf(checkBucket(config, bucket), checkBucketCors(config, bucket))],
    bucket !== undefined && ['clock', checkClock(config, { bucket, now })],
    redis !== undefined && ['Redis', checkRedis(config, redis)],
    ['ffmpeg', checkMedia(config)],
    ['LibreOffice', checkOffice()],
    ['sharp', checkImages()],
    ['fonts', checkFonts()],
    ['memory', checkMemory(config)],
    ['public URL', checkAddress(config)],
    config.CDN_PURGE !== 'off' && ['CDN purge', checkPurge(plugins)],
    plugins.scanner !== undefined && ['scanner', checkScanner(plugins.scanner)],
    config.OIDC_ISSUER !== undefined && ['sign-in', checkIssuer(config)],
  ]
  const results = checks
    .filter((one) => one !== false)
    .map(async ([name, check]) => checkupOf(name, await check.catch(failure)))
  for (const result of results) yield await result
}

/** The findings of both. Those of the second one only matter if the first one has found no problem. */
async function bothOf(first: Promise<Finding[]>, second: Promise<Finding[]>): Promise<Finding[]> {
  const [found, more] = await Promise.all([first, second])
  return found.some(({ state }) => state === 'problem') ? found : [...found, ...more]
}

/** A check that could not be completed. */
function failure(error: Error): Finding[] {
  return [
    {
      state: 'problem',
      found: `the check failed: ${error.message}`,
      advice: 'Run the command again with the same user and environment as the server.',
    },
  ]
}
