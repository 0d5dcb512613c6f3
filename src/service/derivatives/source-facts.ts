import type { Asset } from '../../core/bytes/asset.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'

/** What an original's record adds to its bytes, for the engines. */
export function sourceFacts({
  sha256,
  truncated,
}: Pick<OriginalRecord, 'sha256' | 'truncated'>): Pick<Asset, 'sha256' | 'truncated'> {
  return { sha256, ...(truncated ? { truncated } : {}) }
}

/** Notes about its original that a derivative has in the header `X-Sluice-Transform`. */
export function sourceNotes({ truncated }: Pick<OriginalRecord, 'truncated'>): readonly string[] {
  return truncated ? ['truncated original'] : []
}
