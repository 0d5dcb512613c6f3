import { join } from 'node:path'
import type { Config } from '../../../config/load.ts'
import { embeddedAuditLog } from '../../adapters/audit-log/embedded.ts'
import { embeddedDeliveryLog } from '../../adapters/delivery-log/embedded.ts'
import { dataDirTaken, openDataDir, signDataDir, storeUnusable } from '../../adapters/disk/data-dir.ts'
import { type DiskReserve, diskReserve, NO_RESERVE } from '../../adapters/disk/disk-reserve.ts'
import { type DiskState, diskState } from '../../adapters/disk/disk-state.ts'
import { embeddedIndex } from '../../adapters/file-index/embedded/embedded.ts'
import { inProcessHandover } from '../../adapters/handover/in-process.ts'
import { embeddedJobs } from '../../adapters/jobs/embedded.ts'
import { embeddedLedger } from '../../adapters/ledger/embedded.ts'
import { inProcessLocks } from '../../adapters/locks/in-process.ts'
import { openLimits } from '../../adapters/rate-limiter/limits.ts'
import { memoryRateLimiter } from '../../adapters/rate-limiter/memory.ts'
import type { RedisSubject } from '../../adapters/redis/keyspaces.ts'
import type { SharedVersion } from '../../adapters/shared-copy/shared-copy.ts'
import { embeddedUsage } from '../../adapters/usage/embedded.ts'
import type { Log } from '../../core/log.ts'
import type { AuditStore } from '../../core/ports/audit-log.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { DeliveryLog, DeliveryLogLimits } from '../../core/ports/events/delivery-log.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Handover } from '../../core/ports/handover.ts'
import type { FileChanges } from '../../core/ports/index/file-changes.ts'
import type { Partitioning } from '../../core/ports/index/partitioning.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { Ledger } from '../../core/ports/ledger.ts'
import type { Locks } from '../../core/ports/locks.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { UsageStore } from '../../core/ports/usage.ts'
import { rateOf } from '../settings.ts'
import { openDiskBuckets, openS3Buckets } from './buckets.ts'

/** The storage of files and of their state. */
export interface Backends {
  buckets: Buckets
  index: FileIndex
  /**
   * Notes that this version uses the index, so that an older one does not any more. Only the service and its workers call it, when
   * everything else has started.
   * @throws Error when a newer version uses it
   */
  claimIndex(): Promise<void>
  /** Set when the index has partitions. */
  partitioning?: Partitioning
  locks: Locks
  handover: Handover
  jobs: Jobs
  limits: Limits
  ledger: Ledger
  usage: UsageStore
  audit: AuditStore
  /** Undefined when deliveries of events are not recorded. */
  deliveries?: DeliveryLog
  /** State of the disk that has files or states; undefined when both are stored elsewhere. */
  disk?: () => Promise<DiskState>
  /** Set when other processes may change clients, and members of the console. */
  clientChanges?: SharedVersion
  memberChanges?: SharedVersion
  /** The changes of files by other processes; absent when there are none. */
  fileChanges?: FileChanges | undefined
  /** Waits at most `graceMs` for running jobs, and closes everything. */
  close(options: { graceMs: number }): Promise<void>
}

export interface BackendsOptions {
  config: Config
  /** The URL of this process for clients, without a trailing slash. */
  baseUrl: string
  log: Log
  /** The limits of the delivery log; undefined for no log. */
  deliveryLog: DeliveryLogLimits | undefined
}

/** All backends except the files themselves. */
type State = Omit<Backends, 'buckets' | 'disk' | 'close'> & {
  shared: boolean
  reserve: DiskReserve
  /** Closes everything but the jobs, which are closed first. */
  close(): Promise<void>
}

const INDEX_DAMAGED =
  'the index was damaged and was moved aside; it is being rebuilt from the bucket in the background'
const LOG_DAMAGED = 'the delivery log of events was damaged and was moved aside; a new one begins'
const AUDIT_DAMAGED = 'the audit log was damaged and was moved aside; a new one begins'

