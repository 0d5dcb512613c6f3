import { expect } from 'chai'
import { eventually } from '../eventually.ts'
import type { Service } from '../service.ts'

/** Waits until the index has no upload, render or delete in progress. */
export function settled({ storage }: Pick<Service, 'storage'>): Promise<void> {
  return eventually(async () => {
    const unsettled = []
    for await (const item of storage.index.overdue(Number.MAX_SAFE_INTEGER)) {
      const { original } = await storage.index.find(item.ref)
      // A file in the trash waits only for the end of its retention.
      if (item.kind === 'derivative' || original?.state !== 'trashed') unsettled.push(item)
    }
    expect(unsettled).to.deep.equal([])
  })
}
