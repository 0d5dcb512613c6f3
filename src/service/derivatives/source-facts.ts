import type { Asset } from '../../core/bytes/asset.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'

/** The values of an original's record that engines need in addition to its bytes. */
export function sourceFacts({
  sha256,
  truncated,
}: Pick<OriginalRecord, 'sha256' | 'truncated'>): Pick<Asset, 'sha256' | 'truncated'> {
  return { sha256, ...(truncated ? { truncated } : {}) }
}

/** Notes about the original, for the header `X-Sluice-Transform` of its derivatives. */
export function sourceNotes({ truncated }: Pick<OriginalRecord, 'truncated'>): readonly string[] {
  return truncated ? ['truncated original'] : []
}
