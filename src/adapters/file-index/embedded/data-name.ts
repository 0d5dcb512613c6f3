import { randomUUID } from 'node:crypto'
import { bootId } from '../../boot-id.ts'
import type { ResilientLevel } from '../../level/resilient-level.ts'

/** A name of the data, which is lost together with all rows: a deleted or replaced index has another one. */
export function dataName(level: ResilientLevel): () => Promise<string> {
  let creating: Promise<string> | undefined
  async function create(): Promise<string> {
    const name = randomUUID()
    // Each delete asks for the name, so also the first one on a full disk. The row is written once, and is small.
    await level.write([{ type: 'put', key: 'data', value: name }], { freesRoom: true })
    return name
  }
  return async () => {
    const [known] = await level.get(['data'])
    if (typeof known === 'string') return known
    creating ??= create().finally(() => {
      creating = undefined
    })
    return creating
  }
}

/**
 * The names of the current run and of the data. Only a power cut can lose entries, those of derivatives, so a run lasts until the next
 * boot. A replaced store has lost all entries, so it begins another run.
 */
export function namesIn(table: { replacements(): number; dataName(): Promise<string> }) {
  return async (): Promise<{ id: string | undefined; data: string }> => {
    const boot = await bootId()
    const replacements = table.replacements()
    const data = await table.dataName()
    const isNamed = boot !== undefined || replacements > 0
    return { id: isNamed ? `${boot ?? 'unknown'} ${data}` : undefined, data }
  }
}
