import type { Finding } from '../../src/core/files/finding.ts'
import type { FileIndex } from '../../src/core/ports/file-index.ts'
import type { KnownFile, State } from './client/known-file.ts'
import type { Users } from './client/users.ts'
import type { BucketStore } from './stores/bucket-store.ts'
import type { ServiceProcess } from './world/service-process.ts'

/** What must hold when all faults have ended and the sweeps have run. */
export async function checkLaws({
  users,
  services,
  index,
  objects,
  hasLost,
}: {
  users: Users
  services: readonly ServiceProcess[]
  index: FileIndex
  objects: BucketStore['objects']
  /** Whether the index has lost steps, or all of its data. */
  hasLost: boolean
}): Promise<void> {
  const { files, violated, ask } = users
  const stateIn = async (file: KnownFile): Promise<State | string> => {
    const { original } = await index.find({ clientId: file.client.id, key: file.key })
    if (!original) return 'gone'
    if (original.state === 'stored' || original.state === 'trashed') return original.state
    return `left in the state ${original.state}`
  }
  const states = new Map<KnownFile, string>()
  for (const file of files) {
    const state = await stateIn(file)
    states.set(file, state)
    if (!file.possible.has(state as State))
      violated(`${file.key} is ${state} at the end, but was ${[...file.possible]}`)
    const entry = (await index.find({ clientId: file.client.id, key: file.key })).original
    // Those of files in the trash may be older, until they are restored.
    const tags = entry?.state === 'stored' ? (entry.record.tags ?? []).join() : undefined
    const isLeftover = hasLost && file.isUncertain
    if (tags !== undefined && !isLeftover && !file.tags.has(tags))
      violated(`${file.key} has the tags "${tags}", not ${[...file.tags].map((one) => `"${one}"`)}`)
  }

  for (const service of services) {
    const findings: Finding[] = []
    const signal = new AbortController().signal
    const found = async (one: Finding) => void findings.push(one)
    const checked = await ask('check', (at) => at.check({ signal, found, progress: async () => {} }), service)
    if (checked === 'none' || 'problem' in checked) violated(`check fails: ${JSON.stringify(checked)}`)
    for (const { kind, key, clientId } of findings) {
      const file = files.find((one) => key?.includes(one.key))
      // An interrupted change to or from the trash, which a further request or the end of the retention completes.
      if (kind === 'record differs' && file?.isUncertain) continue
      // A change that was not acknowledged, and whose last step the index has lost, leaves what a check reports.
      if (hasLost && (!file || file.isUncertain)) continue
      // It may have lost what was in progress when a late put or delete is executed. The next request for the derivative mends both.
      if (hasLost && (kind === 'derivative not indexed' || kind === 'derivative missing')) continue
      // An index that has lost what was in progress cannot know of a put that is executed after a delete.
      const time = objects.get(`${clientId}/${key}`)?.time ?? 0
      if (hasLost && file?.goneAt !== undefined && time > file.goneAt) continue
      violated(`check: ${kind} ${key}`)
    }
    for (const file of files) {
      const answer = await ask(`last read ${file.key}`, (at) => at.deliver(file.client, file.key), service)
      const isDelivered = answer !== 'none' && 'value' in answer
      if (isDelivered && !answer.value.equals(file.bytes)) violated(`${file.key} has other bytes at the end`)
      // An unacknowledged delete whose beginning the index has lost leaves a file without bytes, which a check reports.
      if (!isDelivered && hasLost && file.isUncertain) continue
      if (isDelivered !== (states.get(file) === 'stored'))
        violated(`${file.key} is ${isDelivered ? '' : 'not '}delivered at the end, but ${states.get(file)}`)
    }
    for (const client of new Set(files.map((one) => one.client))) {
      const request = { client, folder: '', by: 'key', direction: 'up', limit: 1000, signal } as const
      const listed = await ask('list', (at) => at.list({ ...request, state: 'stored' }), service)
      if (listed === 'none' || 'problem' in listed) {
        violated('the list fails at the end')
        continue
      }
      const keys = new Set(listed.value.files.map(({ record }) => record.key))
      for (const file of files)
        if (file.client === client && keys.has(file.key) !== (states.get(file) === 'stored'))
          violated(`${file.key} is ${keys.has(file.key) ? '' : 'not '}listed, but ${states.get(file)}`)
      const totals = await index.totals(client.id)
      if (totals.stored.files !== keys.size)
        violated(`${keys.size} files are listed, but ${totals.stored.files} are counted`)
    }
  }
}
