import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

/** The limits of a container. Undefined without a limit. */
export interface MachineLimits {
  /** CPU quota in cores, rounded up. */
  cores?: number
  memoryBytes?: number
}

/** Where the kernel shows control groups. */
export interface ControlGroups {
  /** The folder with the files of all groups. */
  root: string
  /** The file with the groups of this process. */
  own: string
}

const CONTROL_GROUPS: ControlGroups = { root: '/sys/fs/cgroup', own: '/proc/self/cgroup' }

let ofThisProcess: MachineLimits | undefined

/**
 * The limits of this process by its control groups and their parents, of cgroup v1 or v2: the lowest ones.
 *
 * @param groups those of this process when absent, which are read at the first call
 */
export function machineLimits(groups?: ControlGroups): MachineLimits {
  if (groups) return limitsBy(groups)
  ofThisProcess ??= limitsBy(CONTROL_GROUPS)
  return ofThisProcess
}

function limitsBy(groups: ControlGroups): MachineLimits {
  const cores: number[] = []
  const memories: number[] = []
  for (const folder of groupFolders(groups)) {
    const [v2Quota, v2Period] = textOf(folder, 'cpu.max').split(' ')
    const quota = number(v2Quota) ?? number(textOf(folder, 'cpu.cfs_quota_us'))
    const period = number(v2Period) ?? number(textOf(folder, 'cpu.cfs_period_us'))
    if (quota !== undefined && period !== undefined) cores.push(Math.ceil(quota / period))
    const memory = number(textOf(folder, 'memory.max')) ?? number(textOf(folder, 'memory.limit_in_bytes'))
    if (memory !== undefined) memories.push(memory)
  }
  return {
    ...(cores.length > 0 ? { cores: Math.min(...cores) } : {}),
    ...(memories.length > 0 ? { memoryBytes: Math.min(...memories) } : {}),
  }
}

/**
 * The number of threads that can run at the same time: the cores of the machine, or fewer by the CPU quota of the
 * container. Node 20 and 22 do not consider the quota: on 64 cores, a container with a quota of one would have 64.
 */
export function usableCores({ cores = Number.POSITIVE_INFINITY }: MachineLimits = machineLimits()): number {
  return Math.max(1, Math.min(availableParallelism(), cores))
}

// Of the container's memory: the rest is for the web process.
const TRANSFORM_SHARE = 0.6

/**
 * The default of a memory limit in a container: at most three fifths of its memory, so that the kernel does not kill the whole
 * container.
 *
 * @param bounds of the variable: its smallest value, and its default on a machine with enough memory
 */
export function memoryDefault(
  { min, most }: { min: number; most: number },
  { memoryBytes = Number.POSITIVE_INFINITY }: MachineLimits = machineLimits(),
): number {
  return Math.max(min, Math.min(most, Math.floor(memoryBytes * TRANSFORM_SHARE)))
}

/**
 * The folders of this process's groups, and of their parents, whose limits apply too. In a container, the path of a group
 * may be that of the host, which does not exist there. Its last parent does: it is the container's own.
 */
function groupFolders({ root, own }: ControlGroups): string[] {
  const lines = textOf(own).split('\n').filter(Boolean)
  return lines.flatMap((line) => {
    const [, controllers = '', path = ''] = line.split(':')
    // In cgroup v1, each controller has groups of its own: "4:memory:/docker/1f2e". In v2: "0::/docker/1f2e".
    const names = path.split('/').filter(Boolean)
    return Array.from({ length: names.length + 1 }, (_, i) => join(root, controllers, ...names.slice(0, i)))
  })
}

/** The text of a file of the kernel. Empty when it does not exist. */
function textOf(...path: [string, ...string[]]): string {
  try {
    return readFileSync(join(...path), 'utf8').trim()
  } catch {
    return ''
  }
}

// cgroup v1 has 2^63 bytes without a limit.
const UNLIMITED = 2 ** 62

function number(text = ''): number | undefined {
  const value = /^[1-9]\d*$/.test(text) ? Number(text) : UNLIMITED
  return value < UNLIMITED ? value : undefined
}
