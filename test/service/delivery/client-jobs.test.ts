import { expect } from 'chai'
import { isAfter, newestFirst } from '../../../src/adapters/jobs/rules.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { JobQuery } from '../../../src/core/ports/jobs.ts'
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

describe('the list of media jobs', () => {
  it('has the jobs of all kinds once, page by page, also those of one millisecond', async () => {
    const jobsOf = (kind: string, keys: readonly string[], createdAt: number) =>
      keys.map((key) => ({ kind, id: `a ${key}`, createdAt, status: { state: 'done' } }))
    const videos = ['1', '2', '3'].map((n) => `video/mp4/C3mGxvaBgh2ge7r2iCRrK${n}.mp4_w=40`)
    const documents = ['1', '2', '3'].map((n) => `application/odt/C3mGxvaBgh2ge7r2iCRrK${n}.odt_pdf=1`)
    const all = [
      ...jobsOf('media', videos.slice(0, 2), 1000),
      ...jobsOf('document', documents.slice(0, 2), 1000),
      ...jobsOf('document', documents.slice(2), 2000),
      ...jobsOf('media', videos.slice(2), 500),
    ]
    const { list } = createClientJobs({
      jobs: {
        list: async ({ kind, after, limit }: JobQuery) =>
          all
            .filter((job) => job.kind === kind && isAfter(job, after))
            .sort(newestFirst)
            .slice(0, limit),
      },
    } as unknown as Parameters<typeof createClientJobs>[0])
    const client = { id: 'a' } as Parameters<typeof list>[0]
    for (const limit of [1, 2, 4]) {
      const found: string[] = []
      for (let after: Parameters<typeof list>[1]['after']; ; ) {
        const page = await list(client, { limit, state: undefined, after })
        found.push(...page.map(({ key }) => key))
        after = page.at(-1)
        if (page.length < limit || found.length > 6) break
      }
      expect(found, `pages of ${limit}`).to.have.length(6)
      expect(found).to.have.members([...videos, ...documents])
      expect([found[0], found[5]]).to.deep.equal([documents[2], videos[2]])
    }
  })
})
