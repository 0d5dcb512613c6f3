import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The limits of a container. Undefined without a limit. */
export interface MachineLimits {
  /** CPU quota in cores, rounded up. */
  cores?: number
  memoryBytes?: number
}

const CGROUP = '/sys/fs/cgroup'

/** Reads the limits of this process's container from cgroup v2. @param folder with the files of the kernel */
export function machineLimits(folder: string = CGROUP): MachineLimits {
  const [quota = '', period = ''] = textOf(folder, 'cpu.max').split(' ')
  const memory = textOf(folder, 'memory.max')
  return {
    ...(isNumber(quota) && isNumber(period) ? { cores: Math.ceil(Number(quota) / Number(period)) } : {}),
    ...(isNumber(memory) ? { memoryBytes: Number(memory) } : {}),
  }
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

/** The text of a file of the kernel. Empty when it does not exist, as outside of a container or with cgroup v1. */
function textOf(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), 'utf8').trim()
  } catch {
    return ''
  }
}

const isNumber = (text: string) => /^[1-9]\d*$/.test(text)
