import { rename } from 'node:fs/promises'
import type { Log } from '../core/log.ts'

/**
 * Whether LevelDB cannot read its own files: a block with another checksum or no JSON in it, a missing or cut table, or no
 * manifest. Errors of the disk itself are no damage: they may pass.
 */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  if (code === 'LEVEL_CORRUPTION' || code === 'LEVEL_DECODE_ERROR') return true
  if (code === 'LEVEL_IO_ERROR' && /No such file or directory|Invalid argument/.test(error.message))
    return true
  return isDamage(error.cause)
}

/** Moves a closed store away, so that its folder is free for an empty one. */
export async function moveAside(folder: string, { error, log }: { error: unknown; log: Log }): Promise<void> {
  const movedTo = `${folder}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  await rename(folder, movedTo)
  log.error(
    { err: error, movedTo },
    'the index was damaged and is moved aside: it is filled again from the bucket, in the background',
  )
}