/**
 * Opens the configured backends: files in S3 with `S3_BUCKET`, else on disk. The state is in Redis with `REDIS_URL`, else
 * in embedded stores of this process.
 *
 * @throws DataDirError when another process holds the data folder; Error when S3 cannot be used
 */
export async function openBackends(options: BackendsOptions): Promise<Backends> {
  const { config } = options
  const { shared, reserve, ...state } = config.REDIS_URL
    ? await redisState(config.REDIS_URL, options)
    : await embeddedState(options)
  const close: Backends['close'] = async ({ graceMs }) => {
    await state.jobs.close({ graceMs })
    await state.close()
  }
  try {
    const buckets = config.S3_BUCKET
      ? await openS3Buckets(config.S3_BUCKET, config)
      : await openDiskBuckets({ ...options, reserve })
    // No other process uses this folder, so partial files in it belong to an earlier process.
    if (!shared && !config.S3_BUCKET) await buckets.sweep(0)
    const folders = [
      ...(shared ? [] : [config.DATA_DIR]),
      ...(config.S3_BUCKET ? [] : [join(config.DATA_DIR, 'bucket')]),
    ]
    const disk = folders.length > 0 ? { disk: () => diskState(folders, reserve) } : {}
    return { ...state, buckets, ...disk, close }
  } catch (error) {
    await close({ graceMs: 0 })
    throw error
  }
}

/** State for one process. The lock of the index excludes other processes. */
async function embeddedState({ config, baseUrl, log, deliveryLog }: BackendsOptions): Promise<State> {
  const { DATA_DIR, DISK_RESERVE_BYTES: bytes } = config
  await openDataDir(DATA_DIR)
  const reserve = bytes > 0 ? await diskReserve({ path: join(DATA_DIR, 'reserve'), bytes, log }) : NO_RESERVE
  // Functions that close the stores, in reverse order of opening.
  const closings = [() => reserve.close()]
  const opened = async <T>(
    name: string,
    { open, close }: { open: (folder: string) => Promise<T>; close: (store: T) => Promise<void> },
  ): Promise<T> => {
    const store = await open(join(DATA_DIR, name)).catch(async (error) => {
      const isTaken = name === 'index' && error.cause?.code === 'LEVEL_LOCKED'
      throw isTaken ? await dataDirTaken(DATA_DIR, error) : storeUnusable(DATA_DIR, { name, error })
    })
    closings.unshift(() => close(store))
    return store
  }
  try {
    const index = await opened('index', {
      open: (folder) => embeddedIndex(folder, { reserve, refilled: { log, message: INDEX_DAMAGED } }),
      close: (store) => store.close(),
    })
    // Only after the index is open: until then, another process may hold the folder.
    reserve.fillUp()
    await signDataDir(DATA_DIR, baseUrl, reserve)
    const jobs = await opened('jobs', {
      open: (folder) => embeddedJobs({ folder, log, reserve }),
      close: (store) => store.close({ graceMs: 0 }),
    })
    const close = (store: { close(): Promise<void> }) => store.close()
    const ledger = await opened('ledger', { open: (folder) => embeddedLedger(folder, { reserve }), close })
    const usage = await opened('usage', { open: (folder) => embeddedUsage(folder, { reserve }), close })
    const audit = await opened('audit', {
      open: (folder) => embeddedAuditLog(folder, { reserve, refilled: { log, message: AUDIT_DAMAGED } }),
      close,
    })
    const deliveries =
      deliveryLog &&
      (await opened('deliveries', {
        open: (folder) =>
          embeddedDeliveryLog(folder, { reserve, refilled: { log, message: LOG_DAMAGED }, ...deliveryLog }),
        close,
      }))
    return {
      shared: false,
      reserve,
      index,
      async claimIndex() {},
      locks: inProcessLocks(),
      handover: inProcessHandover(),
      jobs,
      limits: openLimits(rateOf(config), memoryRateLimiter),
      ledger,
      usage,
      audit,
      ...(deliveries ? { deliveries } : {}),
      async close() {
        await deliveries?.close()
        await audit.close()
        await usage.close()
        await ledger.close()
        await index.close()
        await reserve.close()
      },
    }
  } catch (error) {
    for (const close of closings) await close()
    throw error
  }
}

