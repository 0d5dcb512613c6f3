import { expect } from 'chai'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { Problem } from '../../../src/core/problem.ts'
import { createClientJobs } from '../../../src/service/delivery/client-jobs.ts'
import { rejection } from '../../support/rejection.ts'

describe('retry of a media job', () => {
  it('leaves the failed job in the list when the client has too many jobs', async () => {
    const key = storedKey('video/mp4/C3mGxvaBgh2ge7r2iCRrK9.mp4_w=40')
    const original = storedKey('video/mp4/C3mGxvaBgh2ge7r2iCRrK9.mp4')
    const calls: string[] = []
    const note = (call: string) => async () => void calls.push(call)
    const clientJobs = createClientJobs({
      jobs: {
        find: async () => ({
          id: `a ${key}`,
          status: { state: 'failed' },
          data: { original, derivative: key },
        }),
        remove: note('remove'),
      },
      media: {
        begin: () => Promise.reject(new Problem({ status: 429, code: 'too_many_jobs', detail: 'Too many.' })),
      },
      originals: { resolve: async () => ({ name: { key: original, format: {} }, record: {} }) },
      plan: () => ({ variant: 'w=40' }),
    } as unknown as Parameters<typeof createClientJobs>[0])
    const client = { id: 'a' } as Parameters<typeof clientJobs.retry>[0]
    expect(await rejection(clientJobs.retry(client, key))).to.include({ status: 429 })
    expect(calls).to.deep.equal([])
  })
})
