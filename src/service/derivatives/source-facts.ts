import type { Asset } from '../../core/bytes/asset.ts'
import type { ScriptName } from '../../core/media/scripts.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'

/** The values of an original's record that engines need in addition to its bytes. */
export function sourceFacts({
  sha256,
  truncated,
}: Pick<OriginalRecord, 'sha256' | 'truncated'>): Pick<Asset, 'sha256' | 'truncated'> {
  return { sha256, ...(truncated ? { truncated } : {}) }
}

/** Notes about an original, for the header `X-Sluice-Transform` of its derivatives. */
export type SourceNotes = (original: Pick<OriginalRecord, 'truncated' | 'scripts'>) => readonly string[]

/** @param lacksFont the scripts for which this machine has no font; undefined until that is known */
export function createSourceNotes(lacksFont: () => readonly ScriptName[] | undefined): SourceNotes {
  return ({ truncated, scripts = [] }) => {
    const lacking = scripts.filter((script) => lacksFont()?.includes(script))
    return [
      ...(truncated ? ['truncated original'] : []),
      ...(lacking.length > 0 ? [`drawn with boxes: no font for ${lacking.join(' and ')}`] : []),
    ]
  }
}