/** State for any number of processes. While Redis is down, everything that does not need it continues to work. */
async function redisState(url: string, { config, log, deliveryLog }: BackendsOptions): Promise<State> {
  const { connectKeyspaces } = await import('../../adapters/redis/keyspaces.ts')
  const { mayCallInfo } = await import('../../adapters/redis/refusals.ts')
  const { tellWarnings } = await import('../../adapters/redis/tell-warnings.ts')
  const { redisAuditLog } = await import('../../adapters/audit-log/redis.ts')
  const { redisDeliveryLog } = await import('../../adapters/delivery-log/redis.ts')
  const { redisFileChanges } = await import('../../adapters/file-changes/redis.ts')
  const { clusterIndex } = await import('../../adapters/file-index/partitioned/redis-cluster.ts')
  const { checkLayouts, claimLayouts } = await import('../../adapters/file-index/redis/layout.ts')
  const { redisIndex } = await import('../../adapters/file-index/redis/redis.ts')
  const { bullmqJobs } = await import('../../adapters/jobs/bullmq.ts')
  const { redisHandover } = await import('../../adapters/handover/redis.ts')
  const { redisLedger } = await import('../../adapters/ledger/redis.ts')
  const { redisLocks } = await import('../../adapters/locks/redis.ts')
  const { redisRateLimiter } = await import('../../adapters/rate-limiter/redis.ts')
  const { redisSharedVersion } = await import('../../adapters/shared-copy/redis-version.ts')
  const { redisUsage } = await import('../../adapters/usage/redis.ts')
  const keyspaces = connectKeyspaces({ url, verify: config.REDIS_TLS_VERIFY === 'true', log })
  await tellWarnings(keyspaces, log)
  await checkLayouts(keyspaces.all).catch(async (error) => {
    await keyspaces.close()
    throw error
  })
  const { redis, keyPrefix } = keyspaces.of('jobs')
  /** The arguments of an adapter for a subject. */
  const at = <More extends object>(subject: RedisSubject, more = {} as More) => {
    const keyspace = keyspaces.of(subject)
    return [keyspace.redis, { keyPrefix: keyspace.keyPrefix, ...more }] as const
  }
  const locks = redisLocks(...at('locks'))
  const fileChanges = config.HOT_CACHE_BYTES > 0 ? redisFileChanges(keyspaces.all, { log }) : undefined
  const perClient = Number(config.INDEX_PARTITIONS)
  return {
    shared: true,
    reserve: NO_RESERVE,
    ...(keyspaces.all.length > 1
      ? clusterIndex(keyspaces.all, { perClient })
      : { index: redisIndex(redis, { keyPrefix }) }),
    claimIndex: () => claimLayouts(keyspaces.all),
    fileChanges,
    locks,
    handover: redisHandover(...at('locks')),
    jobs: bullmqJobs({ redis, keyPrefix, log, mayCallInfo: await mayCallInfo(redis) }),
    clientChanges: redisSharedVersion(...at('changes', { name: 'clients' })),
    memberChanges: redisSharedVersion(...at('changes', { name: 'members' })),
    ledger: redisLedger(...at('ledger')),
    usage: redisUsage(...at('usage')),
    audit: redisAuditLog(...at('audit')),
    ...(deliveryLog ? { deliveries: redisDeliveryLog(...at('deliveries', deliveryLog)) } : {}),
    limits: openLimits(rateOf(config), (options) => redisRateLimiter(...at('limits', options))),
    async close() {
      await fileChanges?.close()
      await locks.close()
      await keyspaces.close()
    },
  }
}
