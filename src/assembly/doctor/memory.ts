import { totalmem } from 'node:os'
import type { Config } from '../../../config/load.ts'
import { machineLimits } from '../../../config/machine.ts'
import type { Finding } from '../../core/checkup.ts'
import { shownBytes } from './shown-bytes.ts'

// Each web process stays below this while it serves files and renders images: docs/how-to/memory.md.
const WEB_PROCESS_BYTES = 400_000_000

/** Compares the memory of the container or machine with the limits of the processes. @param available bytes */
export async function checkMemory(
  { WEB_CONCURRENCY, TRANSFORM_MAX_MEMORY_BYTES }: Config,
  available = Math.min(totalmem(), machineLimits().memoryBytes ?? Number.POSITIVE_INFINITY),
): Promise<Finding[]> {
  const needed = WEB_CONCURRENCY * (WEB_PROCESS_BYTES + TRANSFORM_MAX_MEMORY_BYTES)
  const found = `${shownBytes(available)}, and web processes with large images need up to ${shownBytes(needed)}`
  if (needed <= available) return [{ state: 'ok', found }]
  return [
    {
      state: 'warning',
      found,
      advice: 'Decrease TRANSFORM_MAX_MEMORY_BYTES or WEB_CONCURRENCY: see docs/how-to/memory.md.',
    },
  ]
}
